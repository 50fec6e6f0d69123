//! A shard of a data set: a session on its examples, and the run that a coordinator drives.

use std::path::Path;
use std::sync::Arc;

use multiplane_core::observe::Certificate;
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::rounding::UNIT;
use multiplane_core::shard::{MOST_SHARDS, Shard, ShardAnswer, ShardError, ShardRequest};
use multiplane_tasks::data::{Format, Strings};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{LabelKind, Problem, Vocabulary};
use multiplane_tasks::reference::careful_sum;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::file::{Model, ModelInfo, Provenance, sha256};
use crate::session::{PrimalClaim, RunOptions, Session, open_task, read_task_data, roundings};
use crate::spec::{Lambda, RunSpec};

/// The facts of a shard that the others have to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardFacts {
    /// Examples.
    pub examples: usize,
    /// The sum of their weights.
    pub weight: f64,
    /// sha256 of the parsed data; of several shards, of their fingerprints one after the other.
    pub fingerprint: String,
    /// Names of the labels.
    labels: Vec<String>,
    label_kinds: Vec<LabelKind>,
    features: usize,
    own: Map<String, Value>,
    dictionary: Option<Vec<String>>,
}

impl ShardFacts {
    /// Returns the facts of examples, whose task is opened on them for that.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the data do not fit the task, or are scaled by themselves.
    pub fn of(spec: &RunSpec, data: Dataset, path: Option<&Path>) -> Result<ShardFacts, Error> {
        let problem = open_task(spec, data, None, path)?;
        let Vocabulary { labels, label_kinds, features, own, dictionary, scale, support, .. } =
            problem.vocabulary().clone();
        if scale.is_some() || support.is_some() {
            return Err(Error::input("shards: no task.scale and no kernel, which are of all examples together"));
        }
        let dictionary = dictionary.map(|names| names.iter().map(str::to_owned).collect());
        let (examples, weight) = (problem.blocks(), problem.facts().total_weight);
        let fingerprint = problem.fingerprint().to_owned();
        Ok(ShardFacts { examples, weight, fingerprint, labels, label_kinds, features, own, dictionary })
    }

    /// Takes the labels and features of another shard as well. Labels are in ascending order, of their numbers if all
    /// have one.
    ///
    /// # Errors
    ///
    /// The field in which the two differ.
    pub fn merge(&mut self, other: &ShardFacts) -> Result<(), String> {
        let named = |facts: &ShardFacts| facts.dictionary.is_some();
        if named(self) != named(other) || self.label_kinds.is_empty() != other.label_kinds.is_empty() {
            return Err("features or labels have names in one shard, and numbers in another".into());
        }
        for (key, value) in &other.own {
            match (self.own.get(key), value.as_u64()) {
                (Some(own), Some(number)) if own.is_u64() => {
                    let most = own.as_u64().unwrap_or(0).max(number);
                    self.own.insert(key.clone(), most.into());
                }
                (own, _) if own == Some(value) => {}
                (own, _) => {
                    let own = own.unwrap_or(&Value::Null);
                    return Err(format!("shards differ in `{key}`: {own} and {value}"));
                }
            }
        }
        let mut labels: Vec<(String, Option<LabelKind>)> = Vec::new();
        for facts in [&*self, other] {
            let kinds = facts.label_kinds.iter().copied().map(Some).chain(std::iter::repeat(None));
            labels.extend(facts.labels.iter().cloned().zip(kinds));
        }
        let number = |label: &str| label.parse::<i64>().ok();
        let are_numbers = labels.iter().all(|(label, _)| number(label).is_some());
        labels.sort_by(|(a, _), (b, _)| match are_numbers {
            true => number(a).cmp(&number(b)).then_with(|| a.cmp(b)),
            false => a.cmp(b),
        });
        labels.dedup_by(|(a, _), (b, _)| a == b);
        self.label_kinds = labels.iter().filter_map(|(_, kind)| *kind).collect();
        self.labels = labels.into_iter().map(|(label, _)| label).collect();
        let (before, more) =
            (self.dictionary.as_ref().map_or(0, Vec::len), other.dictionary.as_ref().map_or(0, Vec::len));
        let beside = self.features.saturating_sub(before).max(other.features.saturating_sub(more));
        if let (Some(own), Some(others)) = (&mut self.dictionary, &other.dictionary) {
            own.extend(others.iter().cloned());
            let are_columns = self.own.contains_key("width");
            own.sort_by(|a, b| match are_columns {
                true => number(a).cmp(&number(b)).then_with(|| a.cmp(b)),
                false => a.cmp(b),
            });
            own.dedup();
        }
        self.features = self.dictionary.as_ref().map_or(0, Vec::len) + beside;
        self.fingerprint = sha256(&[self.fingerprint.as_bytes(), other.fingerprint.as_bytes()]);
        self.examples += other.examples;
        self.weight += other.weight;
        Ok(())
    }

    /// Returns the labels and features as a task takes them.
    fn vocabulary(&self) -> Vocabulary {
        let dictionary = self.dictionary.as_ref().map(|names| {
            let mut strings = Strings::new();
            names.iter().for_each(|name| {
                strings.intern(name);
            });
            Arc::new(strings)
        });
        let (labels, label_kinds, own) = (self.labels.clone(), self.label_kinds.clone(), self.own.clone());
        Vocabulary { labels, label_kinds, features: self.features, own, dictionary, ..Vocabulary::default() }
    }
}

/// Reads the examples of a shard as the specification's task does.
///
/// # Errors
///
/// [`Error::Input`] with file and line of what cannot be read, or of a file without an example.
pub fn read_shard(spec: &RunSpec, path: &Path, format: Option<Format>) -> Result<Dataset, Error> {
    let data = read_task_data(spec.task_entry()?, Some(path), format, None, &spec.data.rules())?;
    match data.is_empty() {
        true => Err(Error::input(format!("{}: the shard has no example", path.display()))),
        false => Ok(data),
    }
}

/// The examples of one place, with the run on them.
pub struct ShardSession {
    session: Session,
    shard: Shard<BoxedOracle>,
}

impl ShardSession {
    /// Opens the task on the examples of a shard, by the labels and features of all shards.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where the data or the solver does not fit.
    pub fn open(mut spec: RunSpec, data: Dataset, all: &ShardFacts) -> Result<ShardSession, Error> {
        let total_weight = all.weight;
        let lambda = spec.lambda.value(total_weight);
        spec.lambda = Lambda::Value(lambda.ok_or_else(|| {
            Error::input("lambda: examples lie in several places; expected a number, 1/n or c:X with X > 0")
        })?);
        let session = Session::on_known(spec, data, None, Some(&all.vocabulary()))?;
        let run = session.prepare(session.lambda(), None, RunOptions::default())?;
        let share = session.problem().facts().total_weight / total_weight;
        let shard = Shard::new(run, share).map_err(refused)?;
        Ok(ShardSession { session, shard })
    }

    /// Returns the task on the examples.
    pub fn problem(&self) -> &dyn Problem {
        self.session.problem()
    }

    /// Returns the regulariser of the whole.
    pub fn regularizer(&self) -> &Regularizer {
        &self.session.regularizer
    }

    /// Returns the model of weights that a coordinator has found, trained on all shards.
    pub fn model(&self, w: &[f64], certificate: Certificate, all: &ShardFacts) -> Model {
        let (w, vocabulary) = self.session.problem.model_parts(w);
        let provenance = self.session.provenance();
        let (fingerprint, n) = (all.fingerprint.clone(), all.examples);
        let provenance = Provenance { vocabulary, fingerprint, n, ..provenance };
        Model { w, info: ModelInfo::new(provenance, self.session.lambda(), certificate) }
    }

    /// Does what a request asks for.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] where an oracle fails.
    pub fn answer(&mut self, request: &ShardRequest) -> Result<ShardAnswer, Error> {
        self.shard.answer(request).map_err(refused)
    }

    /// Returns the seconds of oracle calls and those of the run so far, by the clock of the run.
    pub fn seconds(&self) -> (f64, f64) {
        let cost = self.shard.run().cost();
        (cost.oracle_seconds, cost.train_seconds)
    }

    /// Returns the state as bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] where it cannot be encoded.
    pub fn save(&mut self) -> Result<Vec<u8>, Error> {
        let mut state = Vec::new();
        self.shard.save(&mut state).map_err(|error| Error::failed(error.to_string()))?;
        Ok(state)
    }

    /// Goes on from a state that a shard of the same examples has saved.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where it is none of this shard.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        self.shard.restore(state).map_err(|error| Error::input(format!("the state of a shard: {error}")))
    }
}

/// A shard's part of the primal value of a model, recomputed by plain code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardPrimal {
    /// Examples.
    pub examples: usize,
    /// The sum of their weights.
    pub weight: f64,
    /// sha256 of the parsed data.
    pub fingerprint: String,
    /// The mean of the hinges of these examples.
    pub hinges: f64,
    /// By how much that may be off.
    pub error: f64,
    /// How far outward training may have rounded, if that is known.
    pub margin: Option<f64>,
}

impl ShardPrimal {
    /// Computes the hinges of a shard that was opened by the model. `prior` is in the layout of files.
    ///
    /// # Errors
    ///
    /// As of [`hinge`](multiplane_tasks::problem::ProblemReference::hinge).
    pub fn of(
        model: &Model,
        problem: &dyn Problem,
        prior: Option<&[f64]>,
        threads: usize,
    ) -> Result<ShardPrimal, Error> {
        let hinges = problem.reference().primal(None, &model.w, 0.0, threads)?;
        let (error, margin) = roundings(problem, prior, (&model.w, model.info.lambda), hinges);
        let (examples, weight) = (problem.blocks(), problem.facts().total_weight);
        Ok(ShardPrimal { examples, weight, fingerprint: problem.fingerprint().to_owned(), hinges, error, margin })
    }
}

/// Judges the primal value of a model by the parts of the shards that it was trained on, in their order. Returns the
/// first fault, too.
///
/// # Errors
///
/// [`Error::Input`] if these are other shards, or the same in another order.
pub fn verify_shards(
    model: &Model,
    prior: Option<&[f64]>,
    parts: &[ShardPrimal],
) -> Result<(PrimalClaim, Option<String>), Error> {
    let (examples, weight) = parts.iter().fold((0, 0.0), |(n, sum), part| (n + part.examples, sum + part.weight));
    let prints = parts.iter().map(|part| part.fingerprint.clone());
    let found = prints.reduce(|all, next| sha256(&[all.as_bytes(), next.as_bytes()])).unwrap_or_default();
    let Provenance { n, fingerprint, .. } = &model.info.provenance;
    if found != *fingerprint {
        let reason = match examples == *n {
            true => "other ones, or the same in another order".into(),
            false => format!("they have {examples} examples, its own {n}"),
        };
        return Err(Error::input(format!("shards: the model was not trained on these: {reason}")));
    }
    let share = |part: &ShardPrimal| part.weight / weight;
    let hinges = careful_sum(parts.iter().map(|part| share(part) * part.hinges));
    let off = |k: usize| model.w[k] - prior.map_or(0.0, |prior| prior[k]);
    let penalty = 0.5 * model.info.lambda * careful_sum((0..model.w.len()).map(|k| off(k) * off(k)));
    let primal = penalty + hinges;
    let error = parts.iter().map(|part| share(part) * part.error).sum::<f64>() + 8.0 * UNIT * primal.abs();
    // Training counted so many additions of shards.
    let additions = 8.0 * UNIT * MOST_SHARDS as f64 * hinges;
    let margins = parts.iter().map(|part| part.margin.map(|margin| share(part) * margin));
    let margin = margins.sum::<Option<f64>>().map(|margin| margin + additions);
    let (reported, gap) = (model.info.certificate.primal, model.info.certificate.gap);
    let claim = PrimalClaim::judged(primal, (error, margin), (reported, gap));
    let fault = claim.fault(model, examples, Some(weight));
    Ok((claim, fault))
}

fn refused(error: ShardError) -> Error {
    match error {
        ShardError::Run(error) => error.into(),
        ShardError::Misfit(reason) => Error::Input(reason),
    }
}
