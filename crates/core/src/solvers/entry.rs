//! The line by which a registry knows a solver, and how it becomes one.

use std::fmt;

use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::online::{Online, StreamFacts};
use crate::oracle::{Ability, BoxedOracle};
use crate::parameter::{self, ParameterError};
use crate::regularizer::Regularizer;
use crate::solver::Solver;

/// A solver whose type is not known at compile time.
pub type BoxedSolver = Box<dyn Solver<BoxedOracle>>;

/// The parameters of a family of solvers. A field is a parameter, its doc comment the user's documentation.
pub trait SolverConfig: fmt::Debug + Send + Sync {
    /// Checks what their types cannot say.
    ///
    /// # Errors
    ///
    /// The first parameter that breaks a rule.
    fn validate(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    /// Returns what the oracle must be able to do beside answering.
    fn needs(&self) -> Option<Ability> {
        None
    }

    /// Returns whether it can train where the regulariser's metric is a kernel's.
    fn takes_kernels(&self) -> bool {
        false
    }

    /// Returns what a user should know of parameters that do not go with `blocks` examples, or with a run that ends
    /// after so many passes where that is known: what is cut, and what has no effect.
    fn notes(&self, _blocks: usize, _passes: Option<f64>) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether training is much slower without a kernel than with the linear one.
    fn prefers_kernels(&self) -> bool {
        false
    }

    /// Makes a learner of streams with these parameters, not begun; `None` where the family has none.
    ///
    /// # Errors
    ///
    /// The fact that the stream would have to tell and does not, by the name of the parameter.
    fn online(&self, _facts: StreamFacts) -> Option<Result<Box<dyn Online>, ParameterError>> {
        None
    }

    /// Returns the parameters that have no say where the family learns from a stream, each with the reason.
    fn unused_online(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Returns how many arrays as long as w training holds at most: of the solver, of the run around it (best weights,
    /// candidate, evaluation) and of the model. Planes that are kept for each example are not counted, as they are
    /// sparse.
    fn copies(&self) -> usize {
        7
    }

    /// Builds a solver that has not begun, for `blocks` examples and `dim` weights.
    fn build(&self, blocks: usize, dim: usize, regularizer: Regularizer) -> BoxedSolver;
}

/// Reads the parameters of a solver off a complete table of them, and checks them.
pub type ParseSolver = fn(&Value) -> Result<Box<dyn SolverConfig>, ParameterError>;

/// A line of the registry: a named preset of a family of solvers.
#[derive(Clone, Copy)]
pub struct SolverEntry {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its summary, in one line.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// If it maintains a dual value, and so can certify a gap.
    pub has_dual: bool,
    /// If it can go on at another lambda, as paths and warm starts of grids need.
    pub continues: bool,
    /// If it seeks the minimum of P at the run's lambda; the others take no notice of lambda.
    pub minimises: bool,
    /// If it learns online, from a pass or two over the data: a run that names no stop ends after two, and answers with
    /// [the latest](crate::run::Run::with_latest) weights.
    pub is_online: bool,
    /// The preset's parameters.
    pub preset: fn() -> Value,
    /// Names, types and documentation of the parameters.
    pub schema: fn() -> Schema,
    /// Reads the parameters.
    pub parse: ParseSolver,
}

impl SolverEntry {
    /// Begins the line of preset `name` of the family with parameters `C`; `preset` gives its [`values`].
    pub const fn new<C>(name: &'static str, preset: fn() -> Value) -> Self
    where
        C: SolverConfig + DeserializeOwned + JsonSchema + 'static,
    {
        SolverEntry {
            name,
            summary: "",
            source: "",
            has_dual: false,
            continues: false,
            minimises: true,
            is_online: false,
            preset,
            schema: schema::<C>,
            parse: parse::<C>,
        }
    }

    /// Says what it is, in one line.
    pub const fn summary(self, summary: &'static str) -> Self {
        SolverEntry { summary, ..self }
    }

    /// Names where it comes from.
    pub const fn source(self, source: &'static str) -> Self {
        SolverEntry { source, ..self }
    }

    /// Declares that it maintains a dual value.
    pub const fn with_dual(self) -> Self {
        SolverEntry { has_dual: true, ..self }
    }

    /// Declares that it can go on at another lambda.
    pub const fn continues(self) -> Self {
        SolverEntry { continues: true, ..self }
    }

    /// Declares that it ignores lambda: P at the run's lambda is evaluated, and not minimised.
    pub const fn without_lambda(self) -> Self {
        SolverEntry { minimises: false, ..self }
    }

    /// Declares that a pass or two over the data are what it is for.
    pub const fn online(self) -> Self {
        SolverEntry { is_online: true, ..self }
    }

    /// Returns what the preset needs of an oracle beside answers.
    pub fn needs(&self) -> Option<Ability> {
        (self.parse)(&(self.preset)()).ok()?.needs()
    }

    /// Returns whether the preset learns from streams, by what `facts` tell or with more of them.
    pub fn learns_from_streams(&self) -> bool {
        (self.parse)(&(self.preset)()).is_ok_and(|config| config.online(StreamFacts::default()).is_some())
    }

    /// Returns whether the preset trains with kernels.
    pub fn takes_kernels(&self) -> bool {
        (self.parse)(&(self.preset)()).is_ok_and(|config| config.takes_kernels())
    }
}

/// Writes a preset as the table of its values.
pub fn values(preset: &impl Serialize) -> Value {
    serde_json::to_value(preset).unwrap_or(Value::Null)
}

fn schema<C: JsonSchema>() -> Schema {
    schemars::schema_for!(C)
}

fn parse<C>(value: &Value) -> Result<Box<dyn SolverConfig>, ParameterError>
where
    C: SolverConfig + DeserializeOwned + JsonSchema + 'static,
{
    let config: C = parameter::read(value)?;
    config.validate()?;
    Ok(Box::new(config))
}

/// Why a solver cannot be built from a table of parameters.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A parameter is at fault.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The regulariser does not fit the weights.
    #[error("{0}")]
    Regularizer(String),
    /// The solver's steps are those of linear weights.
    #[error("solver {name} does not train with a kernel{}", if *.at_parameters { " at these parameters" } else { "" })]
    Kernel {
        /// Its name.
        name: &'static str,
        /// If the preset takes a kernel and these parameters do not.
        at_parameters: bool,
    },
}

impl BuildError {
    /// Returns the refusal of a kernel by a solver.
    pub fn kernel(entry: &SolverEntry) -> Self {
        BuildError::Kernel { name: entry.name, at_parameters: entry.takes_kernels() }
    }
}

impl SolverEntry {
    /// Builds the solver from a table of parameters, for `blocks` examples and `dim` weights.
    ///
    /// # Errors
    ///
    /// The parameter at fault, what does not fit of the regulariser, or a kernel that the solver does not take.
    pub fn build(
        &self,
        parameters: &Value,
        blocks: usize,
        dim: usize,
        regularizer: Regularizer,
    ) -> Result<BoxedSolver, BuildError> {
        let config = (self.parse)(parameters)?;
        match regularizer.fault(dim) {
            Some(fault) => Err(BuildError::Regularizer(fault)),
            None if regularizer.metric().has_kernel() && !config.takes_kernels() => Err(BuildError::kernel(self)),
            None => Ok(config.build(blocks, dim, regularizer)),
        }
    }
}
