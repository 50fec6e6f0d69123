//! `multiplane completions`: what shells need to complete commands and options, from the definitions in `args`.

use multiplane::Error;

use crate::args::{CompletionsArgs, command};
use crate::commands::done::Done;
use crate::terminal::print;

pub(crate) fn run(args: &CompletionsArgs) -> Result<Done, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "multiplane", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Done::Finished)
}
