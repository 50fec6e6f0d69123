//! Certificates against exact arithmetic, however many orders of magnitude the features span.

mod exact;
mod problems;
mod random;

use multiplane_core::clock::ClockKind;
use multiplane_core::regularizer::Regularizer;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Evaluate, GapTarget, Outcome, Run, RunError, Stop, StopReason};
use multiplane_solvers::SolverEntry;
use multiplane_testkit::contract::solvers_on;
use multiplane_testkit::on_all_cores;

use exact::Exact;
use problems::Problem;
use random::{KINDS, SCALE_COUNT};

/// By how much, relative, a bound may be off.
const TOLERANCE: f64 = 1e-9;

/// How much more than a gap says the distance to the optimum may be: a hundredth is left unsaid, and P - F is rounded.
const GAP_TOLERANCE: f64 = 1.02;

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
    /// The weights are farther from the best that some solver found than the gap says.
    gap_too_small: usize,
    /// Runs that ended with an error: numbers that 64 bits do not hold.
    refused: usize,
    /// Runs that certify nothing and do not say why.
    silent: usize,
}

impl Counts {
    fn and(self, other: Counts) -> Counts {
        Counts {
            runs: self.runs + other.runs,
            certified: self.certified + other.certified,
            primal_too_low: self.primal_too_low + other.primal_too_low,
            dual_too_high: self.dual_too_high + other.dual_too_high,
            lost: self.lost + other.lost,
            gap_too_small: self.gap_too_small + other.gap_too_small,
            refused: self.refused + other.refused,
            silent: self.silent + other.silent,
        }
    }
}

/// Trains to the end of the budget, or to a gap of 1 in 10^4 that is looked for at all moments or at good ones.
fn run(
    problem: &Problem,
    entry: &SolverEntry,
    regularizer: &Regularizer,
    passes: f64,
    way: u64,
) -> Result<Outcome, RunError> {
    let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, regularizer.clone()).unwrap();
    let gap = (way > 0).then_some(GapTarget::Percent(0.01));
    let stop = Stop { passes: Some(passes), gap, ..Stop::default() };
    let evaluate = if way == 1 { Evaluate::Auto } else { Evaluate::Pass };
    let run =
        Run::new(problem.oracle(), problem.oracle(), solver, regularizer.clone(), stop).with_clock(ClockKind::Work);
    run.with_evaluate(evaluate).to_end()
}

/// `n value (1 + TOLERANCE)` without any further rounding, and what underflows.
fn exactly(n: f64, value: f64) -> Exact {
    let mut sum = Exact::zero();
    sum.add(n, value, 1.0);
    sum.add(n, value.abs(), TOLERANCE);
    sum.add(n, f64::MIN_POSITIVE, 1.0);
    sum
}

/// Runs some solvers on a problem.
fn sweep(seed: u64) -> Counts {
    let mut counts = Counts::default();
    let problem = random::random(seed);
    let solvers: Vec<_> = solvers_on(problem.oracle()).into_iter().filter(|entry| entry.has_dual).collect();
    let n = problem.blocks() as f64;
    let lambda = [1.0 / n, 1e-3, 1.0, 1e-6][(seed / 5 % 4) as usize];
    let regularizer = random::regularizer(seed, problem.dim, lambda);
    // A prior of a million is not of the scale of features of 1.
    let small = regularizer.prior().is_none_or(|prior| prior.iter().all(|w| w.abs() <= 1.0));
    // Without a word of the losses nothing says that a P of 1e-10 is as good as none.
    let ordinary = problem.ordinary && small && !problem.hidden;
    let mut outcomes = Vec::new();
    for turn in 0..4 {
        let entry = solvers[(seed as usize * 5 + turn * 7) % solvers.len()];
        counts.runs += 1;
        match run(&problem, entry, &regularizer, [300.0, 20.0][(seed % 7 / 6) as usize], (seed + turn as u64) % 3) {
            Ok(outcome) => outcomes.push((entry.name, outcome)),
            Err(error) => {
                // Numbers that overflow, and nothing else: the oracle keeps its word.
                let told = error.to_string();
                eprintln!("{}, {}, lambda {lambda}: refused: {told}", problem.name, entry.name);
                counts.refused += 1;
            }
        }
    }
    let values: Vec<Exact> = outcomes.iter().map(|(_, outcome)| problem.primal(&outcome.w, &regularizer)).collect();
    let lowest = values.iter().reduce(|lowest, value| if lowest.is_above(value) { value } else { lowest });
    for ((solver, outcome), value) in outcomes.iter().zip(&values) {
        let certificate = outcome.certificate;
        if !certificate.certified {
            // The oracles are exact, so only rounding, or a budget without room for an evaluation, stands against it.
            if outcome.rounding.is_none() && certificate.primal.is_finite() {
                eprintln!("{}, {solver}, lambda {lambda}: not certified, no reason: {outcome:?}", problem.name);
                counts.silent += 1;
            }
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
        dual.add(-n, f64::MIN_POSITIVE, 1.0);
        if lowest.is_some_and(|lowest| dual.is_above(lowest)) {
            report("the dual value is too high", |counts| &mut counts.dual_too_high);
        }
        // P at the weights is at most the lowest known and what the gap says more.
        let mut within = lowest.cloned().unwrap_or(Exact::zero());
        within.add(n, certificate.gap.unwrap(), GAP_TOLERANCE);
        within.add(n, f64::MIN_POSITIVE, 4.0);
        if value.is_above(&within) {
            report("the gap is too small", |counts| &mut counts.gap_too_small);
        }
    }
    counts
}

/// No certificate says what exact arithmetic disproves, and on ordinary scales none is lost. `MULTIPLANE_ROUNDING=2000`
/// tries so many problems.
#[test]
fn certificates_survive_rounding() {
    let problems = std::env::var("MULTIPLANE_ROUNDING").map_or(216, |problems| problems.parse().unwrap());
    let seeds: Vec<u64> = (0..problems).collect();
    let counts = on_all_cores(&seeds, |&seed| sweep(seed)).into_iter().fold(Counts::default(), Counts::and);
    eprintln!("{problems} problems: {counts:?}");
    let Counts { primal_too_low, dual_too_high, gap_too_small, .. } = counts;
    assert_eq!((primal_too_low, dual_too_high, gap_too_small), (0, 0, 0), "false certificates: {counts:?}");
    assert_eq!(counts.silent, 0, "not certified, and no word why: {counts:?}");
    assert_eq!(counts.lost, 0, "certificates lost on ordinary scales: {counts:?}");
    assert!(counts.certified > counts.runs / 3, "hardly anything is certified: {counts:?}");
}

/// The sums that certificates are held against are what fractions give, on all kinds of problems and scales.
#[test]
fn sums_are_those_of_fractions() {
    for seed in (0..SCALE_COUNT * KINDS).filter(|seed| seed % 5 == 0) {
        let problem = random::random(seed);
        let regularizer = random::regularizer(seed, problem.dim, 0.1);
        let mut rng = Rng::new(seed, 27);
        let scale = [1.0, 1e-17, 1e-150, 1e150][rng.below(4) as usize];
        let w: Vec<f64> = (0..problem.dim).map(|_| scale * (rng.unit() - 0.5)).collect();
        let (found, expected) = (problem.primal(&w, &regularizer), problem.primal_in_fractions(&w, &regularizer));
        assert!(found.rational() == expected, "{}", problem.name);
    }
}

/// A gap asked for that is smaller than what rounding may have done to the bounds is neither reached nor stated: what is
/// certified holds all of the rounding.
#[test]
fn no_gap_is_smaller_than_its_rounding() {
    let mut asked = 0;
    for seed in (0..4 * SCALE_COUNT).filter(|seed| seed % SCALE_COUNT < 2) {
        let problem = random::random(seed);
        for name in ["mp-bcfw", "bcpfw", "auto"] {
            let entry = multiplane_solvers::find(name).unwrap();
            let lambda = Regularizer::from(0.1);
            let solver = entry.build(&(entry.preset)(), problem.blocks(), problem.dim, lambda.clone()).unwrap();
            let stop = Stop { passes: Some(400.0), gap: Some(GapTarget::Absolute(1e-15)), ..Stop::default() };
            let mut run =
                Run::new(problem.oracle(), problem.oracle(), solver, lambda, stop).with_clock(ClockKind::Work);
            let outcome = run.to_end().unwrap();
            let certificate = outcome.certificate;
            asked += usize::from(certificate.primal > 1e-3);
            assert!(
                certificate.primal <= 1e-3 || outcome.stop_reason == StopReason::Passes,
                "{}, {name}: {outcome:?}",
                problem.name
            );
            let gap = certificate.gap.unwrap();
            assert!(certificate.primal <= 1e-3 || gap >= 2e-16 * certificate.primal, "{}, {name}: {gap}", problem.name);
        }
    }
    assert!(asked > 6, "{asked} runs with a gap to speak of");
}
