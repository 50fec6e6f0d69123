//! A step allocates nothing once a run is warm: counted by the allocator, for every registered solver.

#[path = "../../infer/tests/common/counting.rs"]
mod counting;

use counting::allocations;
use multiplane_core::clock::{Clock, ClockKind};
use multiplane_core::context::{CallCounts, Ctx};
use multiplane_core::oracle::{BoxedOracle, MaxOracle};
use multiplane_core::rng::Rng;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::registry;
use multiplane_tasks::synth::synthetic_words;
use multiplane_testkit::contract::solvers_on;
use multiplane_testkit::on_all_cores;

/// Steps after which a run counts as warm: its buffers have met the largest word, its working sets have settled.
const WARM_STEPS: u64 = 150_000;

/// Weak enough for few planes to matter: under a strong one w is near 0, many labellings tie, and active sets grow on.
const LAMBDA: f64 = 0.01;

/// Steps that are watched.
const WATCHED_STEPS: u64 = 20_000;

/// A chain problem small enough for its working sets to settle: 12 words, strongly regularised.
fn oracle() -> BoxedOracle {
    let entry = registry::find("chain").unwrap();
    let problem = entry.open(&(entry.defaults)(), Dataset::new(synthetic_words(12, 3)), None).unwrap();
    problem.oracle().unwrap()
}

/// Solvers whose examples meet their largest working sets late: those of n-slack and lasvm have no limit, and the labellings of div-m-best
/// change with its penalties. One to three allocations are left.
const LATE: [&str; 3] = ["n-slack", "div-m-best", "lasvm"];

/// No solver of the registry allocates in a step after warm-up. (The counter is that of this thread.)
///
/// Pairwise presets with the gap cache are left out: planes with mass may exceed its limit, and in 150 000 steps not
/// every example has met its largest active set. Four allocations in 20 000 steps are left, each of a list that doubles.
#[test]
fn steps_do_not_allocate_when_warm() {
    let mut solvers = solvers_on(oracle());
    solvers.retain(|entry| !LATE.contains(&entry.name));
    on_all_cores(&solvers, |entry| {
        let mut oracle = oracle();
        let (n, d) = (oracle.blocks(), oracle.dim());
        let mut parameters = (entry.preset)();
        if parameters["planes"]["name"] == "gap-cache" {
            if parameters["step"]["name"] == "pairwise" {
                return;
            }
            parameters["planes"]["max_planes"] = 3.into(); // a hundred take long to fill
        }
        let mut solver = entry.build(&parameters, n, d, LAMBDA.into()).unwrap();
        let (mut rng, mut clock, mut counts) = (Rng::new(0, 0), Clock::new(ClockKind::Work), CallCounts::default());
        let mut ctx = Ctx::new(&mut oracle, &mut rng, &mut clock, &mut counts);
        // Cutting planes solve a master in a step, and settle in fewer.
        let warm = if solver.facts().evaluates { WARM_STEPS / 10 } else { WARM_STEPS };
        for _ in 0..warm {
            solver.step(&mut ctx).unwrap();
        }
        let before = allocations();
        let watched = if solver.facts().evaluates { WATCHED_STEPS / 10 } else { WATCHED_STEPS };
        for _ in 0..watched {
            solver.step(&mut ctx).unwrap();
        }
        let allocated = allocations() - before;
        assert_eq!(allocated, 0, "{}: {allocated} allocations in {watched} steps", entry.name);
    });
}
