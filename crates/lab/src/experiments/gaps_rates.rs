//! The rates that Minding the Gaps quotes for subgradient steps, cutting planes and BCFW, as errors after K passes.

use crate::reproduce::bands::{Axes, banded};
use crate::reproduce::data_sets::{DataSet, OCR_SMALL, SATIMAGE, USPS};
use crate::reproduce::experiment::{
    Claim, ClaimFinding, ClaimSource, Differs, Experiment, Figure, PageTable, RunPlan, Scale,
};
use crate::reproduce::records::{Curve, Records, median, value_at};

/// The methods, with their settings.
const METHODS: [(&str, &str); 4] = [
    ("bcfw", "solver=bcfw solver.order=uniform"),
    ("ssg", "solver=ssg"),
    ("one-slack", "solver=one-slack solver.cache.max_planes=0"),
    ("fw", "solver=fw"),
];

/// The moments at which errors are compared.
const PASSES: [f64; 3] = [5.0, 20.0, 80.0];

fn runs(scale: &Scale) -> Vec<RunPlan> {
    let sets: [&DataSet; 3] = [&OCR_SMALL, &USPS, &SATIMAGE];
    let passes = scale.pick(5, 80, 320);
    let mut plan = Vec::new();
    for (set, (case, more)) in sets.into_iter().flat_map(|set| METHODS.map(|method| (set, method))) {
        let run = RunPlan::new(set, case, &format!("{more} lambda=c:0.01 stop.passes={passes} stop.gap=1e-8"));
        // Batch methods leave nothing to chance.
        let seeds = if matches!(case, "one-slack" | "fw") { 1 } else { scale.seeds };
        plan.extend(run.on(scale.pick(0, 1000, 0)).repeated(&Scale { seeds, ..*scale }));
    }
    plan
}

/// Returns the lowest primal error so far of each run of a method against passes, as a part of the best primal value.
fn errors(records: &Records, set: &str, case: &str) -> Vec<Curve> {
    let (primal, dual) = records.best(set, "");
    let error = |curve: Curve| {
        let mut least = f64::INFINITY;
        let fall = |(x, y): (f64, f64)| {
            least = least.min((y - dual) / primal);
            (x, least)
        };
        curve.into_iter().map(fall).collect()
    };
    records.curves(set, "", case, "pass", "primal").into_iter().map(error).collect()
}

/// Returns the median error of a method after so many passes; NaN if it has none.
fn error_at(records: &Records, set: &str, case: &str, passes: f64) -> f64 {
    median(errors(records, set, case).iter().filter_map(|curve| value_at(curve, passes)))
}

fn figures(records: &Records) -> Vec<Figure> {
    let figure = |set: &str| {
        let series = METHODS.iter().enumerate();
        let series = series.map(|(color, (case, _))| banded(case, color, false, &errors(records, set, case)));
        let axes =
            Axes { x: "passes (oracle calls / n)", y: "primal suboptimality / optimum", x_log: true, y_log: true };
        Figure { chart: axes.chart(format!("{set}: primal error"), series.collect()), caption: String::new() }
    };
    records.sets().into_iter().map(figure).collect()
}

fn tables(records: &Records) -> Vec<PageTable> {
    let note = "Lowest primal value so far above the best dual value, in percent of the best primal value.";
    let mut table = PageTable::new("Errors", &["data", "method", "5 passes", "20 passes", "80 passes"], note);
    for (set, (case, _)) in records.sets().into_iter().flat_map(|set| METHODS.map(|method| (set, method))) {
        let errors = PASSES.map(|passes| format!("{:.2}", 100.0 * error_at(records, set, case, passes)));
        table.rows.push([set, case].map(str::to_owned).into_iter().chain(errors).collect());
    }
    vec![table]
}

/// Judges that BCFW has a lower error than another method on every set, at every moment.
fn ahead_of(records: &Records, other: &str) -> ClaimFinding {
    let (mut measured, mut holds) = (Vec::new(), true);
    for (set, passes) in records.sets().into_iter().flat_map(|set| PASSES.map(|passes| (set, passes))) {
        let ratio = error_at(records, set, "bcfw", passes) / error_at(records, set, other, passes);
        holds &= ratio < 1.0;
        measured.push(format!("{set} {ratio:.2} after {passes}"));
    }
    match measured.is_empty() {
        true => ClaimFinding::untested("nothing was run"),
        false => ClaimFinding::of(holds, format!("times the error: {}", measured.join(", "))),
    }
}

const fn faster(sentence: &'static str, judge: fn(&Records) -> ClaimFinding, reason: &'static str) -> Claim {
    let threshold = "a lower error after 5, 20 and 80 passes on every set";
    Claim { id: "C02", source: ClaimSource::Paper, sentence, printed: "", threshold, needs: "", judge, reason }
}

/// The experiment.
pub(crate) static RATES: Experiment = Experiment {
    name: "gaps-rates",
    title: "errors of BCFW, subgradient, cutting planes and Frank-Wolfe after K passes",
    source: "Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien: Minding the Gaps for Block Frank-Wolfe \
             Optimization of Structured SVMs (2016), rates of known methods; Shah, Kolmogorov, Lampert (2015), section \
             3.3",
    about: "BCFW, stochastic subgradient, 1-slack cutting planes (without planes kept per example) and batch \
            Frank-Wolfe at lambda = 100/n, at most 1000 examples at the quick size.\n\nDifferent: the slides quote \
            rates of theorems and show no curves.",
    data: &[&OCR_SMALL, &USPS, &SATIMAGE],
    differs: &[(&OCR_SMALL, Differs::Part("6877 words"))],
    repeats: 5,
    quick_seconds: Some(5),
    full_seconds: None,
    runs,
    figures,
    tables,
    claims: &[
        faster(
            "BCFW is ahead of stochastic subgradient after as many passes",
            |records| ahead_of(records, "ssg"),
            "Subgradient steps begin large, which brings the primal value down early.",
        ),
        faster(
            "BCFW is ahead of cutting planes after as many passes",
            |records| ahead_of(records, "one-slack"),
            "Cutting planes solve for all planes at once: near the end that beats steps to one plane.",
        ),
        faster("BCFW is ahead of batch Frank-Wolfe after as many passes", |records| ahead_of(records, "fw"), ""),
    ],
};
