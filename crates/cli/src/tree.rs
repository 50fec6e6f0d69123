//! From arguments to the tree of parameters that specifies a run: RUN.toml, flags, and `--set`.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;

use multiplane::{Error, params};
use serde_json::{Map, Value};

use crate::args::TrainArgs;

/// Most bytes of a run specification.
const LONGEST: u64 = 1 << 24;

/// The dotted name that a flag is a spelling of, and its value.
pub(crate) type Flag = (&'static str, Value);

/// Applies `--set key=value` arguments to a tree.
pub(crate) fn apply_sets(tree: &mut Map<String, Value>, sets: &[String]) -> Result<(), Error> {
    for text in sets {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                let is_same =
                    |other: &&String| other.split_once('=').is_some_and(|(name, _)| name.trim() == key.trim());
                if let Some(first) = sets.iter().find(is_same).filter(|first| !std::ptr::eq(*first, text)) {
                    let lists = "a list is written with commas, as in data.folds=8,9";
                    return Err(Error::input(format!("--set {first} and --set {text}: expected one of them; {lists}")));
                }
                params::set(tree, key.trim(), params::parse_value(value.trim()));
            }
            _ => return Err(Error::input(format!("--set {text}: expected KEY=VALUE, as in solver.order=uniform"))),
        }
    }
    Ok(())
}

/// A path as text: what a run is made of is written down in models and checkpoints, as UTF-8.
///
/// # Errors
///
/// It is not UTF-8, so it would not be found again.
pub(crate) fn utf8(path: &Path) -> Result<&str, Error> {
    let refuse =
        || Error::input(format!("{}: the path is not UTF-8 text: rename it, or give a link to it", path.display()));
    path.to_str().ok_or_else(refuse)
}

/// The tree of a RUN.toml. What is no TOML and has another name is likely data.
pub(crate) fn read_spec(path: &Path) -> Result<Map<String, Value>, Error> {
    let shown = path.display();
    let refuse = |fault: String| match path.extension() {
        Some(extension) if extension == "toml" => Error::Input(fault),
        _ => Error::input(format!("{fault}: expected a run specification (RUN.toml); data is given by --data {shown}")),
    };
    let read = |file: fs::File| {
        let mut text = String::new();
        let read = file.take(LONGEST + 1).read_to_string(&mut text)? as u64;
        if read > LONGEST { Err(std::io::Error::other(format!("it has more than {LONGEST} bytes"))) } else { Ok(text) }
    };
    let text = fs::File::open(path).and_then(read).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => refuse(format!("{shown}: it is not UTF-8 text")),
        ErrorKind::NotFound => {
            Error::input(format!("{shown}: {error}: expected a run specification (RUN.toml); data is given by --data"))
        }
        _ => Error::input(format!("{shown}: {error}")),
    })?;
    let file: toml::Table = text.parse().map_err(|error| refuse(toml_fault(path, &text, &error)))?;
    params::from_toml(file).map_err(|fault| Error::input(format!("{shown}: {fault}")))
}

/// Says in which line of a RUN.toml the name stands that an error calls unknown.
pub(crate) fn in_line(path: &Path, error: Error) -> Error {
    let (Error::Input(message), Ok(text)) = (&error, fs::read_to_string(path)) else { return error };
    let Some((_, rest)) = message.split_once("unknown ").filter(|(before, _)| before.is_empty()) else { return error };
    // The name is the last one quoted before what is said of it.
    let said = rest.find("`: ").unwrap_or(rest.len());
    let Some(name) = rest[..said].rsplit('`').next().filter(|name| !name.is_empty()) else { return error };
    let found = text.lines().enumerate().find_map(|(number, line)| {
        let code = line.split('#').next().unwrap_or_default();
        let is_name = |word: &str| word.trim().trim_matches(['"', '\'']) == name;
        let (key, value) = code.split_once('=').unwrap_or((code, ""));
        let heads = key.trim().trim_start_matches('[').trim_end_matches(']');
        let at = if heads.split('.').any(is_name) { code.find(name) } else { None };
        let at = at.or_else(|| is_name(value).then(|| code.rfind(name)).flatten())?;
        Some((number + 1, code[..at].chars().count() + 1))
    });
    match found {
        Some((line, column)) => Error::input(format!("{}:{line}:{column}: {message}", path.display())),
        None => error,
    }
}

/// `path:line:column: what is wrong`.
fn toml_fault(path: &Path, text: &str, error: &toml::de::Error) -> String {
    let before = &text[..error.span().map_or(0, |span| span.start).min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    format!("{}:{line}:{column}: {message}", path.display())
}

/// Builds the tree that the command line asks for: file, flags and `--set`, later ones over earlier ones. `flags` are
/// those of the command that `train` does not have.
pub(crate) fn tree(args: &TrainArgs, flags: &[Flag]) -> Result<Map<String, Value>, Error> {
    overlay(args, flags, Map::new())
}

/// Lays the same over a tree that was there before.
pub(crate) fn overlay(
    args: &TrainArgs,
    flags: &[Flag],
    mut tree: Map<String, Value>,
) -> Result<Map<String, Value>, Error> {
    if let Some(path) = &args.spec {
        params::merge(&mut tree, read_spec(path)?);
    }
    let texts = [
        ("task", &args.task),
        ("data.format", &args.format),
        ("solver", &args.solver),
        ("lambda", &args.lambda),
        ("stop.gap", &args.stops.gap),
        ("clock", &args.clock),
    ];
    for (key, value) in texts {
        if let Some(value) = value {
            params::set_name(&mut tree, key, value);
        }
    }
    let numbers = [
        ("stop.passes", &args.stops.passes),
        ("stop.calls", &args.stops.calls),
        ("stop.seconds", &args.stops.seconds),
        ("stop.patience", &args.stops.patience),
        ("seed", &args.seed),
        ("data.holdout", &args.holdout),
        ("threads", &args.threads),
    ];
    for (key, value) in numbers {
        if let Some(value) = value {
            params::set(&mut tree, key, params::parse_value(value));
        }
    }
    if let Some(freeze) = &args.freeze {
        params::set(&mut tree, "regularizer.freeze", Value::String(freeze.clone()));
    }
    for (key, path) in [("data.path", &args.data), ("data.test", &args.test), ("regularizer.prior", &args.prior)] {
        if let Some(path) = path {
            params::set(&mut tree, key, Value::String(utf8(path)?.into()));
        }
    }
    for (key, value) in flags {
        params::set(&mut tree, key, value.clone());
    }
    // All of them together first, so that a name and its fields may come in any order.
    let mut sets = Map::new();
    apply_sets(&mut sets, &args.set)?;
    params::merge(&mut tree, sets);
    Ok(tree)
}
