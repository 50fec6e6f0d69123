//! A run with a kernel goes on at another lambda as the linear code does, and certifies its point there.

use multiplane_core::oracle::BoxedOracle;
use multiplane_core::path::{PathPoint, PathRun};
use multiplane_core::rescale::WarmStart;
use multiplane_core::run::{Run, Stop};
use multiplane_tasks::kernel::Kernel;
use serde_json::json;

use crate::problems::{Pair, begin, inputs, matrix, multiclass, oracle, rows};

/// The certified points at half and at twice of a third of lambda, after a few passes at lambda.
fn points(mut run: Run<BoxedOracle>, lambda: f64) -> [PathPoint; 2] {
    while run.advance().unwrap().is_none() {}
    let mut path = PathRun::new(&mut run);
    let first = path.point_at(0.5 * lambda).unwrap();
    assert!(path.continue_at(0.3 * lambda, WarmStart::KeepPrimal));
    [first, path.point_at(0.6 * lambda).unwrap()]
}

#[test]
fn points_at_other_lambdas_are_those_of_linear_weights() {
    let lambda = 0.2;
    for seed in 0..4 {
        let (x, labels) = rows(seed, 3);
        let [on_features, on_numbers] = multiclass(&x, 3);
        let pair = Pair { on_features, on_numbers, maps: &x, labels: &labels, tables: 3 };
        for name in ["bcfw", "mp-bcfw", "one-slack", "n-slack"] {
            let solver = (name, &json!({}));
            let stop = Stop { passes: Some(4.0), ..Stop::default() };
            let linear = [(); 2].map(|()| oracle(&pair.on_features, inputs(&x, false), &labels));
            let expected = points(begin(solver, linear, lambda.into(), seed, stop.clone()).0, lambda);
            let regularizer = pair.regularizer(lambda, matrix(Kernel::Linear, &x));
            let found = points(begin(solver, pair.oracles(), regularizer, seed, stop).0, lambda);
            for (a, b) in found.iter().zip(&expected) {
                // Masters are solved in part: where they stop, ties decide.
                let near = |a: f64, b: f64| (a - b).abs() <= if name.ends_with("slack") { 0.1 } else { 1e-6 };
                let same = near(a.primal, b.primal) && near(a.dual, b.dual) && near(a.score, b.score);
                assert!(same, "{name}, seed {seed}: {a:?} instead of {b:?}");
                assert!(a.dual <= b.primal && b.dual <= a.primal, "{name}, seed {seed}: no brackets of one optimum");
            }
        }
    }
}
