//! The theory of Minding the Gaps on small made problems: gap sampling with exact gaps, gaps that go stale, and the
//! cache's global criterion.
//!
//! In the problems of [`BLOCKS`] row i has a feature of its own, and as many labels as there are rows: blocks share no
//! weights, so that a step changes no other block's gap, and the gaps seen are exact up to a block's own last step.

use multiplane::data::{Classified, SparseRows};
use multiplane::dataset::Dataset;

use crate::reproduce::bands::{Axes, banded};
use crate::reproduce::data_sets::{DataSet, TestPart, letters};
use crate::reproduce::experiment::{Claim, ClaimFinding, ClaimSource, Experiment, Figure, PageTable, RunPlan, Scale};
use crate::reproduce::records::{Curve, Records, cost_ratio, median};

/// A problem without shared weights: the weight of the loss of example i in the mean, and its one feature's value.
fn apart(n: usize, row: fn(usize) -> (f64, f64)) -> Dataset {
    let (mut rows, mut weights) = (SparseRows::new(n), Vec::new());
    for i in 0..n {
        let (weight, value) = row(i);
        rows.push(&[i as u32], &[value]);
        weights.push(weight);
    }
    let labels = (0..n as i64).collect();
    Dataset::new(Classified { rows, labels, ..Classified::default() }).with_weights(weights).expect("weights above 0")
}

const fn made(name: &'static str, title: &'static str, stand_in: fn(usize) -> Dataset) -> DataSet {
    DataSet { name, title, file: "", folds: None, test: TestPart::None, task: "task=multiclass", stand_in }
}

/// One block has nearly all of the loss, all have the same curvature: the best case.
static ONE: DataSet =
    made("one", "one block has all of the gap", |n| apart(n, |i| if i == 0 { (1.0, 1.0) } else { (1e-6, 1e6) }));
/// Losses differ by up to a factor of 10, at the same curvature.
static MIXED: DataSet = made("mixed", "gaps within a factor of 10", |n| {
    apart(n, |i| {
        let weight = 0.1f64.powf((0.618_033_988_749_895 * i as f64).fract());
        (weight, 1.0 / weight)
    })
});
/// All blocks are alike.
static EQUAL: DataSet = made("equal", "all blocks alike", |n| apart(n, |_| (1.0, 1.0)));
/// Gaps are alike, a quarter of the blocks has 16 times the curvature: the worst case.
static CURVED: DataSet =
    made("curved", "gaps alike, curvature not", |n| apart(n, |i| (1.0, if i % 4 == 0 { 4.0 } else { 1.0 })));
/// Letters, whose blocks share weights: gaps go stale.
static SHARED: DataSet = made("letters", "letters, shared weights", letters);

/// The problems without shared weights, with the lambda at which curvature and gaps weigh alike.
const BLOCKS: [(&DataSet, &str); 4] = [(&ONE, "1"), (&MIXED, "c:0.15"), (&EQUAL, "1/n"), (&CURVED, "1/n")];

const ORDERS: [(&str, &str); 2] =
    [("uniform", "solver=bcfw solver.order=uniform"), ("gap", "solver=bcfw-gap solver.gap_check=0")];

/// Passes between gap passes on the letters; 0 is never.
const EVERY: [u32; 4] = [1, 3, 10, 0];

/// Shares F of a block's own gap and nu of the mean gap.
const REGIMES: [(f64, f64); 6] = [(0.0, 0.0), (0.25, 0.0), (1.0, 0.0), (0.0, 0.01), (0.25, 0.01), (0.25, 1.0)];

/// The target of all runs.
const TARGET: &str = "stop.gap=0.001";

fn every(passes: u32) -> String {
    if passes == 0 { "gaps never recomputed".into() } else { format!("gaps recomputed every {passes} passes") }
}

fn regime((factor, nu): (f64, f64)) -> String {
    format!("F = {factor}, nu = {nu}")
}

fn runs(scale: &Scale) -> Vec<RunPlan> {
    let sizes: &[usize] = scale.pick(&[8, 16], &[16, 64, 256], &[16, 64, 256, 1024]);
    let mut plan = Vec::new();
    for ((set, lambda), n) in BLOCKS.iter().flat_map(|of| sizes.iter().map(move |n| (of, *n))) {
        for (case, more) in ORDERS {
            let spec = format!("{more} lambda={lambda} {TARGET} stop.passes=5000");
            plan.extend(RunPlan::new(set, case, &spec).at(&format!("n = {n}")).on(n).repeated(scale));
        }
    }
    let passes = scale.pick(30, 1000, 5000);
    let shared = |case: String, more: String| {
        RunPlan::new(&SHARED, &case, &format!("{more} lambda=c:0.1 {TARGET} stop.passes={passes}")).repeated(scale)
    };
    for x in EVERY {
        plan.extend(shared(every(x), format!("solver=bcfw-gap solver.gap_check={x}")));
    }
    for of in REGIMES {
        let dials = format!("solver.planes.factor={} solver.planes.nu={}", of.0, of.1);
        plan.extend(shared(regime(of), format!("solver=bcfw-gap-cache {dials}")));
    }
    plan
}

/// Returns the numbers of rows of the problems without shared weights, with the settings that have them.
fn sizes(records: &Records) -> Vec<(&str, f64)> {
    records.settings().into_iter().filter_map(|at| Some((at, at.strip_prefix("n = ")?.parse().ok()?))).collect()
}

/// Returns the passes of steps to the target after the first, which visits every block once; infinite if it was missed.
fn later_passes(records: &Records, set: &str, at: &str, case: &str) -> f64 {
    median(records.of(set, at, case).iter().map(|run| match run.summary["stop_reason"] == "gap" {
        true => (run.end("iterations") - 1.0).max(1.0),
        false => f64::INFINITY,
    }))
}

/// Returns how many times fewer steps gap sampling needs than uniform sampling.
fn gain(records: &Records, set: &str, at: &str) -> f64 {
    later_passes(records, set, at, "uniform") / later_passes(records, set, at, "gap")
}

/// Judges the gains on some problems by their number n of blocks.
fn gains(records: &Records, sets: &[&DataSet], holds: fn(f64, f64) -> bool) -> ClaimFinding {
    let cells = sets.iter().flat_map(|set| sizes(records).into_iter().map(|at| (set.name, at)));
    let found: Vec<(String, f64, f64)> =
        cells.map(|(set, (at, n))| (format!("{set}, {at}"), n, gain(records, set, at))).collect();
    let measured: Vec<String> = found.iter().map(|(cell, _, gain)| format!("{cell} {gain:.2}")).collect();
    match found.is_empty() {
        true => ClaimFinding::untested("nothing was run"),
        false => ClaimFinding::of(
            found.iter().all(|(_, n, gain)| holds(*n, *gain)),
            format!("{} times fewer steps", measured.join("; ")),
        ),
    }
}

fn figures(records: &Records) -> Vec<Figure> {
    let at = sizes(records);
    let curve = |y: &dyn Fn(&str, f64) -> f64| -> Curve { at.iter().map(|&(at, n)| (n, y(at, n))).collect() };
    let of_set = |(color, (set, _)): (usize, &(&DataSet, &str))| {
        banded(set.title, color, false, &[curve(&|at, _| gain(records, set.name, at))])
    };
    let bounds = [("best: n sqrt(n)", 1.5), ("worst: 1 / sqrt(n)", -0.5)];
    let mut series: Vec<_> = BLOCKS.iter().enumerate().map(of_set).collect();
    series.extend(bounds.iter().map(|(name, power)| banded(name, 6, true, &[curve(&|_, n| n.powf(*power))])));
    let axes = Axes { x: "blocks n", y: "steps of uniform sampling / steps of gap sampling", x_log: true, y_log: true };
    let mut figures = vec![Figure {
        chart: axes.chart("Gap sampling with exact gaps".into(), series),
        caption: "To a duality gap of 0.001, without the first pass. Dashed: the constants of the theorem.".into(),
    }];
    for (title, cases) in
        [("Stale gaps on letters", EVERY.map(every).to_vec()), ("The cache on letters", REGIMES.map(regime).to_vec())]
    {
        let series = cases.iter().enumerate().map(|(color, case)| {
            banded(case, color, false, &records.curves(SHARED.name, "", case, "oracle_calls", "gap"))
        });
        let axes = Axes { x: "oracle calls, gap passes included", y: "duality gap", x_log: true, y_log: true };
        figures.push(Figure { chart: axes.chart(title.into(), series.collect()), caption: String::new() });
    }
    figures
}

fn tables(records: &Records) -> Vec<PageTable> {
    let columns = ["problem", "n", "passes, uniform", "passes, gap", "times fewer", "sqrt(n)", "n sqrt(n)"];
    let note = "Passes of steps to a gap of 0.001 after the first, which learns the gaps; in whole passes, which is \
        unfavourable to the faster method.";
    let mut table = PageTable::new("Gap sampling with exact gaps", &columns, note);
    for ((set, _), (at, n)) in BLOCKS.iter().flat_map(|of| sizes(records).into_iter().map(move |at| (of, at))) {
        let [uniform, gap] = ["uniform", "gap"].map(|case| later_passes(records, set.name, at, case));
        let numbers = [format!("{uniform:.0}"), format!("{gap:.0}"), format!("{:.2}", uniform / gap)];
        let bounds = [n.sqrt(), n.powf(1.5)].map(|bound| format!("{bound:.0}"));
        table.rows.push([set.title.into(), n.to_string()].into_iter().chain(numbers).chain(bounds).collect());
    }
    let note = "Letters, one by one, to a gap of 0.001. Calls are those of steps and of gap passes.";
    let mut shared =
        PageTable::new("Stale gaps and the cache", &["setting", "passes of steps", "calls / n", "reached"], note);
    for case in EVERY.map(every).into_iter().chain(REGIMES.map(regime)) {
        let of = |key| median(records.ends(SHARED.name, "", &case, key));
        let reached = if later_passes(records, SHARED.name, "", &case).is_finite() { "yes" } else { "no" };
        let numbers = [of("iterations"), of("oracle_calls") / of("n")].map(|x| format!("{x:.0}"));
        shared.rows.push([case].into_iter().chain(numbers).chain([reached.into()]).collect());
    }
    vec![table, shared]
}

/// The experiment.
pub(crate) static THEORY: Experiment = Experiment {
    name: "gaps-theory",
    title: "the theorem on gap sampling, stale gaps and the cache's global criterion on small problems",
    source: "Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien: Minding the Gaps for Block Frank-Wolfe \
             Optimization of Structured SVMs (2016), theoretical result on gap sampling",
    about: "Made problems whose blocks share no weights, so that the gaps seen are exact up to a block's own last \
    step: \
        one block has nearly all of the gap (best case), gaps within a factor of 10, all blocks alike, and gaps \
        alike at \
        curvatures of 1 and 16 (worst case). BCFW with uniform and with gap sampling, to a gap of 0.001. Then letters, \
        whose blocks share weights: gap sampling with gaps recomputed every X passes, and regimes of the \
        cache.\n\nDifferent: the paper has a theorem and no problems. The theorem compares upper bounds, the \
        experiment \
        steps.",
    data: &[&ONE, &MIXED, &EQUAL, &CURVED, &SHARED],
    differs: &[],
    repeats: 5,
    quick_seconds: Some(33),
    full_seconds: None,
    runs,
    figures,
    tables,
    claims: &[
        Claim {
            id: "C12",
            source: ClaimSource::Paper,
            sentence: "in the best case (uniform curvature, non-uniform gaps) gap sampling is n sqrt(n) times faster",
            printed: "n sqrt(n)",
            threshold: "at least half of n sqrt(n) times fewer steps where one block has all of the gap, at every n",
            needs: "",
            judge: |records| gains(records, &[&ONE], |n, gain| gain >= 0.5 * n.powf(1.5)),
            reason: "The theorem compares bounds: uniform sampling meets the one block in a step of n, so that no more \
                than n times can be seen where blocks do not touch each other.",
        },
        Claim {
            id: "C12",
            source: ClaimSource::Ours,
            sentence: "where one block has all of the gap, gap sampling is n times faster",
            printed: "",
            threshold: "n/2 to 2 n times fewer steps at every n",
            needs: "",
            judge: |records| gains(records, &[&ONE], |n, gain| (0.5 * n..=2.0 * n).contains(&gain)),
            reason: "Steps are counted in whole passes, of which gap sampling needs one or two at large n.",
        },
        Claim {
            id: "C12",
            source: ClaimSource::Paper,
            sentence: "in the worst case (non-uniform curvature, uniform gaps) gap sampling is sqrt(n) times slower",
            printed: "sqrt(n)",
            threshold: "1 to sqrt(n) times as many steps where gaps are alike and curvatures are not, at every n",
            needs: "",
            judge: |records| gains(records, &[&CURVED], |n, gain| (n.powf(-0.5)..1.0).contains(&gain)),
            reason: "The theorem compares bounds. Gaps that are alike at first differ after a step on each block, and \
                gap sampling gains by that.",
        },
        Claim {
            id: "C12",
            source: ClaimSource::Ours,
            sentence: "gap sampling is nowhere more than sqrt(n) times slower",
            printed: "",
            threshold: "at most sqrt(n) times the steps of uniform sampling on every problem, at every n",
            needs: "",
            judge: |records| gains(records, &[&ONE, &MIXED, &EQUAL, &CURVED], |n, gain| gain >= n.powf(-0.5)),
            reason: "",
        },
        Claim {
            id: "C12",
            source: ClaimSource::Paper,
            sentence: "if gaps are moderately non-uniform gap sampling is always faster",
            printed: "",
            threshold: "fewer steps where gaps are within a factor of 10, at every n",
            needs: "",
            judge: |records| gains(records, &[&MIXED], |_, gain| gain > 1.0),
            reason: "",
        },
        Claim {
            id: "C11",
            source: ClaimSource::Paper,
            sentence: "with very stale gaps the gap estimates become bad",
            printed: "",
            threshold: "fewer passes of steps to the smallest gap that both reach with gaps recomputed every pass than \
                with gaps never recomputed, on letters; calls of gap passes are not counted",
            needs: "",
            judge: |records| {
                let of = |x| records.curves(SHARED.name, "", &every(x), "iterations", "gap");
                let ratio = cost_ratio(&of(1), &of(0));
                ClaimFinding::of(ratio < 1.0, format!("{ratio:.2} times the passes"))
            },
            reason: "A visit refreshes the gap of its block, and the order comes back to blocks of large gaps soon.",
        },
        Claim {
            id: "C21",
            source: ClaimSource::Paper,
            sentence: "with the global criterion of the cache convergence is proved",
            printed: "",
            threshold: "every run with nu above 0 reaches the target on letters",
            needs: "",
            judge: |records| {
                let reaches = |of: &(f64, f64)| later_passes(records, SHARED.name, "", &regime(*of)).is_finite();
                let (with, without): (Vec<_>, Vec<_>) = REGIMES.iter().partition(|of: &&(f64, f64)| of.1 > 0.0);
                let count = |list: &[(f64, f64)]| list.iter().filter(|of| reaches(of)).count();
                let [with, without]: [Vec<(f64, f64)>; 2] = [with, without];
                let measured = format!(
                    "{} of {} settings with nu above 0 reach it, {} of {} without",
                    count(&with),
                    with.len(),
                    count(&without),
                    without.len()
                );
                ClaimFinding::of(count(&with) == with.len(), measured)
            },
            reason: "",
        },
    ],
};
