//! The learner of a stream: what is kept between windows, and what a window does to it.
//!
//! A window is opened as a problem of its own, by the vocabulary of the stream; it is predicted, then learned. Features that
//! were never seen widen w; labels are those declared, or those of the first window. Memory is a few vectors like w, and the
//! window in hand.

use multiplane_core::clock::Clock;
use multiplane_core::context::{CallCounts, Ctx};
use multiplane_core::metric::Metric;
use multiplane_core::observe::Certificate;
use multiplane_core::online::{Growth, Online};
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::rng::Rng;
use multiplane_core::solver::SfdStep;
use multiplane_core::state;
use multiplane_solvers::SOLVERS;
use multiplane_tasks::data::Classified;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{Problem, Vocabulary};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Error;
use crate::file::{Model, ModelInfo, Provenance, sha256};
use crate::spec::{RunSpec, StreamSpec};

/// Tasks that learn from streams: their examples are rows, so that w can grow.
const TASKS: [&str; 2] = ["binary", "multiclass"];

/// Learns from windows of a stream.
pub struct Learner {
    pub(super) spec: RunSpec,
    pub(super) stream: StreamSpec,
    pub(super) online: Box<dyn Online>,
    rng: Rng,
    clock: Clock,
    pub(super) kept: Kept,
}

/// What is kept beside the weights.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Names of the labels; none before the first window.
    pub(super) labels: Vec<i64>,
    /// Features, a bias feature included.
    pub(super) features: usize,
    pub(super) examples: u64,
    windows: u64,
    /// Sum of the losses of predictions made before examples were learned.
    losses: f64,
    counts: CallCounts,
    /// sha256 over that of the windows before, and that of the last one.
    fingerprint: String,
}

/// What a window came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its examples.
    pub examples: usize,
    /// Mean loss of its predictions, made before it was learned.
    pub loss: f64,
}

impl Learner {
    /// Prepares to learn by a run and a stream that [`StreamSpec::take`] has read.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for a task or solver that does not learn from streams, and a parameter that the solver lacks.
    pub fn new(spec: RunSpec, stream: StreamSpec) -> Result<Learner, Error> {
        let (task, name) = (spec.task.name.clone(), spec.solver.entry.name);
        if !TASKS.contains(&task.as_str()) {
            let tasks = TASKS.join(", ");
            return Err(Error::input(format!("task `{task}` does not learn from streams; these do: {tasks}")));
        }
        spec.solver.config.check_metric(&Metric::default()).map_err(|error| error.under("solver"))?;
        let Some(online) = spec.solver.config.online(stream.facts(spec.lambda)) else {
            let able = SOLVERS.iter().filter(|entry| entry.learns_from_streams()).map(|entry| entry.name);
            let able = able.collect::<Vec<_>>().join(", ");
            return Err(Error::input(format!("solver `{name}` does not learn from streams; these do: {able}")));
        };
        let (rng, clock) = (Rng::new(spec.seed, 0), Clock::new(spec.clock));
        Ok(Learner { online: online?, rng, clock, kept: Kept::default(), spec, stream })
    }

    /// Predicts the examples of a window, then learns from them.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for data of another kind, and labels or features that there may not be; nothing is learned then.
    /// [`Error::Failed`] where the task fails.
    pub fn learn(&mut self, data: Dataset) -> Result<Window, Error> {
        let Some(rows) = data.get::<Classified>() else {
            let found = data.describe();
            return Err(Error::input(format!("a stream of task `{}` is of rows, found {found}", self.spec.task.name)));
        };
        if rows.labels.is_empty() {
            return Err(Error::input("a window without examples"));
        }
        self.check_lengths(rows)?;
        let labels = self.labels_with(rows)?;
        let features = self.features_with(rows, labels.len())?;
        (self.kept.labels, self.kept.features) = (labels, features);
        self.grow();
        let problem = self.open(data)?;
        self.clock.resume();
        let window = self.predict_and_learn(&*problem);
        self.clock.pause();
        let window = window?;
        self.kept.examples += window.examples as u64;
        self.kept.windows += 1;
        self.kept.losses += window.loss * window.examples as f64;
        self.kept.fingerprint = sha256(&[self.kept.fingerprint.as_bytes(), problem.fingerprint().as_bytes()]);
        Ok(window)
    }

    fn predict_and_learn(&mut self, problem: &dyn Problem) -> Result<Window, Error> {
        let mut oracle: BoxedOracle = problem.oracle()?;
        let blocks = problem.blocks();
        let mut ctx = Ctx::new(&mut oracle, &mut self.rng, &mut self.clock, &mut self.kept.counts);
        let shown = self.online.shown(blocks, &mut ctx);
        let loss = problem.predictor().evaluate(shown, 1)?.loss.unwrap_or(0.0); // all labels are known
        self.online.learn(blocks, &mut ctx)?;
        Ok(Window { examples: blocks, loss })
    }

    /// Gives the weights of features that were never seen their place.
    fn grow(&mut self) {
        let tables = if self.spec.task.name == "binary" { 1 } else { self.kept.labels.len() };
        let (from, to) = (self.online.dim() / tables, self.kept.features);
        if to > from {
            let kept = if from == 0 { 0 } else { usize::from(self.has_bias()) };
            self.online.grow(&Growth { tables, from, to, kept });
        }
    }

    fn vocabulary(&self) -> Vocabulary {
        let labels = self.kept.labels.iter().map(i64::to_string).collect();
        Vocabulary { labels, features: self.kept.features, ..Vocabulary::default() }
    }

    fn open(&self, data: Dataset) -> Result<Box<dyn Problem>, Error> {
        let parameters = Value::Object(self.spec.task.params.clone());
        Ok(self.spec.task_entry()?.open(&parameters, data, Some(&self.vocabulary()))?)
    }

    /// Returns the model as it stands: usable, and without a certificate.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] before the first window.
    pub fn model(&self) -> Result<Model, Error> {
        if self.kept.windows == 0 {
            return Err(Error::input("there is no example in the stream"));
        }
        let w = self.weights()?;
        let mut spec = self.spec.provenance();
        spec["stream"] = json!(self.stream);
        let provenance = Provenance {
            task: self.spec.task.name.clone(),
            vocabulary: self.vocabulary(),
            spec,
            fingerprint: self.kept.fingerprint.clone(),
            n: self.kept.examples as usize,
        };
        let lambda = self.lambda().unwrap_or(1.0 / self.kept.examples as f64);
        Ok(Model { w, info: ModelInfo::new(provenance, lambda, Certificate::new(f64::INFINITY, None, false)) })
    }

    pub(super) fn weights(&self) -> Result<Vec<f64>, Error> {
        let mut w = Vec::new();
        self.online.answer(&mut w);
        match w.iter().all(|weight| weight.is_finite()) {
            true => Ok(w),
            false => Err(Error::failed("the weights are not finite: the features are too large, or lambda too small")),
        }
    }

    /// Returns what the last step of functional descent did.
    pub fn descent(&self) -> Option<SfdStep> {
        self.online.descent()
    }

    /// Returns lambda, where the solver goes by one.
    pub fn lambda(&self) -> Option<f64> {
        self.stream.facts(self.spec.lambda).lambda.filter(|_| self.online.minimises())
    }

    /// Returns the run's specification.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Returns the stream's parameters.
    pub fn stream(&self) -> &StreamSpec {
        &self.stream
    }

    /// Returns the examples learned from.
    pub fn examples(&self) -> u64 {
        self.kept.examples
    }

    /// Returns the windows learned from.
    pub fn windows(&self) -> u64 {
        self.kept.windows
    }

    /// Returns the steps made.
    pub fn steps(&self) -> u64 {
        self.online.steps()
    }

    /// Returns the length of w.
    pub fn dim(&self) -> usize {
        self.online.dim()
    }

    /// Returns the mean loss of all predictions, each made before its example was learned.
    pub fn progressive_loss(&self) -> Option<f64> {
        (self.kept.examples > 0).then(|| self.kept.losses / self.kept.examples as f64)
    }

    /// Returns what the oracle was asked.
    pub fn counts(&self) -> &CallCounts {
        &self.kept.counts
    }

    /// Returns the seconds of predicting and learning, on the run's clock.
    pub fn seconds(&self) -> f64 {
        self.clock.now()
    }

    /// Writes what there is as bytes, to go on from later.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] where that fails.
    pub fn save(&self) -> Result<Vec<u8>, Error> {
        let failed = |error: state::StateError| Error::failed(error.to_string());
        let mut bytes = Vec::new();
        state::encode(&(state::FORMAT, &self.rng, &self.clock, &self.kept), &mut bytes).map_err(failed)?;
        self.online.save(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Goes on from what [`save`](Learner::save) wrote, of a learner with the same parameters.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for bytes of another learner or another version, and damaged ones.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let refused = |error: state::StateError| Error::input(format!("the learner's state: {error}"));
        let (head, rest): ((u32, Rng, Clock, Kept), _) = state::decode_front(bytes).map_err(refused)?;
        let (format, rng, clock, kept) = head;
        if format != state::FORMAT {
            return Err(Error::input("the learner's state is of another version of the program"));
        }
        self.online.restore(rest).map_err(refused)?;
        let tables = if self.spec.task.name == "binary" { 1 } else { kept.labels.len() };
        if kept.features.checked_mul(tables) != Some(self.online.dim()) || clock.kind() != self.spec.clock {
            return Err(Error::input("the learner's state does not fit its parameters"));
        }
        (self.rng, self.clock, self.kept) = (rng, clock, kept);
        Ok(())
    }
}
