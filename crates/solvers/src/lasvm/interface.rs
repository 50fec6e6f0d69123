//! LaSVM as a [`Solver`], and as one that can go on at another lambda.

use super::selection::Selection;
use super::solver::LaSvmSolver;
use crate::certificate::DualCertificate;
use crate::context::Ctx;
use crate::dual::DualPoint;
use crate::oracle::{Capabilities, MaxOracle, OracleError};
use crate::plane::Plane;
use crate::rescale::{Rescale, WarmStart};
use crate::rounding::{Rounded, Rounding};
use crate::solver::{Details, Solver, SolverProgress, StepReport};
use crate::state::{SavedState, StateError, ensure};

impl<O: MaxOracle + ?Sized> SavedState<O> for LaSvmSolver {
    fn complete(&mut self, fresh: &Self) {
        self.dual.attach(fresh.dual.iterate().metric());
    }

    fn check(&self, fresh: &Self, oracle: &mut O) -> Result<(), StateError> {
        self.check_fields(fresh)?;
        self.dual.sets().check_codes(oracle.capabilities())?;
        check_code(&self.selection, oracle)
    }
}

impl<O: MaxOracle + ?Sized> Solver<O> for LaSvmSolver {
    fn drawn(&self) -> Option<u64> {
        Some(self.processed)
    }

    fn step(&mut self, ctx: &mut Ctx<'_, O>) -> Result<StepReport, OracleError> {
        let iteration_ended = self.advance(ctx)?;
        Ok(StepReport { iteration_ended, ..StepReport::default() })
    }

    fn answer(&self, w: &mut Vec<f64>) -> Option<f64> {
        Some(self.dual.iterate().answer(w))
    }

    fn rounded_duals(&self, rounding: &Rounding, mut source: &mut dyn Capabilities, out: &mut Vec<Rounded>) {
        self.dual.rounded(rounding, &mut source, out);
    }

    fn rescaling(&mut self) -> Option<&mut dyn Rescale<O>> {
        Some(self)
    }

    fn rebuild(&mut self, ctx: &mut Ctx<'_, O>) {
        let lambda = self.dual.iterate().lambda();
        self.rescale(lambda, WarmStart::KeepDual, ctx);
    }

    fn progress(&self) -> SolverProgress {
        SolverProgress {
            iterations: self.epochs.saturating_add(u64::from(!self.selection.is_fresh())),
            planes: Some(self.dual.sets().planes() as f64 / self.dual.blocks() as f64),
            dual: Some(self.dual.value()),
            ..SolverProgress::default()
        }
    }

    fn details(&self) -> Option<Details> {
        let (tau, steps, support) = (self.tau, self.reprocessed, self.support.len());
        let figures = [("tau", tau.into()), ("reprocess_steps", steps.into()), ("support", support.into())];
        Some(Details::new("ascent", figures))
    }

    fn dual_points(&self) -> Vec<DualCertificate<'_>> {
        vec![self.dual.point()]
    }
}

/// Refuses a choice whose answer is no labelling that the oracle knows.
fn check_code<O: MaxOracle + ?Sized>(selection: &Selection, oracle: &mut O) -> Result<(), StateError> {
    let Some((block, answer)) = selection.chosen() else { return Ok(()) };
    let known = match oracle.capabilities() {
        Some(source) => source.is_code(block, answer.code()),
        None => answer.code().is_empty(),
    };
    ensure(known, "a labelling that the oracle does not know")
}

/// The masses are scaled and the planes kept stay; the epoch goes on.
impl<O: MaxOracle + ?Sized> Rescale<O> for LaSvmSolver {
    fn rescale(&mut self, lambda: f64, start: WarmStart, ctx: &mut Ctx<'_, O>) {
        let before = self.dual.iterate().lambda();
        self.dual.rescale(lambda, start.scale(before, lambda), ctx);
        self.begin_anew(ctx);
    }

    fn place(&mut self, block: usize, corner: &mut Plane, ctx: &mut Ctx<'_, O>) {
        self.dual.iterate().regularizer().fold_frozen(corner);
        self.dual.place(block, corner, true, self.epochs as u32, ctx);
        self.support.learn(block, &self.dual, ctx);
    }

    fn point(&self, w: &mut Vec<f64>) -> f64 {
        w.clear();
        w.extend_from_slice(self.dual.iterate().point());
        self.dual.value()
    }
}
