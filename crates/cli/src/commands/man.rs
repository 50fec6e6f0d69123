//! `multiplane man`: manual pages in roff, from the definitions in `args`.

use std::path::Path;

use clap::{Arg, Command};
use clap_mangen::roff::{Roff, bold, roman};
use multiplane::{Error, durable_write, unknown_name};

use crate::args::{ManArgs, command};
use crate::commands::done::Done;
use crate::help::HelpText;
use crate::terminal::print;

pub(crate) fn run(args: &ManArgs) -> Result<Done, Error> {
    let mut program = command().disable_help_subcommand(true);
    program.build(); // commands get their full names
    match &args.out {
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .map_err(|error| Error::input(format!("{}: could not be made: {error}", folder.display())))?;
            write_all(&program, &program, folder)?;
        }
        None => print(&page(&program, find(&program, &args.command)?)?)?,
    }
    Ok(Done::Finished)
}

/// The command of these words, from the program down.
fn find<'a>(program: &'a Command, words: &[String]) -> Result<&'a Command, Error> {
    words.iter().try_fold(program, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            Error::input(unknown_name("command", word, command.get_subcommands().map(|sub| sub.get_name())))
        })
    })
}

/// `data make` is `multiplane-data-make`, as in the name of its file.
fn title(command: &Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_owned()
}

/// Returns the page of a command of the program.
fn page(program: &Command, command: &Command) -> Result<String, Error> {
    let mut text = Vec::new();
    let call = command.get_bin_name().unwrap_or(command.get_name());
    let source = concat!("multiplane ", env!("CARGO_PKG_VERSION"));
    // What stands after the help has sections of its own here.
    let bare = command.clone().override_usage(synopsis(command, call)).after_help(None).after_long_help(None);
    let page = clap_mangen::Man::new(bare).source(source).manual("multiplane");
    let written = page.render(&mut text);
    written.map_err(|error| Error::failed(format!("the page could not be written: {error}")))?;
    Ok(String::from_utf8_lossy(&text).into_owned() + &sections(program, command, call).to_roff())
}

/// Returns a command with all of its options and their values.
fn synopsis(command: &Command, call: &str) -> String {
    let (places, options): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && arg.get_id() != "help")
        .partition(|arg| arg.is_positional());
    let words = options.into_iter().chain(places).map(|arg| {
        let value = arg.get_value_names().filter(|_| arg.get_action().takes_values()).unwrap_or_default().join(" ");
        let word = match arg.get_long() {
            Some(long) => format!("--{long} {value}"),
            None => value,
        };
        if arg.is_required_set() { format!(" {}", word.trim_end()) } else { format!(" [{}]", word.trim_end()) }
    });
    let sub = if command.has_subcommands() { " COMMAND" } else { "" };
    format!("{call}{}{sub}", words.collect::<String>())
}

/// Returns the sections at the end of a page.
fn sections(program: &Command, command: &Command, call: &str) -> Roff {
    let (mut roff, text) = (Roff::new(), HelpText::of(call));
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in text.examples {
        roff.text([roman(line)]);
    }
    roff.control("fi", []).control("SH", ["EXIT STATUS"]);
    for (code, meaning) in text.exit {
        roff.control("TP", []).text([bold(code)]).text([roman(meaning)]);
    }
    roff.control("SH", ["SEE ALSO"]);
    let commands = std::iter::once(program).chain(program.get_subcommands());
    let others = commands.map(title).filter(|name| *name != title(command)).map(|name| format!("{name}(1)"));
    roff.text([roman(others.collect::<Vec<_>>().join(", "))]);
    roff
}

/// Writes the pages of a command and of all below it.
fn write_all(program: &Command, command: &Command, folder: &Path) -> Result<(), Error> {
    let path = folder.join(format!("{}.1", title(command)));
    durable_write(&path, page(program, command)?.as_bytes())?;
    command.get_subcommands().try_for_each(|sub| write_all(program, sub, folder))
}
