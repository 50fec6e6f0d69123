//! The help of commands beyond what `args` says: headings of options, short texts, examples and exit codes. Manual
//! pages have the same.

use clap::{Arg, Command};

/// The columns of help at most, and of descriptions without a terminal.
pub(crate) const WIDTH: usize = 80;

/// Options of a command from which on they are grouped.
const MANY: usize = 6;

/// Headings with the options below them.
const HEADINGS: [(&str, &[&str]); 6] = [
    ("Data", &["data", "test", "holdout", "format", "stream", "data_dir"]),
    (
        "Model and run",
        &["model", "task", "solver", "lambda", "prior", "freeze", "set", "seed", "threads", "clock", "full", "seeds"],
    ),
    ("Path and grid", &["eps", "lambda_max", "lambda_min", "kappa", "grid", "warm_start", "cv"]),
    ("Stops", &["gap", "passes", "calls", "seconds", "patience"]),
    ("Output", &["out", "record", "json", "quiet", "svg", "top", "confidence", "marginals", "columns", "report"]),
    ("Checkpoints", &["checkpoint", "checkpoint_every", "resume"]),
];

/// Examples by command, and what exit code 1 means where that is special.
const TEXTS: &str = include_str!("help.txt");

/// The text at the end of a command's help.
pub(crate) struct HelpText {
    pub(crate) examples: Vec<&'static str>,
    /// Codes with their meaning.
    pub(crate) exit: [(&'static str, &'static str); 4],
}

impl HelpText {
    /// Finds the text of a command, named as it is typed.
    pub(crate) fn of(call: &str) -> HelpText {
        let section = TEXTS.split("\n== ").find_map(|section| section.strip_prefix(call)?.strip_prefix('\n'));
        let lines = section.unwrap_or_default().lines().filter(|line| !line.is_empty());
        let (codes, examples): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("1: "));
        let failed = codes.first().map_or("it ran but failed", |line| &line[3..]);
        let interrupted = "interrupted (the best so far is saved)";
        let exit = [("0", "done"), ("1", failed), ("2", "bad input or usage"), ("130", interrupted)];
        HelpText { examples, exit }
    }

    fn long(&self) -> String {
        let examples: String = self.examples.iter().map(|line| format!("  {line}\n")).collect();
        let codes: Vec<String> = self.exit.iter().map(|(code, meaning)| format!("{code} {meaning}")).collect();
        format!("Examples:\n{examples}\nExit codes: {}.", codes.join(", "))
    }
}

/// Completes the help of a command and of all below it; `call` is the command as it is typed.
pub(crate) fn completed(command: Command, call: &str) -> Command {
    let is_grouped = command.get_arguments().count() >= MANY;
    let heading = |arg: &Arg| HEADINGS.iter().find(|(_, names)| is_grouped && names.contains(&arg.get_id().as_str()));
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let command = command.mut_args(|arg| {
        let heading = heading(&arg).map(|(heading, _)| *heading);
        let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let arg = if arg.is_positional() { arg } else { arg.help_heading(heading) };
        match first_clause(&text) {
            short if short == text => arg,
            short => arg.help(short).long_help(text),
        }
    });
    let command = names
        .iter()
        .fold(command, |command, name| command.mut_subcommand(name, |sub| completed(sub, &format!("{call} {name}"))));
    command
        .max_term_width(WIDTH)
        .after_help(format!("`{call} --help` says more, with examples."))
        .after_long_help(HelpText::of(call).long())
}

/// Cuts a text at its first colon, semicolon or full stop. The default at its end stays, up to a comma.
fn first_clause(text: &str) -> String {
    let (said, default) = text.rfind(" [default: ").map_or((text, ""), |at| text.split_at(at));
    let end = [": ", "; ", ". "].iter().filter_map(|mark| said.find(mark)).min().unwrap_or(said.len());
    let default = default.split_once(", ").map_or(default.to_owned(), |(default, _)| format!("{default}]"));
    format!("{}{default}", &said[..end])
}
