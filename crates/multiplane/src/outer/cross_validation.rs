//! k-fold cross-validation of lambda: a path or grid per fold, their test losses at common lambdas.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use multiplane_core::rng::Rng;
use multiplane_tasks::dataset::Dataset;
use serde::Serialize;

use crate::error::Error;
use crate::session::{RunOptions, Session, ValidatedLambda};
use crate::spec::{Outer, PathEnd, RunSpec};

/// Random numbers for folds are drawn from a stream of their own.
const FOLD_STREAM: u64 = 11;

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

/// Trains on all folds but one, in turn, and measures task losses on the one left out at each of `lambdas` (which the
/// path must reach, or the grid contain). `folds` names every example's fold; see [`assign_folds`].
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
    if folds.len() != data.len() {
        return Err(Error::input(format!("{} folds given for {} examples", folds.len(), data.len())));
    }
    let mut names = folds.to_vec();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 || lambdas.is_empty() {
        return Err(Error::input("cross-validation needs at least two folds and one lambda"));
    }
    let mut losses = vec![Vec::new(); lambdas.len()];
    for &fold in &names {
        let (left_out, kept): (Vec<usize>, Vec<usize>) = (0..folds.len()).partition(|&i| folds[i] == fold);
        let session = Session::on(spec.clone(), data.subset(&kept), Some(data.subset(&left_out)))?;
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

    /// Mean and standard deviation of three losses.
    #[test]
    fn losses_are_summed_up() {
        let row = summed_up(0.5, &[0.1, 0.2, 0.6]);
        assert!((row.mean_loss - 0.3).abs() < 1e-15 && (row.std_loss - 0.07_f64.sqrt()).abs() < 1e-15, "{row:?}");
    }
}
