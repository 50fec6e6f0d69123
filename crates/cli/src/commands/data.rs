//! `multiplane data make`.
use crate::args::DataArgs;
use crate::commands::Done;
use multiplane::Error;
pub(crate) fn run(args: &DataArgs) -> Result<Done, Error> {
    let _ = args;
    Ok(Done::Finished)
}
