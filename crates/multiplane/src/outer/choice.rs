//! `lambda = cv`: a lambda chosen by what it predicts of examples left out, before the run that counts.
//!
//! Every fold is a run on the rest of the examples that goes down from one lambda to the next by equal factors, each
//! point from the one before. The first fold begins where nothing is learned yet, and goes on until its held-out loss
//! is past its smallest; the others try that point and its neighbours. Folds are asked until enough examples were held
//! out for losses to mean something. Points are trained to a wide gap and not for long, as only their predictions count
//! (ADR 0052).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use multiplane_core::clock::Stopwatch;
use multiplane_tasks::data::Opaque;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::Problem;

use super::cross_validation::{
    LeaveOut, PartOf, assign_folds, draw_parts, known_of, leaving_out, leaving_out_of_problem, summed_up,
};
use super::descent::{Choosing, LambdaSweep};
use crate::error::Error;
use crate::file::{LambdaChoice, ValidatedLambda};
use crate::session::{Session, is_given, list_class_weights, read_run_data};
use crate::spec::{Folds, Lambda, RunSpec};

/// Folds that the examples are divided into.
const FOLDS: usize = 5;

/// No more folds are asked once so many examples were held out: the standard error of an error rate is about half a
/// percentage point then.
const ENOUGH: usize = 1000;

/// The other folds try the best point of the first, and so many on either side.
const AROUND: usize = 2;

/// Chooses lambda for the run that `spec` describes, by runs on parts of its `data`; `told` hears of every point. With
/// a limit of seconds or calls among the stops it takes about half of that at most, and begins where models generalise.
///
/// # Errors
///
/// [`Error::Input`] where the specification asks for no choice, or the data cannot be divided; those of the runs;
/// interruption is [`Error::Failed`].
pub fn choose_lambda(
    spec: &RunSpec,
    data: &Dataset,
    interrupt: Option<Arc<AtomicBool>>,
    told: &mut dyn FnMut(&str),
) -> Result<LambdaChoice, Error> {
    let (of_example, enough) = divided(spec, data, folds_of(spec)?)?;
    let mut spec = spec.clone();
    list_class_weights(&mut spec, data, None)?; // folds may lack labels
    let spec = &spec;
    let whole = known_of(spec, data)?;
    let leave_out = |spec: &RunSpec, fold| leaving_out(spec, data, whole.as_ref(), &of_example, fold);
    choose(spec, &of_example, enough, &leave_out, interrupt, told)
}

/// As [`choose_lambda`], on a task that is not in the registry: `part` makes it for some of its `n` examples alone.
fn choose_for_problem(
    spec: &RunSpec,
    n: usize,
    part: PartOf<'_>,
    interrupt: Option<Arc<AtomicBool>>,
    told: &mut dyn FnMut(&str),
) -> Result<LambdaChoice, Error> {
    let (of_example, enough) = match folds_of(spec)? {
        Folds::OfData => return Err(Error::input("lambda = cv:folds: the data has no folds, expected cv or cv:K")),
        folds => drawn(spec, n, folds)?,
    };
    let leave_out = |spec: &RunSpec, fold| leaving_out_of_problem(spec, part, &of_example, fold);
    choose(spec, &of_example, enough, &leave_out, interrupt, told)
}

/// Returns the folds that the specification asks for.
fn folds_of(spec: &RunSpec) -> Result<Folds, Error> {
    let Lambda::CrossValidated(folds) = spec.lambda else {
        return Err(Error::input("lambda is given: there is nothing to choose"));
    };
    if !spec.solver.entry.minimises {
        let name = spec.solver.entry.name;
        return Err(Error::input(format!("solver `{name}` ignores lambda, so there is nothing to choose")));
    }
    Ok(folds)
}

/// Chooses, given the fold of every example, and how many held out are enough.
fn choose(
    spec: &RunSpec,
    of_example: &[u32],
    enough: usize,
    leave_out: LeaveOut<'_>,
    interrupt: Option<Arc<AtomicBool>>,
    told: &mut dyn FnMut(&str),
) -> Result<LambdaChoice, Error> {
    let mut names = of_example.to_vec();
    names.sort_unstable();
    names.dedup();
    let mut choosing = Choosing::new(spec, interrupt);
    let (mut lambdas, mut all, mut first_fold, mut held_out) = (Vec::new(), Vec::<Vec<f64>>::new(), Vec::new(), 0);
    let mut least = f64::INFINITY; // the lambdas of models that predict one label are at least this
    let mut cut_short = false;
    for (k, &fold) in names.iter().enumerate() {
        let Some(session) = leave_out(&choosing.spec, fold)? else { continue };
        let fold = choosing.begin_fold(k + 1, names.len()).to_owned();
        let mut told = |at: &str| told(&format!("choosing lambda: {fold}, {at}"));
        let LambdaSweep { mut losses, plateau, is_cut, begins_low } =
            choosing.descend(&session, &mut lambdas, all.is_empty(), &mut told)?;
        if all.is_empty() && !losses.is_empty() {
            cut_short = is_cut || begins_low && place_of_least(&losses) == 0;
            lambdas.truncate(losses.len());
            first_fold = losses.iter().zip(&lambdas).map(|(&loss, &lambda)| summed_up(lambda, &[loss])).collect();
            least = plateau.checked_sub(1).map_or(least, |last| lambdas[last]);
            let tried = around_the_best(&losses, plateau);
            lambdas = tried.iter().map(|&k| lambdas[k]).collect();
            losses = tried.iter().map(|&k| losses[k]).collect();
        }
        // Where the time is spent the folds before count, and so where no truth is known.
        if !losses.is_empty() && losses.len() == lambdas.len() {
            all.push(losses);
            held_out += session.test().map_or(0, |test| test.blocks());
        } else if all.is_empty() {
            lambdas.clear();
        }
        if is_cut || held_out >= enough {
            break;
        }
    }
    let of_lambda = |k: usize| all.iter().map(|losses| losses[k]).collect::<Vec<f64>>();
    let losses: Vec<ValidatedLambda> = match all.is_empty() {
        true => Vec::new(),
        false => lambdas.iter().enumerate().map(|(k, &lambda)| summed_up(lambda, &of_lambda(k))).collect(),
    };
    let means: Vec<f64> = losses.iter().map(|row| row.mean_loss).collect();
    let best = losses.get(place_of_least(&means));
    let lambda = best.ok_or_else(|| Error::input("lambda = cv: no example held out has a known label"))?.lambda;
    let (calls, seconds) = (choosing.calls, choosing.seconds(0.0));
    let is_plateau = lambda >= least;
    let folds = all.len();
    Ok(LambdaChoice { lambda, folds, held_out, losses, first_fold, is_plateau, cut_short, calls, seconds })
}

/// A search trains on a fifth of the examples, on so many at least if there are. It holds out as many of the others,
/// and a fifth at least.
const SEARCHED: (usize, usize) = (5, 2000);

/// Variables that must be held out for a search; with fewer lambda is 1/n, as losses would be noise.
const FEWEST: usize = 500;

/// Returns the lambda of a short search for a run that names none, on parts of its data; `None` where it is 1/n: with
/// another solver than `auto`, a stop, a kernel, prior weights, and where few variables could be held out.
fn search_lambda(
    spec: &RunSpec,
    data: &Dataset,
    interrupt: Option<Arc<AtomicBool>>,
    told: &mut dyn FnMut(&str),
) -> Result<Option<LambdaChoice>, Error> {
    let is_built_in = spec.task_entry().is_ok_and(|entry| !entry.is_program) && data.get::<Opaque>().is_none();
    let n = data.len();
    let (of, least) = SEARCHED;
    if !is_built_in || !spec.is_usual() || spec.regularizer.prior.is_some() || is_given(spec) || n < of {
        return Ok(None);
    }
    let Some(whole) = known_of(spec, data)? else { return Ok(None) };
    let kept = least.max(n / of).min(n - n / of);
    let held_out = (n - kept).min(kept);
    let mut choosing = Choosing::new(spec, interrupt);
    let folds = draw_parts(n, held_out, kept, spec.seed);
    let Some(session) = leaving_out(&choosing.spec, data, Some(&whole), &folds, 0)? else { return Ok(None) };
    let variables = session.held_out_variables()?;
    if variables < FEWEST {
        return Ok(None);
    }
    let (points, place) =
        choosing.search(&session, variables, kept + n / of < n, &mut |at| told(&format!("choosing lambda: {at}")))?;
    // The sum over examples weighs as much beside the regulariser as in the search.
    let share = session.problem().blocks() as f64 / n as f64;
    let losses: Vec<ValidatedLambda> = points.iter().map(|(at, loss)| summed_up(share * at, &[*loss])).collect();
    let Some(lambda) = losses.get(place).map(|row| row.lambda) else { return Ok(None) };
    let (calls, seconds, first_fold) = (choosing.calls, choosing.seconds(0.0), losses.clone());
    let (is_plateau, cut_short) = (false, false);
    Ok(Some(LambdaChoice { lambda, folds: 1, held_out, losses, first_fold, is_plateau, cut_short, calls, seconds }))
}

/// Has a run go on with what was chosen, and with what that left of its calls.
fn go_on_with(spec: &mut RunSpec, choice: &LambdaChoice) {
    spec.lambda = Lambda::Value(choice.lambda);
    choice.limit(&mut spec.stop);
}

/// The fold of every example, and how many held out are enough.
fn divided(spec: &RunSpec, data: &Dataset, folds: Folds) -> Result<(Vec<u32>, usize), Error> {
    let n = data.len();
    if data.get::<Opaque>().is_some() {
        return Err(Error::input("lambda = cv: only the program knows its examples, they cannot be divided"));
    }
    if is_given(spec) {
        return Err(Error::input(
            "lambda = cv: the columns of task.kernel=precomputed belong to rows, which folds take apart",
        ));
    }
    match (folds, data.folds()) {
        (Folds::OfData, Some(of)) if n > 1 && of.windows(2).any(|pair| pair[0] != pair[1]) => {
            Ok((of.to_vec(), usize::MAX))
        }
        _ => drawn(spec, n, folds),
    }
}

/// Folds that chance makes, and how many held out are enough.
fn drawn(spec: &RunSpec, n: usize, folds: Folds) -> Result<(Vec<u32>, usize), Error> {
    if n < 2 {
        return Err(Error::input(format!("lambda = cv: {n} examples cannot be divided")));
    }
    Ok(match folds {
        Folds::OfData => {
            return Err(Error::input("lambda = cv:folds: the data has no two folds, expected cv or cv:K"));
        }
        Folds::Count(count) => (assign_folds(n, count, spec.seed)?, usize::MAX),
        Folds::Enough => (assign_folds(n, FOLDS.min(n), spec.seed)?, ENOUGH),
    })
}

impl Session {
    /// As [`open`](Session::open); where lambda is to be chosen by cross-validation it is chosen before, and `told`
    /// hears what it has come to. Setting `interrupt` ends the choice.
    ///
    /// # Errors
    ///
    /// As there, and those of [`choose_lambda`].
    pub fn open_choosing(
        spec: RunSpec,
        interrupt: Option<Arc<AtomicBool>>,
        told: &mut dyn FnMut(&str),
    ) -> Result<Session, Error> {
        let (data, test, stopwatch) = read_run_data(&spec)?;
        Ok(Session::on_choosing(spec, data, test, interrupt, told)?.since(stopwatch))
    }

    /// As [`on`](Session::on); where lambda is to be chosen by cross-validation it is chosen before, and `told` hears
    /// what it has come to. What the choice took of a limit of seconds or calls is not there for the run.
    ///
    /// # Errors
    ///
    /// As there, and those of [`choose_lambda`].
    pub fn on_choosing(
        mut spec: RunSpec,
        data: Dataset,
        test: Option<Dataset>,
        interrupt: Option<Arc<AtomicBool>>,
        told: &mut dyn FnMut(&str),
    ) -> Result<Session, Error> {
        let stopwatch = Stopwatch::start();
        list_class_weights(&mut spec, &data, None)?; // once for the choice and the run
        let choice = match spec.lambda {
            Lambda::CrossValidated(_) => Some(choose_lambda(&spec, &data, interrupt, told)?),
            Lambda::Auto => search_lambda(&spec, &data, interrupt, told)?,
            _ => None,
        };
        if spec.lambda == Lambda::Auto {
            spec.lambda = Lambda::OneOverN; // where nothing was chosen
        }
        choice.iter().for_each(|choice| go_on_with(&mut spec, choice));
        Ok(Session::on(spec, data, test)?.with_choice(choice).since(stopwatch))
    }

    /// As [`on_problem`](Session::on_problem); where lambda is to be chosen by cross-validation it is chosen before:
    /// `part` makes the task for those of its examples that have the numbers given, in their order. `told` hears what
    /// the choice has come to.
    ///
    /// # Errors
    ///
    /// As there, and those of [`choose_lambda`].
    pub fn on_problem_choosing(
        mut spec: RunSpec,
        problem: Arc<dyn Problem>,
        test: Option<Arc<dyn Problem>>,
        part: PartOf<'_>,
        interrupt: Option<Arc<AtomicBool>>,
        told: &mut dyn FnMut(&str),
    ) -> Result<Session, Error> {
        let stopwatch = Stopwatch::start();
        if spec.lambda == Lambda::Auto {
            spec.lambda = Lambda::OneOverN; // calls are dear
        }
        let choice = match spec.lambda {
            Lambda::CrossValidated(_) => Some(choose_for_problem(&spec, problem.blocks(), part, interrupt, told)?),
            _ => None,
        };
        choice.iter().for_each(|choice| go_on_with(&mut spec, choice));
        Ok(Session::on_problem(spec, problem, test)?.with_choice(choice).since(stopwatch))
    }
}

/// The place of the smallest number, the first of them where there are several; 0 of none.
fn place_of_least(numbers: &[f64]) -> usize {
    (0..numbers.len()).fold(0, |best, k| if numbers[k] < numbers[best] { k } else { best })
}

/// The places of the smallest loss and of its neighbours, ascending. Where that is one of the first `plateau`, of
/// models that predict one label, the last of these stands for them, and beside it the best of the others has its
/// neighbours.
fn around_the_best(losses: &[f64], plateau: usize) -> Vec<usize> {
    let around = |from: usize| {
        let best = from + place_of_least(&losses[from..]);
        best.saturating_sub(AROUND).max(from)..losses.len().min(best + AROUND + 1)
    };
    match place_of_least(losses) < plateau && plateau < losses.len() {
        true => (plateau - 1..plateau).chain(around(plateau)).collect(),
        false => around(0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best point and its neighbours, as far as there are any; of several best the first, which is the largest
    /// lambda.
    #[test]
    fn neighbours_of_the_best() {
        assert_eq!(around_the_best(&[0.5, 0.4, 0.3, 0.2, 0.3, 0.4, 0.5], 2), [1, 2, 3, 4, 5]);
        assert_eq!(around_the_best(&[0.1, 0.4, 0.1, 0.2], 0), [0, 1, 2]);
        assert_eq!(around_the_best(&[0.3, 0.2], 1), [0, 1]);
        assert!(around_the_best(&[], 0).is_empty());
        assert_eq!(around_the_best(&[0.1, 0.1, 0.1, 0.4, 0.3, 0.2, 0.3, 0.4, 0.5], 3), [2, 3, 4, 5, 6, 7]);
        assert_eq!(around_the_best(&[0.1, 0.1], 2), [0, 1], "nothing but one label");
    }
}
