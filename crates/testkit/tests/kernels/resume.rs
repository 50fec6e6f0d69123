//! With a kernel, which no file holds: a run that is saved, restored in a fresh run and continued equals one that was never
//! stopped, to the bit.

use multiplane_core::oracle::BoxedOracle;
use multiplane_core::run::{Run, Stop};
use multiplane_tasks::kernel::Kernel;
use serde_json::{Value, json};

use crate::problems::{Pair, begin, matrix, multiclass, rows};

/// Weights and counts that a run ends with.
fn finish(mut run: Run<BoxedOracle>) -> (Vec<u64>, String) {
    let outcome = run.to_end().unwrap();
    let w = outcome.w.iter().map(|w| w.to_bits()).collect();
    (w, format!("{:?} {:?} {:?} {:?}", outcome.cost, outcome.progress, outcome.details, outcome.certificate))
}

#[test]
fn kernels_resume_to_the_bit() {
    let none = json!({});
    let solvers: [(&str, Value); 15] = [
        ("bcfw-avg", none.clone()),
        ("bcpfw-gap-cache", none.clone()),
        ("auto", none.clone()),
        ("one-slack", none.clone()),
        ("one-slack", json!({"solutions": {"name": "m-best", "planes": 3}})),
        ("bundle", none.clone()),
        ("n-slack", none.clone()),
        ("sampled-cuts", json!({"size": 4.0})),
        ("sfd1", json!({"size": 3.0})),
        ("sfd1", json!({"size": 3.0, "accuracy": 1e-6, "inner": {"name": "one-slack"}})),
        ("sfd1", json!({"size": 3.0, "sampling": {"name": "active", "candidates": 2}})),
        ("lasvm", none.clone()),
        ("lasvm", json!({"candidates": 3, "reprocess": 2})),
        ("pegasos-avg", json!({"size": 2.0})),
        ("ssg-avg", none),
    ];
    for seed in 0..4 {
        let (x, labels) = rows(seed, 3);
        let [on_features, on_numbers] = multiclass(&x, 3);
        let pair = Pair { on_features, on_numbers, maps: &x, labels: &labels, tables: 3 };
        for (name, changes) in &solvers {
            let stop = Stop { passes: Some(8.0), ..Stop::default() };
            let fresh = || {
                let regularizer = pair.regularizer(0.1, matrix(Kernel::Linear, &x));
                begin((name, changes), pair.oracles(), regularizer, seed, stop.clone()).0
            };
            let expected = finish(fresh());
            let mut run = fresh();
            'chain: for cut in [0, 1, 7, 20 + seed, 61, 110] {
                while run.steps() < cut {
                    if run.advance().unwrap().is_some() {
                        break 'chain;
                    }
                }
                let (mut bytes, mut again) = (Vec::new(), Vec::new());
                run.save(&mut bytes).unwrap();
                run = fresh();
                run.restore(&bytes).unwrap_or_else(|error| panic!("{name} {changes}: {error}"));
                run.save(&mut again).unwrap();
                assert!(again == bytes, "{name} {changes}: what is restored is not what was saved");
            }
            assert_eq!(finish(run), expected, "{name} {changes}, seed {seed}: the end differs");
        }
    }
}
