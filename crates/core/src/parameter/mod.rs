//! Parameters of solvers and tasks: what a config struct documents of them, how they are read, and what is said of one
//! that cannot be.

mod read;
mod schema;

pub use read::{ParameterError, not_negative, read, require, shown};
pub use schema::{Param, ParamKind, ValueKind, Variant, from_schema, params_of};
