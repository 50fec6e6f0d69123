//! The dual state with one vector per example: its plane `phi^i`, a convex combination of planes seen.
//!
//! The least that Frank-Wolfe steps need: which planes a block consists of is not remembered. A step costs
//! O(stored coefficients of the block and the corner), never O(d): the direction lives in the coordinates that
//! the block has touched.

use super::block::{self, Block, add_blocks};
use crate::average::{Averaging, UpdateKind};
use crate::certificate::{CertificatePart, DualCertificate};
use crate::iterate::Iterate;
use crate::linalg;
use crate::plane::{PlaneView, Star};
use crate::regularizer::Regularizer;
use crate::rounding::{Rounded, Rounding};
use crate::state::{StateError, ensure};
use crate::step::Step;

/// Share of the dimension above which a block is stored dense: then index-value pairs cost more than zeros.
const DENSE_FILL: f64 = 0.6;

/// Steps that a mixture of another state counts as, for bounds on its rounding: more than any run makes.
const MOST_STEPS: u32 = 1 << 20;

/// Weights, per-example planes and their sums.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct DualState {
    iterate: Iterate,
    blocks: Vec<Block>,
    /// The direction of the step in hand, aligned with its block's coordinates.
    #[serde(skip)]
    direction: Vec<f64>,
    /// The place of a coordinate in the block in hand; valid only if the block agrees.
    #[serde(with = "crate::state::blank")]
    position: Vec<u32>,
}

impl DualState {
    /// The iterate.
    pub fn iterate(&self) -> &Iterate {
        &self.iterate
    }

    /// Returns the iterate, to end an outer iteration with.
    pub fn iterate_mut(&mut self) -> &mut Iterate {
        &mut self.iterate
    }

    /// The origin: every block on its truth.
    pub fn new(blocks: usize, dim: usize, regularizer: impl Into<Regularizer>, averaging: Averaging) -> Self {
        DualState {
            iterate: Iterate::new(dim, regularizer, averaging),
            blocks: vec![Block::default(); blocks],
            direction: Vec::new(),
            position: vec![0; dim],
        }
    }

    /// The weights w.
    pub fn weights(&self) -> &[f64] {
        self.iterate.weights()
    }

    /// The dual value F, a lower bound on the optimal primal value.
    pub fn value(&self) -> f64 {
        self.iterate.value()
    }

    /// `score(phi^i; w)` of example `block`.
    pub fn block_score(&self, block: usize) -> f64 {
        self.block_score_at(block, self.weights())
    }

    /// `score(phi^i; w)` of example `block` at other weights.
    pub fn block_score_at(&self, block: usize, w: &[f64]) -> f64 {
        self.blocks[block].score(w)
    }

    /// The block gap `score(corner; w) - score(phi^i; w)`, never below 0 for the best corner.
    pub fn block_gap(&self, block: usize, corner: PlaneView<'_>) -> f64 {
        corner.score(self.weights()) - self.block_score(block)
    }

    /// Brings a block nearer that is about to be visited.
    pub fn prefetch(&self, block: usize) {
        linalg::prefetch(&self.blocks[block].indices);
        linalg::prefetch(&self.blocks[block].values);
    }

    /// Frank-Wolfe step of example `block` toward `corner` with exact line search:
    /// `gamma = clip(slope / curvature, 0, 1)`, `phi^i += gamma (corner - phi^i)` (MP-BCFW, Alg. 2).
    ///
    /// F never falls. A corner that is no better than the block leaves everything as it is.
    pub fn step_toward(&mut self, block: usize, corner: PlaneView<'_>, kind: UpdateKind) -> Step {
        let step = self.frank_wolfe(block, corner);
        self.iterate.count(kind);
        step
    }

    /// Step of example `block` toward `corner`, of the length that `choose` makes of slope and curvature (0 to 1). F
    /// falls where that is too long.
    pub fn step_by(&mut self, block: usize, corner: PlaneView<'_>, choose: impl FnOnce(f64, f64) -> f64) -> Step {
        let step = self.move_toward(block, corner, choose);
        self.iterate.count(UpdateKind::Exact);
        step
    }

    fn frank_wolfe(&mut self, block: usize, corner: PlaneView<'_>) -> Step {
        self.move_toward(block, corner, |slope, curvature| linalg::step_length(slope, curvature, 1.0))
    }

    fn move_toward(&mut self, block: usize, corner: PlaneView<'_>, choose: impl FnOnce(f64, f64) -> f64) -> Step {
        if corner == PlaneView::ZERO && self.blocks[block].is_zero() {
            return Step::default();
        }
        let touched = self.blocks[block].values.len();
        self.direct_toward(block, corner);
        let here = &self.blocks[block];
        let direction = here.along(&self.direction);
        let slope_circ = corner.circ - here.circ;
        let slope = PlaneView { star: direction, circ: slope_circ }.score(self.iterate.weights());
        let curvature = self.iterate.curvature(block, direction);
        let gamma = choose(slope, curvature);
        if gamma == 0.0 {
            self.forget_untouched(block, touched);
            return Step { gap: slope, gamma, gain: 0.0 };
        }
        let gain = gamma * slope - 0.5 * gamma * gamma * curvature;
        let gain = gain + self.iterate.add(gamma, direction, gamma * slope_circ);
        self.iterate.gain(gain);
        self.move_block(block, corner, gamma);
        Step { gap: slope, gamma, gain }
    }

    /// Frank-Wolfe step of all blocks by one share, each toward its corner, with exact line search. `corners` is the
    /// sum of the corners' linear parts, `circ` that of their constants; see [`Iterate::step_together`].
    pub fn step_together<'a>(&mut self, corners: &mut [f64], circ: f64, corner: impl Fn(usize) -> PlaneView<'a>) {
        self.iterate.count_additions(self.blocks.len() as f64);
        let gamma = self.iterate.step_together(corners, circ);
        for block in (0..self.blocks.len()).filter(|_| gamma > 0.0) {
            self.direct_toward(block, corner(block));
            self.move_block(block, corner(block), gamma);
        }
    }

    /// Fills `direction` with `corner - phi^i`, giving the block a (zero) coordinate wherever it lacks one.
    fn direct_toward(&mut self, block: usize, corner: PlaneView<'_>) {
        let dim = self.position.len();
        let block = &mut self.blocks[block];
        if !block.dense {
            if let Star::Sparse { indices, values } = corner.star {
                self.direction.clear();
                self.direction.extend(block.values.iter().map(|value| -value));
                for (slot, &index) in block.indices.iter().enumerate() {
                    self.position[index as usize] = slot as u32;
                }
                let touched = block.indices.len();
                for (&index, &value) in indices.iter().zip(values) {
                    let slot = self.position[index as usize] as usize;
                    if slot < touched && block.indices[slot] == index {
                        self.direction[slot] += value;
                    } else {
                        block.indices.push(index);
                        block.values.push(0.0);
                        self.direction.push(value);
                    }
                }
                if (block.indices.len() as f64) <= DENSE_FILL * dim as f64 {
                    return;
                }
            }
            block.make_dense(dim);
        }
        self.direction.clear();
        self.direction.extend(block.values.iter().map(|value| -value));
        match corner.star {
            Star::Sparse { indices, values } => linalg::scatter_axpy(1.0, indices, values, &mut self.direction),
            Star::Dense(values) => linalg::axpy(1.0, values, &mut self.direction),
        }
    }

    /// Takes back the coordinates that a step of length zero would have added.
    fn forget_untouched(&mut self, block: usize, touched: usize) {
        let block = &mut self.blocks[block];
        if !block.dense {
            block.indices.truncate(touched);
            block.values.truncate(touched);
        }
    }

    /// Moves `phi^i` along the direction; a full step makes it the corner itself, with the corner's coordinates.
    fn move_block(&mut self, block: usize, corner: PlaneView<'_>, gamma: f64) {
        let block = &mut self.blocks[block];
        if gamma < 1.0 {
            linalg::axpy(gamma, &self.direction, &mut block.values);
            block.circ += gamma * (corner.circ - block.circ);
            block.steps = block.steps.saturating_add(1);
            return;
        }
        (block.circ, block.steps) = (corner.circ, 0);
        block.values.clear();
        block.indices.clear();
        match corner.star {
            Star::Sparse { indices, values } => {
                block.dense = false;
                block.indices.extend_from_slice(indices);
                block.values.extend_from_slice(values);
            }
            Star::Dense(values) => {
                block.dense = true;
                block.values.extend_from_slice(values);
            }
        }
    }

    /// The present point, laid open.
    pub fn point(&self) -> DualCertificate<'_> {
        let parts = self.blocks.iter().map(|block| CertificatePart::Plane(block.view())).collect();
        DualCertificate { value: self.value(), parts }
    }

    /// Refuses a state that was restored and does not fit `blocks` blocks and `dim` weights.
    ///
    /// # Errors
    ///
    /// The part that does not fit.
    pub fn check(&self, blocks: usize, dim: usize) -> Result<(), StateError> {
        ensure(self.blocks.len() == blocks && self.position.len() == dim, "the number of blocks or weights")?;
        ensure(self.blocks.iter().all(|block| block.is_sound(dim)), "a block's plane")?;
        self.iterate.check(dim)
    }

    /// Recomputes w and F from the blocks, so that rounding does not add up over millions of steps.
    pub fn rebuild(&mut self) {
        let blocks = &self.blocks;
        self.iterate.rebuild(|sum| (add_blocks(blocks, sum), blocks.len() as f64));
    }

    /// Appends to `out` the dual values of the present point and of averaged ones, with bounds on their rounding.
    /// `corners` are the additions behind every corner that was stepped to. Costs O(d) and O(stored coefficients).
    pub fn rounded(&self, rounding: &Rounding, corners: f64, out: &mut Vec<Rounded>) {
        let blocks = &self.blocks;
        let additions = corners + block::additions(blocks);
        let seen = |w: &[f64]| block::seen(blocks, w);
        let add_phi = |sum: &mut [f64]| (add_blocks(blocks, sum), blocks.len() as f64);
        out.push(self.iterate.rounded(rounding, additions, seen, add_phi));
        out.extend(self.iterate.rounded_averages(rounding, additions, seen));
    }

    /// Multiplies every block by `scale` (at most 1: the rest of the mass is the truth's) and goes on at `lambda`.
    pub fn rescale(&mut self, lambda: f64, scale: f64) {
        for block in &mut self.blocks {
            linalg::scale(scale, &mut block.values);
            block.circ *= scale;
            block.steps = block.steps.saturating_add(1);
        }
        self.iterate.set_lambda(lambda);
        self.rebuild();
    }

    /// Puts all mass of `block` on `corner`; w and F follow with the next [`rebuild`](DualState::rebuild).
    pub fn place(&mut self, block: usize, corner: PlaneView<'_>) {
        self.move_block(block, corner, 1.0);
    }

    /// As [`place`](DualState::place), with a mixture of planes that another state has stepped to.
    pub fn place_mixture(&mut self, block: usize, mixture: PlaneView<'_>) {
        self.place(block, mixture);
        self.blocks[block].steps = MOST_STEPS;
    }

    /// How far the running sums have drifted from the blocks: relative error of w and of F. For tests.
    pub fn drift(&self) -> (f64, f64) {
        self.iterate.drift(|sum| add_blocks(&self.blocks, sum))
    }

    /// Writes the answer of the run so far into `out`, the averaged point where averages are kept, and returns
    /// that point's dual value.
    pub fn answer(&self, out: &mut Vec<f64>) -> f64 {
        self.iterate.answer(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plane::Plane;
    use crate::rng::Rng;

    fn random_plane(rng: &mut Rng, dim: usize, dense: bool) -> Plane {
        let mut plane = Plane::new();
        if dense {
            for value in plane.dense(dim) {
                *value = rng.unit() - 0.5;
            }
        } else {
            for index in 0..dim as u32 {
                if rng.below(3) == 0 {
                    plane.push(index, rng.unit() - 0.5);
                }
            }
        }
        plane.set_circ(rng.unit());
        plane.seal();
        plane
    }

    /// Sparse and dense storage, full and partial steps: F never falls, sums stay true, line search is optimal.
    #[test]
    fn steps_keep_every_promise() {
        for seed in 0..40 {
            let mut rng = Rng::new(seed, 0);
            let dim = 1 + rng.below(12) as usize;
            let mut dual =
                DualState::new(3, dim, 0.3, if seed % 2 == 0 { Averaging::Weighted } else { Averaging::None });
            for _ in 0..200 {
                let dense = rng.below(3) == 0;
                let plane = random_plane(&mut rng, dim, dense);
                let block = rng.below(3) as usize;
                let before = dual.value();
                let gap = dual.block_gap(block, plane.view());
                let step = dual.step_toward(block, plane.view(), UpdateKind::Exact);
                assert!(step.gain >= 0.0 && dual.value() >= before, "seed {seed}: F fell");
                assert!((step.gap - gap).abs() < 1e-12, "seed {seed}: gap {} is not {gap}", step.gap);
                let rest = dual.block_gap(block, plane.view());
                let optimal = if step.gamma == 0.0 {
                    rest <= 1e-12
                } else if step.gamma < 1.0 {
                    rest.abs() < 1e-9
                } else {
                    true
                };
                assert!(optimal, "seed {seed}: slope {rest} left at gamma {}", step.gamma);
                let (w, value) = dual.drift();
                assert!(w < 1e-12 && value < 1e-12, "seed {seed}: drift {w} {value}");
            }
            let before = dual.value();
            dual.rebuild();
            assert!((dual.value() - before).abs() < 1e-12);
        }
    }

    /// A zero-length direction takes no step and divides nothing by zero.
    #[test]
    fn degenerate_corners_are_harmless() {
        let mut dual = DualState::new(1, 2, 1.0, Averaging::None);
        assert_eq!(dual.step_toward(0, PlaneView::ZERO, UpdateKind::Exact), Step::default());
        let mut constant = Plane::new();
        constant.set_circ(0.5);
        let step = dual.step_toward(0, constant.view(), UpdateKind::Exact);
        assert_eq!((step.gamma, step.gain), (1.0, 0.5), "no curvature: the largest step");
        assert_eq!(dual.step_toward(0, constant.view(), UpdateKind::Exact).gamma, 0.0);
    }
}
