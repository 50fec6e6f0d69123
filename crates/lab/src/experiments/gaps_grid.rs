//! The grid of Minding the Gaps: {gap sampling, uniform} x {cache, none} x {Frank-Wolfe, pairwise} at three lambdas.

use crate::reproduce::bands::{Axes, banded};
use crate::reproduce::data_sets::{CONLL, HORSES, OCR_SMALL, POSES, USPS};
use crate::reproduce::experiment::{
    Claim, ClaimFinding, ClaimSource, Differs, Experiment, Figure, PageTable, RunPlan, Scale,
};
use crate::reproduce::records::{Curve, FinishedRun, Records, cost_ratio, geometric_mean, lowest, median, value_at};

/// The methods, with their settings. Two that differ in one dial differ in one bit of their number.
const METHODS: [(&str, &str); 8] = [
    ("bcfw", "solver=bcfw solver.order=uniform"),
    ("bcfw-gap", "solver=bcfw-gap"),
    ("bcfw-cache", "solver=bcfw-cache"),
    ("bcfw-gap-cache", "solver=bcfw-gap-cache"),
    ("bcpfw", "solver=bcpfw"),
    ("bcpfw-gap", "solver=bcpfw-gap"),
    ("bcpfw-cache", "solver=bcpfw-cache"),
    ("bcpfw-gap-cache", "solver=bcpfw-gap-cache"),
];

/// The bits of the dials in a method's number.
const GAP: usize = 1;
const CACHE: usize = 2;
const PAIRWISE: usize = 4;

/// Lambdas, with their names.
const LAMBDAS: [(&str, &str); 3] = [("too small", "1/n"), ("good", "c:0.01"), ("too big", "c:0.0001")];

/// Seconds that a call of a slow oracle costs more.
const SLOW: f64 = 1e-3;

/// Ratios up to this count as no loss.
const EVEN: f64 = 1.02;

fn runs(scale: &Scale) -> Vec<RunPlan> {
    let sets = [
        (&OCR_SMALL, 0, scale.pick(3, 40, 100)),
        (&USPS, scale.pick(0, 2000, 0), scale.pick(3, 20, 50)),
        (&CONLL, scale.pick(0, 1000, 0), scale.pick(3, 15, 50)),
        (&HORSES, scale.pick(0, 40, 0), scale.pick(3, 20, 50)),
        (&POSES, scale.pick(0, 40, 0), scale.pick(3, 20, 50)),
    ];
    let mut plan = Vec::new();
    for (set, examples, passes) in sets {
        for ((at, lambda), (method, settings)) in LAMBDAS.iter().flat_map(|at| METHODS.map(|method| (at, method))) {
            let spec = format!("{settings} lambda={lambda} stop.passes={passes} stop.gap=1e-8");
            plan.extend(RunPlan::new(set, method, &spec).at(at).on(examples).repeated(scale));
        }
    }
    plan
}

/// The cost of a run up to a record, by its number.
type Cost = fn(&FinishedRun, usize) -> f64;

const CALLS: Cost = |run, k| run.column("oracle_calls")[k];
const TIME: Cost = |run, k| run.column("seconds")[k];
const SLOW_TIME: Cost = |run, k| TIME(run, k) + SLOW * CALLS(run, k);

/// Returns the lowest gap so far against a cost, one curve for each seed.
fn gaps(records: &Records, set: &str, at: &str, case: &str, cost: Cost) -> Vec<Curve> {
    let curve = |run: &FinishedRun| {
        let mut best = f64::INFINITY;
        let pairs = run.column("gap").iter().enumerate().filter(|(_, gap)| gap.is_finite());
        pairs
            .map(|(k, gap)| {
                (cost(run, k), {
                    best = best.min(*gap);
                    best
                })
            })
            .collect()
    };
    records.of(set, at, case).into_iter().map(curve).collect()
}

/// Returns for each pair of methods that differ in one dial the cost with it over that without it, to the smallest gap
/// that both reach; with the names of set, lambda and method.
fn ratios(records: &Records, dial: usize, cost: Cost, lambdas: &[&str]) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for set in records.sets() {
        for at in records.settings().into_iter().filter(|at| lambdas.is_empty() || lambdas.contains(at)) {
            for number in (0..METHODS.len()).filter(|number| number & dial != 0) {
                let curves = |number: usize| gaps(records, set, at, METHODS[number].0, cost);
                let ratio = cost_ratio(&curves(number), &curves(number ^ dial));
                if ratio.is_finite() {
                    found.push((format!("{set}, {at}, {}", METHODS[number].0), ratio));
                }
            }
        }
    }
    found
}

/// Judges that a dial costs no more in any pair.
fn always(records: &Records, dial: usize, cost: Cost) -> ClaimFinding {
    let found = ratios(records, dial, cost, &[]);
    let worst = found.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((name, ratio)) = worst else { return ClaimFinding::untested("no pair reaches a common gap") };
    let good = found.iter().filter(|pair| pair.1 <= EVEN).count();
    let mean = geometric_mean(&found.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let measured = format!("{good} of {} pairs; {mean:.2} in the mean; at worst {ratio:.2} ({name})", found.len());
    ClaimFinding::of(good == found.len(), measured)
}

/// Returns the geometric mean of a dial's ratios.
fn mean_of(records: &Records, dial: usize, cost: Cost, lambdas: &[&str]) -> f64 {
    geometric_mean(&ratios(records, dial, cost, lambdas).into_iter().map(|pair| pair.1).collect::<Vec<_>>())
}

/// Counts the sets and lambdas at which a method ends with the smallest gap of a list.
fn firsts(records: &Records, of: &[&str]) -> (usize, usize) {
    let end = |set: &str, at: &str, case: &str| median(gaps(records, set, at, case, CALLS).iter().map(|c| lowest(c)));
    let cells = records.sets().into_iter().flat_map(|set| LAMBDAS.map(|at| (set, at.0)));
    let is_first = |(set, at): (&str, &str)| {
        let best = METHODS.iter().map(|method| end(set, at, method.0)).fold(f64::INFINITY, f64::min);
        of.iter().any(|case| end(set, at, case) <= best.max(1e-8))
    };
    cells.fold((0, 0), |(first, all), cell| (first + usize::from(is_first(cell)), all + 1))
}

/// Counts the sets and lambdas at which a pairwise method's gap falls at least 10 times in each of the last two thirds
/// of its calls, as linear convergence does: a gap that is inverse to the calls falls 2 and 1.5 times there.
fn linear(records: &Records) -> ClaimFinding {
    let cells = records.sets().into_iter().flat_map(|set| LAMBDAS.map(|at| (set, at.0)));
    let falls = |curve: &Curve| {
        let last = curve.last()?.0;
        let at = [1.0 / 3.0, 2.0 / 3.0, 1.0].map(|share| value_at(curve, share * last));
        Some(at[0]? >= 10.0 * at[1]? && at[1]? >= 10.0 * at[2]?)
    };
    let is_linear = |(set, at): &(&str, &str)| {
        let pairwise = METHODS.iter().skip(PAIRWISE);
        pairwise.flat_map(|method| gaps(records, set, at, method.0, CALLS)).any(|curve| falls(&curve) == Some(true))
    };
    let all: Vec<(&str, &str)> = cells.collect();
    let found: Vec<String> =
        all.iter().filter(|cell| is_linear(cell)).map(|cell| format!("{}, {}", cell.0, cell.1)).collect();
    let measured = format!("{} of {} settings: {}", found.len(), all.len(), found.join("; "));
    if all.is_empty() {
        ClaimFinding::untested("nothing was run")
    } else {
        ClaimFinding::of(!found.is_empty(), measured)
    }
}

fn figures(records: &Records) -> Vec<Figure> {
    let mut figures = Vec::new();
    for set in records.sets() {
        for (at, lambda) in LAMBDAS {
            let series = METHODS.iter().enumerate().map(|(number, (method, _))| {
                // One colour for each pair of cache and step; gap sampling is solid, as in the slides.
                let color = [0, 5, 1, 2][number / 2];
                banded(method, color, number & GAP == 0, &gaps(records, set, at, method, CALLS))
            });
            let axes = Axes { x: "oracle calls, gap passes included", y: "duality gap", x_log: true, y_log: true };
            let chart = axes.chart(format!("{set}, lambda {at} ({lambda})"), series.collect());
            let caption = "Solid: gap sampling. Dashed: uniform sampling. Gaps are the lowest so far.".into();
            figures.push(Figure { chart, caption });
        }
    }
    figures
}

fn tables(records: &Records) -> Vec<PageTable> {
    let columns = ["data", "lambda", "dial", "calls", "work seconds", "the same, calls 1 ms dearer"];
    let note = "Cost with a dial over cost without it, to the smallest gap that both reach: geometric mean over the \
        four pairs of methods that differ in nothing else. Below 1 it helps.";
    let mut table = PageTable::new("Each dial by itself", &columns, note);
    for set in records.sets() {
        let own = Records(records.0.iter().filter(|run| run.set == set).cloned().collect());
        for ((at, _), (dial, name)) in LAMBDAS
            .into_iter()
            .flat_map(|at| [(GAP, "gap sampling"), (CACHE, "cache"), (PAIRWISE, "pairwise")].map(|dial| (at, dial)))
        {
            let ratios = [CALLS, TIME, SLOW_TIME].map(|cost| format!("{:.2}", mean_of(&own, dial, cost, &[at])));
            table.rows.push([set, at, name].map(str::to_owned).into_iter().chain(ratios).collect());
        }
    }
    vec![table]
}

/// The experiment of the slides' grid.
pub(crate) static GRID: Experiment = Experiment {
    name: "gaps-grid",
    title: "gap sampling, caching and pairwise steps, each with and without",
    source: "Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien: Minding the Gaps for Block Frank-Wolfe \
             Optimization of Structured SVMs (2016), the grid of eight methods",
    about: "Eight methods at lambda = 1/n (too small), 100/n (good) and 10000/n (too big); gap passes every 10 \
            passes, cache with F = 0.25 and nu = 0.01. Gaps are certified; bounds are evaluated off the \
            count.\n\nDifferent: OCR is fold 0; at the quick size USPS is cut to 2000 digits, CoNLL to 1000 \
            sentences, the horses that stand for HorseSeg and the poses to 40 images. Poses are those of Leeds Sports \
            Poses Extended, with HOG cells and places for channels; the slides name no features.",
    data: &[&OCR_SMALL, &USPS, &CONLL, &HORSES, &POSES],
    differs: &[
        (&OCR_SMALL, Differs::Part("6877 words")),
        (&CONLL, Differs::Part("8936 sentences")),
        (&HORSES, Differs::Other("HorseSeg")),
        (&POSES, Differs::Other("human poses")),
    ],
    repeats: 5,
    quick_seconds: Some(356),
    full_seconds: None,
    runs,
    figures,
    tables,
    claims: &[
        Claim {
            id: "C51",
            source: ClaimSource::Paper,
            sentence: "gap sampling always helps",
            printed: "",
            threshold: "at most 1.02 times the calls of uniform sampling in every pair",
            needs: "",
            judge: |records| always(records, GAP, CALLS),
            reason: "Gaps are stale between gap passes, whose calls count too; where all blocks have much to gain, \
                     the order matters little.",
        },
        Claim {
            id: "C52",
            source: ClaimSource::Paper,
            sentence: "caching always helps in oracle calls",
            printed: "",
            threshold: "at most 1.02 times the calls of no cache in every pair",
            needs: "",
            judge: |records| always(records, CACHE, CALLS),
            reason: "Early, and at large lambda, steps on cached planes move away from what calls would find.",
        },
        Claim {
            id: "C52",
            source: ClaimSource::Paper,
            sentence: "caching can hurt in time when the oracle is fast",
            printed: "",
            threshold: "more than 1.05 times the work seconds in some pair",
            needs: "",
            judge: |records| {
                let found = ratios(records, CACHE, TIME, &[]);
                let slower = found.iter().filter(|pair| pair.1 > 1.05).count();
                ClaimFinding::of(slower > 0, format!("{slower} of {} pairs", found.len()))
            },
            reason: "",
        },
        Claim {
            id: "C52",
            source: ClaimSource::Paper,
            sentence: "caching is a must when the oracle is slow",
            printed: "",
            threshold: "with calls that take 1 ms more, a geometric mean of at most 0.8 times the time",
            needs: "",
            judge: |records| {
                let mean = mean_of(records, CACHE, SLOW_TIME, &[]);
                ClaimFinding::of(mean <= 0.8, format!("{mean:.2} in the mean"))
            },
            reason: "As for calls: where caching saves none, a slow oracle makes up for nothing.",
        },
        Claim {
            id: "C53",
            source: ClaimSource::Paper,
            sentence: "pairwise steps help to reach high accuracy",
            printed: "",
            threshold: "at the good lambda a geometric mean of less than 0.95 times the calls, at the end of the \
                budget",
            needs: "",
            judge: |records| {
                let mean = mean_of(records, PAIRWISE, CALLS, &["good"]);
                ClaimFinding::of(mean < 0.95, format!("{mean:.2} in the mean"))
            },
            reason: "The budget ends before high accuracy on some sets.",
        },
        Claim {
            id: "C53",
            source: ClaimSource::Paper,
            sentence: "they help more when the problem is more strongly convex",
            printed: "",
            threshold: "geometric mean of ratios: too big < good < too small",
            needs: "",
            judge: |records| {
                let means = LAMBDAS.map(|at| mean_of(records, PAIRWISE, CALLS, &[at.0]));
                let measured = format!("{:.2} too small, {:.2} good, {:.2} too big", means[0], means[1], means[2]);
                ClaimFinding::of(means[2] < means[1] && means[1] < means[0], measured)
            },
            reason: "At the largest lambda all methods are done within a few passes, most of them gap passes.",
        },
        Claim {
            id: "C31",
            source: ClaimSource::Paper,
            sentence: "linear convergence of pairwise block steps is observed in some cases",
            printed: "",
            threshold: "at some set and lambda the gap falls at least 10 times in each of the last two thirds of calls",
            needs: "",
            judge: linear,
            reason: "The budget ends before linear convergence begins.",
        },
        Claim {
            id: "C54",
            source: ClaimSource::Paper,
            sentence: "use BC-PFW with gap sampling and caching, or BCFW with gap sampling",
            printed: "",
            threshold: "one of the two has the smallest gap at the end in at least 3 of 4 of the settings",
            needs: "",
            judge: |records| {
                let (first, all) = firsts(records, &["bcpfw-gap-cache", "bcfw-gap"]);
                ClaimFinding::of(4 * first >= 3 * all, format!("{first} of {all} settings"))
            },
            reason: "At small lambda Frank-Wolfe steps with cache are ahead within the budget.",
        },
    ],
};
