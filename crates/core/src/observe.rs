//! The messages of a run to its observers: records of its outer iterations, and a JSON Lines recorder.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::solver::Details;

/// Bounds on the optimum from both sides, and whether they are proven; the names are those of all files and reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// P at the weights in question, or an upper bound on it: no less than the optimum. Infinite, in files `null`,
    /// where it was not evaluated.
    #[serde(deserialize_with = "null_is_infinite")]
    pub primal: f64,
    /// The dual value of a feasible point: no more than the optimum.
    pub dual: Option<f64>,
    /// `primal - dual`.
    pub gap: Option<f64>,
    /// If the gap is proven.
    pub certified: bool,
}

impl Certificate {
    /// Puts the bounds together; the gap follows from them.
    pub fn new(primal: f64, dual: Option<f64>, certified: bool) -> Self {
        let gap = dual.map(|dual| primal - dual).filter(|gap| gap.is_finite());
        Certificate { primal, dual, gap, certified }
    }
}

fn null_is_infinite<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::INFINITY))
}

/// Mean task losses of predictions; the names are those of all files and reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Losses {
    /// On the training set.
    #[serde(rename = "train_loss")]
    pub train: Option<f64>,
    /// On the test set.
    #[serde(rename = "test_loss")]
    pub test: Option<f64>,
}

/// The cost of a run; the names are those of all reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RunCost {
    /// Training calls of the oracle, those of checks that led on among them.
    pub oracle_calls: u64,
    /// Calls that evaluated bounds, those of checks that said "not yet" among them.
    pub evaluation_calls: u64,
    /// Steps on cached planes.
    pub cached_steps: u64,
    /// Oracle calls / n, or examples drawn / n where the solver counts these.
    pub passes: f64,
    /// Outer iterations; none where a run goes over several lambdas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    /// Time on the training clock.
    pub train_seconds: f64,
    /// Of these, inside the oracle.
    pub oracle_seconds: f64,
    /// Time that evaluation of bounds took beside. Reports give it as part of all seconds.
    #[serde(skip)]
    pub evaluation_seconds: f64,
}

impl RunCost {
    /// Returns all calls of the oracle, those of training and those of evaluation.
    pub fn all_calls(&self) -> u64 {
        self.oracle_calls + self.evaluation_calls
    }

    /// Returns the seconds of training and evaluation.
    pub fn all_seconds(&self) -> f64 {
        self.train_seconds + self.evaluation_seconds
    }
}

/// How far a run has come after an outer iteration; the names are those of the record file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// Oracle calls / n, or examples drawn / n where the solver counts these.
    pub pass: f64,
    /// Outer iterations begun.
    pub iterations: u64,
    /// Approximate passes made.
    pub approximate_passes: u64,
    /// Training calls of the oracle.
    pub oracle_calls: u64,
    /// Steps on cached planes.
    pub cached_steps: u64,
    /// Training time; evaluation is not in it.
    pub seconds: f64,
    /// Of these, inside the oracle.
    pub oracle_seconds: f64,
    /// The use of the other seconds; only if a solver keeps books of it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub split: Option<TimeSplit>,
    /// The best bounds so far: the primal value is that of the weights that would be saved now; of a run with patience,
    /// which evaluates these at the end, only the last record's is.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// The estimated gap and the cost of evaluation; only if evaluation is part of the run.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<GapForecast>,
    /// Planes kept, mean per example.
    pub planes: Option<f64>,
    /// Mean task losses, as far as they were asked for.
    #[serde(flatten)]
    pub losses: Losses,
    /// The report of held-out data so far; only if a run has patience.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_stopping: Option<EarlyStopping>,
    /// Which answer had the lower primal value, the last iterate or the average; only where the solver offers both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<&'static str>,
    /// The figures that only this solver has.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    /// Examples drawn for the steps that have ended; only of solvers whose passes count these, see
    /// [`Solver::drawn`](crate::solver::Solver::drawn).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples_drawn: Option<u64>,
    /// The cost of the kernel; only if there is one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelState>,
}

/// The report of held-out data on a run that has patience; the names are those of all files and reports.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EarlyStopping {
    /// The lowest mean task loss measured.
    pub loss: f64,
    /// The pass of the iterate that has it.
    pub pass: f64,
    /// Measurements since then.
    pub since: u64,
    /// Measurements in all, each a prediction of every example held out by every answer that the solver has.
    pub measurements: u64,
}

/// The cost of a kernel since the run began or was resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct KernelState {
    /// Values of the kernel computed, those of evaluation among them, as far as they were computed for training rows.
    pub kernel_evaluations: u64,
    /// Rows that carry weight in the present answer; `None` for solvers that do not say.
    pub support_vectors: Option<usize>,
}

/// Training seconds by what they went into, as Guzman-Rivera et al. 2014 split them (Figure 2c): inference is what is
/// left of `oracle_seconds` beside features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimeSplit {
    /// Making planes of the labellings found, part of `oracle_seconds`: an estimate, a few are timed. None on the work
    /// clock, and where the oracle does not know.
    pub feature_seconds: Option<f64>,
    /// Master problems.
    pub master_seconds: f64,
}

/// The estimate of the gap between evaluations, and the cost of those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct GapForecast {
    /// The estimated gap, from the gaps that visits met, and no bound.
    pub gap_estimate: Option<f64>,
    /// Calls that only evaluated bounds.
    pub evaluation_calls: u64,
    /// Time that they took; it is not in `seconds`.
    pub evaluation_seconds: f64,
}

impl Record {
    /// Returns how far the run has come, as those see it who hear of ticks.
    pub fn tick(&self) -> Tick {
        let GapForecast { gap_estimate, evaluation_calls, evaluation_seconds } = self.forecast.unwrap_or_default();
        Tick {
            pass: self.pass,
            oracle_calls: self.oracle_calls,
            evaluation_calls,
            seconds: self.seconds + evaluation_seconds,
            gap_estimate,
        }
    }
}

/// The view of a run between outer iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tick {
    /// Oracle calls / n, or examples drawn / n where the solver counts these.
    pub pass: f64,
    /// Training calls of the oracle.
    pub oracle_calls: u64,
    /// Calls that only evaluated bounds.
    pub evaluation_calls: u64,
    /// Seconds of training and evaluation.
    pub seconds: f64,
    /// The estimated gap; no bound.
    pub gap_estimate: Option<f64>,
}

/// A watcher of a run. Nothing that an observer does reaches the solver.
pub trait Observer {
    /// An outer iteration has ended; with `evaluate=pass`, bounds were evaluated.
    ///
    /// # Errors
    ///
    /// A record that could not be written; it ends the run.
    fn evaluated(&mut self, record: &Record) -> io::Result<()>;

    /// Hears that a path or grid moves on to this lambda.
    fn moved(&mut self, _lambda: f64) {}

    /// The run goes on; called often.
    fn ticked(&mut self, _tick: Tick) {}
}

/// Writes each record as one line of JSON and flushes it; in a run at several lambdas with a `lambda` in front.
pub struct JsonLines<W> {
    out: W,
    lambda: Option<f64>,
}

/// A record of a run at several lambdas.
#[derive(Serialize)]
struct AtLambda<'a> {
    lambda: f64,
    #[serde(flatten)]
    record: &'a Record,
}

impl<W: Write> JsonLines<W> {
    /// Records go to `out`.
    pub fn new(out: W) -> Self {
        JsonLines { out, lambda: None }
    }
}

impl<W: Write> Observer for JsonLines<W> {
    fn evaluated(&mut self, record: &Record) -> io::Result<()> {
        let mut line = match self.lambda {
            Some(lambda) => serde_json::to_vec(&AtLambda { lambda, record })?,
            None => serde_json::to_vec(record)?,
        };
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }

    fn moved(&mut self, lambda: f64) {
        self.lambda = Some(lambda);
    }
}
