//! `multiplane man`: manual pages in roff, from the definitions in `args`.

use std::path::Path;

use clap::Command;
use multiplane::{Error, durable_write, unknown_name};

use crate::args::{ManArgs, command};
use crate::commands::done::Done;
use crate::terminal::print;

pub(crate) fn run(args: &ManArgs) -> Result<Done, Error> {
    let mut program = command().disable_help_subcommand(true);
    program.build(); // commands get their full names
    match &args.out {
        Some(folder) => {
            std::fs::create_dir_all(folder)
                .map_err(|error| Error::input(format!("{}: could not be made: {error}", folder.display())))?;
            write_all(&program, folder)?;
        }
        None => print(&page(find(&program, &args.command)?)?)?,
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

fn page(command: &Command) -> Result<String, Error> {
    let mut text = Vec::new();
    let source = concat!("multiplane ", env!("CARGO_PKG_VERSION"));
    let page = clap_mangen::Man::new(command.clone()).source(source).manual("multiplane");
    let written = page.render(&mut text);
    written.map_err(|error| Error::failed(format!("the page could not be written: {error}")))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Writes the pages of a command and of all below it.
fn write_all(command: &Command, folder: &Path) -> Result<(), Error> {
    let path = folder.join(format!("{}.1", title(command)));
    durable_write(&path, page(command)?.as_bytes())?;
    command.get_subcommands().try_for_each(|sub| write_all(sub, folder))
}
