//! The 1-slack cutting-plane method (Joachims, Finley, Yu 2009): planes of the sum of all hinges, and a master problem
//! over the simplex of those kept.
//!
//! An outer iteration is a pass of n calls at one w, which gives one plane and P(w) at the same time, so that the pass
//! is its own certificate; then the master is solved, and as long as that pays, planes are made of the answers kept of
//! every example. Costs O(planes x d) for each solution of the master beside the calls.

use serde::{Deserialize, Serialize};

use super::config::OneSlack;
use super::example_cache::ExampleCache;
use super::further::Further;
use super::gain::Gain;
use super::master::{MasterState, solve_further};
use super::pace::MasterPace;
use super::sweep::{Longest, Sweep};
use crate::average::Averaging;
use crate::block_point::MassPlane;
use crate::certificate::{CertificatePart, DualCertificate};
use crate::context::Ctx;
use crate::dual::{BlockDual, DualPoint};
use crate::hull::HullState;
use crate::oracle::{Capabilities, MaxOracle, NoCapabilities, OracleError};
use crate::plane::Plane;
use crate::plane_sum::PlaneSum;
use crate::regularizer::Regularizer;
use crate::rounding::{Rounded, Rounding};
use crate::solver::{Details, PassValue, Rescale, Solver, SolverFacts, SolverProgress, StepReport, WarmStart};
use crate::state::{SavedState, StateError, ensure, finite};

/// Planes of planes kept in a row at most.
const MOST_OF_KEPT: u32 = 300;

/// Solutions of the master after which w and F are made anew of the planes and their masses.
const REBUILD_EVERY: u32 = 50;

/// The kind of the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// A call.
    Call,
    /// A part of a solution of the master.
    Master,
    /// A plane of planes kept.
    Kept,
}

/// The state of a run of the 1-slack method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OneSlackSolver {
    #[serde(with = "crate::state::json")]
    config: OneSlack,
    blocks: usize,
    /// One block: the sum of all examples.
    dual: HullState,
    sweep: Sweep,
    sum: PlaneSum,
    #[serde(skip)]
    joint: Plane,
    cache: Option<ExampleCache>,
    further: Option<Further>,
    phase: Phase,
    master: MasterState,
    pace: MasterPace,
    iterations: u64,
    planes_of_kept: u64,
    /// P - F at the last pass.
    gap: Option<f64>,
    /// The best point so far with their primal value, where passes are drawn toward them.
    best: Option<(Vec<f64>, f64)>,
    longest: Longest,
    /// Additions behind any plane kept at most.
    additions: f64,
    /// Corners that are to take all mass, being added up: the start of a path.
    placed: bool,
}

impl OneSlackSolver {
    /// Returns a solver that has not begun, for `blocks` examples and `dim` weights.
    pub fn new(config: OneSlack, blocks: usize, dim: usize, regularizer: Regularizer) -> Self {
        let limit = config.cache.max_planes as usize;
        OneSlackSolver {
            blocks,
            dual: HullState::of_sums(dim, regularizer, Averaging::None),
            sweep: Sweep::default(),
            sum: PlaneSum::new(dim),
            joint: Plane::new(),
            cache: (limit > 0).then(|| ExampleCache::new(blocks, limit)),
            further: Further::new(config.solutions, blocks, dim),
            phase: Phase::Call,
            master: MasterState::default(),
            pace: MasterPace::default(),
            iterations: 0,
            planes_of_kept: 0,
            gap: None,
            best: None,
            longest: Longest::new(blocks),
            additions: 0.0,
            placed: false,
            config,
        }
    }

    /// Asks for one plane of the pass; returns whether it was the last.
    fn call<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> Result<bool, OracleError> {
        if self.sweep.visited() == 0 {
            self.begin_pass(ctx);
        }
        let regularizer = self.dual.iterate().regularizer();
        let block = self.sweep.call(self.blocks, regularizer, ctx)?;
        self.sum.add(1.0, self.sweep.corner());
        self.longest.see(block, self.sweep.answer().view());
        let (now, constraints) = (self.master.solved(), regularizer.constraints());
        if let Some(cache) = &mut self.cache {
            cache.keep(block, self.sweep.answer(), now, constraints, ctx);
        }
        if let Some(further) = &mut self.further {
            let (cache, longest) = (&mut self.cache, &mut self.longest);
            let weights = regularizer.metric().weights(self.sweep.at());
            further.ask((block, self.blocks), weights, self.sweep.answer(), regularizer, ctx, |plane, ctx| {
                longest.see(block, plane.view());
                if let Some(cache) = cache {
                    cache.keep(block, plane, now, constraints, ctx);
                }
            })?;
        }
        Ok(self.sweep.visited() == self.blocks)
    }

    fn begin_pass<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        self.iterations += 1;
        self.pace.begin(ctx.now(), self.dual.value());
        self.sum.clear();
        if let Some(further) = &mut self.further {
            further.begin(self.iterations, self.blocks);
        }
        let (point, inward) = (self.dual.iterate().point(), self.config.inward);
        let best = self.best.as_ref().filter(|_| inward > 0.0);
        self.sweep.begin(|at| match best {
            Some((best, _)) => at.extend(point.iter().zip(best).map(|(w, best)| w + inward * (best - w))),
            None => at.extend_from_slice(point),
        });
    }

    /// Keeps the plane of a whole pass, and learns what P is.
    fn end_pass(&mut self) {
        let regularizer = self.dual.iterate().regularizer();
        let primal = regularizer.penalty(self.sweep.at()) + self.sweep.hinges();
        let gap = primal - self.dual.value();
        self.gap = Some(gap);
        if self.config.inward > 0.0 && self.best.as_ref().is_none_or(|(_, best)| primal < *best) {
            self.best = Some((self.sweep.at().to_vec(), primal));
        }
        self.master.aim(self.config.master.accuracy * gap);
        if let Some(further) = &mut self.further {
            further.end();
            let dual = &mut self.dual;
            let gain = || {
                let mut phi = vec![0.0; dual.weights().len()];
                let circ = dual.sets().add_phi(&mut NoCapabilities, &mut phi);
                Gain::new(phi, circ, dual.iterate())
            };
            for sum in further.planes(gain) {
                self.additions = self.additions.max(sum.additions());
                sum.write(&mut self.joint);
                dual.insert(0, &self.joint, self.master.solved(), &mut NoCapabilities);
            }
        }
        self.insert();
    }

    /// Keeps the sum in hand as a plane.
    fn insert(&mut self) -> Option<usize> {
        self.additions = self.additions.max(self.sum.additions());
        self.sum.write(&mut self.joint);
        let kept = self.dual.insert(0, &self.joint, self.master.solved(), &mut NoCapabilities);
        self.phase = Phase::Master;
        kept
    }

    /// Solves the master further, and chooses what comes next once it is solved.
    fn solve<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) -> bool {
        ctx.charge_coefficients(self.dual.sets().len(0) * self.sum.star().len());
        if !solve_further(&mut self.dual, &mut self.master) {
            return false;
        }
        let oldest = self.master.end(&mut self.dual, self.config.master.max_idle);
        self.dual.sets_mut().prune(0, oldest, usize::MAX);
        if self.master.solved().is_multiple_of(REBUILD_EVERY) {
            self.dual.rebuild(&mut NoCapabilities);
        }
        let of_pass = self.sweep.visited() == self.blocks;
        let gained = self.pace.end(ctx.now(), self.dual.value(), of_pass);
        self.sweep.leave();
        let may = self.cache.is_some() && self.pace.kept_in_turn() < MOST_OF_KEPT;
        self.phase = if may && (of_pass || gained) { Phase::Kept } else { Phase::Call };
        true
    }

    /// Makes a plane of planes kept, where that pays.
    fn use_kept<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        let Some(cache) = &mut self.cache else { return };
        self.pace.begin(ctx.now(), self.dual.value());
        self.sum.clear();
        ctx.count_cached();
        let (w, regularizer) = (self.dual.weights(), self.dual.iterate().regularizer());
        let hinges = cache.add_best(self.blocks, w, self.master.solved(), &mut self.sum, ctx);
        let cut_off =
            regularizer.penalty(self.dual.iterate().point()) + hinges - self.dual.value() - self.master.left();
        let wanted = self.config.cache.share * self.pace.cost_of_kept() * self.gap.unwrap_or(0.0);
        if cut_off > wanted && self.insert().is_some() {
            self.planes_of_kept += 1;
        } else {
            self.phase = Phase::Call;
        }
    }

    /// Leaves the pass in hand.
    fn leave_pass<O: MaxOracle + ?Sized>(&mut self, ctx: &mut Ctx<'_, O>) {
        ctx.forget_ahead();
        self.sweep.leave();
        self.phase = Phase::Call;
        (self.gap, self.best) = (None, None);
        self.sum.clear();
    }
}

impl<O: MaxOracle + ?Sized> SavedState<O> for OneSlackSolver {
    fn complete(&mut self, fresh: &Self) {
        self.dual.attach(fresh.dual.iterate().metric());
    }

    fn check(&self, fresh: &Self, oracle: &mut O) -> Result<(), StateError> {
        let dim = fresh.sum.star().len();
        ensure(self.config == fresh.config && self.blocks == fresh.blocks, "the parameters or the number of examples")?;
        self.dual.check(1, dim)?;
        ensure(self.dual.iterate().regularizer() == fresh.dual.iterate().regularizer(), "the regulariser")?;
        self.sum.check(dim)?;
        let size = self.dual.iterate().metric().size(dim);
        self.sweep.check(self.blocks, size)?;
        self.longest.check(self.blocks)?;
        ensure(self.additions >= 0.0, "the additions")?;
        let best = self.best.as_ref().is_none_or(|(w, _)| w.len() == size && finite(w));
        ensure(best, "the best weights")?;
        ensure(self.cache.is_some() == fresh.cache.is_some(), "the planes kept per example")?;
        ensure(self.further.is_some() == fresh.further.is_some(), "the labellings per example")?;
        if let Some((further, fresh)) = self.further.as_ref().zip(fresh.further.as_ref()) {
            further.check(fresh, self.blocks, dim)?;
        }
        let caches = self.cache.as_ref().zip(fresh.cache.as_ref());
        caches.map_or(Ok(()), |(cache, fresh)| cache.check(fresh, self.blocks, dim))?;
        self.cache.as_ref().map_or(Ok(()), |cache| cache.check_codes(oracle.capabilities()))
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for OneSlackSolver {
    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        let mut report = StepReport::default();
        match self.phase {
            Phase::Call => {
                report.iteration_ended = self.call(ctx)?;
                if report.iteration_ended {
                    self.end_pass();
                }
            }
            Phase::Master => {
                let since = ctx.shown();
                report.part_ended = self.solve(ctx);
                self.master.spend(ctx.shown() - since);
            }
            Phase::Kept => self.use_kept(ctx),
        }
        Ok(report)
    }

    fn facts(&self) -> SolverFacts {
        SolverFacts { moves_sums: true, evaluates: true, ..SolverFacts::default() }
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        Some(self.dual.iterate().answer(w))
    }

    fn rounded_duals(&self, rounding: &Rounding, _: &mut dyn Capabilities, out: &mut Vec<Rounded>) {
        let metric = self.dual.iterate().metric();
        let seen = |point: &[f64]| self.longest.terms(metric.weights(point));
        self.dual.rounded_with(rounding, self.additions, seen, &mut NoCapabilities, out);
    }

    fn rescaling(&mut self) -> Option<&mut dyn Rescale<O>> {
        Some(self)
    }

    fn rebuild(&mut self, ctx: &mut Ctx<'_, O>) {
        self.leave_pass(ctx);
        self.dual.rebuild(&mut NoCapabilities);
    }

    fn pass_value(&self) -> Option<PassValue<'_>> {
        self.sweep.value(self.blocks)
    }

    fn progress(&self) -> SolverProgress {
        let kept = self.cache.as_ref().map_or(0, ExampleCache::planes);
        SolverProgress {
            iterations: self.iterations,
            approximate_passes: self.planes_of_kept,
            planes: Some((self.dual.sets().len(0) + kept) as f64 / self.blocks as f64),
            dual: Some(self.dual.value()),
            gap_seen: self.gap,
            master_seconds: Some(self.master.seconds()),
        }
    }

    fn details(&self) -> Option<Details> {
        let shares: Vec<f64> = self.further.as_ref()?.diversity().collect();
        Some(Details::new("labellings", [("diversity", shares.into())]))
    }

    fn dual_points(&self) -> Vec<DualCertificate<'_>> {
        let mut phi = vec![0.0; self.sum.star().len()];
        let circ = self.dual.sets().add_phi(&mut NoCapabilities, &mut phi);
        vec![DualCertificate { value: self.dual.value(), parts: vec![CertificatePart::Sum(phi, circ)] }]
    }
}

/// Planes do not depend on lambda: all stay, and the master goes on from where it was.
impl<O: MaxOracle + ?Sized> Rescale<O> for OneSlackSolver {
    fn rescale(&mut self, lambda: f64, start: WarmStart, ctx: &mut Ctx<'_, O>) {
        if std::mem::take(&mut self.placed) {
            self.additions = self.additions.max(self.sum.additions());
            self.sum.write(&mut self.joint);
            let joint = MassPlane::all(&self.joint, true);
            self.dual.place(0, &[joint], self.master.solved(), &mut NoCapabilities);
        }
        let scale = start.scale(self.dual.iterate().lambda(), lambda);
        self.leave_pass(ctx);
        if let Some(further) = &mut self.further {
            further.restart(self.iterations);
        }
        self.dual.rescale(lambda, scale, &mut NoCapabilities);
    }

    fn place(&mut self, block: usize, corner: &mut Plane, ctx: &mut Ctx<'_, O>) {
        if !std::mem::replace(&mut self.placed, true) {
            self.leave_pass(ctx);
        }
        self.dual.iterate().regularizer().fold_frozen(corner);
        self.sum.add(1.0, corner.view());
        self.longest.see(block, corner.view());
        if let Some(cache) = &mut self.cache {
            let constraints = self.dual.iterate().regularizer().constraints();
            cache.keep(block, corner, self.master.solved(), constraints, ctx);
        }
    }

    fn point(&self, w: &mut Vec<f64>) -> f64 {
        w.clear();
        w.extend_from_slice(self.dual.iterate().point());
        self.dual.value()
    }
}
