//! Weights and the masses of every block, with the coordinates of its planes that must stay `>= 0`, laid out for its
//! QP.

use crate::average::Averaging;
use crate::cache::WorkingSets;
use crate::iterate::Iterate;
use crate::oracle::Capabilities;
use crate::plane::{Plane, Star};
use crate::qp::{ConstrainedPart, SimplexQp};
use crate::regularizer::{Constraint, Regularizer};
use crate::rounding::{Rounded, Rounding, TermSizes, UNIT};

/// Weights, and what every block consists of.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct HullState {
    pub(super) iterate: Iterate,
    pub(super) sets: WorkingSets,
    /// Mass on the truth, by block.
    pub(super) truths: Vec<f64>,
    /// Scores of the planes of the block in hand.
    #[serde(skip)]
    pub(super) scores: Vec<f64>,
    /// The block in hand where weights must stay `>= 0`.
    pub(super) constrained: Option<ConstrainedPart>,
    /// Products that a plane adds to an iteration of the joint master, and iterations of the last solution; 0 where
    /// they are not known.
    pub(super) joint_products: f64,
    pub(super) joint_iterations: f64,
    #[serde(skip)]
    pub(super) work: Buffers,
}

/// The buffers of a visit.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    /// Masses before the step in hand.
    pub(super) before: Vec<f64>,
    /// Copies of scores, masses and free weights, to try directions from.
    pub(super) scores: Vec<f64>,
    pub(super) alphas: Vec<f64>,
    pub(super) free: Vec<f64>,
    /// A further answer for the block in hand, and how the weights have moved since the one before.
    pub(super) answer: Plane,
    pub(super) moved: Vec<f64>,
}

impl HullState {
    /// Returns the origin of one block that is the sum of all examples.
    pub fn of_sums(dim: usize, regularizer: Regularizer, averaging: Averaging) -> Self {
        HullState::origin(1, dim, regularizer.moved_by_sums(true), averaging)
    }

    pub(super) fn origin(blocks: usize, dim: usize, regularizer: Regularizer, averaging: Averaging) -> Self {
        let constrained = regularizer.has_nonnegative().then(ConstrainedPart::default);
        let iterate = Iterate::new(dim, regularizer, averaging);
        let sets = WorkingSets::with_inner_products(blocks, dim, iterate.metric().clone());
        let (truths, work) = (vec![1.0; blocks], Buffers::default());
        let (scores, joint_products, joint_iterations) = (Vec::new(), 0.0, 0.0);
        HullState { iterate, sets, truths, scores, constrained, joint_products, joint_iterations, work }
    }

    /// Begins anew with another problem: no planes, all mass on the truths, and w at the prior mean `prior` (`[d]`).
    /// `used` are the blocks that may have planes. Keeps the buffers.
    pub fn begin_at(&mut self, lambda: f64, prior: &[f64], used: &[u32]) {
        for block in used.iter().map(|&block| block as usize) {
            self.sets.gram_and_alphas(block).1.fill(0.0);
            self.sets.prune(block, 0, 0);
            self.truths[block] = 1.0;
        }
        self.iterate.begin_at(lambda, prior);
    }

    /// Returns the mass on the truth of a block.
    pub fn truth(&self, block: usize) -> f64 {
        self.truths[block]
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.truths.len()
    }

    /// Appends to `out` the dual values with bounds on their rounding, as [`BlockDual::rounded`] does: of planes that
    /// went through so many additions before they came here, and whose terms are as `seen` tells.
    ///
    /// [`BlockDual::rounded`]: crate::dual::DualPoint::rounded
    pub fn rounded_with(
        &self,
        rounding: &Rounding,
        additions: f64,
        seen: impl Fn(&[f64]) -> TermSizes,
        source: &mut impl Capabilities,
        out: &mut Vec<Rounded>,
    ) {
        let (sets, additions) = (&self.sets, additions + self.additions_of_masses());
        let add_phi = |sum: &mut [f64]| (sets.add_phi(source, sum), sets.additions());
        out.push(self.iterate.rounded(rounding, additions, &seen, add_phi));
        out.extend(self.iterate.rounded_averages(rounding, additions, seen));
    }

    /// Returns the additions that masses count as: by what their sum in an example is above 1, the point is none. Below
    /// 1 they leave the rest to the truth.
    pub(super) fn additions_of_masses(&self) -> f64 {
        let sums = (0..self.truths.len()).map(|block| self.sets.alphas(block).iter().sum::<f64>());
        sums.map(|sum| sum - 1.0).fold(0.0, f64::max) / UNIT + self.sets.most_planes() as f64
    }

    /// Scores the planes of `block` at w: what the QP of the block begins with.
    pub(super) fn score(&mut self, block: usize, source: &mut impl Capabilities) {
        self.sets.scores(block, self.iterate.weights(), source, &mut self.scores);
        if let Some(part) = &mut self.constrained {
            collect(part, &self.sets, block, &self.iterate);
        }
    }

    /// Returns how far a block is from its optimum over its planes and one more that scores `score`: the slope of a
    /// pairwise step, from the vertex of the lowest score that has mass to the one of the highest. 0 is the score of
    /// the truth.
    pub fn violation(&mut self, block: usize, score: f64, source: &mut impl Capabilities) -> f64 {
        if self.sets.is_empty(block) {
            return score.max(0.0);
        }
        self.sets.scores(block, self.iterate.weights(), source, &mut self.scores);
        let truth = if self.truths[block] > 0.0 { 0.0 } else { f64::INFINITY };
        let (mut most, mut least) = (score.max(0.0), truth);
        for (&score, &mass) in self.scores.iter().zip(self.sets.alphas(block)) {
            most = most.max(score);
            if mass > 0.0 {
                least = least.min(score);
            }
        }
        most - least
    }

    /// The QP of the block that was scored.
    pub(super) fn qp(&mut self, block: usize) -> SimplexQp<'_> {
        let (gram, alphas) = self.sets.gram_and_alphas(block);
        let truth = &mut self.truths[block];
        let (lambda, constrained) = (self.iterate.lambda(), self.constrained.as_mut());
        SimplexQp { lambda, gram, scores: &mut self.scores, alphas, truth, constrained }
    }
}

/// Gathers what the planes of `block` hold at coordinates that must stay `>= 0`, with the free weights there.
fn collect(part: &mut ConstrainedPart, sets: &WorkingSets, block: usize, iterate: &Iterate) {
    let Some(constraints) = iterate.regularizer().constraints() else { return };
    let planes = sets.len(block);
    let constrained = |k: usize| constraints[k] == Constraint::NonNegative;
    part.coordinates.clear();
    for p in 0..planes {
        match sets.plane(block, p).star {
            Star::Sparse { indices, .. } => {
                part.coordinates.extend(indices.iter().filter(|&&k| constrained(k as usize)));
            }
            Star::Dense(values) => {
                part.coordinates.extend((0..values.len() as u32).filter(|&k| constrained(k as usize)));
            }
        }
    }
    part.coordinates.sort_unstable();
    part.coordinates.dedup();
    part.values.clear();
    part.values.resize(planes * part.coordinates.len(), 0.0);
    for p in 0..planes {
        let row = &mut part.values[p * part.coordinates.len()..][..part.coordinates.len()];
        match sets.plane(block, p).star {
            Star::Sparse { indices, values } => {
                for (k, value) in indices.iter().zip(values) {
                    if let Ok(at) = part.coordinates.binary_search(k) {
                        row[at] = *value;
                    }
                }
            }
            Star::Dense(values) => {
                row.iter_mut().zip(&part.coordinates).for_each(|(row, &k)| *row = values[k as usize]);
            }
        }
    }
    let free = iterate.free();
    part.free.clear();
    part.free.extend(part.coordinates.iter().map(|&k| free[k as usize]));
}
