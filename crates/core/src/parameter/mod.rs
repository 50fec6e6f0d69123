//! Parameters of solvers and tasks: what a config struct documents of them, how they are read, and what is said of one
//! that cannot be.

mod error;
mod read;
mod schema;

pub use error::{ParameterError, not_negative, require};
pub use read::{read, shown};
pub use schema::{Param, ParamKind, ValueKind, Variant, from_schema, params_of};
