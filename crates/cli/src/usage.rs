//! Answers to command lines that are none: an option that does not exist is told in one line with what there is
//! instead, be it what other programs call it, a parameter that `--set` reaches, or an option that is spelt nearly so.

use std::ffi::OsString;
use std::io;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use multiplane::params::{Param, from_schema};
use multiplane::tasks::TASKS;
use multiplane::{DEFAULT_SOLVER, find_solver, find_task, nearest_name, run_parameters};
use serde_json::Value;

use crate::args;
use crate::commands::describe::walk;
use crate::terminal::complain;

/// Options of other programs, each row with the name here and an example of its value.
const FOREIGN: [(&str, &str, &str); 13] = [
    ("max-iter epochs num-epochs n-epochs epoch iterations max-iterations num-iter n-iter iter steps", "passes", "X"),
    ("tol eps epsilon tolerance", "gap", "1%"),
    ("alpha reg regularization l2 weight-decay", "lambda", "X"),
    ("test-size validation-split validation-fraction val-split", "holdout", "20%"),
    ("early-stopping n-iter-no-change", "patience", "5"),
    ("validation valid dev eval-set test-data", "test", "FILE"),
    ("time-limit timeout max-time time", "seconds", "S"),
    ("n-jobs jobs workers num-threads", "threads", "N"),
    ("random-state random-seed", "seed", "K"),
    ("output save model-out", "out", "FILE"),
    ("input train-data training-data", "data", "FILE"),
    ("proba predict-proba probabilities probability scores", "confidence", ""),
    ("metrics metric per-class", "report", ""),
];

/// Answers a command line that is none, or that asks for help, and returns the exit code.
pub(crate) fn refuse(error: &clap::Error, arguments: &[OsString]) -> u8 {
    let arguments: Vec<_> = arguments.iter().map(|text| text.to_string_lossy()).collect();
    let typed: Vec<&str> = arguments.iter().map(|text| &**text).collect();
    if let Some(other) = unknown(error, &typed) {
        complain(&format!("error: {other}"));
    } else if error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        complain(&in_one_line(&error.render().to_string(), &KnownOptions::of(&typed).call));
    } else {
        match error.print() {
            Err(fault) if !error.use_stderr() && fault.kind() != io::ErrorKind::BrokenPipe => {
                complain(&format!("error: standard output could not be written: {fault}"));
                return 1;
            }
            _ => {} // where even standard error fails there is nobody to tell
        }
    }
    error.exit_code().try_into().unwrap_or(u8::MAX) // clap knows 0 and 2
}

/// Joins clap's paragraphs into one line: the fault and the tip, without usage; `call` is the command.
fn in_one_line(text: &str, call: &str) -> String {
    let joined = |paragraph: &str| paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let mut paragraphs = text.split("\n\n");
    let mut line = paragraphs.next().map(joined).unwrap_or_default();
    let tips = paragraphs.filter_map(|paragraph| paragraph.trim_start().strip_prefix("tip: ").map(joined));
    tips.for_each(|tip| line += &format!("; {tip}"));
    format!("{line}; `{call} --help` says more")
}

/// A command, with the options that it has.
struct KnownOptions {
    /// As it is typed, the program's name before it.
    call: String,
    /// Long names of its options.
    options: Vec<String>,
}

impl KnownOptions {
    /// The command that is typed.
    fn of(typed: &[&str]) -> KnownOptions {
        let (mut command, mut call) = (args::command(), "multiplane".to_owned());
        for word in typed.iter().skip(1) {
            let Some(inner) = command.find_subcommand(word).cloned() else { break };
            command = inner;
            call += &format!(" {word}");
        }
        let options = command.get_arguments().filter(|argument| !argument.is_hide_set());
        KnownOptions { call, options: options.filter_map(|argument| argument.get_long().map(str::to_owned)).collect() }
    }

    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|own| own == option)
    }

    fn trains(&self) -> bool {
        self.has("solver")
    }
}

/// Returns the message for an argument that the command does not have.
fn unknown(error: &clap::Error, typed: &[&str]) -> Option<String> {
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let known = KnownOptions::of(typed);
    let help = format!("`{} --help` lists what there is", known.call);
    let Some(name) = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')) else {
        let instead = placed(&known, argument, typed).unwrap_or(help);
        return Some(format!("unexpected argument `{argument}`: {instead}"));
    };
    let (name, inline) = name.split_once('=').unwrap_or((name, ""));
    let option = &argument[..argument.len() - argument.split_once('=').map_or(0, |(_, value)| value.len() + 1)];
    let value = if inline.is_empty() { after(typed, argument) } else { Some(inline) };
    let instead = special(&known, name, value)
        .or_else(|| foreign(&known, name, value))
        .or_else(|| by_set(&known, name, value, typed))
        .or_else(|| {
            let near = nearest_name(name, known.options.iter().map(String::as_str))?;
            Some(format!("did you mean --{near}? {help}"))
        });
    Some(format!("there is no option {option}: {}", instead.unwrap_or(help)))
}

/// Returns the options for model and data that were given without them.
fn placed(known: &KnownOptions, argument: &str, typed: &[&str]) -> Option<String> {
    let options: Vec<&str> = ["model", "data"].into_iter().filter(|option| known.has(option)).collect();
    let start = typed.iter().position(|word| *word == argument)?;
    let words = typed[start..].iter().take_while(|word| !word.starts_with('-'));
    let given: Vec<String> = options.iter().zip(words).map(|(option, word)| format!("--{option} {word}")).collect();
    if given.is_empty() { None } else { Some(format!("give {}", given.join(" "))) }
}

/// Returns the word after an argument, if it may be its value.
fn after<'a>(typed: &[&'a str], argument: &str) -> Option<&'a str> {
    let at = typed.iter().position(|text| text.split('=').next() == Some(argument))?;
    if let Some((_, value)) = typed[at].split_once('=') {
        return Some(value);
    }
    typed.get(at + 1).copied().filter(|value| !value.starts_with('-'))
}

/// Options whose answer is more than a name.
fn special(known: &KnownOptions, name: &str, value: Option<&str>) -> Option<String> {
    Some(match name {
        "C" | "c" if known.trains() => {
            let c = value.filter(|value| value.parse::<f64>().is_ok()).unwrap_or("X");
            format!("give --lambda c:{c} for C = {c}, which is lambda = 1/({c} n)")
        }
        "model" | "m" if known.has("prior") && known.trains() => {
            let model = value.unwrap_or("MODEL");
            format!("give --out {model} to save it there, --prior {model} to learn from what it knows")
        }
        "v" | "verbose" if known.has("record") && known.has("quiet") => {
            "progress is shown on a terminal, --record FILE writes all there is to know, --quiet says nothing".into()
        }
        "executor" if known.trains() => {
            "the command of the Python package has it, for --task external: pip install \"multiplane[ray]\"".into()
        }
        "cv" if known.trains() => match value.filter(|value| value.parse::<u32>().is_ok()) {
            Some(folds) => format!("give --lambda cv:{folds}"),
            None => "give --lambda cv".into(),
        },
        _ => return None,
    })
}

/// Returns the name here of an option of another program.
fn foreign(known: &KnownOptions, name: &str, value: Option<&str>) -> Option<String> {
    let name = name.replace('_', "-");
    let &(_, option, usual) = FOREIGN.iter().find(|(words, ..)| words.split(' ').any(|word| word == name))?;
    // Commands that do not train have another `--lambda`.
    if !known.has(option) || (option == "lambda" && !known.trains()) {
        return None;
    }
    let value = match value {
        Some(share) if option == "holdout" => percent(share),
        _ if usual.is_empty() => String::new(),
        _ => value.unwrap_or(usual).to_owned(),
    };
    Some(format!("give --{option} {value}").trim_end().to_owned())
}

/// A share as `--holdout` takes it.
fn percent(share: &str) -> String {
    match share.parse::<f64>() {
        Ok(part) if part > 0.0 && part < 1.0 => format!("{}%", (1e8 * part).round() / 1e6),
        _ => share.into(),
    }
}

/// The parameter that `--set` reaches and that ends in this name.
fn by_set(known: &KnownOptions, name: &str, value: Option<&str>, typed: &[&str]) -> Option<String> {
    let key = name.replace('-', "_");
    if !known.has("set") || key.len() < 2 {
        return None;
    }
    let mut found = Vec::new();
    for (prefix, params) in tables(known, typed) {
        walk(&params, &Value::Null, prefix, &mut |path, param, _| {
            if param.name == key || param.name == format!("{key}s") {
                found.push((path.to_owned(), matches!(param.default, Value::Bool(_))));
            }
        });
    }
    // Of several the one with the fewest parts, the first of equals.
    let (path, is_switch) = found.into_iter().min_by_key(|(path, _)| path.matches('.').count())?;
    let value = value.unwrap_or(if is_switch { "true" } else { "..." });
    Some(format!("give --set {path}={value}"))
}

/// The parameters of a command with what their names begin with: those of the task and solver that are named, or of
/// all tasks.
fn tables(known: &KnownOptions, typed: &[&str]) -> Vec<(&'static str, Vec<Param>)> {
    let of_data = |param: &Param| param.name == "data";
    if !known.has("task") {
        return vec![("", run_parameters().into_iter().filter(of_data).collect())];
    }
    let tasks = match after(typed, "--task").and_then(|name| find_task(name).ok()) {
        Some(task) => vec![task],
        None => TASKS.iter().collect(),
    };
    let mut tables: Vec<_> = tasks.iter().map(|task| ("task", from_schema(&(task.schema)()))).collect();
    tables.push(("", run_parameters()));
    let solver = after(typed, "--solver").unwrap_or(DEFAULT_SOLVER);
    tables.extend(find_solver(solver).ok().map(|entry| ("solver", from_schema(&(entry.schema)()))));
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = args::parse(&arguments).err().expect("no such option");
        unknown(&error, &line.split(' ').collect::<Vec<_>>()).unwrap()
    }

    /// Clap's messages are one line, too.
    #[test]
    fn faults_are_one_line() {
        let told = |line: &str| {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let text = args::parse(&arguments).err().expect("no such line").render().to_string();
            in_one_line(&text, &KnownOptions::of(&line.split(' ').collect::<Vec<_>>()).call)
        };
        for (typed, expected) in [
            (
                "multiplane trian",
                "error: unrecognized subcommand 'trian'; a similar subcommand exists: 'train'; `multiplane --help` \
                 says more",
            ),
            (
                "multiplane predict",
                "error: the following required arguments were not provided: --model <M>; `multiplane predict --help` \
                 says more",
            ),
            (
                "multiplane completions foo",
                "error: invalid value 'foo' for '<SHELL>' [possible values: bash, elvish, fish, powershell, zsh]; \
                 `multiplane completions --help` says more",
            ),
        ] {
            assert_eq!(told(typed), expected);
        }
    }

    /// An option that does not exist is answered by what there is instead.
    #[test]
    fn options_that_do_not_exist() {
        for (typed, instead) in [
            ("train --task multiclass --bias", "--bias: give --set task.bias=true"),
            ("train --bias --task multiclass", "--bias: give --set task.bias=true"),
            ("train --task chain --ends=false", "--ends: give --set task.ends=false"),
            ("train --scale unit", "--scale: give --set task.scale=unit"),
            ("train --template forms", "--template: give --set task.template=forms"),
            ("train --loss x", "--loss: give --set task.loss=x"),
            ("train --kernel rbf", "--kernel: give --set task.kernel=rbf"),
            ("train --class-weight balanced", "--class-weight: give --set task.class_weights=balanced"),
            ("check --class-weights", "--class-weights: give --set task.class_weights=..."),
            ("predict --label-column 1", "--label-column: give --set data.label_column=1"),
            ("train --folds 1,2", "--folds: give --set data.folds=1,2"),
            ("train --pairwise full", "--pairwise: give --set task.pairwise=full"),
            ("train --max-iter 3", "--max-iter: give --passes 3"),
            ("train --epochs", "--epochs: give --passes X"),
            ("train --epochs=3", "--epochs: give --passes 3"),
            ("train --cv 5", "--cv: give --lambda cv:5"),
            ("train --tol 1e-3", "--tol: give --gap 1e-3"),
            ("predict --output file", "--output: give --out file"),
            ("predict --proba", "--proba: give --confidence"),
            ("train --num-epochs 3", "--num-epochs: give --passes 3"),
            ("train --timeout 60", "--timeout: give --seconds 60"),
            ("train --model m", "--model: give --out m to save it there, --prior m to learn from what it knows"),
            ("train --test-size 0.2", "--test-size: give --holdout 20%"),
            ("train --n-jobs -1", "--n-jobs: give --threads N"),
            ("train --random-state 7", "--random-state: give --seed 7"),
            ("train --alpha 0.1", "--alpha: give --lambda 0.1"),
            ("path --alpha 0.1", "--alpha: give --lambda 0.1"),
            ("train -C 2", "-C: give --lambda c:2 for C = 2, which is lambda = 1/(2 n)"),
            ("train --C", "--C: give --lambda c:X for C = X, which is lambda = 1/(X n)"),
            (
                "train --verbose",
                "--verbose: progress is shown on a terminal, --record FILE writes all there is to know, --quiet says \
                 nothing",
            ),
            ("train --pases 3", "--pases: did you mean --passes? `multiplane train --help` lists what there is"),
            ("predict -C 1", "-C: `multiplane predict --help` lists what there is"),
            ("predict --alpha 1", "--alpha: `multiplane predict --help` lists what there is"),
            ("data make --nn 1", "--nn: did you mean --n? `multiplane data make --help` lists what there is"),
            ("show --momentum 0.9", "--momentum: `multiplane show --help` lists what there is"),
        ] {
            assert_eq!(told(&format!("multiplane {typed}")), format!("there is no option {instead}"), "{typed}");
        }
        for (typed, instead) in [
            ("predict m new.data", "`m`: give --model m --data new.data"),
            ("evaluate m --data new.data", "`m`: give --model m"),
            ("infer two.uai", "`two.uai`: give --data two.uai"),
            ("demo here", "`here`: `multiplane demo --help` lists what there is"),
        ] {
            assert_eq!(told(&format!("multiplane {typed}")), format!("unexpected argument {instead}"), "{typed}");
        }
    }
}
