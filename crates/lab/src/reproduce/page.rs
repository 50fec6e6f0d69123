//! The page of an experiment, its verdicts, and the index over all experiments of a folder.

use std::fs;
use std::path::Path;

use multiplane::{Error, durable_write};
use serde_json::{Value, json};

use super::experiment::{Claim, ClaimFinding, Differs, Experiment, Size};
use super::records::Records;
use super::runner::Finished;
use crate::report::{ReportPage, ReportSection};

/// The facts of how a page was made.
pub(crate) struct PageOrigin<'a> {
    /// The command.
    pub(crate) command: &'a str,
    /// Processor and number of cores.
    pub(crate) machine: &'a str,
    /// The size that was run.
    pub(crate) size: Size,
    /// Repeats.
    pub(crate) seeds: u64,
}

/// Judges every claim of an experiment.
pub(crate) fn judged(experiment: &Experiment, records: &Records) -> Vec<(&'static Claim, ClaimFinding)> {
    let judge = |claim: &'static Claim| match claim.needs.split_whitespace().find(|set| records.has_stand_in_of(set)) {
        Some(set) => {
            ClaimFinding::untested(format!("files of {set} were not found; a synthetic stand-in says nothing here"))
        }
        None => match (claim.judge)(records) {
            // A comparison with a number that is not there is no comparison.
            found if found.measured.contains("NaN") => {
                ClaimFinding::untested(format!("a figure is missing: {}", found.measured.replace("NaN", "-")))
            }
            found => found,
        },
    };
    experiment.claims.iter().map(|claim| (claim, judge(claim))).collect()
}

/// Returns the verdicts as `verdicts.json` has them.
pub(crate) fn verdicts(experiment: &Experiment, records: &Records) -> Vec<Value> {
    let data = kind_of(experiment, records);
    let object = |(claim, finding): (&Claim, ClaimFinding)| {
        let reason = if finding.holds == Some(false) { claim.reason } else { "" };
        json!({
            "claim": claim.id, "source": claim.source.name(), "sentence": claim.sentence,
            "printed": claim.printed, "threshold": claim.threshold,
            "measured": finding.measured, "verdict": finding.verdict(), "reason": reason, "data": data,
        })
    };
    judged(experiment, records).into_iter().map(object).collect()
}

/// Returns how the set of some runs differs from the paper's.
fn differs(experiment: &Experiment, set: &str) -> Option<Differs> {
    experiment.differs.iter().find(|of| of.0.name == set).map(|of| of.1)
}

/// Names the kind of data that runs were on.
pub(crate) fn kind_of(experiment: &Experiment, records: &Records) -> &'static str {
    let is_other = |set: &str| matches!(differs(experiment, set), Some(Differs::Other(_)));
    match records.has_stand_in() {
        true => "stand-in",
        false if records.sets().into_iter().any(is_other) => "other data",
        false => "original",
    }
}

/// Returns the facts that verdicts rest on, in a line: size, seeds, clock and data.
fn basis(experiment: &Experiment, records: &Records, size: Size) -> String {
    let repeats = records.0.iter().map(|run| records.of(&run.set, &run.at, &run.case).len()).max().unwrap_or(0);
    let size = if size == Size::Full { "the paper's size" } else { "quick size" };
    let clock = match records.0.iter().find(|run| run.summary["clock"] == "wall") {
        Some(run) if run.build.is_empty() => ", some runs on that of the machine".to_owned(),
        Some(run) => format!(", some runs on that of the machine ({} build)", run.build),
        None => String::new(),
    };
    let of = |set: &str| {
        let sizes = records.0.iter().filter(|run| run.set == set).map(|run| run.end("n"));
        let n = sizes.fold(0.0, f64::max);
        match differs(experiment, set) {
            _ if records.has_stand_in_of(set) => format!("{set} {n} synthetic examples"),
            Some(Differs::Part(all)) => format!("{set} {n} of {all}"),
            Some(Differs::Other(other)) => format!("{set} {n} examples in place of {other}"),
            None => format!("{set} {n} examples"),
        }
    };
    let sets: Vec<String> = records.sets().into_iter().map(of).collect();
    let seeds = if repeats == 1 { "1 seed".into() } else { format!("{repeats} seeds") };
    format!("{size}, {seeds}, work clock{clock}; {}", sets.join(", "))
}

/// Writes the files of an experiment; returns its verdicts.
///
/// # Errors
///
/// A file that could not be written.
pub(crate) fn write(dir: &Path, of: &Experiment, found: &Finished, origin: &PageOrigin) -> Result<Vec<Value>, Error> {
    fs::create_dir_all(dir).map_err(|error| Error::failed(format!("{}: {error}", dir.display())))?;
    let mut verdicts = verdicts(of, &found.records);
    let basis = basis(of, &found.records, origin.size);
    verdicts.iter_mut().for_each(|verdict| verdict["basis"] = json!(basis));
    let json = serde_json::to_string_pretty(&verdicts).map_err(|error| Error::failed(error.to_string()))?;
    durable_write(&dir.join("records.jsonl"), found.lines.as_bytes())?;
    durable_write(&dir.join("verdicts.json"), (json + "\n").as_bytes())?;
    durable_write(&dir.join("index.html"), page(of, &found.records, &verdicts, origin).html().as_bytes())?;
    Ok(verdicts)
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn text_of(verdict: &Value, key: &str) -> String {
    verdict.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Builds the page.
fn page(of: &Experiment, records: &Records, verdicts: &[Value], origin: &PageOrigin) -> ReportPage {
    let stand_in = if records.has_stand_in() { " (synthetic stand-ins for data)" } else { "" };
    let row = |verdict: &Value| {
        let measured = [text_of(verdict, "measured"), text_of(verdict, "reason")];
        let measured = measured.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" — ");
        let keys = ["claim", "verdict", "source", "sentence", "printed", "threshold"];
        keys.map(|key| text_of(verdict, key)).into_iter().chain([measured]).collect()
    };
    let mut sections = vec![
        ReportSection::Text { heading: "What was run".into(), body: of.about.into() },
        ReportSection::Table {
            heading: "Claims".into(),
            columns: strings(&["claim", "verdict", "from", "sentence", "printed", "holds if", "ours"]),
            rows: verdicts.iter().map(row).collect(),
            note: verdicts.first().map_or(String::new(), |verdict| format!("Rests on: {}.", text_of(verdict, "basis"))),
        },
    ];
    sections.push(data_table(of, records));
    for table in (of.tables)(records) {
        let (heading, columns, mut rows, note) = (table.heading, table.columns, table.rows, table.note);
        rows.iter_mut().flatten().filter(|cell| cell.contains("NaN")).for_each(|cell| *cell = "-".into());
        sections.push(ReportSection::Table { heading, columns, rows, note });
    }
    for (number, figure) in (1..).zip((of.figures)(records)) {
        let (heading, svg) = (format!("Figure {number}"), figure.chart.svg());
        sections.push(ReportSection::Figure { heading, svg, caption: figure.caption });
    }
    let size = if origin.size == Size::Full { "the paper's size" } else { "quick size" };
    sections.push(ReportSection::Text {
        heading: "How it was made".into(),
        body: format!(
            "{size}, {} runs, up to {} seeds each. Lines are medians over seeds, bands go from the lowest to the \
             highest. Seconds are of the work clock unless a text says otherwise: prices of counted operations, the \
             same on every machine.\n\nCommand: {}\n\nmultiplane {}, {}. Every run is a line of records.jsonl, every \
             verdict an entry of verdicts.json.",
            records.0.len(),
            origin.seeds,
            origin.command,
            env!("CARGO_PKG_VERSION"),
            origin.machine
        ),
    });
    ReportPage { title: format!("{}: {}{stand_in}", of.name, of.title), lead: of.source.into(), sections }
}

/// Lists the data sets with their sizes.
fn data_table(experiment: &Experiment, records: &Records) -> ReportSection {
    let row = |set: &str| {
        let of = |key| records.0.iter().filter(|run| run.set == set).map(|run| run.end(key)).fold(0.0, f64::max);
        let kind = match differs(experiment, set) {
            _ if records.has_stand_in_of(set) => "synthetic stand-in".to_owned(),
            Some(Differs::Part(all)) => format!("a part: the paper has {all}"),
            Some(Differs::Other(other)) => format!("other data, in place of {other}"),
            None => "original".to_owned(),
        };
        vec![set.to_owned(), kind, of("n").to_string(), of("d").to_string()]
    };
    ReportSection::Table {
        heading: "Data".into(),
        columns: strings(&["set", "kind", "examples", "weights"]),
        rows: records.sets().into_iter().map(row).collect(),
        note: String::new(),
    }
}

/// Writes `index.html` over all experiments that have verdicts in a folder.
///
/// # Errors
///
/// The file could not be written.
pub(crate) fn write_index(out: &Path, experiments: &[&Experiment]) -> Result<(), Error> {
    let found = experiments.iter().filter_map(|of| Some((*of, read_verdicts(&out.join(of.name))?)));
    let rows = found.map(|(of, verdicts)| {
        let count = |word: &str| verdicts.iter().filter(|verdict| verdict["verdict"] == word).count();
        let data = verdicts.first().map_or(String::new(), |verdict| text_of(verdict, "data"));
        let counts = ["holds", "does not hold", "could not be tested"].map(|word| count(word).to_string());
        let cells = [of.title.into(), of.source.into(), data].into_iter().chain(counts).collect();
        (format!("{}/index.html", of.name), of.name.to_owned(), cells)
    });
    let columns = ["experiment", "shows", "source", "data", "holds", "does not hold", "could not be tested"];
    let section =
        ReportSection::Links { heading: "Experiments".into(), columns: strings(&columns), rows: rows.collect() };
    let lead = "Figures and tables of the papers, run again, with a verdict on each claim.".into();
    let page = ReportPage { title: "multiplane reproduce".into(), lead, sections: vec![section] };
    durable_write(&out.join("index.html"), page.html().as_bytes())
}

/// Reads the verdicts of an experiment's folder, if there are any.
pub(crate) fn read_verdicts(dir: &Path) -> Option<Vec<Value>> {
    serde_json::from_slice(&fs::read(dir.join("verdicts.json")).ok()?).ok()
}
