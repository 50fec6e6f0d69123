//! A task's registry entry, next to the task.

use std::fmt::Debug;

use multiplane_core::oracle::Ability;
use multiplane_core::parameter::{ParameterError, read};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::data::Format;
use crate::dataset::Dataset;
use crate::problem::tables::WeightTable;
use crate::problem::{OpenError, Problem, Vocabulary, slack_rescaled};
use crate::rescaling::Rescaling;

/// The parameters of one task, from which the task is opened on data.
pub trait TaskSpec:
    Clone + Debug + Default + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// Opens the task on data, with the vocabulary of a model where one is given: then the weights are laid out as the
    /// model's.
    ///
    /// # Errors
    ///
    /// Task, parameters, data and model do not fit together.
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError>;

    /// Returns the tables that the weights of a model with this vocabulary are made of, in the layout of files; none where
    /// only data or a program knows.
    ///
    /// # Errors
    ///
    /// The vocabulary is not one of this task.
    fn weight_tables(&self, _vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        Ok(Vec::new())
    }
}

/// Parameters of some task, parsed.
pub trait TaskConfig: Debug + Send + Sync {
    /// Returns the parameters in the one notation that goes into a model file.
    fn value(&self) -> Value;

    /// Opens the task; see [`TaskSpec::open`].
    ///
    /// # Errors
    ///
    /// Task, parameters, data and model do not fit together.
    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError>;

    /// Returns the tables of the weights; see [`TaskSpec::weight_tables`].
    ///
    /// # Errors
    ///
    /// The vocabulary is not one of this task.
    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError>;
}

/// Parameters of a task, and the one that all tasks have.
#[derive(Clone, Debug, Default)]
struct Configured<S> {
    own: S,
    rescaling: Rescaling,
}

impl<S: TaskSpec> Configured<S> {
    fn read(value: &Value) -> Result<Self, ParameterError> {
        let Value::Object(table) = value else { return Ok(Configured { own: read(value)?, ..Configured::default() }) };
        let mut own = table.clone();
        let rescaling = Rescaling::take(&mut own)?;
        Ok(Configured { own: read(&Value::Object(own))?, rescaling })
    }
}

impl<S: TaskSpec> TaskConfig for Configured<S> {
    fn value(&self) -> Value {
        let mut value = serde_json::to_value(&self.own).unwrap_or_default();
        if let Value::Object(table) = &mut value {
            self.rescaling.put(table);
        }
        value
    }

    fn open(&self, data: Dataset, vocabulary: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
        let weights = data.weights().map(<[f64]>::to_vec);
        let mut problem = self.own.open(data, vocabulary)?;
        if let Some(weights) = weights {
            if self.rescaling == Rescaling::Slack {
                return Err(OpenError::new("weights of examples: not with task.rescaling = slack"));
            }
            problem.weigh(&weights)?;
        }
        match self.rescaling {
            Rescaling::Margin => Ok(problem),
            Rescaling::Slack => slack_rescaled(problem),
        }
    }

    fn weight_tables(&self, vocabulary: &Vocabulary) -> Result<Vec<WeightTable>, OpenError> {
        self.own.weight_tables(vocabulary)
    }
}

/// One line of the registry of tasks.
pub struct TaskEntry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Its max-oracle, in one line.
    pub oracle: &'static str,
    /// What lambda to begin with, where the default, 1/n, is far too small; one line, and the number first.
    pub lambda: Option<&'static str>,
    /// Whether the oracle's answers are always the best ones.
    pub is_exact: bool,
    /// Formats that it reads, the usual one first.
    pub formats: &'static [Format],
    /// How the weights are laid out.
    pub layout: &'static str,
    /// Parameters that say how one machine runs the task: they stay out of model files, and whoever uses a model gives
    /// them anew.
    pub local: &'static [&'static str],
    /// Whether its best labellings can be listed, and how sure their labels are.
    pub several: bool,
    /// If its best labellings can be listed, apart from each other.
    pub lists: bool,
    /// Whether its labellings can be summed over, unless its parameters say otherwise.
    pub marginals: bool,
    /// Whether these sums say how probable labels are.
    pub probabilities: bool,
    /// If the task is a program of the user's.
    pub is_program: bool,
    /// If two labels share one table of weights, so that an example has one plane.
    pub shares_table: bool,
    /// If no loss of an example is above 1.
    pub unit_loss: bool,
    /// What the task is opened on where no data is named; `None` where it needs data.
    pub without_data: Option<fn() -> Dataset>,
    /// Returns the parameters at their defaults.
    pub defaults: fn() -> Value,
    /// Returns names, types and documentation of the parameters.
    pub schema: fn() -> Schema,
    /// Reads parameters; those that are not given have their defaults.
    pub parse: fn(&Value) -> Result<Box<dyn TaskConfig>, ParameterError>,
}

impl TaskEntry {
    /// Makes a task of this name with parameters `S`.
    pub const fn new<S: TaskSpec>(name: &'static str) -> Self {
        TaskEntry {
            name,
            summary: "",
            oracle: "",
            lambda: None,
            is_exact: true,
            formats: &[],
            layout: "",
            local: &[],
            several: false,
            lists: false,
            marginals: false,
            probabilities: false,
            is_program: false,
            shares_table: false,
            unit_loss: false,
            without_data: None,
            defaults: || Configured::<S>::default().value(),
            schema: || Rescaling::documented(schemars::schema_for!(S)),
            parse: |value| Ok(Box::new(Configured::<S>::read(value)?)),
        }
    }

    /// Says what the task is, in one line.
    pub const fn summary(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// Says what the max-oracle is, in one line.
    pub const fn oracle(mut self, oracle: &'static str) -> Self {
        self.oracle = oracle;
        self
    }

    /// Says what lambda to begin with, where that is not 1/n: the number first, then why.
    pub const fn lambda(mut self, advice: &'static str) -> Self {
        self.lambda = Some(advice);
        self
    }

    /// Says that no loss of an example is above 1.
    pub const fn unit_loss(mut self) -> Self {
        self.unit_loss = true;
        self
    }

    /// Says that not all answers of the oracle are proven to be the best.
    pub const fn bounded(mut self) -> Self {
        self.is_exact = false;
        self
    }

    /// Names the formats that the task reads, the usual one first. Where it is the only one it is not guessed.
    pub const fn reads(mut self, formats: &'static [Format]) -> Self {
        self.formats = formats;
        self
    }

    /// Says how the weights are laid out.
    pub const fn layout(mut self, layout: &'static str) -> Self {
        self.layout = layout;
        self
    }

    /// Names the parameters that stay out of model files.
    pub const fn local(mut self, local: &'static [&'static str]) -> Self {
        self.local = local;
        self
    }

    /// Says that the task lists its best labellings and has max-marginals.
    pub const fn lists_several(mut self) -> Self {
        self.several = true;
        self
    }

    /// Says that the task lists its best labellings that are apart from each other.
    pub const fn lists(mut self) -> Self {
        self.lists = true;
        self
    }

    /// Says that its labellings can be summed over.
    pub const fn sums(mut self) -> Self {
        self.marginals = true;
        self
    }

    /// Says that its labellings can be summed over, and that these sums say how probable labels are.
    pub const fn sums_labels(mut self) -> Self {
        self.probabilities = true;
        self.sums()
    }

    /// Says that a program of the user's is the task.
    pub const fn is_program(mut self) -> Self {
        self.is_program = true;
        self
    }

    /// Says that two labels share one table of weights.
    pub const fn shares_table(mut self) -> Self {
        self.shares_table = true;
        self
    }

    /// Returns whether the task has an ability, unless its parameters say otherwise.
    pub fn has(&self, ability: Ability) -> bool {
        match ability {
            Ability::Top | Ability::Diverse => self.several,
            Ability::Marginals => self.marginals,
        }
    }

    /// Says what the task is opened on where no data is named.
    pub const fn without_data(mut self, make: fn() -> Dataset) -> Self {
        self.without_data = Some(make);
        self
    }

    /// Opens the task with parameters as a tree; see [`TaskSpec::open`].
    ///
    /// # Errors
    ///
    /// A parameter is at fault, or task, parameters, data and model do not fit together.
    pub fn open(
        &self,
        parameters: &Value,
        data: Dataset,
        vocabulary: Option<&Vocabulary>,
    ) -> Result<Box<dyn Problem>, OpenError> {
        (self.parse)(parameters)?.open(data, vocabulary)
    }
}
