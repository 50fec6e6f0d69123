//! Output of `predict`: as plain lines, as objects, as a column more in the lines of the data, or as lists (`--top`,
//! `--confidence`, `--marginals`).

use std::borrow::Cow;
use std::fmt::Write;

use multiplane::data::{Appended, Format, ReadRules, csv};
use multiplane::infer::file::Lines;
use multiplane::tasks::{need_lists, need_probabilities, need_several};
use multiplane::{Error, MOST_LISTED, Model, Problem, model_rules};
use serde_json::json;

use crate::commands::on_data::{format_of, said_of};
use crate::model_args::PredictArgs;
use crate::terminal::warn;

/// Writes answers as lines.
pub(crate) struct PredictionWriter {
    asked: RequestedOutput,
    json: bool,
    /// Examples written so far.
    count: usize,
}

enum RequestedOutput {
    /// The predictions alone.
    Labels,
    /// So many of the best labellings.
    Top(usize),
    /// The margin of each label.
    Confidence,
    /// The probability of each label.
    Marginals,
}

impl PredictionWriter {
    /// Reads the options.
    pub(crate) fn of(args: &PredictArgs) -> Result<PredictionWriter, Error> {
        let asked = match args.top.as_ref().map(|text| (text, text.parse())) {
            Some((_, Ok(count @ 1..=MOST_LISTED))) => RequestedOutput::Top(count),
            Some((text, _)) => {
                return Err(Error::input(format!("top = {text}: must be a whole number from 1 to {MOST_LISTED}")));
            }
            None if args.confidence => RequestedOutput::Confidence,
            None if args.marginals => RequestedOutput::Marginals,
            None => RequestedOutput::Labels,
        };
        Ok(PredictionWriter { asked, json: args.json, count: 0 })
    }

    /// Refuses models of tasks that know their best labelling only, where more is asked for.
    pub(crate) fn check(&self, model: &Model) -> Result<(), Error> {
        let task = &model.info.provenance.task;
        let able = match self.asked {
            RequestedOutput::Labels => Ok(()),
            RequestedOutput::Top(_) => need_lists(task, "--top"),
            RequestedOutput::Confidence => need_several(task, "--confidence"),
            RequestedOutput::Marginals => need_probabilities(task, "--marginals"),
        };
        able.map_err(Error::input)
    }

    /// Writes the answers for all examples of a problem.
    pub(crate) fn write(&mut self, of: PredictionsOf<'_>, text: &mut String) -> Result<(), Error> {
        match self.asked {
            RequestedOutput::Labels => self.write_labels(of, text),
            RequestedOutput::Top(most) => self.write_top(of, most, text),
            RequestedOutput::Confidence => self.write_confidence(of, text),
            RequestedOutput::Marginals => self.write_marginals(of, text),
        }
    }

    fn write_labels(&mut self, of: PredictionsOf<'_>, text: &mut String) -> Result<(), Error> {
        of.problem.predictor().predict(of.w, of.threads, &mut |found| {
            // Sums of nothing may be -0. A String takes anything.
            let _ = match (self.json, found.loss.map(|loss| loss + 0.0)) {
                (true, loss) => {
                    let line = json!({ "example": self.count, "prediction": found.text, "truth": found.truth,
                        "loss": loss, "score": found.score });
                    writeln!(text, "{line}")
                }
                (false, _) => writeln!(text, "{}", found.text),
            };
            self.count += 1;
        })?;
        Ok(())
    }

    fn write_top(&mut self, of: PredictionsOf<'_>, most: usize, text: &mut String) -> Result<(), Error> {
        let mut unproven = 0;
        of.problem.predictor().predict_top(of.w, most, of.threads, &mut |found| {
            unproven += usize::from(!found.exact);
            let number = self.count;
            if self.json {
                let labelling = |(k, one): (usize, &multiplane::ScoredLabelling)| {
                    json!({ "rank": k + 1, "score": one.score, "labels": one.text, "numbers": one.numbers })
                };
                let top: Vec<_> = found.labellings.iter().enumerate().map(labelling).collect();
                let _ = writeln!(text, "{}", json!({ "example": number, "exact": found.exact, "top": top }));
            } else {
                for (rank, one) in (1..).zip(&found.labellings) {
                    let _ = writeln!(text, "{number}\t{rank}\t{}\t{}", one.score, one.text);
                }
            }
            self.count += 1;
        })?;
        if unproven > 0 {
            warn(format!(
                "the lists of {unproven} of {} examples are not proven to be the best: their decoder is approximate",
                of.problem.blocks()
            ));
        }
        Ok(())
    }

    /// Writes tables of probabilities, and the names of their columns: labels, or heads, the root first.
    fn write_marginals(&mut self, of: PredictionsOf<'_>, text: &mut String) -> Result<(), Error> {
        let labels = &of.problem.vocabulary().labels;
        of.problem.predictor().predict_marginals(of.w, of.threads, &mut |found| {
            let mut rest = &found.probabilities[..];
            let row = |&count: &usize| rest.split_off(..count).unwrap_or_default();
            let table: Vec<&[f64]> = found.counts.iter().map(row).collect();
            let heads = || (0..=table.len()).map(|head| head.to_string()).collect::<Vec<_>>();
            let names = if labels.is_empty() { Cow::Owned(heads()) } else { Cow::Borrowed(labels) };
            let _ = writeln!(text, "{}", json!({ "example": self.count, "names": names, "marginals": table }));
            self.count += 1;
        })?;
        Ok(())
    }

    fn write_confidence(&mut self, of: PredictionsOf<'_>, text: &mut String) -> Result<(), Error> {
        let mut unproven = 0;
        of.problem.predictor().predict_margins(of.w, 0.0, of.threads, &mut |found| {
            unproven += usize::from(found.score.is_some());
            let (number, margins) = (self.count, found.margins());
            let _ = if self.json {
                // What is infinite, as there is no other label, is null.
                let line = json!({ "example": number, "labels": found.text, "numbers": found.numbers,
                    "margins": margins, "runners_up": found.runners_up(), "exact": found.score.is_none() });
                writeln!(text, "{line}")
            } else {
                let margins: Vec<String> = margins.iter().map(f64::to_string).collect();
                writeln!(text, "{number}\t{}\t{}", found.text, margins.join(" "))
            };
            self.count += 1;
        })?;
        if unproven > 0 {
            let all = of.problem.blocks();
            warn(format!("the margins of {unproven} of {all} examples are lower bounds: their decoder is approximate"));
        }
        Ok(())
    }
}

/// The problem whose predictions are wanted, with its weights, on so many threads.
#[derive(Clone, Copy)]
pub(crate) struct PredictionsOf<'a> {
    pub(crate) problem: &'a dyn Problem,
    pub(crate) w: &'a [f64],
    pub(crate) threads: usize,
}

impl<'a> PredictionsOf<'a> {
    /// The names of the predicted labels, variable by variable.
    fn names(self) -> Result<Vec<&'a str>, Error> {
        let (labels, mut names) = (&self.problem.vocabulary().labels, Vec::new());
        self.problem.predictor().predict_numbers(self.w, self.threads, &mut |numbers| {
            names.extend(numbers.iter().map(|&number| labels.get(number as usize).map_or("?", String::as_str)));
        })?;
        Ok(names)
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
        let format = format_of(model, &spec, path)?
            .ok_or_else(|| Error::input(format!("{}: its format is not known: --format", path.display())))?;
        if spec.folds.is_some() {
            return Err(Error::input("--columns: not with data.folds, which leaves lines out"));
        }
        Ok(Appender { path: Some(path.clone()), ..Appender::new(format, &model_rules(model, &spec))? })
    }

    /// Appends to the lines of the whole file.
    pub(crate) fn append_file(&mut self, of: PredictionsOf<'_>, text: &mut String) -> Result<(), Error> {
        let names = of.names()?;
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
    pub(crate) fn append(&mut self, lines: &str, of: PredictionsOf<'_>, text: &mut String) -> Result<(), Error> {
        let names = of.names()?;
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
pub(crate) fn quoted(name: &str, separator: char) -> String {
    match name.contains([separator, '"']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}
