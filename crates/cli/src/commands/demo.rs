//! `multiplane demo`.
use crate::args::DemoArgs;
use crate::commands::Done;
use multiplane::Error;
pub(crate) fn run(args: &DemoArgs) -> Result<Done, Error> {
    let _ = (&args.out, args.seed, args.quiet);
    Ok(Done::Finished)
}
