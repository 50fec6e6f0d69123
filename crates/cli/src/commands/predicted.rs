//! Output of `predict`: as plain lines, as objects, or as a column more in the lines of the data.

use std::fmt::Write;

use multiplane::data::{Appended, Format, ReadRules, csv};
use multiplane::infer::file::Lines;
use multiplane::{Error, Model, Problem, model_format, model_rules};
use serde_json::json;

use crate::args::PredictArgs;
use crate::commands::on_data::said_of;
use crate::commands::several;

/// Writes answers as lines.
pub(crate) struct PredictionWriter {
    asked: Option<several::RequestedLists>,
    json: bool,
    /// Examples written so far.
    count: usize,
}

impl PredictionWriter {
    /// Reads the options.
    pub(crate) fn of(args: &PredictArgs) -> Result<PredictionWriter, Error> {
        Ok(PredictionWriter { asked: several::RequestedLists::of(args)?, json: args.json, count: 0 })
    }

    /// Refuses models that cannot do what is asked.
    pub(crate) fn check(&self, model: &Model) -> Result<(), Error> {
        self.asked.as_ref().map_or(Ok(()), |asked| asked.refuse_others(model))
    }

    /// Writes the answers for all examples of a problem.
    pub(crate) fn write(
        &mut self,
        problem: &dyn Problem,
        w: &[f64],
        threads: usize,
        text: &mut String,
    ) -> Result<(), Error> {
        if let Some(asked) = &self.asked {
            asked.write(problem, w, (threads, self.count), text)?;
            self.count += problem.blocks();
            return Ok(());
        }
        let (json, count) = (self.json, &mut self.count);
        problem.predictor().predict(w, threads, &mut |found| {
            let _ = if json {
                // Sums of nothing may be -0.
                let (truth, loss, score) = (found.truth, found.loss.map(|loss| loss + 0.0), found.score);
                let line = json!({ "example": *count, "prediction": found.text, "truth": truth, "loss": loss, "score": score });
                writeln!(text, "{line}")
            } else {
                writeln!(text, "{}", found.text) // a String takes anything
            };
            *count += 1;
        })?;
        Ok(())
    }
}

/// Writes the lines of the data with a column more.
pub(crate) struct Appender {
    appended: Appended,
    rules: ReadRules,
    /// The separator of a table's columns; `None` before its first line.
    separator: Option<char>,
    path: Option<std::path::PathBuf>,
}

impl Appender {
    /// Begins with data in a format.
    pub(crate) fn new(format: Format, rules: &ReadRules) -> Result<Appender, Error> {
        let appended = format.appended.ok_or_else(|| {
            let able = multiplane::data::FORMATS.iter().filter(|format| format.appended.is_some());
            let able = able.map(|format| format.name).collect::<Vec<_>>().join(", ");
            Error::input(format!("--columns: format {} has no columns to append to; these have: {able}", format.name))
        })?;
        Ok(Appender { appended, rules: rules.clone(), separator: None, path: None })
    }

    /// The same with the data of a file.
    pub(crate) fn of_file(args: &PredictArgs, model: &Model) -> Result<Appender, Error> {
        let (spec, _) = said_of(&args.on, model)?;
        let Some(path) = &args.on.data else { return Err(Error::input("no data given: --data PATH")) };
        let only = || match multiplane::find_task(&model.info.provenance.task).map(|task| task.formats) {
            Ok([only]) => Some(*only),
            _ => None,
        };
        let format = match spec.format {
            Some(format) => Some(format),
            None => model_format(model, path)?.or_else(only),
        };
        let format =
            format.ok_or_else(|| Error::input(format!("{}: its format is not known: --format", path.display())))?;
        if spec.folds.is_some() {
            return Err(Error::input("--columns: not with data.folds, which leaves lines out"));
        }
        Ok(Appender { path: Some(path.clone()), ..Appender::new(format, &model_rules(model, &spec))? })
    }

    /// Appends to the lines of the whole file.
    pub(crate) fn append_file(
        &mut self,
        problem: &dyn Problem,
        w: &[f64],
        threads: usize,
        text: &mut String,
    ) -> Result<(), Error> {
        let names = predicted_names(problem, w, threads)?;
        let mut names = names.iter().copied();
        let Some(path) = self.path.clone() else { return Ok(()) };
        let mut lines = Lines::open(&path)?;
        while let Some(line) = lines.next_line()? {
            self.line(line.text, &mut names, text);
        }
        match names.next() {
            None => Ok(()),
            Some(_) => Err(Error::failed(format!("{}: it has changed: fewer lines than predictions", path.display()))),
        }
    }

    /// Appends to lines that were read; those without an answer are left out.
    pub(crate) fn append(
        &mut self,
        lines: &str,
        problem: &dyn Problem,
        w: &[f64],
        threads: usize,
        text: &mut String,
    ) -> Result<(), Error> {
        let names = predicted_names(problem, w, threads)?;
        let mut names = names.iter().copied();
        lines.lines().for_each(|line| self.line(line, &mut names, text));
        Ok(())
    }

    fn line<'a>(&mut self, line: &str, names: &mut impl Iterator<Item = &'a str>, text: &mut String) {
        if line.trim().is_empty() {
            text.push_str(line);
            text.push('\n');
            return;
        }
        let (separator, name) = match self.appended {
            Appended::Tokens => (if line.contains('\t') { '\t' } else { ' ' }, names.next().map(str::to_owned)),
            Appended::Rows => {
                let is_first = self.separator.is_none();
                let separator = self.rules.separator.unwrap_or_else(|| csv::separator(line));
                let separator = *self.separator.get_or_insert(separator);
                match is_first && csv::begins_with_names(line, &self.rules) {
                    true => (separator, Some("prediction".to_owned())),
                    false => (separator, names.next().map(|name| quoted(name, separator))),
                }
            }
        };
        if let Some(name) = name {
            let _ = writeln!(text, "{}{separator}{name}", line.trim_end_matches([' ', '\r']));
        }
    }
}

/// A field of a table, in quotation marks where it must be.
fn quoted(name: &str, separator: char) -> String {
    match name.contains([separator, '"']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}

/// The names of the predicted labels, variable by variable.
fn predicted_names<'a>(problem: &'a dyn Problem, w: &[f64], threads: usize) -> Result<Vec<&'a str>, Error> {
    let (labels, mut names) = (&problem.vocabulary().labels, Vec::new());
    problem.predictor().predict_numbers(w, threads, &mut |numbers| {
        names.extend(numbers.iter().map(|&number| labels.get(number as usize).map_or("?", String::as_str)));
    })?;
    Ok(names)
}
