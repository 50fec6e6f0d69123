//! The registry of tasks: each is one file of this folder and one line below.

pub mod binary;
pub mod chain;
mod difference;
pub mod multiclass;
mod rows;
mod sequences;

pub use sequences::MAX_DICTIONARY_BYTES;

use schemars::Schema;
use serde_json::Value;

use crate::dataset::Dataset;
use crate::foreign::external;
use crate::problem::{OpenError, Problem, Vocabulary};

/// Opens a task with parameters on data, with the vocabulary of a model where one is given.
pub type OpenTask = fn(Value, Dataset, Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError>;

/// One line of the registry.
pub struct TaskEntry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Its max-oracle, in one line.
    pub oracle: &'static str,
    /// Formats that it reads, the usual one first.
    pub formats: &'static [&'static str],
    /// How the weights are laid out.
    pub layout: &'static str,
    /// Parameters at their defaults.
    pub defaults: fn() -> Value,
    /// Names, types and documentation of the parameters.
    pub schema: fn() -> Schema,
    /// Why these parameters are of the wrong type, if they are.
    pub fault: fn(Value) -> Option<String>,
    /// The same parameters in the one notation that goes into a model file.
    pub normalize: fn(Value) -> Value,
    /// Opens the task on data, with the vocabulary of a model where one is given.
    pub open: OpenTask,
}

macro_rules! tasks {
    ($($name:literal, $spec:ty, $open:path, $formats:expr, $layout:literal, $oracle:literal, $summary:literal;)*) => {
        /// All tasks, in the order in which they are listed to users.
        pub static TASKS: &[TaskEntry] = &[$(TaskEntry {
            name: $name,
            summary: $summary,
            oracle: $oracle,
            formats: $formats,
            layout: $layout,
            defaults: || serde_json::to_value(<$spec>::default()).unwrap_or(Value::Null),
            schema: || schemars::schema_for!($spec),
            fault: |parameters| serde_json::from_value::<$spec>(parameters).err().map(|error| error.to_string()),
            normalize: |parameters| match serde_json::from_value::<$spec>(parameters.clone()) {
                Ok(spec) => serde_json::to_value(spec).unwrap_or(parameters),
                Err(_) => parameters,
            },
            open: |parameters, data, vocabulary| {
                let spec: $spec = serde_json::from_value(parameters)?;
                $open(&spec, data, vocabulary)
            },
        }),*];
    };
}

tasks! {
    "binary", binary::BinarySpec, binary::open, &["libsvm", "csv"], "[feature]",
        "the other label", "two classes";
    "multiclass", multiclass::MulticlassSpec, multiclass::open, &["libsvm", "csv"], "[class][feature]",
        "enumeration", "several classes (Crammer-Singer)";
    "chain", chain::ChainSpec, chain::open, &["letter", "conll", "hmm"], "unary[label][feature], pair[from][to], start, end",
        "Viterbi", "sequence labelling with a linear chain";
    "external", external::ExternalSpec, external::open, &["opaque"], "[feature], as the program numbers them",
        "the program's; as good as it declares", "a task in any language: a program that answers JSON lines";
}

/// Parameters of a task that say how one machine runs it: they stay out of model files, and whoever uses a model gives
/// them anew.
pub fn local_parameters(task: &str) -> &'static [&'static str] {
    if task == "external" { external::LOCAL } else { &[] }
}

/// The task of this name.
pub fn find(name: &str) -> Option<&'static TaskEntry> {
    TASKS.iter().find(|entry| entry.name == name)
}
