//! Combinations that no paper tried, but their union implies.

use crate::reproduce::bands::{Axes, banded};
use crate::reproduce::data_sets::{ADULT, OCR_SMALL, USPS};
use crate::reproduce::experiment::{Claim, ClaimFinding, ClaimSource, Experiment, Figure, PageTable, RunPlan, Scale};
use crate::reproduce::records::{Curve, Records, cost_ratio, mean, median};

/// The methods compared by calls, with their settings.
const METHODS: [(&str, &str); 9] = [
    ("mp-bcfw", "solver=mp-bcfw"),
    ("mp-bcfw, gap order", "solver=mp-bcfw solver.order=gap"),
    ("mp-bcfw, pairwise", "solver=mp-bcfw solver.step=pairwise"),
    ("mp-bcfw, both", "solver=mp-bcfw solver.order=gap solver.step=pairwise"),
    ("bcfw-gap-cache", "solver=bcfw-gap-cache"),
    ("bcfw-gap", "solver=bcfw-gap"),
    ("bcfw-gap, averaged", "solver=bcfw-gap solver.averaging=weighted"),
    ("bcpfw", "solver=bcpfw"),
    ("bcpfw, averaged", "solver=bcpfw solver.averaging=weighted"),
];

/// Lambdas, with their names.
const LAMBDAS: [(&str, &str); 2] = [("1/n", "1/n"), ("100/n", "c:0.01")];

/// Methods with a kernel, and the inner solvers of functional descent.
const KERNEL: &str = "kernel";
const INNER: &str = "functional descent";

fn runs(scale: &Scale) -> Vec<RunPlan> {
    let mut plan = Vec::new();
    for (set, passes) in [(&OCR_SMALL, scale.pick(4, 40, 100)), (&USPS, scale.pick(4, 20, 50))] {
        for ((at, lambda), (case, more)) in LAMBDAS.iter().flat_map(|at| METHODS.map(|method| (at, method))) {
            let run = RunPlan::new(set, case, &format!("{more} lambda={lambda} stop.passes={passes} stop.gap=1e-8"));
            plan.extend(run.at(at).on(scale.pick(0, 2000, 0)).repeated(scale));
        }
    }
    let rows = scale.pick(0, 1000, 4000);
    for solver in ["bcfw", "mp-bcfw", "bcpfw-gap-cache"] {
        let run =
            RunPlan::new(&ADULT, solver, &format!("solver={solver} lambda=1/n stop.passes={}", scale.pick(4, 15, 50)));
        plan.extend(run.at(KERNEL).on(rows).repeated(scale));
    }
    for inner in ["one-slack", "mp-bcfw"] {
        let run = RunPlan::new(&ADULT, inner, &format!("solver=sfd1 solver.inner={inner} stop.passes=2 evaluate=auto"));
        plan.extend(run.at(INNER).on(rows).repeated(scale));
    }
    plan
}

/// Returns the sets and lambdas of the comparison by calls.
fn cells(records: &Records) -> impl Iterator<Item = (&str, &'static str)> {
    let sets = records.sets().into_iter().filter(|set| *set != ADULT.name);
    sets.flat_map(|set| LAMBDAS.map(|at| (set, at.0)))
}

/// Returns the calls of a method over those of another, to the smallest gap that both reach.
fn ratio(records: &Records, (set, at): (&str, &str), of: &str, to: &str) -> f64 {
    let gaps = |case: &str| -> Vec<Curve> {
        let lowest = |curve: Curve| {
            let mut best = f64::INFINITY;
            let fall = |(x, y): (f64, f64)| {
                best = best.min(y);
                (x, best)
            };
            curve.into_iter().map(fall).collect()
        };
        records.curves(set, at, case, "oracle_calls", "gap").into_iter().map(lowest).collect()
    };
    cost_ratio(&gaps(of), &gaps(to))
}

/// Judges that a method needs fewer calls than another everywhere.
fn cheaper(records: &Records, of: &str, to: &str, most: f64) -> ClaimFinding {
    let found: Vec<(String, f64)> =
        cells(records).map(|cell| (format!("{} {}", cell.0, cell.1), ratio(records, cell, of, to))).collect();
    let found: Vec<&(String, f64)> = found.iter().filter(|pair| pair.1.is_finite()).collect();
    let measured: Vec<String> = found.iter().map(|(cell, ratio)| format!("{cell} {ratio:.2}")).collect();
    match found.is_empty() {
        true => ClaimFinding::untested("no gap is reached by both"),
        false => ClaimFinding::of(
            found.iter().all(|pair| pair.1 <= most),
            format!("{} times the calls", measured.join(", ")),
        ),
    }
}

fn figures(records: &Records) -> Vec<Figure> {
    let figure = |(set, at): (&str, &str)| {
        let series = METHODS.iter().enumerate().map(|(color, (case, _))| {
            banded(case, color, color > 6, &records.curves(set, at, case, "oracle_calls", "gap"))
        });
        let axes = Axes { x: "oracle calls", y: "duality gap", x_log: true, y_log: true };
        Figure { chart: axes.chart(format!("{set}, lambda = {at}"), series.collect()), caption: String::new() }
    };
    cells(records).map(figure).collect()
}

fn tables(records: &Records) -> Vec<PageTable> {
    let names: Vec<String> = cells(records).map(|(set, at)| format!("{set} {at}")).collect();
    let columns: Vec<&str> = ["method"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let note = "Calls over those of mp-bcfw, to the smallest gap that both reach. Below 1 is better.";
    let mut table = PageTable::new("Calls", &columns, note);
    for (case, _) in METHODS {
        let ratios = cells(records).map(|cell| format!("{:.2}", ratio(records, cell, case, "mp-bcfw")));
        table.rows.push([case.to_owned()].into_iter().chain(ratios).collect());
    }
    vec![table]
}

/// The experiment.
pub(crate) static COMBINATIONS: Experiment = Experiment {
    name: "x-combinations",
    title: "combinations of the papers' parts",
    source: "No paper: combinations of MP-BCFW, Minding the Gaps, SFD and the others that their union implies",
    about: "OCR fold 0 and USPS at lambda = 1/n and 100/n, Adult with a Gaussian kernel. At the quick size USPS is \
        cut to 2000 digits and Adult to 1000 rows. The sentences are our own expectations.",
    data: &[&OCR_SMALL, &USPS, &ADULT],
    differs: &[],
    repeats: 5,
    quick_seconds: Some(98),
    full_seconds: None,
    runs,
    figures,
    tables,
    claims: &[
        Claim {
            id: "X1",
            source: ClaimSource::Ours,
            sentence: "working sets, gap sampling and pairwise steps together need fewer calls than working sets alone",
            printed: "",
            threshold: "at most 1 time the calls of mp-bcfw on every set and lambda",
            needs: "",
            judge: |records| cheaper(records, "mp-bcfw, both", "mp-bcfw", 1.0),
            reason: "Approximate passes already go where gaps are large; a permutation sees every example, which gap \
                     order does not.",
        },
        Claim {
            id: "X2",
            source: ClaimSource::Ours,
            sentence: "the slope rule of MP-BCFW needs no more calls than the gap criterion of the cache",
            printed: "",
            threshold: "mp-bcfw at most 1 time the calls of bcfw-gap-cache on every set and lambda",
            needs: "",
            judge: |records| cheaper(records, "mp-bcfw", "bcfw-gap-cache", 1.0),
            reason: "",
        },
        Claim::untested("X3", ClaimSource::Ours, "further labellings of a call in the working sets save calls", |_| {
            ClaimFinding::untested("it was built and needed 1.3 to 3.2 times the calls: ADR 0039")
        }),
        Claim::untested("X4", ClaimSource::Ours, "BCPL's direction on planes kept saves calls", |_| {
            ClaimFinding::untested("it was built and removed: ADR 0037; no run is kept")
        }),
        Claim {
            id: "X5",
            source: ClaimSource::Ours,
            sentence: "averages go with gap sampling and with pairwise steps",
            printed: "",
            threshold: "at most 1 time the calls of the same method without average, on every set and lambda",
            needs: "",
            judge: |records| {
                let of = |case: &str, to: &str| cheaper(records, case, to, 1.0);
                let both = [of("bcfw-gap, averaged", "bcfw-gap"), of("bcpfw, averaged", "bcpfw")];
                let holds = both.iter().map(|finding| finding.holds).collect::<Option<Vec<bool>>>();
                let measured = format!("gap order: {}; pairwise: {}", both[0].measured, both[1].measured);
                ClaimFinding { measured, holds: holds.map(|all| all.into_iter().all(|one| one)) }
            },
            reason: "An average lags behind weights that move fast.",
        },
        Claim {
            id: "X7",
            source: ClaimSource::Ours,
            sentence: "functional descent with MP-BCFW inside needs fewer calls than with 1-slack cutting planes",
            printed: "",
            threshold: "fewer oracle calls for 2 epochs on Adult, and a test error at most 0.5 points higher",
            needs: "",
            judge: |records| {
                let of = |case, key| mean(&records.ends(ADULT.name, INNER, case, key));
                let calls = of("mp-bcfw", "oracle_calls") / of("one-slack", "oracle_calls");
                let [own, other] = ["mp-bcfw", "one-slack"].map(|case| 100.0 * of(case, "test_loss"));
                let measured = format!("{calls:.2} times the calls; test error {own:.2} and {other:.2} %");
                ClaimFinding::of(calls < 1.0 && own <= other + 0.5, measured)
            },
            reason: "",
        },
        Claim {
            id: "X8",
            source: ClaimSource::Ours,
            sentence: "the block solvers run with kernels, and planes kept pay there too",
            printed: "",
            threshold: "mp-bcfw ends with a smaller gap than bcfw after as many passes",
            needs: "",
            judge: |records| {
                let [own, other] =
                    ["mp-bcfw", "bcfw"].map(|case| median(records.ends(ADULT.name, KERNEL, case, "gap")));
                ClaimFinding::of(own < other, format!("gap {own:.2e} against {other:.2e}"))
            },
            reason: "",
        },
        Claim::untested("X9", ClaimSource::Ours, "block gaps from approximate visits serve gap sampling", |_| {
            ClaimFinding::untested("orders go by the gaps of calls alone")
        }),
        Claim::untested("X10", ClaimSource::Ours, "asynchronous steps", |_| {
            ClaimFinding::untested("calls are made in batches; no step is asynchronous")
        }),
    ],
};
