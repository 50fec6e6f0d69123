//! A shard: the examples of one place, with their planes and masses, and the work on them.

use super::master::ShardCut;
use super::message::{MOST_SHARDS, ShardAnswer, ShardError, ShardEvaluation, ShardFound, ShardOrder, ShardRequest};
use crate::context::Ctx;
use crate::executor::hinge_of;
use crate::oracle::{Capabilities, MaxOracle};
use crate::plane::Plane;
use crate::rounding::{PointTerms, Rounding, TermSizes};
use crate::run::{Run, RunError};
use crate::solver::ShardSolver;
use crate::state::{self, StateError, ensure, finite};

/// A run on the examples of one shard, which the requests of a coordinator drive.
pub struct Shard<O> {
    run: Run<O>,
    rounding: Rounding,
    /// Strength of the whole, divided by the share of this shard.
    lambda: f64,
    prior: Vec<f64>,
    /// Strength and prior of the local model that was worked on last.
    local: (f64, Vec<f64>),
    /// Most additions behind a coordinate of a sum that was sent, and the largest constant part.
    additions: f64,
    largest: f64,
}

impl<O: MaxOracle> Shard<O> {
    /// Takes a run in hand that has not begun, at the strength of the whole. `share` is the shard's part of the total
    /// weight (greater than 0, at most 1).
    ///
    /// # Errors
    ///
    /// A solver that keeps no masses, a kernel, a share that is none.
    pub fn new(mut run: Run<O>, share: f64) -> Result<Self, ShardError> {
        let refuse = |reason: String| Err(ShardError::Misfit(reason));
        if !(share > 0.0 && share <= 1.0) {
            return refuse(format!("share = {share}: must be greater than 0 and at most 1"));
        }
        if run.regularizer().metric().has_kernel() {
            return refuse("shards take no kernel: its weights are coefficients of all examples".into());
        }
        let (dim, lambda) = (run.dim(), run.lambda() / share);
        let prior = run.regularizer().prior().map_or_else(|| vec![0.0; dim], <[f64]>::to_vec);
        let magnitudes = run.training.oracle.capabilities().and_then(|known| known.magnitudes());
        let rounding = Rounding::new(run.blocks(), magnitudes);
        let local = (lambda, prior.clone());
        let mut shard = Shard { run, rounding, lambda, prior, local, additions: 0.0, largest: 0.0 };
        match shard.sum() {
            Some(_) => Ok(shard),
            None => refuse("shards need a solver that keeps planes with masses, such as `auto`".into()),
        }
    }

    /// Does what a request asks for.
    ///
    /// # Errors
    ///
    /// A vector that is not `[d]` finite numbers, an oracle that fails.
    pub fn answer(&mut self, request: &ShardRequest) -> Result<ShardAnswer, ShardError> {
        let (vector, dim) = (&request.vector, self.prior.len());
        if vector.len() != dim || !finite(vector) {
            let found = vector.len();
            return Err(ShardError::Misfit(format!("a request with {found} numbers: expected {dim} finite ones")));
        }
        let before = self.run.cost().oracle_calls;
        let found = match request.order {
            ShardOrder::Work { damping, parts } => ShardFound::Cut(self.work(vector, damping, parts)?),
            ShardOrder::Floor => ShardFound::Floor(self.floor(vector)),
            ShardOrder::Evaluate => ShardFound::Evaluation(self.evaluate(vector)?),
        };
        self.run.pause();
        let gap = self.run.training.parts().0.progress().gap_seen.unwrap_or(f64::INFINITY);
        Ok(ShardAnswer { found, gap, calls: self.run.cost().oracle_calls - before })
    }

    fn work(&mut self, prior: &[f64], damping: f64, parts: u32) -> Result<ShardCut, ShardError> {
        let part = if parts > 1 { self.run.blocks().div_ceil(parts as usize) } else { 0 };
        self.local = (self.lambda / damping, prior.to_vec());
        self.enter();
        self.with_solver(|solver, ctx| {
            solver.divide(part);
            if parts == 0 {
                solver.replay(ctx);
            }
        });
        loop {
            let report = self.run.training.step().map_err(RunError::from)?;
            if report.iteration_ended || report.part_ended {
                break;
            }
        }
        Ok(self.sum().unwrap_or_default())
    }

    /// Returns the sum of the planes by the present masses.
    fn sum(&mut self) -> Option<ShardCut> {
        let mut star = vec![0.0; self.prior.len()];
        let (circ, additions) = self.with_solver(|solver, ctx| solver.add_phi(&mut star, ctx))??;
        self.additions = self.additions.max(additions);
        self.largest = self.largest.max(circ.abs());
        Some(ShardCut { star, circ })
    }

    /// Returns the largest scores of the planes kept, in sum: no more than the hinges.
    fn floor(&mut self, w: &[f64]) -> f64 {
        let blocks = self.run.blocks();
        let (solver, mut ctx, _) = self.run.training.parts();
        let Some(keeper) = solver.keeper() else { return 0.0 };
        (0..blocks).map(|block| keeper.hinge_kept(block, w, &mut ctx)).sum()
    }

    /// Calls the oracle for every example. Training keeps the planes, and learns its gaps by them.
    fn evaluate(&mut self, w: &[f64]) -> Result<ShardEvaluation, ShardError> {
        self.enter();
        let (blocks, needs_planes) = (self.run.blocks(), self.rounding.needs_planes());
        let (mut seen, mut sum, mut proven, mut plane) = (TermSizes::default(), 0.0, true, Plane::new());
        let (solver, mut ctx, _) = self.run.training.parts();
        ctx.resume();
        for block in 0..blocks {
            let quality = ctx.maximize_ahead(block..blocks, w, &mut plane).map_err(RunError::from)?;
            let (hinge, is_proven) = hinge_of(quality, plane.view().score(w));
            sum += hinge;
            proven &= is_proven;
            if needs_planes {
                seen.add(1.0, plane.view(), w);
            }
            if let Some(keeper) = solver.keeper().filter(|keeper| keeper.takes()) {
                keeper.take(block, &mut plane, &mut ctx);
            }
        }
        let hinges = self.rounding.hinges(w, sum, seen);
        let terms = if needs_planes { self.with_solver(|solver, _| solver.seen(w)).unwrap_or_default() } else { seen };
        let (additions, signs) = (self.additions + MOST_SHARDS as f64, self.run.regularizer().constraints().is_some());
        let point = PointTerms { free: w, circ: self.largest, additions, image: 0.0, present: true };
        let error = self.rounding.phi_error(w, &point, signs, |_| terms);
        Ok(ShardEvaluation { hinges, proven, error })
    }

    /// Returns the run, for its counts and its clock.
    pub fn run(&self) -> &Run<O> {
        &self.run
    }

    /// Appends the state to `out`.
    ///
    /// # Errors
    ///
    /// A state that cannot be encoded.
    pub fn save(&mut self, out: &mut Vec<u8>) -> Result<(), StateError> {
        self.park();
        state::encode(&(self.additions, self.largest, &self.local), out)?;
        self.run.save(out)
    }

    /// Goes on from where a shard of the same examples was saved.
    ///
    /// # Errors
    ///
    /// Bytes that are no state of such a shard; nothing has changed then.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        self.park();
        type Front = (f64, f64, (f64, Vec<f64>));
        let ((additions, largest, local), rest): (Front, _) = state::decode_front(bytes)?;
        ensure(local.0 > 0.0 && local.1.len() == self.prior.len() && finite(&local.1), "the local model of a shard")?;
        self.run.restore(rest)?;
        self.local = local;
        (self.additions, self.largest) = (self.additions.max(additions), self.largest.max(largest));
        Ok(())
    }

    /// Goes to the local model. The weights there are made of the planes, whatever came before.
    fn enter(&mut self) {
        let (lambda, prior) = self.local.clone();
        self.with_solver(|solver, ctx| solver.relocate(lambda, &prior, ctx));
    }

    /// Goes to the problem that states are saved at.
    fn park(&mut self) {
        let (lambda, prior) = (self.lambda, self.prior.clone());
        self.with_solver(|solver, ctx| solver.relocate(lambda, &prior, ctx));
    }

    fn with_solver<T>(&mut self, work: impl FnOnce(&mut dyn ShardSolver<O>, &mut Ctx<'_, O>) -> T) -> Option<T> {
        let (solver, mut ctx, _) = self.run.training.parts();
        let solver = solver.rescaling().and_then(|solver| solver.shard());
        solver.map(|solver| work(solver, &mut ctx))
    }
}
