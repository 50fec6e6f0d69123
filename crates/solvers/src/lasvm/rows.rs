//! Planes of examples with one plane of more than two coefficients, one after the other, without a kernel: a look at
//! all of them is one stretch of memory. Made of what the dual point keeps, and no part of a state.

use crate::dual::DualPoint;
use crate::hull::HullState;
use crate::oracle::Capabilities;
use crate::plane::{Plane, Star};
use crate::plane_sum::PlaneSum;

/// Planes of more coefficients are scored where they are kept: 50 KB of them say enough.
const LONGEST: usize = 4096;

/// Coefficients that were let go and stay in place at least.
const SPARE: usize = 1 << 16;

/// The place of an example's plane, and the other parts of its violation.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    /// True if it is here; else the rest is zero.
    is_here: bool,
    /// True if the truth has mass; true if the plane has.
    masses: [bool; 2],
    start: usize,
    len: usize,
    circ: f64,
}

/// One entry for each listed example, in the order of the list; none before they were laid out.
#[derive(Clone, Debug, Default)]
pub(super) struct LaSvmRows {
    spans: Vec<Span>,
    /// The identities of the planes: a plane that has not changed is not written again.
    codes: Vec<Vec<u32>>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// Coefficients that belong to no plane any more.
    unused: usize,
    sum: PlaneSum,
    plane: Plane,
}

impl LaSvmRows {
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.spans.clear();
        self.codes.clear();
        self.indices.clear();
        self.values.clear();
        self.unused = 0;
    }

    /// Adds an example at the end.
    pub(super) fn push(&mut self, block: usize, dual: &HullState, source: &mut impl Capabilities) {
        self.spans.push(Span::default());
        self.codes.push(Vec::new());
        self.learn(self.spans.len() - 1, block, dual, source);
    }

    /// Learns that the planes or masses of the example at a place have changed.
    pub(super) fn learn(&mut self, at: usize, block: usize, dual: &HullState, source: &mut impl Capabilities) {
        let sets = dual.sets();
        if dual.iterate().metric().has_kernel() || sets.len(block) != 1 {
            return self.leave(at);
        }
        let same = self.spans[at].is_here && sets.by_code() && self.codes[at] == sets.code(block, 0);
        if !same && !self.write(at, block, dual, source) {
            return self.leave(at);
        }
        let span = &mut self.spans[at];
        span.masses = [dual.truth(block) > 0.0, sets.alphas(block)[0] > 0.0];
    }

    /// Writes the only plane of an example; `false` where it is too long.
    fn write(&mut self, at: usize, block: usize, dual: &HullState, source: &mut impl Capabilities) -> bool {
        self.leave(at);
        let sets = dual.sets();
        let dim = dual.weights().len();
        let LaSvmRows { indices, values, sum, plane, .. } = self;
        let view = match sets.stored(block, 0) {
            Some(view) => view,
            None => {
                if sum.star().len() != dim {
                    *sum = PlaneSum::new(dim);
                }
                sum.clear();
                sets.add_plane(block, 0, source, sum);
                sum.write(plane);
                plane.view()
            }
        };
        let start = indices.len();
        match view.star {
            Star::Sparse { indices: at, values: of } if at.len() <= LONGEST => {
                indices.extend_from_slice(at);
                values.extend_from_slice(of);
            }
            Star::Dense(all) if all.len() <= LONGEST => {
                indices.extend(0..all.len() as u32);
                values.extend_from_slice(all);
            }
            _ => return false,
        }
        let len = indices.len() - start;
        self.spans[at] = Span { is_here: true, start, len, circ: view.circ, ..Span::default() };
        self.codes[at].extend_from_slice(sets.code(block, 0));
        true
    }

    /// Lets go the plane at a place.
    fn leave(&mut self, at: usize) {
        self.unused += std::mem::take(&mut self.spans[at]).len;
        self.codes[at].clear();
        if self.unused > SPARE.max(self.indices.len() / 2) {
            self.pack();
        }
    }

    /// Lets the last example take the place of one that has left.
    pub(super) fn swap_remove(&mut self, at: usize) {
        self.leave(at);
        self.spans.swap_remove(at);
        self.codes.swap_remove(at);
    }

    /// Leaves out what belongs to no plane any more.
    fn pack(&mut self) {
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for span in &mut self.spans {
            let old = span.start..span.start + span.len;
            span.start = indices.len();
            indices.extend_from_slice(&self.indices[old.clone()]);
            values.extend_from_slice(&self.values[old]);
        }
        (self.indices, self.values, self.unused) = (indices, values, 0);
    }

    /// Returns what [`HullState::violation`] does but for rounding, of an example that is here.
    pub(super) fn violation(&self, at: usize, w: &[f64]) -> Option<f64> {
        let span = self.spans[at];
        let all = span.start..span.start + span.len;
        // In order: what hides the latency of an addition are the examples before and after.
        let terms = || self.indices[all.clone()].iter().zip(&self.values[all.clone()]);
        span.is_here
            .then(|| violation(span.masses, span.circ + terms().map(|(&at, of)| of * w[at as usize]).sum::<f64>()))
    }
}

/// How far an example is from its optimum that has one plane, of this score: the slope of a pairwise step.
pub(super) fn violation([truth, plane]: [bool; 2], score: f64) -> f64 {
    let of = |has_mass: bool, score: f64| if has_mass { score } else { f64::INFINITY };
    score.max(0.0) - of(truth, 0.0).min(of(plane, score))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::average::{Averaging, UpdateKind};
    use crate::dual::BlockDual;
    use crate::dual::{BlockVisit, StepRule};
    use crate::oracle::NoCapabilities;
    use crate::rng::Rng;

    /// Whatever steps were made and whoever has come and left: what is here violates as the dual point says, and an
    /// example is here if it has one plane.
    #[test]
    fn rows_violate_as_the_dual_point_says() {
        const BLOCKS: usize = 6;
        let none = &mut NoCapabilities;
        for (seed, dim) in [(0, 4), (1, 12), (2, 40)] {
            let mut rng = Rng::new(seed, 0);
            let mut dual = <HullState as DualPoint>::new(BLOCKS, dim, 0.1.into(), Averaging::None);
            let (mut rows, mut listed, mut here) = (LaSvmRows::default(), Vec::new(), 0);
            for _ in 0..400 {
                let block = rng.below(BLOCKS as u64) as usize;
                let mut plane = Plane::new();
                let nonzeros = (0..dim as u32).filter(|index| (index + block as u32).is_multiple_of(2));
                nonzeros.for_each(|index| plane.push(index, rng.below(3) as f64 - 1.0));
                plane.set_circ(0.25 + rng.below(2) as f64);
                plane.seal();
                // At times a new plane, else the step among those kept.
                if dual.sets().is_empty(block) || rng.below(4) == 0 {
                    dual.visit_with(block, &plane, true, 0, none).step(
                        StepRule::Pairwise,
                        0.0,
                        UpdateKind::Exact,
                        none,
                    );
                } else {
                    dual.visit(block, none).step(StepRule::Pairwise, 0.0, UpdateKind::Approximate, none);
                }
                if rng.below(2) == 0 {
                    dual.sets_mut().prune(block, u32::MAX, usize::MAX);
                }
                let place = listed.iter().position(|&other| other == block);
                match (place, dual.sets().is_empty(block)) {
                    (Some(at), true) => {
                        rows.swap_remove(at);
                        listed.swap_remove(at);
                    }
                    (Some(at), false) => rows.learn(at, block, &dual, none),
                    (None, false) => {
                        rows.push(block, &dual, none);
                        listed.push(block);
                    }
                    (None, true) => {}
                }
                if rng.below(10) == 0 {
                    rows.pack();
                }
                assert_eq!(rows.len(), listed.len());
                for (at, &block) in listed.iter().enumerate() {
                    let found = rows.violation(at, dual.weights());
                    assert_eq!(found.is_some(), dual.sets().len(block) == 1, "{block}");
                    here += usize::from(found.is_some());
                    let expected = dual.violation(block, 0.0, none);
                    assert!(found.is_none_or(|found| (found - expected).abs() <= 1e-9), "{found:?}, not {expected}");
                }
            }
            assert!(here > 100, "{here}");
        }
    }
}
