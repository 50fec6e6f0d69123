//! Tasks in any language: a program that answers JSON lines (docs/external-oracles.md). A call costs a round trip, and
//! the text of a labelling with its features.

mod command;
mod family;
mod labels;
mod launch;
mod open;
mod process;
mod protocol;
mod spec;
mod worker;

pub use command::CommandLine;
pub use open::ENTRY;
pub use process::kill_all;
pub use protocol::PROTOCOL;
pub use spec::ExternalSpec;
pub use worker::ExternalTask;
