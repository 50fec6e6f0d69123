//! Figures 5 and 6 of the MP-BCFW paper: convergence in time, planes kept and approximate passes. The runs are those of
//! Figure 4.

use super::mp_bcfw::{FIG4, PAIRS, WALL, convergence, set_of, speedup};
use crate::reproduce::bands::{Axes, banded};
use crate::reproduce::experiment::{Claim, ClaimFinding, ClaimSource, Experiment, Figure, PageTable};
use crate::reproduce::records::{Curve, Records, median, reaches};

/// The result for a set that quick sizes leave out.
fn stanford_untested() -> ClaimFinding {
    ClaimFinding::untested("Stanford is run at full size only")
}

/// Judges the ratios of work seconds to the same dual value of some pairs.
fn time_gain(records: &Records, set: &str, pairs: &[(&str, &str)], holds: fn(f64) -> bool) -> ClaimFinding {
    let gain = |&pair: &(&str, &str)| speedup(records, set_of(records, set), "seconds", pair, f64::INFINITY);
    let gains: Vec<f64> = pairs.iter().map(gain).collect();
    let each: Vec<String> = pairs.iter().zip(&gains).map(|(pair, gain)| format!("{} {gain:.2}", pair.0)).collect();
    match gains.iter().all(|gain| gain.is_finite()) {
        true => ClaimFinding::of(
            gains.iter().all(|&gain| holds(gain)),
            format!("{} times faster to the same dual value", each.join(", ")),
        ),
        false => ClaimFinding::untested("the two methods have no dual value in common"),
    }
}

/// Judges that `mp-bcfw` takes at most 1.25 times the work seconds to the dual value of every record of `bcfw`.
fn not_slower(records: &Records, set: &str) -> ClaimFinding {
    let [plain, multi] = ["bcfw", "mp-bcfw"].map(|case| records.dual_errors(set, "", case, "seconds"));
    let ratios: Vec<f64> = plain
        .iter()
        .zip(&multi)
        .flat_map(|(plain, multi)| {
            plain.iter().map(|&(time, error)| reaches(multi, error).map_or(f64::INFINITY, |own| own / time))
        })
        .collect();
    let slower = ratios.iter().filter(|&&ratio| ratio > 1.25).count();
    match ratios.is_empty() {
        true => ClaimFinding::untested("there is no pair of runs"),
        false => ClaimFinding::of(
            slower == 0,
            format!(
                "slower at {slower} of {} records, at most {:.2} times the time",
                ratios.len(),
                ratios.iter().copied().fold(0.0, f64::max)
            ),
        ),
    }
}

/// Passes on the machine's clock below which shares of time are not judged.
const LEAST_TIMED: f64 = 30.0;

/// Judges shares of time in the oracle; those of short runs are not judged.
fn shares(records: &Records, case: &str, sets: &[&str], holds: fn(&[f64]) -> bool) -> ClaimFinding {
    let found: Vec<f64> = sets.iter().map(|set| share(records, set, case)).collect();
    let each: Vec<String> = sets.iter().zip(&found).map(|(set, share)| format!("{set} {share:.0} %")).collect();
    let timed = records.0.iter().filter(|run| run.at == WALL && run.case == case);
    match timed.map(|run| run.end("passes")).fold(f64::NAN, f64::min) {
        passes if passes < LEAST_TIMED => ClaimFinding::untested(format!(
            "{passes} passes are too few, and other work on the machine plays a part: {}. On a quiet machine, in a \
             release build (benchmarks/runs/2026-11-23-segmentation-xeon-2cores): bcfw 96 % on 328 horses and 97 % on \
             Stanford, mp-bcfw 38 and 18 %",
            each.join(", ")
        )),
        _ => ClaimFinding::of(holds(&found), each.join(", ")),
    }
}

/// Returns the share of training time in the oracle, in percent, of the run on the machine's clock.
fn share(records: &Records, set: &str, case: &str) -> f64 {
    let runs = records.of(set_of(records, set), WALL, case);
    median(runs.iter().map(|run| 100.0 * run.end("oracle_seconds") / run.end("train_seconds")))
}

fn shares_table(records: &Records) -> Vec<PageTable> {
    let mut table = PageTable::new(
        "Share of training time in the oracle",
        &["data", "bcfw, printed", "bcfw, ours", "mp-bcfw, printed", "mp-bcfw, ours"],
        "Runs on the machine's own clock, calls delayed as above.",
    );
    for (set, plain, multi) in
        [("usps", "15 %", ""), ("ocr", "70 %", ""), ("horses", "99 %", "< 25 %"), ("stanford", "99 %", "< 25 %")]
    {
        if !set_of(records, set).is_empty() {
            let ours = |case| format!("{:.0} %", share(records, set, case));
            table.rows.push(vec![set.into(), plain.into(), ours("bcfw"), multi.into(), ours("mp-bcfw")]);
        }
    }
    vec![table]
}

/// The experiment of Figure 5.
pub(crate) static FIG5: Experiment = Experiment {
    name: "mp-bcfw-fig5",
    title: "convergence of MP-BCFW against time",
    quick_seconds: Some(85),
    source: "Shah, Kolmogorov, Lampert: A Multi-Plane Block-Coordinate Frank-Wolfe Algorithm (2015), Figure 5, \
        section 4.1",
    figures: |records| convergence(records, "seconds", "training time (s, work clock)", true),
    tables: shares_table,
    claims: &[
        Claim {
            id: "A73",
            source: ClaimSource::Paper,
            sentence: "for USPS the better oracle convergence did not translate to actually faster convergence",
            printed: "",
            threshold: "mp-bcfw at most 1.25 times faster to the same dual value, on the work clock",
            needs: "usps",
            judge: |records| time_gain(records, "usps", &PAIRS[..1], |gain| gain <= 1.25),
            reason: AS_PRICED,
        },
        Claim {
            id: "A32",
            source: ClaimSource::Paper,
            sentence: "for USPS MP-BCFW falls back to the baseline's behaviour",
            printed: "",
            threshold: "a median of at most 5 approximate passes",
            needs: "usps",
            judge: |records| {
                let [_, _, passes, _] = sizes(records, "usps");
                ClaimFinding::of(passes <= 5.0, format!("{passes:.1} approximate passes"))
            },
            reason: AS_PRICED,
        },
        Claim {
            id: "A32",
            source: ClaimSource::Paper,
            sentence: "even for USPS MP-BCFW is not slower than BCFW",
            printed: "",
            threshold: "at most 1.25 times the time to the dual value of every record of bcfw, on the work clock",
            needs: "usps",
            judge: |records| not_slower(records, "usps"),
            reason: "Approximate passes of the first iterations cost more than they bring; later ones make up for it.",
        },
        Claim {
            id: "A73",
            source: ClaimSource::Paper,
            sentence: "for OCR the difference between single-plane and multi-plane methods is small",
            printed: "",
            threshold: "mp-bcfw 0.8 to 1.5 times as fast as bcfw to the same dual value, on the work clock",
            needs: "ocr",
            judge: |records| time_gain(records, "ocr", &PAIRS[..1], |gain| (0.8..=1.5).contains(&gain)),
            reason: AS_PRICED,
        },
        Claim {
            id: "A73",
            source: ClaimSource::Paper,
            sentence: "on HorseSeg MP-BCFW and MP-BCFW-avg converge substantially faster than BCFW and BCFW-avg",
            printed: "",
            threshold: "at least 2 times as fast to the same dual value, on the work clock",
            needs: "",
            judge: |records| time_gain(records, "horses", &PAIRS, |gain| gain >= 2.0),
            reason: "",
        },
        Claim {
            id: "A73",
            source: ClaimSource::Paper,
            sentence: "on Stanford, too, they converge substantially faster",
            printed: "",
            threshold: "at least 2 times as fast to the same dual value, on the work clock",
            needs: "stanford",
            judge: |records| match set_of(records, "stanford") {
                "" => stanford_untested(),
                _ => time_gain(records, "stanford", &PAIRS, |gain| gain >= 2.0),
            },
            reason: "",
        },
        Claim {
            id: "A75",
            source: ClaimSource::Paper,
            sentence: "where calls are costly BCFW spends most of its time in the oracle",
            printed: "about 70 % (OCR) and 99 % (HorseSeg)",
            threshold: "more than half of the time on OCR and horses, on the machine's clock",
            needs: "ocr horses",
            judge: |records| {
                let found = ["ocr", "horses"].map(|set| share(records, set, "bcfw"));
                ClaimFinding::of(
                    found.iter().all(|&share| share > 50.0),
                    format!("ocr {:.0} %, horses {:.0} %, calls delayed to the paper's cost", found[0], found[1]),
                )
            },
            reason: "",
        },
        Claim {
            id: "A75",
            source: ClaimSource::Paper,
            sentence: "BCFW's share of time in the oracle",
            printed: "about 15, 70 and 99 % (USPS, OCR, HorseSeg)",
            threshold: "within 15 points of the printed shares, in runs of at least 30 passes",
            needs: "usps ocr horses",
            judge: |records| {
                shares(records, "bcfw", &["usps", "ocr", "horses"], |found| {
                    found.iter().zip([15.0, 70.0, 99.0]).all(|(found, printed)| (found - printed).abs() <= 15.0)
                })
            },
            reason: "Shares depend on what a step costs next to a call.",
        },
        Claim {
            id: "A75",
            source: ClaimSource::Paper,
            sentence: "with MP-BCFW the share on HorseSeg drops",
            printed: "< 25 %",
            threshold: "less than 25 % on horses, in a run of at least 30 passes",
            needs: "horses",
            judge: |records| shares(records, "mp-bcfw", &["horses"], |found| found[0] < 25.0),
            reason: "The slope rule ends approximate passes while calls still take most of the time.",
        },
    ],
    ..FIG4
};

const AS_PRICED: &str = "As the work clock prices them, steps on planes kept cost little next to a call, so that the \
    slope rule goes on.";

/// Planes kept, and approximate passes of each iteration.
fn fig6(records: &Records) -> Vec<Figure> {
    let axes = |y, y_log| Axes { x: "outer iteration", y, x_log: false, y_log };
    let chart = |y: &'static str, y_log, curves: &dyn Fn(&str) -> Vec<Curve>| {
        let sets = records.sets().into_iter().enumerate();
        let series = sets.map(|(color, set)| banded(set, color, false, &curves(set))).collect();
        Figure { chart: axes(y, y_log).chart(format!("mp-bcfw: {y}"), series), caption: String::new() }
    };
    vec![
        chart("planes kept (mean of an example)", false, &|set| {
            records.curves(set, "", "mp-bcfw", "iterations", "planes")
        }),
        chart("approximate passes in an iteration", true, &|set| approximate(records, set)),
    ]
}

/// Returns the approximate passes of each outer iteration.
fn approximate(records: &Records, set: &str) -> Vec<Curve> {
    let each = |curve: &Curve| {
        let steps =
            curve.windows(2).map(|pair| (pair[1].0, (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0).max(1.0)));
        steps.collect()
    };
    records.curves(set, "", "mp-bcfw", "iterations", "approximate_passes").iter().map(each).collect()
}

/// Returns of a data set the largest and the last number of planes kept, and the median and largest number of
/// approximate passes.
fn sizes(records: &Records, start: &str) -> [f64; 4] {
    let set = set_of(records, start);
    let planes = records.curves(set, "", "mp-bcfw", "iterations", "planes");
    let highest = |curve: &Curve| curve.iter().map(|point| point.1).fold(f64::NAN, f64::max);
    let passes: Vec<f64> = approximate(records, set).iter().flatten().map(|point| point.1).collect();
    [
        median(planes.iter().map(highest)),
        median(planes.iter().filter_map(|curve| Some(curve.last()?.1))),
        median(passes.iter().copied()),
        passes.iter().copied().fold(f64::NAN, f64::max),
    ]
}

/// Returns of a data set the planes kept where the last third of the iterations begins and ends, and the median number
/// of approximate passes in the first and in the last third.
fn thirds(records: &Records, start: &str) -> [f64; 4] {
    let set = set_of(records, start);
    let planes = records.curves(set, "", "mp-bcfw", "iterations", "planes");
    let part = |last: bool| {
        let of = |curve: &Curve| {
            let third = curve.len() / 3;
            let range = if last { curve.len() - third..curve.len() } else { 0..third };
            curve[range].iter().map(|point| point.1).collect::<Vec<f64>>()
        };
        median(approximate(records, set).iter().flat_map(of))
    };
    [
        median(planes.iter().filter_map(|curve| Some(curve.get(curve.len() - curve.len() / 3)?.1))),
        median(planes.iter().filter_map(|curve| Some(curve.last()?.1))),
        part(false),
        part(true),
    ]
}

/// The experiment of Figure 6.
pub(crate) static FIG6: Experiment = Experiment {
    name: "mp-bcfw-fig6",
    title: "planes kept and approximate passes of MP-BCFW",
    quick_seconds: Some(85),
    source: "Shah, Kolmogorov, Lampert: A Multi-Plane Block-Coordinate Frank-Wolfe Algorithm (2015), Figure 6",
    figures: fig6,
    tables: |_| Vec::new(),
    claims: &[
        Claim {
            id: "A74",
            source: ClaimSource::Paper,
            sentence: "for USPS the number of planes and of approximate passes remain small",
            printed: "",
            threshold: "at most 10 planes an example and a median of at most 5 approximate passes",
            needs: "usps",
            judge: |records| {
                let [planes, _, passes, _] = sizes(records, "usps");
                ClaimFinding::of(planes <= 10.0 && passes <= 5.0, format!("{planes:.1} planes, {passes:.1} passes"))
            },
            reason: AS_PRICED,
        },
        Claim {
            id: "A74",
            source: ClaimSource::Paper,
            sentence: "for OCR planes grow and then shrink, with 10 to 15 approximate passes",
            printed: "10 to 15",
            threshold: "last number of planes < 0.9 of the largest; median passes from 5 to 30",
            needs: "ocr",
            judge: |records| {
                let [planes, last, passes, _] = sizes(records, "ocr");
                let measured = format!("{planes:.1} planes, {last:.1} at the end; {passes:.1} passes");
                ClaimFinding::of(last < 0.9 * planes && (5.0..=30.0).contains(&passes), measured)
            },
            reason: AS_PRICED,
        },
        Claim {
            id: "A74",
            source: ClaimSource::Paper,
            sentence: "on HorseSeg planes stabilise at a low value, and approximate passes grow to several hundred",
            printed: "several hundred",
            threshold: "last third of the iterations: planes change by less than 5 %, median of at least 200 passes",
            needs: "horses",
            judge: |records| {
                let [first, last, early, late] = thirds(records, "horses");
                let change = 100.0 * (last / first - 1.0).abs();
                ClaimFinding::of(
                    change < 5.0 && late >= 200.0,
                    format!(
                        "planes change by {change:.0} % to {last:.1}; {late:.0} passes, {early:.0} in the first third"
                    ),
                )
            },
            reason: "There are 41 images in the place of 2376, and 30 iterations.",
        },
        Claim {
            id: "A74",
            source: ClaimSource::Paper,
            sentence: "on Stanford planes grow to a stable state, and approximate passes grow slowly",
            printed: "",
            threshold: "last third: planes change by less than 5 %, and more passes than in the first third",
            needs: "stanford",
            judge: |records| match set_of(records, "stanford") {
                "" => stanford_untested(),
                _ => {
                    let [first, last, early, late] = thirds(records, "stanford");
                    let change = 100.0 * (last / first - 1.0).abs();
                    let measured =
                        format!("planes change by {change:.0} % to {last:.1}; {early:.0} to {late:.0} passes");
                    ClaimFinding::of(change < 5.0 && late > early, measured)
                }
            },
            reason: "",
        },
    ],
    ..FIG4
};
