//! The waist between problems and solvers: the max-oracle, its answers, what only some oracles can do, and wrappers.
//!
//! A solver sees a problem through [`MaxOracle`], five methods of which two have defaults. What only some oracles can
//! do is a capability, a trait of its own that [`MaxOracle::capabilities`] hands out ([`Capabilities`]). An oracle
//! around another writes what it changes and nothing else ([`Wrapper`]; [`Delayed`] is the pattern).

mod answer;
mod audited;
mod capability;
mod max_oracle;
mod slack;
mod wrapper;

pub use answer::{OracleError, OracleResult, Prices, Quality, check_answer};
pub use audited::{AnswerAudit, Audited};
pub use capability::{
    Ability, Capabilities, Coded, CodedPlanes, KBestPlanes, MarginalPlanes, NoCapabilities, Recombination,
};
pub use max_oracle::{BoxedOracle, MaxOracle};
pub use slack::{SlackCount, SlackFacts, SlackOracle, bound_of_line};
pub use wrapper::{Delay, Delayed, Wrapped, Wrapper};
