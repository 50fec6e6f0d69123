//! Test data that come from the training file: some of its folds, or some of its examples, drawn.

use std::path::Path;

use multiplane_core::rng::Rng;
use multiplane_tasks::data::{Opaque, ReadRules};
use multiplane_tasks::dataset::Dataset;

use super::data::{is_given, read_task_data, weigh};
use crate::error::Error;
use crate::file::Provenance;
use crate::spec::{Holdout, RunSpec};

/// Examples held out are drawn from a stream of random numbers of their own.
const HOLDOUT_STREAM: u64 = 13;

/// Reads the training data of a run, and with them the test data that come from the same file, where it has such.
/// Weights are of training examples: of the folds trained on, and with `data.holdout` of all that it draws from.
///
/// # Errors
///
/// [`Error::Input`] where the data cannot be read or divided.
pub(super) fn read_divided(spec: &RunSpec, rules: &ReadRules) -> Result<(Dataset, Option<Dataset>), Error> {
    let (entry, from) = (spec.task_entry()?, &spec.data);
    let (path, format, folds) = (from.path.as_deref(), from.format, from.folds.as_deref());
    let Some(test_folds) = &from.test_folds else {
        return hold_out(spec, left(spec, read_task_data(entry, path, format, folds, rules)?)?);
    };
    refuse_columns(spec, "data.test_folds")?;
    let whole = read_task_data(entry, path, format, None, &ReadRules { weights: None, ..rules.clone() })?;
    let others: Vec<u32> = match folds {
        Some(folds) => folds.to_vec(),
        None => whole.folds().unwrap_or(&[]).iter().copied().filter(|fold| !test_folds.contains(fold)).collect(),
    };
    let select = |name: &str, folds: &[u32]| {
        let refuse = |reason: String| {
            let reason = reason.strip_prefix("data.folds: ").unwrap_or(&reason);
            let place = path.map_or(String::new(), |path: &Path| format!("{}: ", path.display()));
            Error::input(format!("{place}{name}: {reason}"))
        };
        whole.select_folds(folds).map_err(refuse)
    };
    let test = select("data.test_folds", test_folds)?;
    if others.is_empty() {
        return Err(Error::input("data.test_folds: these are all folds there are, nothing is left to learn from"));
    }
    Ok((left(spec, weigh(select("data.folds", &others)?, rules)?)?, Some(test)))
}

/// Returns the examples that `data.leave_out` does not name.
fn left(spec: &RunSpec, data: Dataset) -> Result<Dataset, Error> {
    let (Some(out), n) = (&spec.data.leave_out, data.len()) else { return Ok(data) };
    if data.get::<Opaque>().is_some() {
        return Err(Error::input("data.leave_out: only the program knows its examples"));
    }
    refuse_columns(spec, "data.leave_out")?;
    if let Some(unknown) = out.iter().find(|&&example| example as usize >= n) {
        return Err(Error::input(format!("data.leave_out: there is no example {unknown}: they are 0 to {}", n - 1)));
    }
    let left: Vec<usize> = (0..n).filter(|&example| out.binary_search(&(example as u32)).is_err()).collect();
    let rest = data.subset(&left);
    match rest.is_empty() || rest.counts_nothing() {
        true => Err(Error::input("data.leave_out: nothing is left to learn from")),
        false => Ok(rest),
    }
}

/// Divides data by `data.holdout`, where the specification has it, into what is trained on and test data.
///
/// # Errors
///
/// [`Error::Input`] where the data cannot be divided so.
pub fn hold_out(spec: &RunSpec, data: Dataset) -> Result<(Dataset, Option<Dataset>), Error> {
    let Some(holdout) = spec.data.holdout else { return Ok((data, None)) };
    let (train, test) = draw(spec, &data, holdout)?;
    Ok((train, Some(test)))
}

/// Draws examples by the run's seed; both parts keep the order of the data.
fn draw(spec: &RunSpec, data: &Dataset, holdout: Holdout) -> Result<(Dataset, Dataset), Error> {
    if data.get::<Opaque>().is_some() {
        return Err(Error::input("data.holdout: only the program knows its examples, they cannot be divided"));
    }
    refuse_columns(spec, "data.holdout")?;
    let (left, held_out) = drawn(data.len(), holdout.of(data.len())?, spec.seed);
    let left = data.subset(&left);
    match left.counts_nothing() {
        true => {
            Err(Error::input("data.holdout: all examples that are left have weight 0; expected another seed or share"))
        }
        false => Ok((left, data.subset(&held_out).without_weights())),
    }
}

fn refuse_columns(spec: &RunSpec, name: &str) -> Result<(), Error> {
    match is_given(spec) {
        true => Err(Error::input(format!(
            "{name}: the columns of task.kernel=precomputed belong to rows, which cannot be divided; give a file as data.test"
        ))),
        false => Ok(()),
    }
}

/// Returns the examples that are left, and `count` of `n` held out.
fn drawn(n: usize, count: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut all: Vec<usize> = (0..n).collect();
    Rng::new(seed, HOLDOUT_STREAM).shuffle(&mut all);
    let mut left = all.split_off(count);
    left.sort_unstable();
    all.sort_unstable();
    (left, all)
}

/// Returns the part of data that a model says it was trained on, where it is one that a run can choose: folds, or all
/// but what `data.holdout` draws.
pub fn training_part(data: &Dataset, provenance: &Provenance) -> Option<Dataset> {
    let (n, fingerprint) = (provenance.n, &provenance.fingerprint);
    let of_draw = || {
        let seed = provenance.spec["seed"].as_u64()?;
        let count = data.len().checked_sub(n).filter(|&count| count > 0 && n > 0)?;
        let part = data.subset(&drawn(data.len(), count, seed).0);
        (part.fingerprint() == *fingerprint).then_some(part)
    };
    data.find(n, fingerprint).or_else(of_draw)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both parts together are all examples, in order; the seed chooses, and every example may be chosen.
    #[test]
    fn a_draw_divides() {
        let mut often = [0; 10];
        for seed in 0..200 {
            let (left, held_out) = drawn(10, 3, seed);
            assert_eq!((left.len(), held_out.len()), (7, 3));
            assert!(left.is_sorted() && held_out.is_sorted());
            let mut all = [left.clone(), held_out.clone()].concat();
            all.sort_unstable();
            assert_eq!(all, (0..10).collect::<Vec<_>>());
            assert_eq!(drawn(10, 3, seed), (left, held_out.clone()));
            held_out.iter().for_each(|&example| often[example] += 1);
        }
        assert!(often.iter().all(|count| (30..=90).contains(count)), "{often:?}");
    }
}
