//! The demo's report: a table and letters for the terminal, curves and a report for the browser.

use std::path::Path;

use multiplane::observe::{Record, Tick};
use multiplane::{Error, Evaluation};

use crate::chart::{Chart, Series};
use crate::findings::{DELAY_US, Findings, Leg, Sample, TARGET, write_file};
use crate::letters::draw_word;
use crate::numbers::number;
use crate::report::{ReportPage, ReportSection};

/// Passes, calls and seconds are all in: what proving the gap took is part of them.
const COLUMNS: [&str; 8] =
    ["solver", "oracle", "passes, all in", "calls, all in", "seconds, all in", "primal", "dual", "certified gap"];

fn rows(legs: &[Leg]) -> Vec<Vec<String>> {
    let row = |leg: &Leg| {
        let summary = &leg.summary;
        vec![
            leg.solver.to_string(),
            oracle(leg),
            format!("{:.0}", summary.all_passes()),
            summary.cost.all_calls().to_string(),
            format!("{:.2}", summary.cost.all_seconds()),
            format!("{:.4}", summary.certificate.primal),
            summary.certificate.dual.map_or("-".into(), |dual| format!("{dual:.4}")),
            summary.certificate.gap.map_or("-".into(), |gap| format!("{gap:.4}")),
        ]
    };
    legs.iter().map(row).collect()
}

fn oracle(leg: &Leg) -> String {
    if leg.delay_us > 0.0 { format!("+{} µs a call", leg.delay_us) } else { "as it is".into() }
}

/// Puts the figures into words.
fn lessons(findings: &Findings) -> Vec<String> {
    let error = |evaluation: &Evaluation| 100.0 * (1.0 - evaluation.get("accuracy").unwrap_or(0.0));
    let mut lessons = vec![format!(
        "Read letter by letter, {:.1} % of the test letters are wrong; read as words by the chain, {:.1} %.",
        error(&findings.letters),
        error(&findings.words)
    )];
    for delay in [0.0, DELAY_US] {
        let find = |solver| findings.legs.iter().find(|leg| leg.delay_us == delay && leg.solver == solver);
        if let (Some(plain), Some(multi), Some(auto)) = (find("bcfw"), find("mp-bcfw"), find("auto")) {
            let reached = |leg: &Leg| leg.summary.certificate.gap.is_some_and(|gap| gap <= TARGET);
            let least = if reached(plain) { "" } else { "more than " };
            lessons.push(format!(
                "{}: to a proven gap of {TARGET}, auto needs {} oracle calls in {:.2} s, mp-bcfw {} in {:.2} s, bcfw \
                 {least}{} in \
                 {:.2} s, all in.",
                if delay > 0.0 { format!("Costly oracle (+{delay} µs)") } else { "Fast oracle".into() },
                auto.summary.cost.all_calls(),
                auto.summary.cost.all_seconds(),
                multi.summary.cost.all_calls(),
                multi.summary.cost.all_seconds(),
                plain.summary.cost.all_calls(),
                plain.summary.cost.all_seconds(),
            ));
        }
    }
    lessons
}

/// The table, what it says, and some predictions, for the terminal.
pub(crate) fn text(findings: &Findings) -> String {
    let mut table = vec![COLUMNS.iter().map(|column| column.to_string()).collect::<Vec<_>>()];
    table.extend(rows(&findings.legs));
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut text = String::from("\n");
    for row in &table {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let pad = " ".repeat(width(column) - cell.chars().count());
            if column < 2 { format!("{cell}{pad}") } else { format!("{pad}{cell}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text.push('\n');
    for lesson in lessons(findings) {
        text += &format!("{lesson}\n");
    }
    text + "\n" + &drawn(&findings.samples)
}

fn drawn(samples: &[Sample]) -> String {
    let words = samples.iter().map(|sample| draw_word(&sample.pixels, &sample.truth, &sample.predicted));
    words.collect::<Vec<_>>().join("\n")
}

/// Writes the curves and the report.
pub(crate) fn write(dir: &Path, findings: &Findings) -> Result<(), Error> {
    let calls = curves(
        findings,
        "Gap against oracle calls",
        "oracle calls, all in",
        |_| true,
        |tick| (tick.oracle_calls + tick.evaluation_calls) as f64,
    );
    let fast = curves(
        findings,
        "Gap against time, fast oracle",
        "seconds, all in",
        |leg| leg.delay_us == 0.0,
        |tick| tick.seconds,
    );
    let costly = curves(
        findings,
        "Gap against time, costly oracle",
        "seconds, all in",
        |leg| leg.delay_us > 0.0,
        |tick| tick.seconds,
    );
    for (name, svg) in [("gap-calls.svg", &calls), ("gap-seconds-fast.svg", &fast), ("gap-seconds-costly.svg", &costly)]
    {
        write_file(dir, name, svg)?;
    }
    let report = ReportPage {
        title: "multiplane demo".into(),
        lead: "A structural SVM learns to read handwritten-like words. Every run below ends with a certificate: the \
               optimum lies between its dual and its primal value."
            .into(),
        sections: vec![
            ReportSection::Text { heading: "What to see".into(), body: lessons(findings).join("\n\n") },
            ReportSection::Table {
                heading: "Runs".into(),
                columns: COLUMNS.iter().map(|column| column.to_string()).collect(),
                rows: rows(&findings.legs),
                note: format!("All runs stop at a gap of {TARGET} or when their time is up; lambda = 1/n."),
            },
            ReportSection::Figure {
                heading: "By oracle calls".into(),
                svg: calls,
                caption: "What each oracle call buys: the gap as the visits let it expect, and at the end of each \
                          line as it is proven. \
                          Dashed: the same solver with the costly oracle."
                    .into(),
            },
            ReportSection::Figure {
                heading: "By time, with the oracle as it is".into(),
                svg: fast,
                caption: "A chain's oracle takes microseconds, so there is little to save.".into(),
            },
            ReportSection::Figure {
                heading: "By time, with a costly oracle".into(),
                svg: costly,
                caption: format!("Every call takes {DELAY_US} µs more, as a graph cut would."),
            },
            ReportSection::Pre { heading: "Predictions on test words".into(), body: drawn(&findings.samples) },
        ],
    };
    write_file(dir, "report.html", &report.html())
}

fn curves(
    findings: &Findings,
    title: &str,
    x_label: &str,
    include: impl Fn(&Leg) -> bool,
    x: impl Fn(Tick) -> f64,
) -> String {
    let series = findings.legs.iter().filter(|leg| include(leg)).map(|leg| Series {
        name: format!("{}, {}", leg.solver, if leg.delay_us > 0.0 { "costly" } else { "fast" }),
        points: leg
            .records
            .iter()
            .zip(gaps(&leg.records))
            .filter_map(|(record, gap)| Some((x(record.tick()), gap?)))
            .collect(),
        band: Vec::new(),
        dashed: leg.delay_us > 0.0,
        color: ["bcfw", "mp-bcfw"].iter().position(|&name| name == leg.solver).unwrap_or(2),
    });
    let series = series.collect();
    let (title, x_label) = (title.to_string(), x_label.to_string());
    let y_label = format!("gap, proven at the end (target {})", number(TARGET));
    Chart { title, x_label, y_label, x_log: false, y_log: true, target: Some(TARGET), series }.svg()
}

/// The gaps as they were known then: forecast on the way, proven at the end.
fn gaps(records: &[Record]) -> impl Iterator<Item = Option<f64>> {
    let last = records.len().saturating_sub(1);
    records.iter().enumerate().map(move |(k, record)| {
        let forecast = record.tick().gap_estimate.filter(|_| k != last);
        [record.certificate.gap, forecast].into_iter().flatten().reduce(f64::min)
    })
}

#[cfg(test)]
mod tests {
    use multiplane::observe::{Certificate, GapForecast, Losses};

    use super::*;

    /// The last point of a curve is the gap as it is proven, also where the forecast was lower.
    #[test]
    fn curves_end_with_what_is_proven() {
        let record = |gap: f64, estimate: f64| Record {
            pass: 1.0,
            iterations: 1,
            approximate_passes: 0,
            oracle_calls: 1,
            cached_steps: 0,
            seconds: 1.0,
            oracle_seconds: 0.5,
            split: None,
            certificate: Certificate::new(1.0, Some(1.0 - gap), true),
            forecast: Some(GapForecast { gap_estimate: Some(estimate), ..GapForecast::default() }),
            planes: None,
            losses: Losses::default(),
            early_stopping: None,
            answer: None,
            details: None,
            examples_drawn: None,
            kernel: None,
        };
        let found: Vec<_> = gaps(&[record(1.0, 0.5), record(0.75, 0.25), record(0.25, 0.125)]).collect();
        assert_eq!(found, [Some(0.5), Some(0.25), Some(0.25)]);
    }
}
