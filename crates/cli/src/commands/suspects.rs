//! `multiplane suspects`.

use std::fmt::Write as _;
use std::path::Path;

use multiplane::data::{Appended, csv};
use multiplane::infer::file::Lines;
use multiplane::{Error, Model, Suspect, SuspectPlan, check_writable, durable_write, model_rules, suspects};
use multiplane_lab::numbers::number;
use multiplane_lab::suspects::{SuspectRow, page};

use crate::commands::done::Done;
use crate::commands::on_data::{format_of, mismatch, open_model, read, said_of, threads};
use crate::commands::outputs::refuse_overwriting;
use crate::commands::predicted::quoted;
use crate::interrupt;
use crate::model_args::SuspectsArgs;
use crate::terminal::{print, warn};

/// Rows of the table, where nothing says how many.
const ROWS: usize = 20;

/// Rows of the page, where nothing says how many.
const PAGE_ROWS: usize = 1000;

pub(crate) fn run(args: &SuspectsArgs) -> Result<Done, Error> {
    for out in [&args.csv, &args.html] {
        refuse_overwriting([Some(&args.on.model), args.on.data.as_ref()].into_iter().flatten(), out)?;
        out.iter().try_for_each(|path| check_writable(path))?;
    }
    let threads = threads(&args.on)?;
    let folds = args.cv.as_deref().map(folds).transpose()?;
    let model = open_model(&args.on)?;
    let (data, local) = read(&args.on, &model, false)?;
    let plan = SuspectPlan { folds, threads, local, interrupt: Some(interrupt::flag()) };
    let found = suspects(&model, &data, &plan).map_err(|error| mismatch(&args.on, &model, &plan.local, error))?;
    found.warnings.iter().for_each(warn);
    if args.cv.is_none() && found.folds > 0 {
        warn(format!("the model was trained on this data: {} others, each without what it judges, judge", found.folds));
    }
    let found = found.labels;
    if found.is_empty() {
        return Err(Error::input("the data has no label that the model knows"));
    }
    let first = |usual: usize| &found[..found.len().min(args.top.unwrap_or(usual))];
    if let Some(path) = &args.csv {
        durable_write(path, table(first(usize::MAX)).as_bytes())?;
    }
    if let Some(path) = &args.html {
        durable_write(path, page(&rows(args, &model, first(PAGE_ROWS))?, found.len()).as_bytes())?;
    }
    if args.json {
        let lines = first(usize::MAX).iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>();
        let lines = lines.map_err(|error| Error::failed(error.to_string()))?;
        print(&format!("{}\n", lines.join("\n")))?;
    } else {
        print(&text(&found, args.top.unwrap_or(ROWS)))?;
    }
    Ok(Done::Finished)
}

fn folds(text: &str) -> Result<usize, Error> {
    match text.parse() {
        Ok(count) if count != 1 => Ok(count),
        _ => Err(Error::input(format!("cv = {text}: must be 0 or a whole number >= 2"))),
    }
}

fn part(suspect: &Suspect) -> String {
    suspect.part.map_or_else(String::new, |part| part.to_string())
}

fn text(found: &[Suspect], most: usize) -> String {
    let doubted = found.iter().filter(|suspect| suspect.score > 0.0).count();
    let kind = if found.iter().all(|suspect| suspect.part.is_none()) { "examples" } else { "labels" };
    let mut text = format!("{} {kind}; the model prefers another answer for {doubted}\n\n", found.len());
    let _ = writeln!(text, "{:>8} {:>6} {:>10}  given -> rival", "example", "part", "score");
    for one in found.iter().take(most) {
        let (part, score) = (part(one), number(one.score));
        let _ = writeln!(text, "{:>8} {part:>6} {score:>10}  {} -> {}", one.example, one.given, one.rival);
    }
    text
}

/// The table as CSV.
fn table(found: &[Suspect]) -> String {
    let mut text = "example,part,score,given,rival\n".to_owned();
    for one in found {
        let [given, rival] = [&one.given, &one.rival].map(|name| quoted(name, ','));
        let _ = writeln!(text, "{},{},{},{given},{rival}", one.example, part(one), one.score);
    }
    text
}

/// The rows of the page, with the lines of the example around each part where the data is made of lines.
fn rows(args: &SuspectsArgs, model: &Model, found: &[Suspect]) -> Result<Vec<SuspectRow>, Error> {
    let examples = lines_of(args, model)?;
    let row = |one: &Suspect| {
        let lines = examples.get(one.example).map_or(&[][..], Vec::as_slice);
        SuspectRow {
            place: one.part.map_or_else(|| one.example.to_string(), |part| format!("{}, {part}", one.example)),
            score: number(one.score),
            given: one.given.clone(),
            rival: one.rival.clone(),
            marked: one.part.unwrap_or(0),
            context: lines.to_vec(),
        }
    };
    Ok(found.iter().map(row).collect())
}

/// The words of every example as the file has them: the first column of its lines, or whole rows of a table. Nothing
/// for other data.
fn lines_of(args: &SuspectsArgs, model: &Model) -> Result<Vec<Vec<String>>, Error> {
    let (spec, _) = said_of(&args.on, model)?;
    let Some(path) = args.on.data.as_deref().filter(|path| *path != Path::new("-") && spec.folds.is_none()) else {
        return Ok(Vec::new());
    };
    let format = format_of(model, &spec, path)?.filter(|format| format.name != "crfsuite"); // it begins with labels
    let Some(kind) = format.and_then(|format| format.appended) else { return Ok(Vec::new()) };
    let (rules, mut lines) = (model_rules(model, &spec), Lines::open(path)?);
    let (mut examples, mut example, mut is_first) = (Vec::new(), Vec::new(), true);
    while let Some(line) = lines.next_line()? {
        let text = line.text.trim();
        match kind {
            Appended::Tokens if text.is_empty() => {
                examples.extend(Some(std::mem::take(&mut example)).filter(|e| !e.is_empty()))
            }
            Appended::Tokens => example
                .push(text.split(if text.contains('\t') { '\t' } else { ' ' }).next().unwrap_or_default().to_owned()),
            Appended::Rows if text.is_empty() || (is_first && csv::begins_with_names(text, &rules)) => {}
            Appended::Rows => examples.push(vec![text.to_owned()]),
        }
        is_first = false;
    }
    examples.extend(Some(example).filter(|example: &Vec<String>| !example.is_empty()));
    Ok(examples)
}
