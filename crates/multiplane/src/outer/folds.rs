//! Folds of examples, and sessions that leave one out.

use std::sync::Arc;

use multiplane_core::rng::Rng;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{Problem, Vocabulary};

use crate::error::Error;
use crate::session::{Session, open_task};
use crate::spec::RunSpec;

/// Random numbers for folds are drawn from a stream of their own.
const FOLD_STREAM: u64 = 11;

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

/// Returns labels and features of all the data, which the parts are read with: parameters go by all labels, and a part may lack some.
/// None with a kernel, whose rows are those of training.
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

/// Returns a session on all examples but those of a fold, with these as test data; `None` where one of the two has no example that
/// counts.
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
    let (left_out, kept): (Vec<usize>, Vec<usize>) = (0..folds.len()).partition(|&i| folds[i] == fold);
    let (rest, test) = (data.subset(&kept), data.subset(&left_out));
    if rest.is_empty() || rest.counts_nothing() || test.counts_nothing() {
        return Ok(None);
    }
    Session::on_known(spec.clone(), rest, Some(test), known).map(Some)
}

/// Makes a task for some of its examples, by their numbers.
pub type PartOf<'a> = &'a dyn Fn(&[usize]) -> Result<Arc<dyn Problem>, Error>;

/// Makes a session that leaves a fold out, with this as test data; `None` where there is nothing to train on, or to measure on.
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
