//! The regularisation path of Minding the Gaps beside grids with three warm starts.

use serde_json::Value;

use crate::reproduce::bands::{Axes, banded};
use crate::reproduce::data_sets::{DataSet, HORSES, OCR_SMALL, USPS};
use crate::reproduce::experiment::{
    Claim, ClaimFinding, ClaimSource, Differs, Experiment, Figure, PageTable, RunPlan, Scale,
};
use crate::reproduce::records::{Curve, FinishedRun, Records, median};

/// The last lambda of paths and grids, times n.
const LAST: f64 = 0.1;

fn runs(scale: &Scale) -> Vec<RunPlan> {
    let mut plan = Vec::new();
    let seeds = &Scale { seeds: scale.pick(scale.seeds, 1, scale.seeds), ..*scale };
    // 1/n of the training part; the stand-ins have 30 or 300 examples there.
    let sets: [(&DataSet, usize, f64); 3] = [
        (&OCR_SMALL, 0, 626.0),
        (&USPS, scale.pick(20, 500, 2000), scale.pick(20.0, 500.0, 2000.0)),
        (&HORSES, scale.pick(8, 10, 40), scale.pick(8.0, 10.0, 40.0)),
    ];
    for (set, examples, n) in sets {
        let end = LAST / n;
        let common = format!("path.eps=10% path.lambda_min={end:e} stop.passes={}", scale.pick(200, 3000, 20000));
        let mut add = |case: &str, more: &str| {
            let run = RunPlan::new(set, case, &format!("{common} {more} evaluate=auto")).on(examples);
            plan.extend(run.repeated(seeds));
        };
        add("path", "solver=bcpfw-gap-cache");
        add("path, mp-bcfw", "solver=mp-bcfw");
        for start in ["keep-primal", "keep-dual", "none"] {
            let more = format!("solver=bcpfw-gap-cache grid.points=12 grid.gap=10% grid.warm_start={start}");
            add(&format!("grid, {start}"), &more);
        }
    }
    plan
}

/// Returns a figure of the breakpoints against lambda, lambda rising.
fn points(run: &FinishedRun, y: impl Fn(&Value) -> Option<f64>) -> Curve {
    let all = run.summary["breakpoints"].as_array().into_iter().flatten();
    let mut curve: Curve = all.filter_map(|point| Some((point["lambda"].as_f64()?, y(point)?))).collect();
    curve.reverse();
    curve
}

/// Returns the medians of calls and of the number of points of a method.
fn cost(records: &Records, set: &str, case: &str) -> (f64, f64) {
    let runs = records.of(set, "", case);
    let calls = median(runs.iter().map(|run| run.end("oracle_calls") + run.end("evaluation_calls")));
    (calls, median(runs.iter().map(|run| points(run, |_| Some(0.0)).len() as f64)))
}

/// Returns true if every run of a method went down to the smallest lambda.
fn is_complete(records: &Records, set: &str, case: &str) -> bool {
    let runs = records.of(set, "", case);
    !runs.is_empty() && runs.iter().all(|run| run.summary["stop_reason"] == "lambda-min")
}

fn figures(records: &Records) -> Vec<Figure> {
    let mut figures = Vec::new();
    for set in records.sets() {
        for (name, key) in
            [("objective (primal value)", "primal"), ("mean task loss of the training part", "train_loss")]
        {
            let series = records.cases().into_iter().enumerate().map(|(color, case)| {
                let curves = records.of(set, "", case).into_iter().map(|run| points(run, |point| point[key].as_f64()));
                banded(case, color, case.starts_with("grid"), &curves.collect::<Vec<_>>())
            });
            let axes = Axes { x: "lambda", y: name, x_log: true, y_log: false };
            figures.push(Figure { chart: axes.chart(format!("{set}: {name}"), series.collect()), caption: "".into() });
        }
    }
    figures
}

fn tables(records: &Records) -> Vec<PageTable> {
    let columns = ["data", "method", "points", "calls", "reached the last lambda"];
    let mut table = PageTable::new("Cost of paths and grids", &columns, "Calls of training and of certificates.");
    for (set, case) in
        records.sets().into_iter().flat_map(|set| records.cases().into_iter().map(move |case| (set, case)))
    {
        let (calls, points) = cost(records, set, case);
        let complete = if is_complete(records, set, case) { "yes" } else { "no" };
        table.rows.push(vec![set.into(), case.into(), format!("{points:.0}"), format!("{calls:.0}"), complete.into()]);
    }
    vec![table]
}

/// Compares the calls of two methods on every set on which the second one ends. If the first does not end there, its
/// calls so far are a lower bound, which can refute `holds` and not confirm it.
fn compared(records: &Records, of: &str, to: &str, most: f64) -> ClaimFinding {
    let (mut measured, mut verdicts) = (Vec::new(), Vec::new());
    for set in records.sets() {
        let ratio = cost(records, set, of).0 / cost(records, set, to).0;
        match (is_complete(records, set, of), is_complete(records, set, to)) {
            (true, true) => {
                verdicts.push(Some(ratio <= most));
                measured.push(format!("{set} {ratio:.2}"));
            }
            (false, true) => {
                verdicts.push(if ratio > most { Some(false) } else { None });
                measured.push(format!("{set} more than {ratio:.2}, cut short"));
            }
            _ => measured.push(format!("{set} not to the end")),
        }
    }
    let holds = match verdicts.contains(&Some(false)) {
        true => Some(false),
        false => verdicts.iter().copied().collect::<Option<Vec<bool>>>().filter(|all| !all.is_empty()).map(|_| true),
    };
    ClaimFinding { measured: format!("{} times the calls", measured.join("; ")), holds }
}

/// The experiment on paths.
pub(crate) static PATH: Experiment = Experiment {
    name: "gaps-path",
    title: "the approximate regularisation path beside grids",
    source: "Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien: Minding the Gaps for Block Frank-Wolfe \
             Optimization of Structured SVMs (2016), section on the regularisation path",
    about: "The path keeps the gap within 10 % of the objective at every lambda from the first breakpoint to 0.1/n \
            (kappa = 0.9). Grids have 12 points, evenly in log lambda, each trained to the same gap, with three warm \
            starts.\n\nDifferent: OCR fold 0 for OCR-small, 40 horses (10 at the quick size) for HorseSeg-small; a \
            relative \
            gap.",
    data: &[&OCR_SMALL, &USPS, &HORSES],
    differs: &[(&USPS, Differs::Other("a set of the slides")), (&HORSES, Differs::Other("HorseSeg-small"))],
    repeats: 3,
    quick_seconds: Some(762),
    full_seconds: None,
    runs,
    figures,
    tables,
    claims: &[
        Claim {
            id: "C40",
            source: ClaimSource::Paper,
            sentence: "the path is certified at every breakpoint",
            printed: "",
            threshold: "every gap at a breakpoint is proven and at most 10 % of the objective",
            needs: "",
            judge: |records| {
                let runs = records.0.iter().filter(|run| run.case.starts_with("path"));
                let all = runs.flat_map(|run| run.summary["breakpoints"].as_array().into_iter().flatten());
                let gaps = all.map(|point| {
                    let gap = point["gap"].as_f64().zip(point["primal"].as_f64()).map(|(gap, primal)| gap / primal);
                    (gap.unwrap_or(f64::INFINITY), point["certified"] == true)
                });
                let gaps: Vec<(f64, bool)> = gaps.collect();
                let worst = gaps.iter().map(|point| point.0).fold(0.0, f64::max);
                let proven = gaps.iter().filter(|point| point.1).count();
                match gaps.len() {
                    0 => ClaimFinding::untested("there is no breakpoint"),
                    count => ClaimFinding::of(
                        proven == count && worst <= 0.1,
                        format!("{proven} of {count} gaps are proven, at most {:.1} %", 100.0 * worst),
                    ),
                }
            },
            reason: "",
        },
        Claim {
            id: "C41",
            source: ClaimSource::Paper,
            sentence: "the full path can be computed on OCR-small and HorseSeg-small",
            printed: "",
            threshold: "the path reaches 0.1/n within the budget on OCR fold 0 and on the horses",
            needs: "",
            judge: |records| {
                let found = ["ocr-small", "horses"].map(|set| (set, is_complete(records, set, "path")));
                let measured =
                    found.map(|(set, done)| format!("{set}: {}", if done { "reached" } else { "not reached" }));
                ClaimFinding::of(found.iter().all(|pair| pair.1), measured.join(", "))
            },
            reason: "The quick budget of passes ends before.",
        },
        Claim {
            id: "C41",
            source: ClaimSource::Ours,
            sentence: "a path has all lambdas for about the cost of a grid search",
            printed: "\"better than the grid search, but usually expensive\"",
            threshold: "at most 2 times the calls of a grid of 12 points without warm start",
            needs: "",
            judge: |records| compared(records, "path", "grid, none", 2.0),
            reason: "There are many more breakpoints than points of the grid.",
        },
        Claim {
            id: "C41",
            source: ClaimSource::Ours,
            sentence: "warm starts save calls of a grid",
            printed: "",
            threshold: "keep-primal needs at most 0.95 times the calls of no warm start on every set",
            needs: "",
            judge: |records| compared(records, "grid, keep-primal", "grid, none", 0.95),
            reason: "",
        },
        Claim::untested(
            "C41",
            ClaimSource::Paper,
            "for larger data sets both grid search and paths exceed time limits",
            |_| ClaimFinding::untested("there is no limit of time here, and the larger sets are not run"),
        ),
        Claim {
            id: "X6",
            source: ClaimSource::Ours,
            sentence: "MP-BCFW can drive the path, its planes shared along it",
            printed: "",
            threshold: "at most as many calls as the path by BC-PFW with gap sampling and cache",
            needs: "",
            judge: |records| compared(records, "path, mp-bcfw", "path", 1.0),
            reason: "",
        },
    ],
};
