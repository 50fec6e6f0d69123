//! Figures 5.1 and 5.2 of the thesis on stochastic functional descent (SFD).

use crate::reproduce::bands::{Axes, banded};
use crate::reproduce::data_sets::ADULT;
use crate::reproduce::experiment::{
    Claim, ClaimFinding, ClaimSource, Differs, Experiment, Figure, PageTable, RunPlan, Scale,
};
use crate::reproduce::records::{Curve, Records, mean, median};

/// The thesis' own way: margins clamped below, no average, 1-slack steps.
pub(super) const THESIS: &str = "solver.margins=clamped solver.averaging=none solver.inner=one-slack";

/// Training rows at the quick size.
pub(super) const ROWS: usize = 4000;

/// Runs of the parameter study on Adult.
fn study(scale: &Scale, cases: &[(&str, String)]) -> Vec<RunPlan> {
    let run = |(case, more): &(&str, String)| {
        let spec = format!("{more} {THESIS} stop.passes={} evaluate=auto", scale.pick(1, 4, 4));
        RunPlan::new(&ADULT, case, &spec).on(scale.pick(0, ROWS, 0)).repeated(scale)
    };
    cases.iter().flat_map(run).collect()
}

fn panels(records: &Records) -> Vec<Figure> {
    let measures: [(&str, &'static str, bool); 3] = [
        ("descent.hinge", "hinge loss of the step's examples, mean", false),
        ("descent.nonzero", "examples of a step with nonzero loss (share)", false),
        ("descent.update_square", "squared length of the update", true),
    ];
    let panel = |(key, y, y_log): (&str, &'static str, bool)| {
        let series = records.cases().into_iter().enumerate();
        let series = series.map(|(color, case)| banded(case, color, false, &steps(records, case, key)));
        let axes = Axes { x: "step", y, x_log: true, y_log };
        Figure { chart: axes.chart(format!("Adult: {y}"), series.collect()), caption: String::new() }
    };
    measures.map(panel).into()
}

fn steps(records: &Records, case: &str, key: &str) -> Vec<Curve> {
    records.curves(ADULT.name, "", case, "iterations", key)
}

fn errors(records: &Records) -> Vec<PageTable> {
    let mut table = PageTable::new("Test error of the last weights", &["case", "test error, %", "support vectors"], "");
    for case in records.cases() {
        let [error, vectors] =
            ["test_loss", "support_vectors"].map(|key| mean(&records.ends(ADULT.name, "", case, key)));
        table.rows.push(vec![case.into(), format!("{:.2}", 100.0 * error), format!("{vectors:.0}")]);
    }
    vec![table]
}

/// Returns the mean of a figure in the last third of the runs of a case over that in the first third.
fn change(records: &Records, case: &str, key: &str) -> f64 {
    let of = |curve: &Curve| {
        let third = curve.len() / 3;
        let mean_of = |part: &[(f64, f64)]| mean(&part.iter().map(|point| point.1).collect::<Vec<_>>());
        mean_of(&curve[curve.len() - third..]) / mean_of(&curve[..third])
    };
    median(steps(records, case, key).iter().map(of))
}

/// Judges that the hinge loss rises and the share of examples with a loss falls in all of some cases.
fn hinge_rises(records: &Records, cases: &[&str]) -> ClaimFinding {
    let found =
        cases.iter().map(|case| (case, ["descent.hinge", "descent.nonzero"].map(|key| change(records, case, key))));
    let found: Vec<(&&str, [f64; 2])> = found.collect();
    let each: Vec<String> =
        found.iter().map(|(case, [hinge, share])| format!("{case} {hinge:.2} and {share:.2}")).collect();
    ClaimFinding::of(
        found.iter().all(|(_, [hinge, share])| *hinge > 1.0 && *share < 1.0),
        format!("hinge and share times {}", each.join(", ")),
    )
}

const OWN_SAMPLE: &str =
    "The hinge is that of the step's own examples, before the step; the thesis has all training rows.";

/// Returns the slope of a curve in logarithms, by least squares.
fn slope(curve: &Curve) -> f64 {
    let points = curve.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).map(|(x, y)| (x.ln(), y.ln()));
    let points: Vec<(f64, f64)> = points.collect();
    let (x, y) =
        (mean(&points.iter().map(|p| p.0).collect::<Vec<_>>()), mean(&points.iter().map(|p| p.1).collect::<Vec<_>>()));
    let (covariance, variance) =
        points.iter().fold((0.0, 0.0), |(c, v), p| (c + (p.0 - x) * (p.1 - y), v + (p.0 - x).powi(2)));
    covariance / variance
}

/// Returns the slope of the squared length of updates, without the first so many steps of 100.
fn slope_of(records: &Records, case: &str, skipped: f64) -> f64 {
    let late = |curve: Curve| {
        let first = curve.last().map_or(0.0, |point| 0.01 * skipped * point.0);
        curve.into_iter().filter(|point| point.0 > first).collect()
    };
    median(steps(records, case, "descent.update_square").into_iter().map(|curve| slope(&late(curve))))
}

const SIZES: [&str; 4] = ["k = 10", "k = 50", "k = 100", "k = 200"];

/// The experiment of Figure 5.1.
pub(crate) static FIG1: Experiment = Experiment {
    name: "sfd-fig1",
    title: "the number k of examples of a step",
    source: "He: Stochastic Functional Descent for Learning Support Vector Machines (2014), Figure 5.1",
    about: "Adult with a Gaussian kernel, gamma = 0.05, 4 epochs, lambda_t = t/n, margins clamped, no average, \
            1-slack steps.\n\nDifferent: at the quick size 4000 of 22696 training rows. Test errors are of the last \
            weights only.",
    data: &[&ADULT],
    differs: &[(&ADULT, Differs::Part("22696 training rows"))],
    repeats: 5,
    quick_seconds: Some(6),
    full_seconds: Some(300),
    runs: |scale| {
        let cases = SIZES.map(|case| (case, format!("solver=sfd2 solver.size={}", &case[4..])));
        study(scale, &cases)
    },
    figures: panels,
    tables: errors,
    claims: &[
        Claim::untested("B70", ClaimSource::Paper, "larger k gives smoother curves of hinge and test error", |_| {
            ClaimFinding::untested(
                "figures are of the step's own sample, whose noise alone falls like 1/sqrt(k); test errors are of the \
                 last weights",
            )
        }),
        Claim {
            id: "B71",
            source: ClaimSource::Paper,
            sentence: "the training hinge loss keeps increasing while the share of examples with a loss decreases",
            printed: "",
            threshold: "means of the last third against the first: hinge above, share below, for every k",
            needs: "",
            judge: |records| hinge_rises(records, &SIZES),
            reason: OWN_SAMPLE,
        },
        Claim {
            id: "B70",
            source: ClaimSource::Paper,
            sentence: "the squared length of updates falls like C/t",
            printed: "",
            threshold: "slope in logarithms between -1.4 and -0.6 for every k",
            needs: "",
            judge: |records| {
                let found = SIZES.map(|case| slope_of(records, case, 0.0));
                let measured = found.map(|value| format!("{value:.2}")).join(", ");
                ClaimFinding::of(
                    found.iter().all(|slope| (-1.4..=-0.6).contains(slope)),
                    format!("{measured} (k = 10 to 200)"),
                )
            },
            reason: "The bound is C/t; updates also shrink as fewer examples have a loss.",
        },
    ],
};

const STRENGTHS: [(&str, &str); 4] = [
    ("10/k", "solver=sfd1 solver.schedule.value=0.2"),
    ("1/k", "solver=sfd1 solver.schedule.value=0.02"),
    ("0.1/k", "solver=sfd1 solver.schedule.value=0.002"),
    ("t/n", "solver=sfd2"),
];

/// Those that stay the same over the steps.
const CONSTANT: [&str; 3] = ["10/k", "1/k", "0.1/k"];

/// The experiment of Figure 5.2.
pub(crate) static FIG2: Experiment = Experiment {
    name: "sfd-fig2",
    title: "the strength lambda_t of a step's regulariser",
    quick_seconds: Some(6),
    full_seconds: Some(336),
    source: "He: Stochastic Functional Descent for Learning Support Vector Machines (2014), Figure 5.2",
    runs: |scale| study(scale, &STRENGTHS.map(|(case, more)| (case, format!("{more} solver.size=50")))),
    claims: &[
        Claim {
            id: "B71",
            source: ClaimSource::Paper,
            sentence: "with constant lambda_t the squared length of updates remains roughly constant",
            printed: "",
            threshold: "slope in logarithms of -0.15 to 0.15 for 10/k, 1/k and 0.1/k, after the first 10 % of steps",
            needs: "",
            judge: |records| {
                let found = CONSTANT.map(|case| slope_of(records, case, 10.0));
                let each: Vec<String> =
                    CONSTANT.iter().zip(found).map(|(case, slope)| format!("{case} {slope:.2}")).collect();
                ClaimFinding::of(found.iter().all(|slope| slope.abs() <= 0.15), each.join(", "))
            },
            reason: "As fewer examples have a loss, updates get shorter even at constant strength.",
        },
        Claim {
            id: "B71",
            source: ClaimSource::Paper,
            sentence: "with t/n it decreases approximately like 1/t",
            printed: "",
            threshold: "slope in logarithms between -1.4 and -0.6",
            needs: "",
            judge: |records| {
                let slope = slope_of(records, "t/n", 0.0);
                ClaimFinding::of((-1.4..=-0.6).contains(&slope), format!("{slope:.2}"))
            },
            reason: "",
        },
        Claim::untested(
            "B71",
            ClaimSource::Paper,
            "the test error is smooth but slow at 10/k, and oscillates at 0.1/k",
            |_| ClaimFinding::untested("test errors are of the last weights alone"),
        ),
        Claim {
            id: "B71",
            source: ClaimSource::Paper,
            sentence: "the training hinge loss keeps increasing while the share of examples with a loss decreases",
            printed: "",
            threshold: "means of the last third against the first: hinge above, share below, for every lambda_t",
            needs: "",
            judge: |records| hinge_rises(records, &STRENGTHS.map(|of| of.0)),
            reason: OWN_SAMPLE,
        },
    ],
    ..FIG1
};
