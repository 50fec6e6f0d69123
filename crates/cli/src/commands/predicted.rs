//! Output of `predict`: as plain lines, as objects, as a column more in the lines of the data, or as lists (`--top`,
//! `--confidence`).

use std::fmt::Write;

use multiplane::data::{Appended, Format, ReadRules, csv};
use multiplane::infer::file::Lines;
use multiplane::oracle::OracleError;
use multiplane::{Error, MOST_LISTED, Model, Problem, model_format, model_rules};
use serde_json::json;

use crate::args::PredictArgs;
use crate::commands::on_data::said_of;
use crate::terminal::complain;

/// Writes answers as lines.
pub(crate) struct PredictionWriter {
    asked: Option<RequestedLists>,
    json: bool,
    /// Examples written so far.
    count: usize,
}

impl PredictionWriter {
    /// Reads the options.
    pub(crate) fn of(args: &PredictArgs) -> Result<PredictionWriter, Error> {
        Ok(PredictionWriter { asked: RequestedLists::of(args)?, json: args.json, count: 0 })
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

/// Lists and margins that were asked for besides labels.
pub(crate) struct RequestedLists {
    what: What,
    json: bool,
}

enum What {
    /// So many of the best labellings.
    Top(usize),
    /// The margin of each label.
    Confidence,
}

impl RequestedLists {
    /// Reads the options; `None` where the labels alone are wanted.
    pub(crate) fn of(args: &PredictArgs) -> Result<Option<RequestedLists>, Error> {
        let what = match &args.top {
            Some(text) => match text.parse() {
                Ok(count @ 1..=MOST_LISTED) => What::Top(count),
                _ => {
                    let rule = format!("must be a whole number from 1 to {MOST_LISTED}");
                    return Err(Error::input(format!("top = {text}: {rule}")));
                }
            },
            None if args.confidence => What::Confidence,
            None => return Ok(None),
        };
        Ok(Some(RequestedLists { what, json: args.json }))
    }

    /// Refuses models of tasks that know their best labelling only.
    pub(crate) fn refuse_others(&self, model: &Model) -> Result<(), Error> {
        let what = match self.what {
            What::Top(_) => "--top",
            What::Confidence => "--confidence",
        };
        multiplane::tasks::need_several(&model.info.provenance.task, what).map_err(Error::input)
    }

    /// Writes what was asked for of all examples, numbered from `first`.
    pub(crate) fn write(
        &self,
        problem: &dyn Problem,
        w: &[f64],
        (threads, first): (usize, usize),
        text: &mut String,
    ) -> Result<(), OracleError> {
        match self.what {
            What::Top(count) => write_top(problem, w, (count, threads, first), self.json, text),
            What::Confidence => write_confidence(problem, w, (threads, first), self.json, text),
        }
    }
}

fn write_top(
    problem: &dyn Problem,
    w: &[f64],
    (count, threads, first): (usize, usize, usize),
    as_json: bool,
    text: &mut String,
) -> Result<(), OracleError> {
    let (mut example, mut unproven) = (first, 0);
    problem.predictor().predict_top(w, count, threads, &mut |found| {
        let number = example;
        example += 1;
        unproven += usize::from(!found.exact);
        if as_json {
            let labelling = |(k, one): (usize, &multiplane::ScoredLabelling)| {
                json!({ "rank": k + 1, "score": one.score, "labels": one.text, "numbers": one.numbers })
            };
            let top: Vec<_> = found.labellings.iter().enumerate().map(labelling).collect();
            let _ = writeln!(text, "{}", json!({ "example": number, "exact": found.exact, "top": top }));
            return;
        }
        for (rank, one) in (1..).zip(&found.labellings) {
            let _ = writeln!(text, "{number}\t{rank}\t{}\t{}", one.score, one.text); // a String takes anything
        }
    })?;
    if unproven > 0 {
        complain(&format!(
            "warning: the lists of {unproven} of {} examples are not proven to be the best: their decoder is \
             approximate",
            example - first
        ));
    }
    Ok(())
}

fn write_confidence(
    problem: &dyn Problem,
    w: &[f64],
    (threads, first): (usize, usize),
    as_json: bool,
    text: &mut String,
) -> Result<(), OracleError> {
    let mut example = first;
    problem.predictor().predict_margins(w, threads, &mut |found| {
        let number = example;
        example += 1;
        let margins = found.margins();
        if as_json {
            // What is infinite, as there is no other label, is null.
            let line = json!({ "example": number, "labels": found.text, "numbers": found.numbers, "margins": margins,
                "runners_up": found.runners_up() });
            let _ = writeln!(text, "{line}");
            return;
        }
        let margins: Vec<String> = margins.iter().map(f64::to_string).collect();
        let _ = writeln!(text, "{number}\t{}\t{}", found.text, margins.join(" "));
    })
}
