//! Masses over planes kept, as a block-coordinate engine sees them.

use super::state::HullState;
use super::visit::HullVisit;
use crate::average::Averaging;
use crate::block_point::MassPlane;
use crate::cache::WorkingSets;
use crate::certificate::{CertificatePart, DualCertificate, WeightedPlane};
use crate::dual::{BlockDual, DualPoint, StepRule};
use crate::iterate::Iterate;
use crate::metric::Metric;
use crate::oracle::Capabilities;
use crate::plane::{Plane, PlaneView};
use crate::regularizer::Regularizer;
use crate::rounding::{Rounded, Rounding};
use crate::state::{StateError, ensure};

impl DualPoint for HullState {
    fn new(blocks: usize, dim: usize, regularizer: Regularizer, averaging: Averaging) -> Self {
        HullState::origin(blocks, dim, regularizer, averaging)
    }
    fn attach(&mut self, metric: &Metric) {
        self.iterate.attach(metric);
        self.sets.attach(metric);
    }
    fn place(&mut self, block: usize, planes: &[MassPlane], now: u32, source: &mut impl Capabilities) {
        self.sets.gram_and_alphas(block).1.fill(0.0);
        for MassPlane { mass, plane, .. } in planes {
            if let Some(at) = self.insert(block, plane, now, source) {
                self.sets.gram_and_alphas(block).1[at] += mass;
            }
        }
        self.truths[block] = (1.0 - self.sets.alphas(block).iter().sum::<f64>()).max(0.0);
    }
    fn rescale(&mut self, lambda: f64, scale: f64, source: &mut impl Capabilities) {
        for (block, truth) in self.truths.iter_mut().enumerate() {
            self.sets.gram_and_alphas(block).1.iter_mut().for_each(|alpha| *alpha *= scale);
            *truth = 1.0 - scale * (1.0 - *truth);
        }
        self.iterate.set_lambda(lambda);
        self.rebuild(source);
    }
    fn rebuild(&mut self, source: &mut impl Capabilities) {
        let sets = &self.sets;
        self.iterate.rebuild(|sum| (sets.add_phi(source, sum), sets.additions()));
    }
    fn rounded(&self, rounding: &Rounding, source: &mut impl Capabilities, out: &mut Vec<Rounded>) {
        self.rounded_with(rounding, 0.0, |w| self.sets.seen(w), source, out);
    }
    fn drift(&self, source: &mut impl Capabilities) -> (f64, f64) {
        self.iterate.drift(|sum| self.sets.add_phi(source, sum))
    }
    fn iterate(&self) -> &Iterate {
        &self.iterate
    }
    fn iterate_mut(&mut self) -> &mut Iterate {
        &mut self.iterate
    }
    fn sets(&self) -> &WorkingSets {
        &self.sets
    }
    fn sets_mut(&mut self) -> &mut WorkingSets {
        &mut self.sets
    }
    fn point(&self) -> DualCertificate<'_> {
        let sets = &self.sets;
        let plane = |block: usize, (k, &mass): (usize, &f64)| {
            let (plane, circ, code) = (sets.stored(block, k), sets.circ(block, k), sets.code(block, k));
            WeightedPlane { mass, plane, circ, code }
        };
        let masses = |block: usize| {
            let planes = sets.alphas(block).iter().enumerate().map(|mass| plane(block, mass)).collect();
            CertificatePart::Masses { truth: self.truths[block], planes }
        };
        DualCertificate { value: self.iterate.value(), parts: (0..self.truths.len()).map(masses).collect() }
    }
    fn check(&self, blocks: usize, dim: usize) -> Result<(), StateError> {
        let in_simplex = |block: usize| {
            let (masses, truth) = (self.sets.alphas(block), self.truths[block]);
            let sum = masses.iter().sum::<f64>() + truth;
            truth >= -1e-6 && masses.iter().all(|&mass| mass >= -1e-6) && (sum - 1.0).abs() < 1e-6
        };
        let constrained = self.iterate.regularizer().has_nonnegative();
        ensure(self.truths.len() == blocks, "the number of blocks")?;
        self.sets.check(blocks, dim, true)?;
        ensure((0..blocks).all(in_simplex), "masses that are not in the simplex")?;
        ensure(self.constrained.is_some() == constrained, "the constraints")?;
        let by_code = self.sets.by_code() && self.iterate.regularizer().constraints().is_some();
        ensure(!by_code, "planes without numbers under constraints")?;
        let prices = [self.joint_products, self.joint_iterations];
        ensure(prices.iter().all(|price| price.is_finite() && *price >= 0.0), "the price of a plane")?;
        self.iterate.check(dim)
    }
}

impl BlockDual for HullState {
    type Visit<'a> = HullVisit<'a>;
    fn makes(_: StepRule) -> bool {
        true
    }
    fn visit(&mut self, block: usize, source: &mut impl Capabilities) -> HullVisit<'_> {
        self.score(block, source);
        HullVisit::new(self, block)
    }
    fn visit_with<'a>(
        &'a mut self,
        block: usize,
        answer: &'a Plane,
        _keep: bool, // masses need it
        now: u32,
        source: &mut impl Capabilities,
    ) -> HullVisit<'a> {
        self.insert(block, answer, now, source);
        self.visit(block, source) // the best is the answer, if the oracle is exact
    }
    fn insert(&mut self, block: usize, plane: &Plane, now: u32, source: &mut impl Capabilities) -> Option<usize> {
        self.sets.insert(block, plane, now, self.iterate.regularizer().constraints(), source)
    }
    fn hinge_kept(&mut self, block: usize, w: &[f64], source: &mut impl Capabilities) -> f64 {
        self.sets.scores(block, w, source, &mut self.scores);
        self.scores.iter().copied().fold(0.0, f64::max)
    }
    fn gap_at(&mut self, block: usize, corner: PlaneView<'_>, source: &mut impl Capabilities) -> f64 {
        self.score(block, source);
        corner.score(self.iterate.weights()) - self.qp(block).mean()
    }
    fn step_together(&mut self, sum: &mut [f64], circ: f64, corners: &[Option<u32>]) {
        self.iterate.count_additions(self.truths.len() as f64);
        let gamma = self.iterate.step_together(sum, circ);
        if gamma == 0.0 {
            return;
        }
        for (block, (truth, corner)) in self.truths.iter_mut().zip(corners).enumerate() {
            let alphas = self.sets.gram_and_alphas(block).1;
            alphas.iter_mut().for_each(|alpha| *alpha *= 1.0 - gamma);
            *truth *= 1.0 - gamma;
            match corner {
                Some(k) => alphas[*k as usize] += gamma,
                None => *truth += gamma,
            }
        }
    }
    fn joint_price(&mut self, source: &mut impl Capabilities) -> Option<f64> {
        HullState::joint_price(self, source)
    }
    fn solve_jointly(&mut self, tolerance: f64, now: u32, source: &mut impl Capabilities) -> f64 {
        HullState::solve_jointly(self, tolerance, now, source)
    }
    fn add_phi(&self, source: &mut impl Capabilities, sum: &mut [f64]) -> Option<(f64, f64)> {
        Some((self.sets.add_phi(source, sum), self.sets.additions() + self.additions_of_masses()))
    }
    fn prefetch(&self, block: usize, _planes: bool) -> bool {
        self.sets.prefetch(block)
    }
    fn prefetch_early(&self, block: usize) {
        self.sets.prefetch_early(block);
    }
}
