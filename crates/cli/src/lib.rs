//! The command line of multiplane, as a library: the binary `multiplane` and the Python package's command of the same
//! name both call [`run`]. Commands live in `commands`, one file each; this file maps results to exit codes.

mod args;
mod commands;
mod eta;
mod evaluation_text;
mod experiment_args;
mod fill;
mod help;
mod infer_watch;
mod interrupt;
mod model_args;
mod path_report;
mod progress;
mod report_text;
mod status_line;
mod terminal;
mod tree;
mod usage;

use std::ffi::OsString;
use std::io::Write;

use multiplane::Error;

pub use crate::evaluation_text::{json as evaluation_json, text as evaluation_text};
pub use crate::progress::RunProgress;
pub use crate::status_line::{StatusPart, fitted};

use crate::args::{Cli, Command};
use crate::commands::done::Done;
use crate::interrupt::INTERRUPTED;

/// All done.
const FINISHED: u8 = 0;
/// It ran, but failed.
const FAILED: u8 = 1;
/// Bad input or usage; nothing was written.
const BAD_INPUT: u8 = 2;

/// Runs a command line, `arguments[0]` being the program's name, and returns the exit code: 0 done, 1 ran but failed,
/// 2 bad input or usage (nothing was written), 130 interrupted (what there was is saved).
///
/// The process is the command's own: panics are reported and signals handled its way from here on, standard output and
/// error are written, and a second Ctrl-C ends the process from another thread. Call it once, before there are threads.
pub fn run(arguments: Vec<OsString>) -> u8 {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
        terminal::complain(&format!("error: internal error{place}: please report this, with the command line"));
    }));
    let cli = match args::parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => return usage::refuse(&error, &arguments),
    };
    interrupt::install();
    let code = match std::panic::catch_unwind(|| dispatch(cli)) {
        Ok(Ok(Done::Finished)) => FINISHED,
        Ok(Ok(Done::Failed)) | Err(_) => FAILED,
        Ok(Ok(Done::Interrupted)) => INTERRUPTED,
        Ok(Err(_)) if interrupt::is_leaving() => INTERRUPTED,
        Ok(Err(error)) => {
            terminal::complain(&format!("error: {}", with_flags(&error.to_string())));
            match error {
                Error::Input(_) | Error::Parameter(_) => BAD_INPUT,
                Error::Failed(_) | Error::Unwritten(..) => FAILED,
            }
        }
    };
    let _ = std::io::stdout().flush(); // where the process is not Rust's, nothing else does at its end
    code
}

/// Phrases of the libraries about parameters, each with its form on the command line.
const FLAGS: [(&str, &str); 8] = [
    ("use task=", "use --task "),
    ("as data.format", "with --format"),
    (", e.g. data.format=", ", e.g. --format "),
    (": data.format=", ": --format "),
    ("as data.test", "with --test"),
    ("regularizer.freeze: ", "--freeze: "),
    (": set data.", ": --set data."),
    (": set 'task.", ": --set 'task."),
];

/// Returns a message in which parameters that are to be given have their flags.
fn with_flags(message: &str) -> String {
    FLAGS.iter().fold(message.to_string(), |text, (parameter, flag)| text.replace(parameter, flag))
}

fn dispatch(cli: Cli) -> Result<Done, Error> {
    match cli.command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Update(args) => commands::update::run(&args),
        Command::Influence(args) => commands::influence::run(&args),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Evaluate(args) => commands::evaluate::run(&args),
        Command::Suspects(args) => commands::suspects::run(&args),
        Command::Show(args) => commands::show::run(&args),
        Command::Compact(args) => commands::compact::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Describe(args) => commands::describe::run(&args),
        Command::Data(args) => commands::data::run(&args),
        Command::Path(args) => commands::path::run(&args),
        Command::Infer(args) => commands::infer::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
    }
}
