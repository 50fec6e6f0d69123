//! `multiplane completions`: what shells need to complete commands and options, from the definitions in `args`.

use clap::CommandFactory;
use multiplane::Error;

use crate::args::{Cli, CompletionsArgs};
use crate::commands::done::Done;
use crate::terminal::print;

pub(crate) fn run(args: &CompletionsArgs) -> Result<Done, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "multiplane", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Done::Finished)
}
