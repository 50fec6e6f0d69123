//! Certificates against exact arithmetic, however many orders of magnitude the features span.

mod exact;
mod problems;

use multiplane_core::clock::ClockKind;
use multiplane_core::run::{Evaluate, GapTarget, Outcome, Run, Stop};
use multiplane_core::solvers::{SOLVERS, SolverEntry};

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
fn run(problem: &Problem, entry: &SolverEntry, lambda: f64, passes: f64, way: u64) -> Option<Outcome> {
    let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, lambda.into()).unwrap();
    let gap = (way > 0).then_some(GapTarget::Percent(0.01));
    let stop = Stop { passes: Some(passes), gap, ..Stop::default() };
    let evaluate = if way == 1 { Evaluate::Auto } else { Evaluate::Pass };
    let run = Run::new(problem.oracle(), problem.oracle(), solver, lambda, stop).with_clock(ClockKind::Work);
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
    let solvers: Vec<_> = SOLVERS.iter().filter(|entry| entry.has_dual).collect();
    let mut counts = Counts::default();
    for seed in problems {
        let problem = problems::random(seed);
        let n = problem.blocks() as f64;
        let lambda = [1.0 / n, 1e-3, 1.0, 1e-6][(seed / 5 % 4) as usize];
        let mut outcomes = Vec::new();
        for turn in 0..4 {
            let entry = solvers[(seed as usize * 5 + turn * 7) % solvers.len()];
            counts.runs += 1;
            match run(&problem, entry, lambda, [300.0, 20.0][(seed % 7 / 6) as usize], (seed + turn as u64) % 3) {
                Some(outcome) => outcomes.push((entry.name, outcome)),
                None => counts.refused += 1,
            }
        }
        let values: Vec<Exact> = outcomes.iter().map(|(_, outcome)| problem.primal(&outcome.w, lambda)).collect();
        let lowest = values.iter().reduce(|lowest, value| if lowest.is_above(value) { value } else { lowest });
        for ((solver, outcome), value) in outcomes.iter().zip(&values) {
            let certificate = outcome.certificate;
            if !certificate.certified {
                if problem.ordinary {
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
