//! A run with a kernel goes on at another lambda as the linear code does, and certifies its point there; so do grids and
//! paths, by what their files say.

use multiplane::{GridPoints, GridSpec, PathModel, PathSpec, RunOptions, RunSpec, Session};
use multiplane_core::oracle::BoxedOracle;
use multiplane_core::path::{PathPoint, PathRun};
use multiplane_core::rng::Rng;
use multiplane_core::run::{GapTarget, Run, Stop};
use multiplane_core::solver::WarmStart;
use multiplane_tasks::data::{Classified, SparseRows};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::kernel::Kernel;
use serde_json::{Value, json};

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

/// 40 rows of three classes that overlap.
fn data(seed: u64) -> Dataset {
    let mut rng = Rng::new(seed, 3);
    let mut data = Classified { rows: SparseRows::new(4), ..Classified::default() };
    for _ in 0..40 {
        let label = rng.below(3);
        let row: Vec<f64> = (0..4).map(|k| rng.unit() + f64::from(u8::from(k == label))).collect();
        data.rows.push(&[0, 1, 2, 3], &row);
        data.labels.push(label as i64);
    }
    Dataset::new(data)
}

fn session(seed: u64, solver: &str, kernel: Value) -> Session {
    let mut task = json!({"name": "multiclass", "bias": true, "kernel": kernel});
    if kernel != "none" {
        task["kernel_rows"] = json!({"storage": "f64"});
    }
    let tree = json!({"task": task, "clock": "work", "seed": seed, "solver": solver});
    Session::on(RunSpec::from_tree(tree.as_object().unwrap()).unwrap(), data(seed), None).unwrap()
}

/// A grid with the linear kernel is that without a kernel in all its bounds and losses, whatever its starts.
#[test]
fn grids_with_linear_kernels_are_linear() {
    for (seed, warm_start) in [(0, None), (1, Some(WarmStart::KeepPrimal)), (2, Some(WarmStart::KeepDual))] {
        for solver in ["bcfw", "mp-bcfw"] {
            let points = GridPoints::List(vec![1.0, 0.3, 0.1, 0.05]);
            let grid = GridSpec { points, gap: GapTarget::Absolute(1e-2), warm_start, start_gap: 0.1 };
            let trained =
                |kernel: &str| session(seed, solver, json!(kernel)).grid(&grid, RunOptions::default()).unwrap();
            let ((plain, expected), (kernel, found)) = (trained("none"), trained("linear"));
            assert!(kernel.info.provenance.vocabulary.support.is_some() && plain.lambdas == kernel.lambdas);
            let primal = |model: &PathModel, lambda: f64| {
                let here = model.at(lambda).unwrap();
                here.open(data(seed)).unwrap().reference().primal(None, &here.w, lambda, 1).unwrap()
            };
            for (one, other) in found.breakpoints.iter().zip(&expected.breakpoints) {
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-9;
                let primals = [&kernel, &plain].map(|model| primal(model, one.lambda));
                let same = near(primals[0], primals[1]) && near(one.dual.unwrap(), other.dual.unwrap());
                assert!(same && one.certified, "{solver}, {seed}: {primals:?}, {one:?} instead of {other:?}");
                // What is stated is rounded outward, with a kernel by more.
                let stated = one.primal - other.primal;
                assert!((-1e-12..=1e-7).contains(&stated), "{solver}, {seed}: {one:?} instead of {other:?}");
                assert_eq!((one.passes, one.train_loss), (other.passes, other.train_loss), "{solver}, {seed}");
            }
        }
    }
}

/// At every lambda, on both sides of the first breakpoint, P by plain code is within eps of the dual value that the file
/// states, and no more than the P that it states. The file holds the rows that carry weight anywhere, once.
#[test]
fn paths_with_kernels_are_as_good_as_they_say() {
    for (seed, solver, kernel) in [
        (3, "auto", json!({"name": "rbf", "gamma": 0.7})),
        (4, "mp-bcfw", json!({"name": "polynomial", "degree": 2, "coef0": 1.0})),
        (5, "one-slack", json!("linear")),
    ] {
        let session = session(seed, solver, kernel);
        let spec = PathSpec { eps: 0.05.into(), lambda_min: 0.01, kappa: 0.7, lambda_max: None };
        let (model, summary) = session.path(&spec, RunOptions::default()).unwrap();
        assert!(model.lambdas.len() > 5 && summary.certified, "{solver}: {} breakpoints", model.lambdas.len());
        assert_eq!((model.squares.len(), model.loose_row()), (model.lambdas.len(), None), "{solver}");
        let read = PathModel::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!((&read.squares, &read.w), (&model.squares, &model.w));
        let rows = read.info.provenance.vocabulary.support.as_ref().unwrap().len();
        assert_eq!(read.dim(), 3 * (rows + 1), "{solver}");
        let mut rng = Rng::new(seed, 5);
        for _ in 0..60 {
            let lambda = 0.01 * f64::powf(2.0 * read.lambdas[0] / 0.01, rng.unit());
            let here = read.at(lambda).unwrap();
            let primal = here.open(data(seed)).unwrap().reference().primal(None, &here.w, lambda, 1).unwrap();
            let (stated, dual) = (here.info.certificate.primal, here.info.certificate.dual.unwrap());
            let holds = primal - dual <= spec.eps.at(primal) * (1.0 + 1e-9) && primal >= dual;
            assert!(holds, "{solver}: {primal} and {dual} at {lambda}");
            assert!(stated >= primal - 1e-13, "{solver}: {stated} is below {primal} at {lambda}");
            assert!(lambda > read.lambdas[0] || stated - primal <= 1e-5, "{solver}: {stated}, {primal} at {lambda}");
        }
    }
}
