//! How a structure is solved beyond its engine: answers without energies, recombination, prices, bounds on its numbers.

use multiplane_core::example::{Examples, Memory};
use multiplane_core::layout::Layout;
use multiplane_core::oracle::Prices;
use multiplane_core::rounding::Magnitudes;
use multiplane_core::task::DiversityPenalty;
use multiplane_infer::InferError;

use super::labelling::Labelling;
use super::part::LabelledPart;
use super::recombine::combine;
use super::scratch::PairwiseScratch;
use super::structure::{StructureKernels, StructureQuestion};

/// Roundings of a node's or edge's score beside the products of its features: the loss, and being added up.
const PER_TERM: usize = 4;

/// Sums that a long row's product is added up in; see `linalg::widened_row_scores`.
const LANES: usize = 8;

/// Features from which a product may be added up in so many sums.
pub(in crate::builtin) const LONG: usize = 16;

/// Hands over features, as weight and value.
type FeatureVisit<'a> = &'a dyn Fn(&mut dyn FnMut(usize, f64));

/// How a structure is solved, beyond its engine, and how large its numbers are; all of it follows from
/// [`Structure`](super::Structure).
pub trait StructureSolver: StructureKernels {
    /// Memory of an example from call to call.
    type Memory: Memory;

    /// Returns what calls and planes cost, if that is known from the sizes of `x`.
    fn prices(&self, _x: &Self::Input) -> Option<Prices> {
        None
    }

    /// Finds the best labelling of a part without energies, exactly, and writes the labels of its nodes into `labels`;
    /// `false` if it needs them.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer.
    fn solve_directly(
        &self,
        _asked: StructureQuestion<'_, Self>,
        _penalty: DiversityPenalty<'_>,
        _part: &LabelledPart,
        _work: (&mut Self::Scratch, &mut Self::Memory),
        _labels: &mut [u32],
    ) -> Result<bool, String> {
        Ok(false)
    }

    /// Returns whether known labellings can be recombined.
    fn recombines(&self) -> bool {
        true
    }

    /// Finds a labelling of labels that the truth or one of `codes` has, no worse than any of these.
    ///
    /// # Errors
    ///
    /// The scores are no finite numbers.
    fn recombine(
        &self,
        of_truth: (&Self::Input, &[f64], &Labelling),
        codes: &[u32],
        scratch: &mut PairwiseScratch<Self>,
        out: &mut [u32],
    ) -> Result<(), InferError> {
        combine(self, of_truth, codes, scratch, out)
    }

    /// Bounds the terms of all scores: every labelled node gives the features of one of its labels, every edge of such
    /// nodes those of one pair.
    fn magnitudes(&self, examples: &Examples<Self::Input, Labelling>) -> Magnitudes {
        let n = examples.labels.len() as f64;
        let (mut columns, mut largest, mut touched) = (vec![0.0; self.dim()], vec![0.0_f64; self.dim()], Vec::new());
        let (mut loss, mut fixed, mut most, mut rows) = (0.0, 0.0, 0, 0);
        for (x, truth) in examples.inputs.iter().zip(&examples.labels) {
            let costs = truth.costs();
            let mut add = |features: FeatureVisit<'_>| {
                features(&mut |k, value| {
                    largest[k] = largest[k].max(value.abs());
                    touched.push(k);
                });
                touched.drain(..).for_each(|k| columns[k] += std::mem::take(&mut largest[k]) / n);
            };
            for node in truth.labelled() {
                add(&|each| (0..self.labels(x, node) as u32).for_each(|label| self.unary(x, node, label, each)));
                loss += costs.at(node) / n;
            }
            for (edge, ends) in self.edges(x).iter().enumerate() {
                if ends.iter().any(|&end| !truth.is_labelled(end as usize)) {
                    continue;
                }
                let [tails, heads] = ends.map(|end| self.labels(x, end as usize) as u32);
                let pairs = || (0..tails).flat_map(|a| (0..heads).map(move |b| (a, b)));
                add(&|each| pairs().for_each(|(a, b)| self.pair(x, edge, a, b, each)));
                fixed += pairs().map(|(a, b)| self.fixed_pair(a, b).abs()).fold(0.0, f64::max) / n;
            }
            let terms = self.nodes(x) + self.edges(x).len();
            most = most.max(self.dim() / LANES + LANES + LONG + PER_TERM * terms);
            rows = rows.max(terms);
        }
        Magnitudes::new(loss, most, rows).with_fixed(fixed).with_table(0, 1, Layout::LabelMajor, columns)
    }

    /// Returns the largest loss of any labelling, if the hinge at w = 0 is that.
    fn largest_loss(&self, x: &Self::Input, truth: &Labelling) -> Option<f64> {
        if self.has_fixed_scores() {
            return None;
        }
        let costs = truth.costs();
        let wrong = truth.labelled().filter(|&node| self.labels(x, node) > 1);
        Some(wrong.map(|node| costs.at(node)).sum())
    }
}
