//! Stale gaps and regimes of the cache in Minding the Gaps: one dial is turned, all else stays.

use crate::reproduce::bands::{Axes, banded};
use crate::reproduce::data_sets::OCR_SMALL;
use crate::reproduce::experiment::{
    Claim, ClaimFinding, ClaimSource, Differs, Experiment, Figure, PageTable, RunPlan, Scale,
};
use crate::reproduce::records::{Curve, Records, lowest, median, reaches};

const SOURCE: &str = "Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien: Minding the Gaps for Block Frank-Wolfe \
                      Optimization of Structured SVMs (2016)";

/// Lambdas, with their names.
const LAMBDAS: [(&str, &str); 2] = [("1/n", "1/n"), ("100/n", "c:0.01")];

/// Runs of a solver with each of some settings of a dial, at both lambdas.
fn dial(scale: &Scale, solver: &str, passes: u32, settings: Vec<(String, String)>) -> Vec<RunPlan> {
    let mut plan = Vec::new();
    for ((at, lambda), (case, more)) in LAMBDAS.iter().flat_map(|at| settings.iter().map(move |case| (at, case))) {
        let spec = format!("solver={solver} {more} lambda={lambda} stop.passes={passes} stop.gap=1e-8");
        plan.extend(RunPlan::new(&OCR_SMALL, case, &spec).at(at).repeated(scale));
    }
    plan
}

/// Returns for each setting the median cost to the dual error that every setting reaches, against the cheapest.
fn costs<'a>(records: &'a Records, at: &str, x: &str) -> Vec<(&'a str, f64)> {
    let cases = records.cases().into_iter().map(|case| (case, records.dual_errors(OCR_SMALL.name, at, case, x)));
    let all: Vec<(&str, Vec<Curve>)> = cases.collect();
    let level = all.iter().flat_map(|(_, curves)| curves).map(|curve| lowest(curve)).fold(0.0, f64::max);
    let cost = |curves: &[Curve]| median(curves.iter().filter_map(|curve| reaches(curve, level)));
    let costs: Vec<(&str, f64)> = all.iter().map(|(case, curves)| (*case, cost(curves))).collect();
    let least = costs.iter().map(|cost| cost.1).fold(f64::INFINITY, f64::min);
    costs.into_iter().map(|(case, cost)| (case, cost / least)).collect()
}

fn figures(records: &Records) -> Vec<Figure> {
    let figure = |(at, _): (&str, &str)| {
        let axes = Axes { x: "oracle calls, gap passes included", y: "dual suboptimality", x_log: true, y_log: true };
        let series = records.cases().into_iter().enumerate().map(|(color, case)| {
            banded(case, color, color > 6, &records.dual_errors(OCR_SMALL.name, at, case, "oracle_calls"))
        });
        Figure {
            chart: axes.chart(format!("{}, lambda = {at}", OCR_SMALL.title), series.collect()),
            caption: "".into(),
        }
    };
    LAMBDAS.map(figure).into()
}

fn tables(records: &Records) -> Vec<PageTable> {
    let columns = ["lambda", "setting", "calls", "work seconds"];
    let note = "To the dual value that every setting reaches; the cheapest setting is 1.";
    let mut table = PageTable::new("Cost by setting", &columns, note);
    for (at, _) in LAMBDAS {
        let times = costs(records, at, "seconds");
        for ((case, calls), (_, time)) in costs(records, at, "oracle_calls").into_iter().zip(times) {
            table.rows.push(vec![at.into(), case.into(), format!("{calls:.2}"), format!("{time:.2}")]);
        }
    }
    vec![table]
}

/// Returns the cost of a setting.
fn cost_of(costs: &[(&str, f64)], case: &str) -> f64 {
    costs.iter().find(|cost| cost.0 == case).map_or(f64::NAN, |cost| cost.1)
}

/// Passes between gap passes; 0 is never.
const EVERY: [u32; 7] = [0, 1, 2, 5, 10, 20, 50];

fn every(passes: u32) -> String {
    if passes == 0 { "never".into() } else { format!("every {passes} passes") }
}

/// The experiment on stale gaps.
pub(crate) static STALENESS: Experiment = Experiment {
    name: "gaps-staleness",
    title: "gap sampling with gaps that are recomputed now and then",
    source: SOURCE,
    about: "BCFW with gap sampling on OCR fold 0; true gaps are recomputed by a pass of calls after every X passes, \
        and these calls are counted.",
    data: &[&OCR_SMALL],
    differs: &[(&OCR_SMALL, Differs::Part("6877 words"))],
    repeats: 5,
    quick_seconds: Some(35),
    full_seconds: Some(260),
    runs: |scale| {
        let settings = EVERY.map(|passes| (every(passes), format!("solver.gap_check={passes}")));
        dial(scale, "bcfw-gap", scale.pick(6, 100, 200), settings.into())
    },
    figures,
    tables,
    claims: &[
        Claim {
            id: "C11",
            source: ClaimSource::Paper,
            sentence: "gaps recomputed now and then pay: between always and never there is a best X",
            printed: "",
            threshold: "the cheapest of 2 to 50 passes costs less than every pass and less than never, at both lambdas",
            needs: "",
            judge: |records| {
                let mut measured = Vec::new();
                let mut holds = true;
                for (at, _) in LAMBDAS {
                    let costs = costs(records, at, "oracle_calls");
                    let best = EVERY[2..].iter().map(|&passes| (passes, cost_of(&costs, &every(passes))));
                    let Some((passes, best)) = best.min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
                    let (never, always) = (cost_of(&costs, &every(0)), cost_of(&costs, &every(1)));
                    holds &= best < never && best < always;
                    measured.push(format!(
                        "lambda {at}: every {passes} {best:.2}, never {never:.2}, every pass {always:.2}"
                    ));
                }
                ClaimFinding::of(holds, measured.join("; "))
            },
            reason: "Every visit refreshes the gap of its block, so that gaps never grow very stale, and a pass for \
                gaps makes no step.",
        },
        Claim {
            id: "C11",
            source: ClaimSource::Code,
            sentence: "recomputing the gaps every 10 passes, the default of the authors' code, is a good choice",
            printed: "10",
            threshold: "at most 1.1 times the calls of the best setting, at both lambdas",
            needs: "",
            judge: |records| {
                let found = LAMBDAS.map(|(at, _)| cost_of(&costs(records, at, "oracle_calls"), &every(10)));
                let measured = format!("{:.2} and {:.2} times the best (lambda 1/n, 100/n)", found[0], found[1]);
                ClaimFinding::of(found.iter().all(|&cost| cost <= 1.1), measured)
            },
            reason: "Calls of gap passes are 9 % of all then, which less frequent ones save.",
        },
    ],
};

/// Shares F of a block's own gap and nu of the mean gap.
const REGIMES: [(f64, f64); 9] =
    [(0.0, 0.0), (0.0, 0.01), (0.0, 1.0), (0.25, 0.0), (0.25, 0.01), (0.25, 1.0), (1.0, 0.0), (1.0, 0.01), (1.0, 1.0)];

fn regime((factor, nu): (f64, f64)) -> String {
    format!("F = {factor}, nu = {nu}")
}

/// The experiment on the cache's two criteria.
pub(crate) static CACHE: Experiment = Experiment {
    name: "gaps-cache",
    title: "regimes of the cache: local and global criterion",
    quick_seconds: Some(223),
    full_seconds: None,
    about: "BCFW with gap sampling and cache on OCR fold 0. A cached corner is used if its gap is at least F times \
            the block's last exact gap and nu times the mean gap of the last gap pass. F = nu = 0 uses the cache \
            whenever it gains anything.",
    runs: |scale| {
        let settings =
            REGIMES.map(|of| (regime(of), format!("solver.planes.factor={} solver.planes.nu={}", of.0, of.1)));
        dial(scale, "bcfw-gap-cache", scale.pick(6, 60, 200), settings.into())
    },
    claims: &[
        Claim {
            id: "C21",
            source: ClaimSource::Paper,
            sentence: "both criteria matter: the cache pays between the corners of F and nu",
            printed: "",
            threshold: "F = 0.25, nu = 0.01 costs less work seconds than each of the corners (F, nu in {0, 1}), at \
                100/n",
            needs: "",
            judge: |records| {
                let costs = costs(records, "100/n", "seconds");
                let middle = cost_of(&costs, &regime((0.25, 0.01)));
                let corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)].map(|at| cost_of(&costs, &regime(at)));
                let measured = format!(
                    "{middle:.2}; corners (0, 0) {:.2}, (0, 1) {:.2}, (1, 0) {:.2}, (1, 1) {:.2}",
                    corners[0], corners[1], corners[2], corners[3]
                );
                ClaimFinding::of(corners.iter().all(|&corner| middle < corner), measured)
            },
            reason: "A call of the chain's oracle costs little more than a look into the cache, so that using it \
                     less costs less time.",
        },
        Claim {
            id: "C20",
            source: ClaimSource::Code,
            sentence: "the defaults F = 0.25 and nu = 0.01 save calls against hardly using the cache",
            printed: "",
            threshold: "fewer calls than F = 1, nu = 1, at both lambdas",
            needs: "",
            judge: |records| {
                let ratio = |(at, _): (&str, &str)| {
                    let costs = costs(records, at, "oracle_calls");
                    cost_of(&costs, &regime((0.25, 0.01))) / cost_of(&costs, &regime((1.0, 1.0)))
                };
                let ratios = LAMBDAS.map(ratio);
                let measured = format!("{:.2} and {:.2} times the calls (lambda 1/n, 100/n)", ratios[0], ratios[1]);
                ClaimFinding::of(ratios.iter().all(|&ratio| ratio < 1.0), measured)
            },
            reason: "",
        },
    ],
    ..STALENESS
};
