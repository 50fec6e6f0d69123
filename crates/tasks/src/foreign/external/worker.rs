//! One process of an external program as a [`ForeignTask`].

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use multiplane_core::executor::{Connection, HandOut, Patience, PoolStats};
use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use serde_json::Value;

use crate::foreign::external::labels::{self, LabelValues};
use crate::foreign::external::launch::Launch;
use crate::foreign::external::process::Process;
use crate::foreign::external::protocol::{self, Capability, Description, Request, Welcome};
use crate::foreign::features::FeatureVector;
use crate::foreign::oracle::LOSS_ROUNDING;
use crate::foreign::quality::DeclaredQuality;
use crate::foreign::task::{Examinable, ForeignAnswer, ForeignTask, WorkerControl};
use crate::probe::RawFeatures;

/// Weights are sent as changes where at most one of so many has changed.
const SPARSE: usize = 4;

/// A process of the program, started and greeted.
pub struct ExternalTask {
    launch: Arc<Launch>,
    connection: Connection<Process>,
    welcome: Welcome,
    batch: usize,
    /// The weights that the program has, and how many it was sent before them.
    sent: Option<Vec<f64>>,
    version: u64,
    /// The truths that it has told.
    truths: Vec<Option<Truth>>,
}

/// Writes a request with a number, for weights with a number, about examples.
type Writer<'a> = dyn Fn(u64, Option<u64>, &[usize]) -> Vec<u8> + 'a;

/// The reply of a program to the examples of a request: an answer, or its refusal.
type Answers = Vec<Result<Description, String>>;

struct Truth {
    label: Value,
    /// Until they are asked for, which happens once.
    features: Option<RawFeatures>,
    /// Which should be 0.
    loss: f64,
}

impl ExternalTask {
    /// Starts the program and greets it; `stats` counts how often it has to be started again. The error names the
    /// program.
    pub(super) fn start(launch: Arc<Launch>, stats: Arc<PoolStats>) -> Result<Self, String> {
        let (process, welcome) = launch.greet()?;
        let spec = &launch.spec;
        let batch = if welcome.capabilities.contains(&Capability::Batch) { spec.batch } else { 1 };
        let patience = Patience {
            limit: Duration::from_secs_f64(spec.timeout_seconds),
            hint: " (task.timeout_seconds); does it flush after every line?",
            restarts: spec.restarts,
            stop: Arc::default(),
        };
        let (again, expected) = (launch.clone(), welcome.clone());
        let start = move || match again.greet() {
            Ok((process, welcome)) if welcome.agrees(&expected) => Ok(process),
            Ok(_) => Err("started again it described another problem".to_string()),
            Err(later) => Err(format!("it could not be started again: {later}")),
        };
        let connection = Connection::new(process, Box::new(start), patience, stats);
        Ok(ExternalTask { launch, connection, welcome, batch, sent: None, version: 0, truths: Vec::new() })
    }

    pub(super) fn examples(&self) -> usize {
        self.welcome.examples
    }

    pub(super) fn dim(&self) -> usize {
        self.welcome.dim
    }

    pub(super) fn nonnegative(&self) -> Vec<Range<usize>> {
        self.welcome.nonnegative.iter().map(|&(from, to)| from..to).collect()
    }

    pub(super) fn fingerprint(&self) -> Option<&str> {
        self.welcome.fingerprint.as_deref()
    }

    pub(super) fn memory(&self) -> Option<&Value> {
        self.welcome.memory.as_ref()
    }

    /// Returns what the program said of itself.
    pub(super) fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Returns a reason with the program that is to blame.
    pub(super) fn blame(&self, reason: String) -> String {
        let own = self.welcome.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        format!("external program `{}`{own}: {reason}", self.launch.name)
    }

    /// Asks about some examples, at weights where they matter. A process that breaks down answers nothing until it is
    /// started again.
    fn ask(&mut self, examples: &[usize], w: Option<&[f64]>, request: &Writer<'_>) -> Result<Answers, String> {
        if let Some(reason) = self.connection.fault() {
            return Err(reason.into());
        }
        let mut lines = w.map(|w| self.weights(w)).unwrap_or_default();
        let version = w.and_then(|_| self.told_version());
        let sent = self.connection.send(|id| {
            lines.extend(request(id, version, examples));
            lines
        });
        let line = sent.and_then(|id| Ok((id, self.connection.receive(id)?)));
        let answers = line.and_then(|(id, line)| protocol::answers(&line, id, version, examples.len()));
        let answers = answers.map_err(|reason| self.blame(reason));
        match &answers {
            Ok(_) => self.connection.earn(examples.len()),
            Err(reason) => self.connection.fail(reason.clone()),
        }
        answers
    }

    /// The number of the weights, where the program wants to know it.
    fn told_version(&self) -> Option<u64> {
        self.welcome.capabilities.contains(&Capability::Versions).then_some(self.version)
    }

    /// The answer about one example.
    fn ask_one(&mut self, example: usize, w: Option<&[f64]>, request: &Writer<'_>) -> Result<Description, String> {
        let answer = self.ask(&[example], w, request)?.pop().unwrap_or_else(|| Err("no answer".into()));
        answer.map_err(|reason| self.blame(reason))
    }

    /// The line that gives the program these weights; empty if it has them.
    fn weights(&mut self, w: &[f64]) -> Vec<u8> {
        let differ = |(k, (new, old)): (usize, (&f64, &f64))| (new.to_bits() != old.to_bits()).then_some((k, *new));
        let mut set = None;
        if let Some(sent) = self.sent.as_ref().filter(|sent| sent.len() == w.len()) {
            let changes: Vec<(usize, f64)> = w.iter().zip(sent).enumerate().filter_map(differ).collect();
            if changes.is_empty() {
                return Vec::new();
            }
            let sparse = changes.len() <= w.len() / SPARSE && self.welcome.capabilities.contains(&Capability::Changes);
            set = sparse.then_some(changes);
        }
        let all = set.is_none().then_some(w);
        self.version += 1;
        let line = Request::Weights { version: self.told_version(), w: all, set }.line();
        let sent = self.sent.get_or_insert_default();
        sent.clear();
        sent.extend_from_slice(w);
        line
    }

    fn description(&mut self, example: usize, label: &Value) -> Result<Description, String> {
        let labels = &[label];
        self.ask_one(example, None, &|id, _, examples| Request::Describe { id, examples, labels }.line())
    }

    /// Asks for truths from this one on, as many as fit into a request.
    fn fetch_truths(&mut self, example: usize) -> Result<(), String> {
        self.truths.resize_with(self.examples(), || None);
        let unknown = self.truths[example..].iter().take(self.batch).take_while(|truth| truth.is_none());
        let mut examples: Vec<usize> = (example..example + unknown.count()).collect();
        let request: &Writer<'_> = &|id, _, examples| Request::Truth { id, examples }.line();
        let mut answers = self.ask(&examples, None, request);
        if answers.is_err() && examples.len() > 1 {
            // Any of them may be to blame: only the one that is wanted is asked about again.
            self.restart()?;
            examples.truncate(1);
            answers = self.ask(&examples, None, request);
        }
        let answers = answers?;
        for (&other, answer) in examples.iter().zip(answers) {
            match answer {
                Ok(Description { label, features, loss, .. }) => {
                    self.truths[other] = Some(Truth { label, features: Some(features), loss });
                }
                Err(reason) if other == example => return Err(self.blame(reason)),
                Err(_) => {} // said again when it is asked for
            }
        }
        Ok(())
    }

    fn quality(&self, bound: Option<f64>) -> Result<Quality, String> {
        let Some(declared) = self.welcome.quality else { return Ok(Quality::Heuristic) };
        let missing = "its answer has no \"bound\", expected one as its quality is upper-bound";
        declared.of_answer(bound).ok_or_else(|| missing.into())
    }

    fn checked(&self, found: Description, out: &mut ForeignAnswer<Value>) -> Result<(), String> {
        out.features.clear();
        check_features(&found.features, self.dim(), &mut out.features)?;
        if !(found.loss.is_finite() && found.loss >= -LOSS_ROUNDING) {
            return Err(format!("its loss is {}, expected a finite number >= 0", found.loss));
        }
        if let Some(bound) = found.bound.filter(|bound| !bound.is_finite()) {
            return Err(format!("its upper bound is {bound}, expected a finite number"));
        }
        out.loss = found.loss.max(0.0);
        out.quality = self.quality(found.bound)?;
        out.label = Some(found.label);
        Ok(())
    }
}

fn check_features(raw: &RawFeatures, dim: usize, out: &mut FeatureVector) -> Result<(), String> {
    match raw {
        RawFeatures::Pairs(pairs) => pairs.iter().try_for_each(|&(index, value)| out.push(index, value, dim)),
        RawFeatures::Dense(values) => out.extend_dense(values.iter().copied(), dim),
    }
}

impl Drop for ExternalTask {
    fn drop(&mut self) {
        if self.connection.fault().is_none() {
            self.connection.transport().end(Request::End.line());
        }
    }
}

impl ForeignTask for ExternalTask {
    type Label = Value;

    fn truth(&mut self, example: usize) -> Result<Value, String> {
        if self.truths.get(example).is_none_or(Option::is_none) {
            self.fetch_truths(example)?;
        }
        let truth = self.truths[example].as_ref().ok_or("its truth is not known")?;
        Ok(truth.label.clone())
    }

    fn features(&mut self, example: usize, label: &Value, out: &mut FeatureVector) -> Result<(), String> {
        let dim = self.dim();
        if let Some(Some(truth)) = self.truths.get_mut(example)
            && truth.label == *label
            && let Some(features) = truth.features.take()
        {
            return check_features(&features, dim, out).map_err(|reason| self.blame(reason));
        }
        let found = self.description(example, label)?;
        check_features(&found.features, dim, out).map_err(|reason| self.blame(reason))
    }

    fn loss(&mut self, example: usize, label: &Value) -> Result<f64, String> {
        match self.truths.get(example) {
            Some(Some(truth)) if truth.label == *label => Ok(truth.loss),
            _ => Ok(self.description(example, label)?.loss),
        }
    }

    fn decode(&mut self, example: usize, w: &[f64], augmented: bool) -> Result<(Value, Quality), String> {
        let augment = augmented;
        let request = |id, version, examples: &[usize]| Request::Decode { id, version, examples, augment }.line();
        let found = self.ask_one(example, Some(w), &request)?;
        let quality = self.quality(found.bound).map_err(|reason| self.blame(reason))?;
        Ok((found.label, quality))
    }

    fn show(&mut self, label: &Value) -> Result<String, String> {
        Ok(label.to_string())
    }

    fn answer(
        &mut self,
        example: usize,
        w: &[f64],
        augmented: bool,
        out: &mut ForeignAnswer<Value>,
    ) -> Result<(), String> {
        self.answers(&[example], w, augmented, std::slice::from_mut(out)).map_err(|(_, reason)| reason)
    }

    fn describe(&mut self, example: usize, label: &Value, out: &mut ForeignAnswer<Value>) -> Result<(), String> {
        let found = self.description(example, label)?;
        out.features.clear();
        check_features(&found.features, self.dim(), &mut out.features).map_err(|reason| self.blame(reason))?;
        out.loss = found.loss.max(0.0);
        Ok(())
    }

    fn write(&self, label: &Value) -> Option<String> {
        Some(label.to_string())
    }

    fn read(&self, text: &str) -> Option<Value> {
        serde_json::from_str(text).ok()
    }

    fn declared(&self) -> String {
        self.welcome.quality.map_or("nothing", DeclaredQuality::name).into()
    }

    fn answers(
        &mut self,
        examples: &[usize],
        w: &[f64],
        augmented: bool,
        out: &mut [ForeignAnswer<Value>],
    ) -> Result<(), (usize, String)> {
        let (batch, augment) = (self.batch, augmented);
        let request = |id, version, examples: &[usize]| Request::Decode { id, version, examples, augment }.line();
        for (first, part) in examples.chunks(batch).enumerate().map(|(k, part)| (k * batch, part)) {
            let answers = self.ask(part, Some(w), &request).map_err(|reason| (first, reason))?;
            for (slot, answer) in answers.into_iter().enumerate().map(|(k, answer)| (first + k, answer)) {
                let checked = answer.and_then(|found| self.checked(found, &mut out[slot]));
                checked.map_err(|reason| (slot, self.blame(reason)))?;
            }
        }
        Ok(())
    }

    fn errors(&mut self, example: usize, label: &Value, loss: f64) -> Result<(usize, usize), String> {
        Ok(labels::errors(&self.truth(example)?, label, loss))
    }
}

impl WorkerControl for ExternalTask {
    fn is_lost(&self) -> bool {
        self.connection.fault().is_some()
    }

    fn restart(&mut self) -> Result<(), String> {
        self.connection.restart()?;
        self.sent = None;
        Ok(())
    }

    fn hand_out(&self) -> HandOut {
        HandOut::of(self.batch)
    }
}

impl Examinable for ExternalTask {
    fn declares_quality(&self) -> bool {
        self.welcome.quality.is_some()
    }

    fn raw_features(&mut self, example: usize, label: &Value) -> Result<RawFeatures, String> {
        Ok(self.description(example, label)?.features)
    }

    fn same(&mut self, one: &Value, other: &Value) -> bool {
        one == other
    }

    fn kind(&mut self, label: &Value) -> String {
        labels::kind(label).into()
    }

    fn neighbours(&mut self, _example: usize, label: &Value, most: usize, rng: &mut Rng) -> Vec<Value> {
        let known: Vec<&Value> = self.truths.iter().flatten().map(|truth| &truth.label).collect();
        let values = match &self.welcome.variables {
            Some(values) => LabelValues::Declared(values),
            None if !label.is_array() || labels::look_free(&known) => LabelValues::Seen(known),
            None => return Vec::new(),
        };
        if label.is_object() { Vec::new() } else { labels::changes(label, &values, most, rng) }
    }

    fn fits(&mut self, example: usize, label: &Value) -> bool {
        let own = self.truths.get(example).and_then(Option::as_ref).map(|truth| &truth.label);
        own.is_some_and(|own| match (own, label) {
            (Value::Array(own), Value::Array(label)) => self.welcome.variables.is_some() && own.len() == label.len(),
            (Value::Object(_), _) | (_, Value::Object(_)) => false,
            (own, label) => labels::kind(own) == labels::kind(label),
        })
    }
}
