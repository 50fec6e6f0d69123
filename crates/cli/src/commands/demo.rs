//! `multiplane demo`: the point of the project in half a minute, on built-in data.

use multiplane::{Error, RunOptions, Session};
use multiplane_lab::demo::Demo;

use crate::args::DemoArgs;
use crate::commands::done::Done;
use crate::interrupt;
use crate::progress::ProgressLine;
use crate::terminal::print;

pub(crate) fn run(args: &DemoArgs) -> Result<Done, Error> {
    let options = |label: &str, session: &Session| {
        let mut options = RunOptions { interrupt: Some(interrupt::flag()), ..RunOptions::default() };
        if !args.quiet
            && let Some(progress) = ProgressLine::new(label, session)
        {
            options.observers.push(Box::new(progress));
        }
        options
    };
    let say = |text: &str| if args.quiet { Ok(()) } else { print(text) };
    let finished = Demo { out: &args.out, seed: args.seed, say: &say, options: &options }.run()?;
    Ok(if finished { Done::Finished } else { Done::Interrupted })
}
