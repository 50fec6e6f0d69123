//! One process of an external program as a [`ForeignTask`].

use std::ops::Range;
use std::time::Duration;

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;
use serde_json::Value;

use crate::foreign::external::labels::{self, Values};
use crate::foreign::external::process::Process;
use crate::foreign::external::protocol::{self, Capability, Description, PROTOCOL, Request, Welcome};
use crate::foreign::external::spec::ExternalSpec;
use crate::foreign::features::FeatureVector;
use crate::foreign::oracle::LOSS_ROUNDING;
use crate::foreign::quality::DeclaredQuality;
use crate::foreign::task::{ForeignAnswer, ForeignTask};
use crate::probe::RawFeatures;

/// Weights are sent as changes where at most one of so many has changed.
const SPARSE: usize = 4;

/// A process of the program, started and greeted.
pub struct ExternalTask {
    /// The command, for messages.
    name: String,
    process: Process,
    welcome: Welcome,
    timeout: Duration,
    batch: usize,
    /// Number of the next request.
    next: u64,
    /// The weights that the program has.
    sent: Option<Vec<f64>>,
    /// The truths that it has told.
    truths: Vec<Option<Truth>>,
    /// What went wrong for good: a process that broke the protocol is not asked again.
    broken: Option<String>,
}

struct Truth {
    label: Value,
    /// Until they are asked for, which happens once.
    features: Option<RawFeatures>,
    /// Which should be 0.
    loss: f64,
}

impl ExternalTask {
    /// Starts the program and greets it. The error names the program.
    pub(super) fn start(spec: &ExternalSpec, data: Option<&str>, memory: Option<&Value>) -> Result<Self, String> {
        let words = spec.command.words()?;
        let name = words.join(" ");
        let failed = |reason: String| format!("external program `{name}`: {reason}");
        let mut process = Process::start(&words, spec.line_megabytes << 20).map_err(failed)?;
        process.send(Request::Hello { protocol: PROTOCOL, data, memory }.line());
        let greeted = process.receive(Duration::from_secs_f64(spec.start_seconds), "start_seconds");
        let welcome = greeted.and_then(|line| protocol::welcome(&line)).map_err(failed)?;
        let ranges = welcome.nonnegative.iter();
        if let Some((from, to)) = ranges.clone().find(|(from, to)| from > to || *to > welcome.dim) {
            return Err(failed(format!("nonnegative [{from}, {to}]: must lie within 0 to {}", welcome.dim)));
        }
        let batch = if welcome.capabilities.contains(&Capability::Batch) { spec.batch } else { 1 };
        Ok(ExternalTask {
            process,
            timeout: Duration::from_secs_f64(spec.timeout_seconds),
            batch,
            next: 1,
            sent: None,
            truths: Vec::new(),
            broken: None,
            name,
            welcome,
        })
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

    /// Whether the program says the same as another process of it, where all must agree.
    pub(super) fn agrees(&self, other: &Welcome) -> bool {
        let own = &self.welcome;
        let data = own.examples == other.examples && own.dim == other.dim && own.fingerprint == other.fingerprint;
        let promises = own.quality == other.quality && own.nonnegative == other.nonnegative;
        data && promises && own.variables == other.variables
    }

    /// Returns what the program said of itself.
    pub(super) fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Returns a reason with the program that is to blame.
    pub(super) fn blame(&self, reason: String) -> String {
        let own = self.welcome.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        format!("external program `{}`{own}: {reason}", self.name)
    }

    /// Asks about some examples and reads an answer for each. The outer error is the end of this process.
    fn ask(
        &mut self,
        examples: &[usize],
        request: impl FnOnce(u64) -> Vec<u8>,
    ) -> Result<Vec<Result<Description, String>>, String> {
        if let Some(reason) = &self.broken {
            return Err(reason.clone());
        }
        let id = self.next;
        self.next += 1;
        self.process.send(request(id));
        let line = self.process.receive(self.timeout, "timeout_seconds");
        line.and_then(|line| protocol::answers(&line, id, examples.len())).map_err(|reason| {
            self.process.kill();
            let reason = self.blame(reason);
            self.broken = Some(reason.clone());
            reason
        })
    }

    /// The answer about one example.
    fn ask_one(&mut self, example: usize, request: impl FnOnce(u64) -> Vec<u8>) -> Result<Description, String> {
        let mut answers = self.ask(&[example], request)?;
        let answer = answers.pop().unwrap_or_else(|| Err("no answer".into()));
        answer.map_err(|reason| self.blame(reason))
    }

    /// Sees to it that the program has these weights.
    fn send_weights(&mut self, w: &[f64]) {
        let differ = |(k, (new, old)): (usize, (&f64, &f64))| (new.to_bits() != old.to_bits()).then_some((k, *new));
        let mut set = None;
        if let Some(sent) = self.sent.as_ref().filter(|sent| sent.len() == w.len()) {
            let changes: Vec<(usize, f64)> = w.iter().zip(sent).enumerate().filter_map(differ).collect();
            if changes.is_empty() {
                return;
            }
            let sparse = changes.len() <= w.len() / SPARSE && self.welcome.capabilities.contains(&Capability::Changes);
            set = sparse.then_some(changes);
        }
        let all = set.is_none().then_some(w);
        self.process.send(Request::Weights { w: all, set }.line());
        let sent = self.sent.get_or_insert_default();
        sent.clear();
        sent.extend_from_slice(w);
    }

    fn decode_many(
        &mut self,
        examples: &[usize],
        w: &[f64],
        augment: bool,
    ) -> Result<Vec<Result<Description, String>>, String> {
        self.send_weights(w);
        self.ask(examples, |id| Request::Decode { id, examples, augment }.line())
    }

    fn description(&mut self, example: usize, label: &Value) -> Result<Description, String> {
        let (examples, labels) = (&[example], &[label]);
        self.ask_one(example, |id| Request::Describe { id, examples, labels }.line())
    }

    /// Asks for truths from this one on, as many as fit into a request.
    fn fetch_truths(&mut self, example: usize) -> Result<(), String> {
        self.truths.resize_with(self.examples(), || None);
        let unknown = self.truths[example..].iter().take(self.batch).take_while(|truth| truth.is_none());
        let examples: Vec<usize> = (example..example + unknown.count()).collect();
        let answers = self.ask(&examples, |id| Request::Truth { id, examples: &examples }.line())?;
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
        if self.broken.is_none() {
            self.process.end(Request::End.line());
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
        self.send_weights(w);
        let examples = &[example];
        let found = self.ask_one(example, |id| Request::Decode { id, examples, augment: augmented }.line())?;
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

    fn batch(&self) -> usize {
        self.batch
    }

    fn answers(
        &mut self,
        examples: &[usize],
        w: &[f64],
        augmented: bool,
        out: &mut [ForeignAnswer<Value>],
    ) -> Result<(), (usize, String)> {
        let batch = self.batch;
        for (first, part) in examples.chunks(batch).enumerate().map(|(k, part)| (k * batch, part)) {
            let answers = self.decode_many(part, w, augmented).map_err(|reason| (first, reason))?;
            for (slot, answer) in answers.into_iter().enumerate().map(|(k, answer)| (first + k, answer)) {
                let checked = answer.and_then(|found| self.checked(found, &mut out[slot]));
                checked.map_err(|reason| (slot, self.blame(reason)))?;
            }
        }
        Ok(())
    }

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
            Some(values) => Values::Declared(values),
            None if !label.is_array() || labels::look_free(&known) => Values::Seen(known),
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

    fn errors(&mut self, example: usize, label: &Value, loss: f64) -> Result<(usize, usize), String> {
        Ok(labels::errors(&self.truth(example)?, label, loss))
    }
}
