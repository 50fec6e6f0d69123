//! The learner of a stream: what is kept between windows, and what a window does to it.
//!
//! A window is opened as a problem of its own, on the columns that it has; it is predicted, then the ordinary solver
//! makes a pass over it. Features that were never seen widen w; labels are those declared, or those of the first
//! window. Memory is a few vectors like w, and the window in hand.

use std::collections::BTreeSet;
use std::ops::Range;

use multiplane_core::clock::Clock;
use multiplane_core::context::{CallCounts, Ctx};
use multiplane_core::observe::Certificate;
use multiplane_core::online::{Online, StreamWeights};
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::rng::Rng;
use multiplane_core::solver::Details;
use multiplane_core::state;
use multiplane_solvers::SOLVERS;
use multiplane_tasks::data::{Classified, TOO_LONG, is_too_long};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{Problem, Vocabulary, check_dim};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Error;
use crate::file::{Model, ModelInfo, Provenance, sha256};
use crate::session::check_copies;
use crate::spec::{Lambda, RunSpec, StreamSpec};

/// Tasks that learn from streams: their examples are rows, so that w can grow.
const TASKS: [&str; 2] = ["binary", "multiclass"];

/// Learns from windows of a stream.
pub struct Learner {
    pub(super) spec: RunSpec,
    pub(super) stream: StreamSpec,
    pub(super) online: Box<dyn Online>,
    rng: Rng,
    clock: Clock,
    pub(super) kept: LearnerState,
    /// Without tables before the first window.
    weights: StreamWeights,
    details: Option<Details>,
}

/// The state kept beside the weights.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LearnerState {
    /// Names of the labels; none before the first window.
    pub(super) labels: Vec<i64>,
    pub(super) examples: u64,
    windows: u64,
    /// Sum of the losses of predictions made before examples were learned.
    losses: f64,
    counts: CallCounts,
    /// sha256 over that of the windows before, and that of the last one.
    fingerprint: String,
}

/// The result of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its examples, without those of the window before.
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
        let Some(online) = spec.solver.config.online(stream.facts(spec.lambda)) else {
            let able = SOLVERS.iter().filter(|entry| entry.learns_from_streams()).map(|entry| entry.name);
            let able = able.collect::<Vec<_>>().join(", ");
            return Err(Error::input(format!("solver `{name}` does not learn from streams; these do: {able}")));
        };
        let (rng, clock) = (Rng::new(spec.seed, 0), Clock::new(spec.clock));
        Ok(Learner {
            online: online?,
            rng,
            clock,
            kept: LearnerState::default(),
            weights: StreamWeights::default(),
            details: None,
            spec,
            stream,
        })
    }

    /// Predicts the examples of a window, then learns from them. With `stream.overlap` a window after the first one
    /// begins with so many examples of the one before, which are not predicted again.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for data of another kind, and labels or features that there may not be; [`Error::Failed`] if
    /// the task fails. Nothing is learned then.
    pub fn learn(&mut self, data: Dataset) -> Result<Window, Error> {
        self.learn_until(data, &|| false)
    }

    /// As [`learn`](Learner::learn), but ends with the steps made by the time that `halts` says so.
    ///
    /// # Errors
    ///
    /// As [`learn`](Learner::learn).
    pub fn learn_until(&mut self, data: Dataset, halts: &dyn Fn() -> bool) -> Result<Window, Error> {
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
        if self.kept.labels.is_empty() {
            self.weights = StreamWeights::new(self.tables(labels.len()), self.online.average_over(0, 1).is_some());
        }
        self.kept.labels = labels;
        self.weights.widen(features);
        let mut rows = Classified { features: None, ..rows.clone() };
        let mut columns = rows.rows.compact();
        columns.iter_mut().for_each(|column| *column += u32::from(self.has_bias()));
        if self.has_bias() || columns.is_empty() {
            columns.push(0);
        }
        self.clock.resume();
        let window = self.predict_and_learn(&Dataset::new(rows), &columns, halts);
        self.clock.pause();
        let window = window?;
        self.kept.examples += window.examples as u64;
        self.kept.windows += 1;
        self.kept.losses += window.loss * window.examples as f64;
        self.kept.fingerprint = sha256(&[self.kept.fingerprint.as_bytes(), data.fingerprint().as_bytes()]);
        Ok(window)
    }

    /// Predicts and learns a window that has these columns of w. The last step is shorter if it must be.
    fn predict_and_learn(
        &mut self,
        data: &Dataset,
        columns: &[u32],
        halts: &dyn Fn() -> bool,
    ) -> Result<Window, Error> {
        let (n, size) = (data.len(), self.online.size().min(data.len()));
        let again = if self.kept.windows > 0 { self.stream.overlap.min(n - 1) } else { 0 };
        let (mut carried, mut shown) = (self.weights.take(columns), Vec::new());
        self.online.on_window(n, size, carried.clone()).answer(&mut shown);
        let whole = self.open(data.clone(), columns.len())?;
        let fresh = self.open_part(data, again..n, columns.len())?;
        let loss = fresh.as_ref().unwrap_or(&whole).predictor().evaluate(&shown, 1)?.loss;
        let loss = loss.unwrap_or(0.0); // all labels are known
        let end = n - n % size;
        for (begin, end) in [(0, end), (end, n)].into_iter().filter(|(begin, end)| begin < end) {
            let part = self.open_part(data, begin..end, columns.len())?;
            let mut oracle: BoxedOracle = part.as_ref().unwrap_or(&whole).oracle()?;
            let blocks = end - begin;
            let mut solver = self.online.on_window(blocks, size.min(blocks), carried);
            let last = solver.steps() + blocks.div_ceil(size) as u64;
            let mut ctx = Ctx::new(&mut oracle, &mut self.rng, &mut self.clock, &mut self.kept.counts);
            while solver.steps() < last && !(solver.may_end() && halts()) {
                solver.step(&mut ctx)?;
            }
            self.details = solver.details();
            carried = solver.into_carried();
        }
        self.weights.put(columns, carried, &*self.online);
        Ok(Window { examples: n - again, loss })
    }

    /// Predicts the examples of a piece, then learns from them in windows of the stream's size: from all, or from none.
    /// Returns the mean loss of the predictions. Costs O(d) besides the windows, as the state before is kept until the
    /// piece is learned.
    ///
    /// # Errors
    ///
    /// As [`learn`](Learner::learn), and [`Error::Failed`] if the weights are no longer finite; the learner is then as
    /// it was, to the bit.
    pub fn learn_piece(&mut self, data: &Dataset) -> Result<f64, Error> {
        let before =
            (self.rng.clone(), self.clock.clone(), self.kept.clone(), self.weights.clone(), self.details.clone());
        let learned = self.learn_windows(data).and_then(|loss| self.all_weights().map(|_| loss));
        if learned.is_err() {
            (self.rng, self.clock, self.kept, self.weights, self.details) = before;
        }
        learned
    }

    fn learn_windows(&mut self, data: &Dataset) -> Result<f64, Error> {
        if self.stream.overlap > 0 {
            return Err(Error::input("stream.overlap: only windows of `train --stream` overlap"));
        }
        let (most, n) = (self.stream.window, data.len());
        let mut losses = 0.0;
        for begin in (0..n).step_by(most) {
            let examples: Vec<usize> = (begin..n.min(begin + most)).collect();
            let part = if n > most { data.subset(&examples) } else { data.clone() };
            losses += self.learn(part)?.loss * examples.len() as f64;
        }
        Ok(losses / n.max(1) as f64)
    }

    /// Returns the tables of w: columns have a weight in each.
    fn tables(&self, labels: usize) -> usize {
        if self.shares_table() { 1 } else { labels }
    }

    /// Returns true if the labels share a table, so that there are two of them.
    fn shares_table(&self) -> bool {
        self.spec.task_entry().is_ok_and(|entry| entry.shares_table)
    }

    fn vocabulary(&self, features: usize) -> Vocabulary {
        Vocabulary { labels: self.kept.labels.iter().map(i64::to_string).collect(), features, ..Vocabulary::default() }
    }

    fn open(&self, data: Dataset, features: usize) -> Result<Box<dyn Problem>, Error> {
        let parameters = Value::Object(self.spec.task.params.clone());
        Ok(self.spec.task_entry()?.open(&parameters, data, Some(&self.vocabulary(features)))?)
    }

    /// Opens some rows; `None` if they are all.
    fn open_part(
        &self,
        data: &Dataset,
        rows: Range<usize>,
        features: usize,
    ) -> Result<Option<Box<dyn Problem>>, Error> {
        (rows.len() < data.len()).then(|| self.open(data.subset(&rows.collect::<Vec<_>>()), features)).transpose()
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
        let w = self.all_weights()?;
        let mut spec = self.spec.provenance();
        spec["stream"] = json!(self.stream);
        let provenance = Provenance {
            task: self.spec.task.name.clone(),
            vocabulary: self.vocabulary(self.features()),
            spec,
            fingerprint: self.kept.fingerprint.clone(),
            n: self.kept.examples as usize,
        };
        let lambda = self.lambda().unwrap_or(1.0 / self.kept.examples as f64);
        Ok(Model { w, info: ModelInfo::new(provenance, lambda, Certificate::new(f64::INFINITY, None, false)) })
    }

    /// Returns the features that w has columns of, a bias included.
    pub(super) fn features(&self) -> usize {
        self.weights.columns()
    }

    fn all_weights(&self) -> Result<Vec<f64>, Error> {
        let (mut w, bias) = (Vec::new(), u32::from(self.has_bias()));
        let columns: Vec<u32> = (bias..self.features() as u32).chain(0..bias).collect();
        self.online.on_window(1, 1, self.weights.take(&columns)).answer(&mut w);
        match w.iter().all(|weight| weight.is_finite()) {
            true => Ok(w),
            false => Err(Error::failed("the weights are not finite: the features are too large, or lambda too small")),
        }
    }

    /// Returns what the solver reports of its last step.
    pub fn details(&self) -> Option<&Details> {
        self.details.as_ref()
    }

    /// Returns lambda, where the solver goes by one.
    pub fn lambda(&self) -> Option<f64> {
        self.stream.facts(self.spec.lambda).lambda.filter(|_| self.spec.solver.entry.minimises)
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
        self.weights.steps()
    }

    /// Returns the length of w.
    pub fn dim(&self) -> usize {
        self.weights.dim()
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

    /// Returns the warning that lambda is given to a solver that ignores it, if so.
    pub fn lambda_warning(&self) -> Option<String> {
        self.spec.lambda.unused_by(self.spec.solver.entry)
    }

    /// Returns the warning that the examples are not as many as `stream.n` announced, or already more if the stream has
    /// not `ended`.
    pub fn length_warning(&self, ended: bool) -> Option<String> {
        let (found, announced) = (self.kept.examples, self.stream.n?);
        if found == announced || (found < announced && !ended) {
            return None;
        }
        let meaning = if self.online.goes_by_examples() {
            let last = |n| self.steps() as f64 / n as f64;
            format!(
                "lambda_t = t/n was that of {announced} rows: the last step had {}, of {found} rows it had had {}",
                last(announced),
                last(found)
            )
        } else {
            match (self.spec.lambda, self.lambda()) {
                (Lambda::Value(_), _) | (_, None) => "nothing of this solver goes by it".into(),
                (by_n, Some(lambda)) => {
                    let meant = by_n.value(found as f64)?;
                    format!("lambda was that of {announced} rows, {lambda}: of {found} rows it is {meant}")
                }
            }
        };
        Some(format!("stream.n = {announced}, but {found} rows were read: {meaning}"))
    }

    /// Returns the state as bytes, to go on from later.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] if it cannot be encoded.
    pub fn save(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        state::encode(
            &(state::FORMAT, self.parameters(), &self.rng, &self.clock, &self.kept, &self.weights),
            &mut bytes,
        )
        .map_err(|error| Error::failed(error.to_string()))?;
        Ok(bytes)
    }

    /// Goes on from what [`save`](Learner::save) wrote, of a learner with the same parameters.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] for bytes of another learner or another version, and damaged ones.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let refused = |error: state::StateError| Error::input(format!("the learner's state: {error}"));
        let (format, rest): (u32, _) = state::decode_front(bytes).map_err(refused)?;
        if format != state::FORMAT {
            return Err(Error::input("the learner's state is of another version of the program"));
        }
        type State = (String, Rng, Clock, LearnerState, StreamWeights);
        let averages = self.online.average_over(0, 1).is_some();
        let state: State = state::decode(rest, |(parameters, _, clock, kept, weights): &State| {
            let tables = self.tables(kept.labels.len());
            let same = *parameters == self.parameters() && clock.kind() == self.spec.clock;
            state::ensure(same, "the parameters")?;
            let sound = match kept.labels.is_empty() {
                true => *weights == StreamWeights::default(),
                false => weights.is_sound(tables, averages),
            };
            state::ensure(sound, "the weights")
        })
        .map_err(refused)?;
        (_, self.rng, self.clock, self.kept, self.weights) = state;
        self.details = None;
        Ok(())
    }

    /// Returns a hash of the parameters.
    fn parameters(&self) -> String {
        sha256(&[json!([self.spec.provenance(), self.stream]).to_string().as_bytes()])
    }
}

impl Learner {
    /// The labels of the stream, once it has these rows.
    pub(super) fn labels_with(&self, rows: &Classified) -> Result<Vec<i64>, Error> {
        let known = match (&self.stream.labels, self.kept.labels.is_empty()) {
            (_, false) => self.kept.labels.clone(),
            (Some(declared), true) => declared.clone(),
            (None, true) => Vec::from_iter(BTreeSet::from_iter(rows.labels.clone())),
        };
        let (count, is_pair) = (known.len(), self.shares_table());
        if count < 2 || (is_pair && count > 2) {
            let shown = known.iter().take(5).map(i64::to_string).collect::<Vec<_>>().join(", ");
            let rule = if is_pair { "two" } else { "two or more" };
            let rest = if count > 5 { ", ..." } else { "" };
            let noun = if count == 1 { "label" } else { "labels" };
            let (whose, hint) = match self.stream.labels {
                Some(_) => ("stream.labels", ""),
                None => ("the first window", ": declare all by stream.labels, as in stream.labels=-1,1"),
            };
            let task = &self.spec.task.name;
            return Err(Error::Input(match count > 2 {
                true => format!(
                    "task `{task}` needs two labels, {whose} has {count} ({shown}{rest}): use --task multiclass"
                ),
                false => format!("{whose} has {count} {noun} ({shown}{rest}), expected {rule}{hint}"),
            }));
        }
        match rows.labels.iter().find(|label| known.binary_search(label).is_err()) {
            Some(label) => Err(Error::input(format!("found label {label}, which is none of the stream's labels"))),
            None => Ok(known),
        }
    }

    /// Refuses rows whose squared length no number holds: planes made of them would be none.
    pub(super) fn check_lengths(&self, rows: &Classified) -> Result<(), Error> {
        let is_too_long = |&row: &usize| is_too_long(rows.rows.row(row).values.unwrap_or_default());
        match (0..rows.rows.len()).find(is_too_long) {
            Some(row) => Err(Error::input(format!("example {row}: {TOO_LONG}"))),
            None => Ok(()),
        }
    }

    /// The features of the stream, once it has these rows.
    pub(super) fn features_with(&self, rows: &Classified, labels: usize) -> Result<usize, Error> {
        let columns = rows.rows.columns();
        let most = self.stream.most_features();
        if columns > most as usize {
            return Err(Error::input(format!("found {columns} features, expected at most {most} (stream.features)")));
        }
        let bias = usize::from(self.has_bias());
        // One column even where no row has had a feature yet.
        let features = self.features().max(columns.max(1 - bias) + bias);
        self.stream.check_size(features, self.tables(labels))?;
        check_dim(features, self.tables(labels))?;
        if features > self.features() {
            // w, its average and the times of both, all again for the model, and the bytes of its file
            let copies = if self.online.average_over(0, 1).is_some() { 9 } else { 5 };
            check_copies(&self.spec.solver, features * self.tables(labels), copies)?;
        }
        Ok(features)
    }

    pub(super) fn has_bias(&self) -> bool {
        self.spec.task.params.get("bias") == Some(&Value::Bool(true))
    }
}
