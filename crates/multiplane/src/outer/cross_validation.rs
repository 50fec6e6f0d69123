//! k-fold cross-validation of lambda: a path or grid per fold, their test losses at common lambdas. Folds, and sessions
//! that leave one out.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use multiplane_core::rng::Rng;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{Problem, Vocabulary};
use serde::Serialize;

use crate::error::Error;
use crate::file::ValidatedLambda;
use crate::session::{RunOptions, Session, list_class_weights, open_task};
use crate::spec::{Outer, PathEnd, RunSpec};

/// The result of a cross-validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossValidation {
    /// Folds.
    pub folds: usize,
    /// Losses, lambda falling.
    pub losses: Vec<ValidatedLambda>,
    /// The lambda of the smallest mean loss, the largest of them where there are several.
    pub best_lambda: f64,
}

/// How a path or grid is cross-validated.
pub struct FoldPlan<'a> {
    /// The fold of every example; see [`assign_folds`](crate::assign_folds).
    pub folds: &'a [u32],
    /// The path or grid.
    pub outer: &'a Outer,
    /// The lambdas at which losses are measured: the path must reach them, or the grid contain them.
    pub lambdas: &'a [f64],
    /// Ends it early.
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// Trains on all folds but one, in turn, and measures task losses on the one left out.
///
/// # Errors
///
/// [`Error::Input`] where folds, data and lambdas do not fit together, [`Error::Failed`] where a fold was cut short,
/// and those of the loop.
pub fn cross_validate(spec: &RunSpec, data: &Dataset, plan: &FoldPlan<'_>) -> Result<CrossValidation, Error> {
    let names = plan.names(data.len())?;
    let mut spec = spec.clone();
    list_class_weights(&mut spec, data, None)?; // folds may lack labels
    let spec = &spec;
    let whole = known_of(spec, data)?;
    let leave_out = |spec: &RunSpec, fold| leaving_out(spec, data, whole.as_ref(), plan.folds, fold);
    plan.validate(spec, &names, &leave_out)
}

/// As [`cross_validate`], on a task that is not in the registry: `part` makes it for some of its examples alone.
///
/// # Errors
///
/// As there.
pub fn cross_validate_problem(spec: &RunSpec, part: PartOf<'_>, plan: &FoldPlan<'_>) -> Result<CrossValidation, Error> {
    let names = plan.names(plan.folds.len())?;
    let leave_out = |spec: &RunSpec, fold| leaving_out_of_problem(spec, part, plan.folds, fold);
    plan.validate(spec, &names, &leave_out)
}

impl FoldPlan<'_> {
    /// The folds that there are, of `n` examples.
    fn names(&self, n: usize) -> Result<Vec<u32>, Error> {
        if self.folds.len() != n {
            return Err(Error::input(format!("{} folds given for {n} examples", self.folds.len())));
        }
        let mut names = self.folds.to_vec();
        names.sort_unstable();
        names.dedup();
        if names.len() < 2 || self.lambdas.is_empty() {
            return Err(Error::input("cross-validation needs at least two folds and one lambda"));
        }
        Ok(names)
    }

    /// Cross-validates over the folds `names`.
    fn validate(&self, spec: &RunSpec, names: &[u32], leave_out: LeaveOut<'_>) -> Result<CrossValidation, Error> {
        let FoldPlan { outer, lambdas, interrupt, .. } = self;
        let mut losses = vec![Vec::new(); lambdas.len()];
        for &fold in names {
            let Some(session) = leave_out(spec, fold)? else { continue };
            let options = RunOptions { interrupt: interrupt.clone(), ..RunOptions::default() };
            let (model, _) = match outer {
                Outer::Path(path) => session.path(path, options)?,
                Outer::Grid(grid) => session.grid(grid, options)?,
            };
            if model.info.stop_reason != PathEnd::LambdaMin {
                return Err(Error::failed(format!("cross-validation: fold {fold} was cut short")));
            }
            for (losses, &lambda) in losses.iter_mut().zip(*lambdas) {
                losses.extend(session.test_loss(&model.at(lambda)?)?); // none where nothing is known of the fold's truths
            }
        }
        if losses[0].is_empty() {
            return Err(Error::input("cross-validation: no fold has an example with a known label"));
        }
        let mut validated: Vec<ValidatedLambda> =
            lambdas.iter().zip(&losses).map(|(&lambda, losses)| summed_up(lambda, losses)).collect();
        validated.sort_by(|a, b| b.lambda.total_cmp(&a.lambda));
        let mut best = &validated[0];
        for other in &validated {
            if other.mean_loss < best.mean_loss {
                best = other;
            }
        }
        Ok(CrossValidation { folds: names.len(), best_lambda: best.lambda, losses: validated })
    }
}

pub(super) fn summed_up(lambda: f64, losses: &[f64]) -> ValidatedLambda {
    let n = losses.len() as f64;
    let mean_loss = losses.iter().sum::<f64>() / n;
    let square = losses.iter().map(|loss| (loss - mean_loss) * (loss - mean_loss)).sum::<f64>();
    ValidatedLambda { lambda, mean_loss, std_loss: (n > 1.0).then(|| (square / (n - 1.0)).sqrt()) }
}

/// Random numbers for folds are drawn from a stream of their own.
const FOLD_STREAM: u64 = 11;

/// Draws `held_out` of `n` examples as fold 0, `kept` others as fold 1; the rest is [`UNUSED`].
pub(super) fn draw_parts(n: usize, held_out: usize, kept: usize, seed: u64) -> Vec<u32> {
    let mut folds = vec![UNUSED; n];
    folds[..held_out + kept].fill(1);
    folds[..held_out].fill(0);
    Rng::new(seed, FOLD_STREAM).shuffle(&mut folds);
    folds
}

/// Draws a fold for each of `n` examples: `k` folds whose sizes differ by at most one, the same for the same seed.
///
/// # Errors
///
/// [`Error::Input`] unless `k` is between 2 and `n`.
pub fn assign_folds(n: usize, k: usize, seed: u64) -> Result<Vec<u32>, Error> {
    if k < 2 || k > n {
        return Err(Error::input(format!("{k} folds of {n} examples: expected between 2 and {n}")));
    }
    let mut folds: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
    Rng::new(seed, FOLD_STREAM).shuffle(&mut folds);
    Ok(folds)
}

/// Returns labels and features of all the data, which the parts are read with: parameters go by all labels, and a part
/// may lack some. None with a kernel, whose rows are those of training.
///
/// # Errors
///
/// The task does not take the data.
pub(super) fn known_of(spec: &RunSpec, data: &Dataset) -> Result<Option<Vocabulary>, Error> {
    let kernel = spec.task.params.get("kernel").map(|kernel| kernel.get("name").unwrap_or(kernel));
    if kernel.is_some_and(|name| !name.is_null() && name != "none") {
        return Ok(None);
    }
    Ok(Some(open_task(spec, data.clone(), None, spec.data.path.as_deref())?.vocabulary().clone()))
}

/// The fold of examples that are neither trained on nor held out.
pub(super) const UNUSED: u32 = u32::MAX;

/// Returns a session on all examples but those of a fold, with these as test data; `None` where one of the two has no
/// example that counts.
///
/// # Errors
///
/// The task does not take a part of the data.
pub(super) fn leaving_out(
    spec: &RunSpec,
    data: &Dataset,
    known: Option<&Vocabulary>,
    folds: &[u32],
    fold: u32,
) -> Result<Option<Session>, Error> {
    let of =
        |in_fold: bool| (0..folds.len()).filter(|&i| (folds[i] == fold) == in_fold && folds[i] != UNUSED).collect();
    let (kept, left_out): (Vec<usize>, Vec<usize>) = (of(false), of(true));
    let (rest, test) = (data.subset(&kept), data.subset(&left_out));
    if rest.is_empty() || rest.counts_nothing() || test.counts_nothing() {
        return Ok(None);
    }
    Session::on_known(spec.clone(), rest, Some(test), known).map(Some)
}

/// Makes a task for some of its examples, by their numbers.
pub type PartOf<'a> = &'a dyn Fn(&[usize]) -> Result<Arc<dyn Problem>, Error>;

/// Makes a session that leaves a fold out, with this as test data; `None` where there is nothing to train on, or to
/// measure on.
pub(super) type LeaveOut<'a> = &'a dyn Fn(&RunSpec, u32) -> Result<Option<Session>, Error>;

/// As [`leaving_out`], of a task that is not in the registry.
pub(super) fn leaving_out_of_problem(
    spec: &RunSpec,
    part: PartOf<'_>,
    folds: &[u32],
    fold: u32,
) -> Result<Option<Session>, Error> {
    let (left_out, kept): (Vec<usize>, Vec<usize>) = (0..folds.len()).partition(|&i| folds[i] == fold);
    if left_out.is_empty() || kept.is_empty() {
        return Ok(None);
    }
    Session::on_problem(spec.clone(), part(&kept)?, Some(part(&left_out)?)).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of three losses; one has none.
    #[test]
    fn losses_are_summed_up() {
        let row = summed_up(0.5, &[0.1, 0.2, 0.6]);
        let of_three = row.std_loss.unwrap();
        assert!((row.mean_loss - 0.3).abs() < 1e-15 && (of_three - 0.07_f64.sqrt()).abs() < 1e-15, "{row:?}");
        assert_eq!(serde_json::json!(summed_up(0.5, &[0.25]))["std_loss"], serde_json::Value::Null);
    }

    /// Sizes differ by at most one, the seed decides who goes where, and impossible numbers are refused.
    #[test]
    fn folds_are_fair_and_repeatable() {
        let folds = assign_folds(23, 5, 3).unwrap();
        let sizes: Vec<usize> = (0..5).map(|fold| folds.iter().filter(|&&f| f == fold).count()).collect();
        assert!(sizes.iter().all(|size| (4..=5).contains(size)), "{sizes:?}");
        assert_eq!(folds, assign_folds(23, 5, 3).unwrap());
        assert_ne!(folds, assign_folds(23, 5, 4).unwrap());
        for k in [0, 1, 24] {
            assert!(assign_folds(23, k, 0).unwrap_err().to_string().contains("expected between 2 and 23"));
        }
    }
}
