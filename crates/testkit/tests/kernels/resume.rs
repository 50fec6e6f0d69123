//! With a kernel, which no file holds: a run that is saved, restored in a fresh run and continued equals one that was never
//! stopped, to the bit.

use multiplane_core::metric::Metric;
use multiplane_core::observe::JsonLines;
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::run::{Run, Stop};
use multiplane_tasks::kernel::{Kernel, KernelRows};
use multiplane_testkit::contract::Shared;
use serde_json::{Value, json};

use crate::problems::{Pair, begin, multiclass, rows};

/// Weights and counts that a run ends with, those of the kernel among them: of each record and at the end.
fn finish((mut run, metric): (Run<BoxedOracle>, Metric), records: &Shared) -> (Vec<u64>, String, Vec<u8>) {
    let outcome = run.to_end().unwrap();
    let w = outcome.w.iter().map(|w| w.to_bits()).collect();
    let (cost, counts) = (outcome.cost, metric.counts().unwrap());
    let rest = format!("{cost:?} {counts:?} {:?} {:?} {:?}", outcome.progress, outcome.details, outcome.certificate);
    (w, rest, records.0.lock().unwrap().clone())
}

#[test]
fn kernels_resume_to_the_bit() {
    let presets = [
        "bcfw-avg",
        "bcfw-gap",
        "bcpfw-gap",
        "bcfw-gap-cache",
        "mp-bcfw",
        "ssg",
        "sfd2",
        "bcpfw-gap-cache",
        "auto",
        "one-slack",
        "bundle",
        "n-slack",
        "lasvm",
        "ssg-avg",
    ];
    let changed = [
        ("one-slack", json!({"solutions": {"name": "m-best", "planes": 3}})),
        ("sampled-cuts", json!({"size": 4.0})),
        ("sfd1", json!({"size": 3.0})),
        ("sfd1", json!({"size": 3.0, "accuracy": 1e-6, "inner": {"name": "one-slack"}})),
        ("sfd1", json!({"size": 3.0, "sampling": {"name": "active", "candidates": 2}})),
        ("lasvm", json!({"candidates": 3, "reprocess": 2})),
        ("pegasos-avg", json!({"size": 2.0})),
    ];
    let solvers: Vec<(&str, Value)> = presets.map(|name| (name, json!({}))).into_iter().chain(changed).collect();
    for seed in 0..4 {
        let (x, labels) = rows(seed, 3);
        let [on_features, on_numbers] = multiclass(&x, 3);
        let pair = Pair { on_features, on_numbers, maps: &x, labels: &labels, tables: 3 };
        // Room for all rows, and for a few of them.
        let room = [1 << 20, 8 * x.len() * (2 + seed as usize)];
        for ((name, changes), bytes) in solvers.iter().flat_map(|solver| room.map(|bytes| (solver, bytes))) {
            let stop = Stop { passes: Some(8.0), ..Stop::default() };
            let fresh = |records: &Shared| {
                let kept = KernelRows::<f64>::new(Kernel::Linear, x.clone(), bytes, 1).unwrap();
                let regularizer = pair.regularizer(0.1, kept);
                let metric = regularizer.metric().clone();
                let (run, _) = begin((name, changes), pair.oracles(), regularizer, seed, stop.clone());
                (run.with_observer(Box::new(JsonLines::new(records.clone()))), metric)
            };
            let whole = Shared::default();
            let expected = finish(fresh(&whole), &whole);
            let records = Shared::default();
            let (mut run, mut metric) = fresh(&records);
            'chain: for cut in [0, 1, 7, 20 + seed, 61, 110] {
                while run.steps() < cut {
                    if run.advance().unwrap().is_some() {
                        break 'chain;
                    }
                }
                let (mut bytes, mut again) = (Vec::new(), Vec::new());
                run.save(&mut bytes).unwrap();
                (run, metric) = fresh(&records);
                run.restore(&bytes).unwrap_or_else(|error| panic!("{name} {changes}: {error}"));
                run.save(&mut again).unwrap();
                assert!(again == bytes, "{name} {changes}: what is restored is not what was saved");
            }
            let found = finish((run, metric), &records);
            assert!(found == expected, "{name} {changes}, seed {seed}: {found:?}, expected {expected:?}");
        }
    }
}
