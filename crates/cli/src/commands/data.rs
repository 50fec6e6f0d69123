//! `multiplane data make`.
use multiplane::Error;
use crate::args::DataArgs;
use crate::commands::Done;
pub(crate) fn run(args: &DataArgs) -> Result<Done, Error> { let _ = args; Ok(Done::Finished) }
