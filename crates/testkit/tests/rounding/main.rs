//! Certificates against exact arithmetic, however many orders of magnitude the features span.

mod exact;
mod problems;

use multiplane_core::clock::ClockKind;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::run::{Evaluate, GapTarget, Outcome, Run, Stop};
use multiplane_core::solvers::SolverEntry;
use multiplane_testkit::contract::solvers_on;

use exact::Exact;
use problems::Problem;

/// By how much, relative, a bound may be off.
const TOLERANCE: f64 = 1e-9;

/// What a sweep came to, over certified runs.
#[derive(Debug, Default)]
struct Counts {
    runs: usize,
    certified: usize,
    /// P at the weights is above what is reported.
    primal_too_low: usize,
    /// F is above the value of weights that some solver found.
    dual_too_high: usize,
    /// Runs on ordinary scales that are not certified.
    lost: usize,
    /// Runs that ended with an error: numbers that 64 bits do not hold.
    refused: usize,
}

/// Trains to the end of the budget, or to a gap of 1 in 10^4 that is looked for at all moments or at good ones.
fn run(problem: &Problem, entry: &SolverEntry, regularizer: &Regularizer, passes: f64, way: u64) -> Option<Outcome> {
    let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, regularizer.clone()).unwrap();
    let gap = (way > 0).then_some(GapTarget::Percent(0.01));
    let stop = Stop { passes: Some(passes), gap, ..Stop::default() };
    let evaluate = if way == 1 { Evaluate::Auto } else { Evaluate::Pass };
    let run =
        Run::new(problem.oracle(), problem.oracle(), solver, regularizer.clone(), stop).with_clock(ClockKind::Work);
    run.with_evaluate(evaluate).to_end().ok()
}

/// `n value (1 + TOLERANCE)` without any further rounding.
fn exactly(n: f64, value: f64) -> Exact {
    let mut sum = Exact::zero();
    sum.add(n, value, 1.0);
    sum.add(n, value.abs(), TOLERANCE);
    sum
}

fn sweep(problems: std::ops::Range<u64>) -> Counts {
    let mut counts = Counts::default();
    for seed in problems {
        let problem = problems::random(seed);
        let solvers: Vec<_> = solvers_on(problem.oracle()).into_iter().filter(|entry| entry.has_dual).collect();
        let n = problem.blocks() as f64;
        let lambda = [1.0 / n, 1e-3, 1.0, 1e-6][(seed / 5 % 4) as usize];
        let regularizer = problems::regularizer(seed, problem.dim, lambda);
        // A prior of a million is not of the scale of features of 1.
        let small = regularizer.prior().is_none_or(|prior| prior.iter().all(|w| w.abs() <= 1.0));
        // Without a word of the losses nothing says that a P of 1e-10 is as good as none.
        let ordinary = problem.ordinary && small && !problem.hidden;
        let mut outcomes = Vec::new();
        for turn in 0..4 {
            let entry = solvers[(seed as usize * 5 + turn * 7) % solvers.len()];
            counts.runs += 1;
            match run(&problem, entry, &regularizer, [300.0, 20.0][(seed % 7 / 6) as usize], (seed + turn as u64) % 3) {
                Some(outcome) => outcomes.push((entry.name, outcome)),
                None => counts.refused += 1,
            }
        }
        let values: Vec<Exact> = outcomes.iter().map(|(_, outcome)| problem.primal(&outcome.w, &regularizer)).collect();
        let lowest = values.iter().reduce(|lowest, value| if lowest.is_above(value) { value } else { lowest });
        for ((solver, outcome), value) in outcomes.iter().zip(&values) {
            let certificate = outcome.certificate;
            if !certificate.certified {
                if ordinary {
                    eprintln!("{}, {solver}, lambda {lambda}: lost: {outcome:?}", problem.name);
                    counts.lost += 1;
                }
                continue;
            }
            counts.certified += 1;
            let mut report = |what: &str, count: fn(&mut Counts) -> &mut usize| {
                eprintln!("{}, {solver}, lambda {lambda}: {what}: {certificate:?}", problem.name);
                *count(&mut counts) += 1;
            };
            if value.is_above(&exactly(n, certificate.primal)) {
                report("the primal value is too low", |counts| &mut counts.primal_too_low);
            }
            let mut dual = Exact::zero();
            dual.add(n, certificate.dual.unwrap(), 1.0 - TOLERANCE);
            if lowest.is_some_and(|lowest| dual.is_above(lowest)) {
                report("the dual value is too high", |counts| &mut counts.dual_too_high);
            }
        }
    }
    counts
}

/// No certificate says what exact arithmetic disproves, and on ordinary scales none is lost. `MULTIPLANE_ROUNDING=2000`
/// tries so many problems.
#[test]
fn certificates_survive_rounding() {
    let problems = std::env::var("MULTIPLANE_ROUNDING").map_or(180, |problems| problems.parse().unwrap());
    let counts = sweep(0..problems);
    eprintln!("{problems} problems: {counts:?}");
    assert_eq!((counts.primal_too_low, counts.dual_too_high), (0, 0), "false certificates: {counts:?}");
    assert_eq!(counts.lost, 0, "certificates lost on ordinary scales: {counts:?}");
    assert!(counts.certified > counts.runs / 3, "hardly anything is certified: {counts:?}");
}

/// A gap asked for that is smaller than what rounding may have done to the bounds is neither reached nor stated: what is
/// certified holds all of the rounding.
#[test]
fn no_gap_is_smaller_than_its_rounding() {
    let mut asked = 0;
    for seed in (0..36).filter(|seed| seed % 12 < 2) {
        let problem = problems::random(seed);
        for name in ["mp-bcfw", "bcpfw", "auto"] {
            let entry = multiplane_core::solvers::find(name).unwrap();
            let lambda = Regularizer::from(0.1);
            let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, lambda.clone()).unwrap();
            let stop = Stop { passes: Some(400.0), gap: Some(GapTarget::Absolute(1e-15)), ..Stop::default() };
            let mut run =
                Run::new(problem.oracle(), problem.oracle(), solver, lambda, stop).with_clock(ClockKind::Work);
            let outcome = run.to_end().unwrap();
            let certificate = outcome.certificate;
            asked += usize::from(certificate.primal > 1e-3);
            assert!(
                certificate.primal <= 1e-3 || outcome.stop_reason == multiplane_core::run::StopReason::Passes,
                "{}, {name}: {outcome:?}",
                problem.name
            );
            let gap = certificate.gap.unwrap();
            assert!(certificate.primal <= 1e-3 || gap >= 2e-16 * certificate.primal, "{}, {name}: {gap}", problem.name);
        }
    }
    assert!(asked > 6, "{asked} runs with a gap to speak of");
}
