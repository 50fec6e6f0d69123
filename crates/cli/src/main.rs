//! The command line of multiplane. Commands live in `commands`, one file each; this file maps results to exit codes.

mod args;
mod axis;
mod chart;
mod commands;
mod demo_report;
mod eta;
mod findings;
mod infer_watch;
mod interrupt;
mod label_text;
mod letters;
mod look_text;
mod path_progress;
mod path_report;
mod progress;
mod report;
mod status_line;
mod terminal;
mod tree;

use std::process::ExitCode;

use multiplane::Error;

use crate::args::{Cli, Command};
use crate::commands::done::Done;

/// It ran, but failed.
const FAILED: u8 = 1;
/// Bad input or usage; nothing was written.
const BAD_INPUT: u8 = 2;
/// Interrupted; what there was is saved.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
        terminal::complain(&format!("error: internal error{place}: please report this, with the command line"));
    }));
    let cli = args::parse().unwrap_or_else(|error| terminal::refuse_usage(&error));
    interrupt::install();
    match std::panic::catch_unwind(|| dispatch(cli)) {
        Ok(Ok(Done::Finished)) => ExitCode::SUCCESS,
        Ok(Ok(Done::Failed)) | Err(_) => ExitCode::from(FAILED),
        Ok(Ok(Done::Interrupted)) => ExitCode::from(INTERRUPTED),
        Ok(Err(error)) => {
            terminal::complain(&format!("error: {error}"));
            ExitCode::from(match error {
                Error::Input(_) | Error::Parameter(_) => BAD_INPUT,
                Error::Failed(_) => FAILED,
            })
        }
    }
}

fn dispatch(cli: Cli) -> Result<Done, Error> {
    match cli.command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Evaluate(args) => commands::evaluate::run(&args),
        Command::Show(args) => commands::show::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Describe(args) => commands::describe::run(&args),
        Command::Data(args) => commands::data::run(&args),
        Command::Path(args) => commands::path::run(&args),
        Command::Infer(args) => commands::infer::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Reproduce(_) => commands::done::not_built("reproduce (experiments of the papers)"),
    }
}
