//! k-fold cross-validation of lambda: a path or grid per fold, their test losses at common lambdas.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use multiplane_tasks::dataset::Dataset;
use serde::Serialize;

use super::folds::{LeaveOut, PartOf, known_of, leaving_out, leaving_out_of_problem};
use crate::error::Error;
use crate::session::{RunOptions, ValidatedLambda, list_class_weights};
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

/// Trains on all folds but one, in turn, and measures task losses on the one left out at each of `lambdas` (which the
/// path must reach, or the grid contain). `folds` names every example's fold; see [`assign_folds`](crate::assign_folds).
///
/// # Errors
///
/// [`Error::Input`] where folds, data and lambdas do not fit together, [`Error::Failed`] where a fold was cut short, and
/// those of the loop.
pub fn cross_validate(
    spec: &RunSpec,
    data: &Dataset,
    folds: &[u32],
    outer: &Outer,
    lambdas: &[f64],
    interrupt: Option<Arc<AtomicBool>>,
) -> Result<CrossValidation, Error> {
    let names = names_of(folds, data.len(), lambdas)?;
    let mut spec = spec.clone();
    list_class_weights(&mut spec, data, None)?; // folds may lack labels
    let spec = &spec;
    let whole = known_of(spec, data)?;
    let leave_out = |spec: &RunSpec, fold| leaving_out(spec, data, whole.as_ref(), folds, fold);
    validate(spec, &names, &leave_out, outer, lambdas, interrupt)
}

/// As [`cross_validate`], on a task that is not in the registry: `part` makes it for some of its examples alone.
///
/// # Errors
///
/// As there.
pub fn cross_validate_problem(
    spec: &RunSpec,
    part: PartOf<'_>,
    folds: &[u32],
    outer: &Outer,
    lambdas: &[f64],
    interrupt: Option<Arc<AtomicBool>>,
) -> Result<CrossValidation, Error> {
    let names = names_of(folds, folds.len(), lambdas)?;
    let leave_out = |spec: &RunSpec, fold| leaving_out_of_problem(spec, part, folds, fold);
    validate(spec, &names, &leave_out, outer, lambdas, interrupt)
}

/// The folds that there are, of `n` examples.
fn names_of(folds: &[u32], n: usize, lambdas: &[f64]) -> Result<Vec<u32>, Error> {
    if folds.len() != n {
        return Err(Error::input(format!("{} folds given for {n} examples", folds.len())));
    }
    let mut names = folds.to_vec();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 || lambdas.is_empty() {
        return Err(Error::input("cross-validation needs at least two folds and one lambda"));
    }
    Ok(names)
}

/// Cross-validates over the folds `names`.
fn validate(
    spec: &RunSpec,
    names: &[u32],
    leave_out: LeaveOut<'_>,
    outer: &Outer,
    lambdas: &[f64],
    interrupt: Option<Arc<AtomicBool>>,
) -> Result<CrossValidation, Error> {
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
        for (losses, &lambda) in losses.iter_mut().zip(lambdas) {
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

pub(super) fn summed_up(lambda: f64, losses: &[f64]) -> ValidatedLambda {
    let n = losses.len() as f64;
    let mean_loss = losses.iter().sum::<f64>() / n;
    let square = losses.iter().map(|loss| (loss - mean_loss) * (loss - mean_loss)).sum::<f64>();
    ValidatedLambda { lambda, mean_loss, std_loss: (square / (n - 1.0).max(1.0)).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of three losses.
    #[test]
    fn losses_are_summed_up() {
        let row = summed_up(0.5, &[0.1, 0.2, 0.6]);
        assert!((row.mean_loss - 0.3).abs() < 1e-15 && (row.std_loss - 0.07_f64.sqrt()).abs() < 1e-15, "{row:?}");
    }
}
