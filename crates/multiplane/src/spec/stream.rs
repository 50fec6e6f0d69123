//! The parameters of a stream: one pass over examples that come in windows.

use multiplane_core::online::StreamFacts;
use multiplane_core::parameter::{self, ParameterError, require, shown};
use multiplane_core::run::Evaluate;
use multiplane_tasks::data::MAX_FEATURES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::choice::DEFAULT_SOLVER;
use super::lambda::Lambda;
use super::params::{overlay, params_of};
use super::run::RunSpec;
use super::text;
use crate::error::Error;

/// The solver of a stream for which none is named: it needs no lambda.
const DEFAULT_STREAM_SOLVER: &str = "sfd1";

/// Most features of a stream that declares none: an index by mistake shall not take the machine's memory.
const MOST_UNDECLARED: u32 = 1 << 24;

/// Most weights of such a stream: w and its averages are kept several times over, 256 MiB each.
const MOST_UNDECLARED_WEIGHTS: usize = 1 << 25;

/// Parameters of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StreamSpec {
    /// Examples of a window: predicted together, then learned; all that is held of the stream is a few windows.
    pub window: usize,
    /// Rows of the window before that a window begins with: they are learned again, and not predicted again.
    pub overlap: usize,
    /// All labels that may come, as a list or as in `-1,1`; where not given those of the first window.
    #[serde(deserialize_with = "text::integers")]
    #[schemars(with = "Value")]
    pub labels: Option<Vec<i64>>,
    /// Features that there may be; where not given 2^24, and so many that w has at most 2^25 weights.
    pub features: Option<u32>,
    /// Examples that there will be (n), for what is given in terms of it: lambda as `1/n` or `c:X`, and lambda_t = t/n.
    /// A stream of another length is learned by it all the same, with a warning.
    pub n: Option<u64>,
    /// Windows between two looks at the test data.
    pub test_every: u64,
    /// Stop after so many looks at the test data without a lower loss, with the weights that had the lowest; null goes
    /// on to the end of the stream.
    pub patience: Option<u64>,
}

impl Default for StreamSpec {
    fn default() -> Self {
        StreamSpec { window: 1000, overlap: 0, labels: None, features: None, n: None, test_every: 10, patience: None }
    }
}

/// The section of a tree.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Section {
    /// What is to be said of a stream.
    stream: StreamSpec,
}

impl StreamSpec {
    /// Takes the section `stream` out of a tree, and reads what remains as a run that a stream can be learned by; the
    /// solver where none is named is `sfd1`.
    ///
    /// # Errors
    ///
    /// An unknown name, a parameter with its value and the rule that it breaks, and what no stream has.
    pub fn take(tree: &mut Map<String, Value>) -> Result<(StreamSpec, RunSpec), Error> {
        let mut base = Map::new();
        let given: Map<String, Value> =
            tree.remove("stream").map(|value| ("stream".into(), value)).into_iter().collect();
        overlay(&mut base, &Value::Object(given), &params_of::<Section>(), "").map_err(Error::Input)?;
        let stream = parameter::read::<Section>(&Value::Object(base))?.stream;
        stream.check().map_err(|error| error.under("stream"))?;
        name_solver(tree);
        refuse_stops(tree)?;
        let run = RunSpec::from_tree(tree)?;
        refuse_run(&run)?;
        refuse_unused(tree, &run)?;
        Ok((stream, run))
    }

    fn check(&self) -> Result<(), ParameterError> {
        require((1..=1 << 24).contains(&self.window), "window", self.window, "must be 1 to 16777216")?;
        require(self.overlap < self.window, "overlap", self.overlap, "must be less than stream.window")?;
        let features = self.features.is_none_or(|features| (1..=MAX_FEATURES).contains(&features));
        require(features, "features", self.features.unwrap_or(0), &format!("must be 1 to {MAX_FEATURES}"))?;
        require(self.n != Some(0), "n", 0, "must be at least 1")?;
        require(self.test_every > 0, "test_every", 0, "must be at least 1")?;
        require(self.patience != Some(0), "patience", 0, "must be at least 1")?;
        let labels = self.labels.as_deref().unwrap_or(&[0, 1]);
        require(labels.len() > 1, "labels", text::listed(labels), "must be at least two")
    }

    /// Returns the most features that a line may have.
    pub fn most_features(&self) -> u32 {
        self.features.unwrap_or(MOST_UNDECLARED)
    }

    /// Refuses more weights than a stream may have that declares no number of features. `tables` is the number of
    /// labels with weights of their own.
    ///
    /// # Errors
    ///
    /// The numbers and the rule.
    pub fn check_size(&self, features: usize, tables: usize) -> Result<(), Error> {
        let most = self.features.map_or(MOST_UNDECLARED_WEIGHTS, |_| usize::MAX);
        match features.saturating_mul(tables) > most {
            true => Err(Error::input(format!(
                "{features} features of {tables} labels need more than {most} weights: declare how many features there \
                 may be (stream.features)"
            ))),
            false => Ok(()),
        }
    }

    /// Returns what learners are told.
    pub fn facts(&self, lambda: Lambda) -> StreamFacts {
        let lambda = match (lambda, self.n) {
            (Lambda::Value(lambda), _) => Some(lambda),
            (other, n) => n.and_then(|n| other.value(n as f64)),
        };
        StreamFacts { lambda, examples: self.n, window: self.window }
    }
}

/// Names the solver where nobody has: `auto` is no name.
fn name_solver(tree: &mut Map<String, Value>) {
    let name = || Value::String(DEFAULT_STREAM_SOLVER.into());
    match tree.get_mut("solver") {
        None | Some(Value::Null) => drop(tree.insert("solver".into(), name())),
        Some(Value::String(auto)) if auto == DEFAULT_SOLVER => *auto = DEFAULT_STREAM_SOLVER.into(),
        Some(Value::Object(table)) if table.get("name").is_some_and(|found| found == DEFAULT_SOLVER) => {
            table.insert("name".into(), name());
        }
        Some(Value::Object(table)) => drop(table.entry("name").or_insert_with(name)),
        Some(_) => {}
    }
}

/// Refuses stops that a stream cannot have, and gives it those of one pass.
fn refuse_stops(tree: &mut Map<String, Value>) -> Result<(), Error> {
    let stop = tree.entry("stop").or_insert_with(|| json!({}));
    let Some(stop) = stop.as_object_mut() else { return Ok(()) }; // what it is instead is told by who reads it
    if stop.get("gap").is_some_and(|gap| !gap.is_null()) {
        return Err(Error::input("stop.gap: a stream has no gap, as its examples do not come back"));
    }
    if stop.get("patience").is_some_and(|patience| !patience.is_null()) {
        return Err(Error::input(
            "stop.patience: it is for runs that go over their data; of a stream it is stream.patience",
        ));
    }
    match stop.get("passes").filter(|passes| !passes.is_null()) {
        Some(passes) if passes.as_f64() != Some(1.0) => {
            Err(Error::input(format!("stop.passes = {passes}: a stream is read once")))
        }
        _ => {
            stop.insert("passes".into(), json!(1.0));
            Ok(())
        }
    }
}

/// Lists parameters of the solver that a tree gives and that have no effect on a stream, with the values of the preset:
/// [`StreamSpec::take`] does not refuse these.
pub fn unused_on_streams(tree: &Map<String, Value>, run: &RunSpec) -> Vec<ParameterError> {
    let Some(given) = tree.get("solver").and_then(Value::as_object) else { return Vec::new() };
    let unused = run.solver.config.unused_online().iter().filter(|(key, _)| given.contains_key(*key));
    let told = |&(key, why): &(&str, &str)| {
        let found = shown(given[key].get("name").unwrap_or(&given[key]));
        ParameterError::new(key, found, format!("has no say: {why}")).under("solver")
    };
    unused.map(told).collect()
}

/// Refuses parameters of the solver that have no say on a stream, where they are given and are not the preset's: a
/// specification that a model holds names all of them.
fn refuse_unused(tree: &Map<String, Value>, run: &RunSpec) -> Result<(), Error> {
    let (given, solver) = (tree.get("solver").and_then(Value::as_object), &run.solver);
    let preset = (solver.entry.preset)();
    for &(key, why) in solver.config.unused_online() {
        let (found, usual) = (solver.params.get(key), preset.get(key));
        if given.is_some_and(|given| given.contains_key(key)) && found != usual {
            let found = found.map_or_else(String::new, |found| shown(found.get("name").unwrap_or(found)));
            return Err(ParameterError::new(key, found, format!("has no say: {why}")).under("solver").into());
        }
    }
    Ok(())
}

fn refuse_run(run: &RunSpec) -> Result<(), Error> {
    if run.regularizer != super::RegularizerSpec::default() {
        return Err(Error::input("regularizer: a stream begins at w = 0, with all weights free"));
    }
    if run.evaluate != Evaluate::default() {
        return Err(Error::input(
            "evaluate = pass: a stream has no bounds to evaluate, as its examples do not come back",
        ));
    }
    if run.oracle.delay_us > 0.0 || run.data.folds.is_some() || run.data.weights.is_some() {
        return Err(Error::input("oracle.delay_us, data.folds and data.weights are not for streams"));
    }
    if matches!(run.lambda, Lambda::Scale | Lambda::CrossValidated(_)) {
        return Err(Error::input("lambda: of a stream it must be a number: scale and cv look at all rows before"));
    }
    if run.data.test_folds.is_some() || run.data.holdout.is_some() {
        return Err(Error::input(
            "data.test_folds and data.holdout: the examples of a stream are read once; give test data with --test",
        ));
    }
    let named = |key: &str| match run.task.params.get(key) {
        Some(Value::Object(table)) => table.get("name").cloned(),
        other => other.cloned(),
    };
    for (key, why) in [("scale", "divisors are those of all rows"), ("kernel", "a stream's rows are not kept")] {
        if named(key).is_some_and(|name| !name.is_null() && name != "none") {
            return Err(Error::input(format!("task.{key}: not for streams, as {why}")));
        }
    }
    Ok(())
}
