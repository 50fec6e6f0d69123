//! `multiplane predict --top` and `--confidence`: more than the best labelling.

use std::fmt::Write;

use multiplane::oracle::OracleError;
use multiplane::{Error, MOST_LISTED, Model, Problem};
use serde_json::json;

use crate::args::PredictArgs;
use crate::terminal::complain;

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
