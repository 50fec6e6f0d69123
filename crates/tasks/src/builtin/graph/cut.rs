//! Two labels whose edges like to agree: one minimum cut, exactly, that starts from the flow of the last one.
//!
//! Energies are rounded to whole multiples of a power of two, a 2^50th of what they add up to. So the flow is exact
//! whatever it started from, and with it the cut with the fewest nodes of label 1: no bit of an answer depends on what
//! is remembered. The rounding is that of a few additions, which
//! [`ScoreMagnitudes`](multiplane_core::task::ScoreMagnitudes) counts.

use multiplane_core::linalg;
use multiplane_infer::InferError;
use multiplane_infer::maxflow::{Graph, Side};

use super::energies::score_row;
use super::input::GraphInput;
use super::layout::GraphStructure;
use crate::builtin::pairwise::{LabelledPart, Labelling};

/// Binary digits of the sum of all energies.
const DIGITS: i32 = 50;

/// Largest exponent of the factor that makes energies whole: that of the largest double, with room.
const MOST: i32 = 1000;

/// A network that keeps its flow.
#[derive(Debug, Default)]
pub struct CutMemory {
    graph: Graph<i64>,
    /// The cost of label 1 less that of label 0, by node.
    slopes: Vec<i64>,
    capacities: Vec<i64>,
}

impl CutMemory {
    /// Returns the bytes that it holds, about.
    pub(super) fn bytes_held(&self) -> usize {
        const NODE: usize = 120;
        const EDGE: usize = 112;
        self.slopes.len() * NODE + self.capacities.len() * EDGE
    }

    /// Lays out the network of a part, if it is not there.
    fn fit(&mut self, part: &LabelledPart) -> Result<(), InferError> {
        if self.slopes.len() == part.nodes.len() && self.capacities.len() == part.edges.len() {
            return Ok(());
        }
        self.graph.clear();
        self.graph.add_nodes(part.nodes.len());
        for edge in &part.edges {
            self.graph.add_edge(edge.tail, edge.head, 0, 0)?;
        }
        (self.slopes, self.capacities) = (vec![0; part.nodes.len()], vec![0; part.edges.len()]);
        Ok(())
    }

    /// Finds the labels of least energy. Where several are, those with the fewest nodes of label 1.
    fn solve(&mut self, slopes: &[f64], costs: &[f64], factor: f64) -> Result<(), InferError> {
        let whole = |energy: f64| (energy * factor).round() as i64;
        for (node, (held, &slope)) in self.slopes.iter_mut().zip(slopes).enumerate() {
            let slope = whole(slope);
            if slope != *held {
                self.graph.set_terminal(node as u32, (-slope).max(0), slope.max(0))?;
                *held = slope;
            }
        }
        for (edge, (held, &cost)) in self.capacities.iter_mut().zip(costs).enumerate() {
            let cost = whole(cost);
            if cost != *held {
                self.graph.set_edge(edge as u32, cost, cost)?;
                *held = cost;
            }
        }
        self.graph.solve();
        Ok(())
    }
}

/// Working memory of cuts.
#[derive(Debug, Default)]
pub(super) struct CutScratch {
    /// Weights of label 0 less those of label 1.
    difference: Vec<f64>,
    slopes: Vec<f64>,
    costs: Vec<f64>,
}

impl GraphStructure {
    /// Finds the best labelling of a part by a cut, and writes the labels of its nodes into `labels`. Label 1 costs
    /// what `added` says more than label 0, by node of the graph; empty: nothing.
    pub(super) fn cut(
        &self,
        (x, w, truth): (&GraphInput, &[f64], Option<&Labelling>),
        added: &[f64],
        part: &LabelledPart,
        memory: &mut CutMemory,
        scratch: &mut CutScratch,
        labels: &mut [u32],
    ) -> Result<(), String> {
        let CutScratch { difference, slopes, costs } = scratch;
        let (zero, one) = w[..self.edge_start()].split_at(self.features);
        difference.clear();
        difference.extend_from_slice(zero);
        linalg::axpy(-1.0, one, difference);
        slopes.clear();
        let truth = truth.map(|truth| (truth, truth.costs()));
        for &node in &part.nodes {
            let mut slope = [0.0];
            score_row(x.row(node as usize), difference, &mut slope);
            if let Some((truth, costs)) = truth {
                let cost = costs.at(node as usize);
                // Where the truth is neither, both labels are wrong.
                slope[0] += match truth.labels[node as usize] {
                    0 => -cost,
                    1 => cost,
                    _ => 0.0,
                };
            }
            slopes.push(slope[0] + added.get(node as usize).unwrap_or(&0.0));
        }
        self.costs_of_cut(x, w, part, costs);
        let total = slopes.iter().map(|slope| slope.abs()).sum::<f64>() + costs.iter().sum::<f64>();
        if !total.is_finite() {
            return Err("its scores are too large: they add up to more than a 64-bit number holds".into());
        }
        memory.fit(part).map_err(|error| error.to_string())?;
        memory.solve(slopes, costs, factor(total)).map_err(|error| error.to_string())?;
        for (place, &node) in part.nodes.iter().enumerate() {
            labels[node as usize] = u32::from(memory.graph.side(place as u32) == Side::Source);
        }
        Ok(())
    }
}

/// Returns the power of two that gives a sum of energies [`DIGITS`] binary digits.
fn factor(total: f64) -> f64 {
    let exponent = ((total.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let raise = (DIGITS - exponent).min(MOST);
    2.0f64.powi(raise)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of any size get their digits, as far as doubles reach.
    #[test]
    fn factors_are_powers_of_two() {
        for total in [1e-300, 1e-20, 0.3, 1.0, 1.5, 7e10, 1e300] {
            let found = factor(total);
            assert_eq!(found, found.log2().round().exp2(), "{total}");
            let digits = (total * found).log2();
            assert!(digits < 51.0 && (digits >= 50.0 || total < 1e-280), "{total}: {digits}");
        }
        assert!(factor(0.0).is_finite());
    }
}
