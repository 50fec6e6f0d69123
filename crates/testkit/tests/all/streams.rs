//! Learning from streams in windows, against the ordinary solvers and the recursions of the papers in dense vectors.

use multiplane::data::{Classified, SparseRows};
use multiplane::dataset::Dataset;
use multiplane::{Feed, Learner, RunOptions, RunSpec, Session, StreamOptions, StreamSpec, follow_stream};
use multiplane_core::rng::Rng;
use serde_json::{Value, json};

/// The weight of iterate t in a running average.
type Weight = fn(f64) -> f64;

/// `n` rows of sparse numbers with labels 0 to `classes - 1`, which the first features tell roughly.
fn rows(seed: u64, n: usize, classes: u64, columns: u32) -> Classified {
    let (mut rng, mut data) = (Rng::new(seed, 0), Classified::default());
    data.rows = SparseRows::new(columns as usize);
    for i in 0..n {
        let label = if i < classes as usize { i as u64 } else { rng.below(classes) };
        let indices: Vec<u32> = (0..columns).filter(|&k| u64::from(k) == label || rng.below(3) == 0).collect();
        let values: Vec<f64> = indices.iter().map(|_| rng.below(2001) as f64 / 1000.0 - 0.7).collect();
        data.rows.push(&indices, &values);
        data.labels.push(label as i64);
    }
    data
}

fn learner(tree: &Value) -> Learner {
    let (stream, run) = StreamSpec::take(&mut tree.as_object().unwrap().clone()).unwrap();
    Learner::new(run, stream).unwrap()
}

fn window(data: &Classified, begin: usize, end: usize) -> Dataset {
    Dataset::new(data.subset(&(begin..data.labels.len().min(end)).collect::<Vec<_>>()))
}

fn task(classes: u64) -> &'static str {
    if classes == 2 { "binary" } else { "multiclass" }
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max);
    assert!(off <= tolerance, "{what}: off by {off:e}\n{found:?}\n{expected:?}");
}

/// Steps are solved to this gap: rounding may end two of them with other planes, so each w may be off by
/// sqrt(2 ACCURACY / lambda_t), lambda_t >= 1/100 here.
const ACCURACY: f64 = 1e-10;

/// What six such steps may be off by, each twice.
const OFF: f64 = 12.0 * 1.5e-4;

/// The stream of one window is a pass of the ordinary solver, to the bit, and other windows change nothing but rounding.
#[test]
fn a_stream_is_a_pass_of_the_ordinary_solver() {
    for seed in 0..8 {
        let (classes, k, steps) = ([2, 4][(seed % 2) as usize], 5 + seed as usize, 6);
        let (n, labels) = (k * steps, (0..classes).collect::<Vec<_>>());
        let data = rows(seed, n, classes, 9);
        // A permutation that the run draws is the order in which the stream has its rows.
        let mut order: Vec<usize> = (0..n).collect();
        Rng::new(seed, 0).shuffle(&mut order);
        let permuted = data.subset(&order);
        let sequential = json!({"name": "sequential", "shuffle": false});
        let inner = ["one-slack", "mp-bcfw"][(seed / 2 % 2) as usize];
        let averaging = ["weighted", "thesis", "none", "polynomial"][(seed / 2 % 4) as usize];
        for (solver, own, data, off) in [
            (json!({"name": "pegasos", "averaging": averaging}), ("order", json!("permutation")), &permuted, 1e-10),
            (
                json!({"name": "sfd1", "accuracy": ACCURACY, "inner": inner}),
                ("sampling", sequential.clone()),
                &data,
                OFF,
            ),
            (json!({"name": "sfd2", "accuracy": ACCURACY, "inner": inner}), ("sampling", sequential), &data, OFF),
        ] {
            let mut tree =
                json!({"task": task(classes), "solver": solver, "clock": "work", "lambda": 0.05, "seed": seed});
            tree["solver"]["size"] = json!(k);
            let mut whole = tree.clone();
            whole["solver"][own.0] = own.1;
            whole["stop"] = json!({"passes": 1});
            let spec = RunSpec::from_tree(whole.as_object().unwrap()).unwrap();
            let of_run = if own.0 == "order" { self::rows(seed, n, classes, 9) } else { data.clone() };
            let session = Session::on(spec, Dataset::new(of_run), None).unwrap();
            let (expected, _) = session.run(RunOptions::default()).unwrap();
            assert!(expected.w.iter().any(|weight| *weight != 0.0));
            tree["stream"] = json!({"n": n, "labels": labels});
            for window in [n, 2 * k, k] {
                let mut learner = learner(&tree);
                for begin in (0..n).step_by(window) {
                    learner.learn(self::window(data, begin, begin + window)).unwrap();
                }
                assert_eq!(learner.steps(), steps as u64);
                let found = learner.model().unwrap().w;
                assert!(window < n || found == expected.w, "{solver}, seed {seed}: {found:?}, {:?}", expected.w);
                assert_near(&found, &expected.w, off, &format!("{solver}, seed {seed}, windows of {window}"));
            }
        }
    }
}

/// A limit within a window leaves what its whole steps have learned, and the stream can go on.
#[test]
fn windows_end_where_they_are_halted() {
    let data = rows(3, 24, 4, 9);
    for solver in [json!({"name": "ssg", "size": 3}), json!({"name": "sfd1", "size": 3})] {
        let tree = json!({"task": "multiclass", "solver": solver, "lambda": 0.1, "clock": "work",
            "stream": {"labels": [0, 1, 2, 3]}});
        for asked in [0, 1, 2, 7, 30] {
            let (mut halted, mut whole) = (learner(&tree), learner(&tree));
            let times = std::cell::Cell::new(0);
            let halts = || times.replace(times.get() + 1) >= asked;
            assert_eq!(halted.learn_until(window(&data, 0, 12), &halts).unwrap().examples, 12);
            let steps = halted.steps();
            assert!(steps <= 4 && (solver["name"] != "ssg" || steps == asked.min(4)), "{solver}: {steps} of {asked}");
            if steps > 0 {
                whole.learn(window(&data, 0, 3 * steps as usize)).unwrap();
                let [found, expected] = [&halted, &whole].map(|learner| learner.model().unwrap().w);
                assert_near(&found, &expected, 1e-6, &format!("{solver}, {asked}"));
            }
            halted.learn(window(&data, 12, 24)).unwrap();
            assert_eq!((halted.steps(), halted.examples()), (steps + 4, 24), "{solver}, {asked}");
        }
    }
}

/// Loss-augmented best class at w, of equals the first, for w as `[class][feature]`; the truth's loss is 0.
fn worst(x: &[f64], truth: usize, w: &[f64], classes: usize) -> (usize, f64) {
    let score = |y: usize| w[y * x.len()..][..x.len()].iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    let value = |y: usize| score(y) + f64::from(u8::from(y != truth)) - score(truth);
    (0..classes).fold((truth, 0.0), |best, y| if value(y) > best.1 { (y, value(y)) } else { best })
}

/// Steps of the subgradient method and its averages, as the papers write them, in dense vectors: w itself is scaled, averaged
/// and moved. Windows, late columns and a saved state in between change nothing but rounding.
#[test]
fn subgradient_steps_are_those_of_the_papers() {
    let (n, columns, lambda) = (90, 8, 0.05);
    let averages: [(Value, Weight); 4] = [
        (json!("none"), |_| 1.0),
        (json!("weighted"), |t| 2.0 / (t + 1.0)),
        (json!({"name": "polynomial", "eta": 3.0}), |t| 4.0 / (t + 3.0)),
        (json!("thesis"), |t| if t == 1.0 { 1.0 } else { 3.0 / (t + 4.0) }),
    ];
    for (seed, (averaging, weight)) in (0..24).flat_map(|seed| averages.clone().map(|average| (seed, average))) {
        let (classes, size, most) = ([3, 4][seed as usize % 2], 1 + seed as usize % 3, [2, 30, 90][seed as usize % 3]);
        let mut data = rows(seed, n, classes as u64, columns);
        data.rows.widen(columns as usize);
        let solver = json!({"name": "ssg", "size": size, "averaging": averaging});
        let tree = json!({"task": "multiclass", "solver": solver, "lambda": lambda,
            "stream": {"labels": (0..classes).collect::<Vec<_>>()}});
        let mut learner = learner(&tree);
        let dim = classes * columns as usize;
        let (mut w, mut bar, mut t) = (vec![0.0; dim], vec![0.0; dim], 0.0);
        for begin in (0..n).step_by(most) {
            let end = n.min(begin + most);
            learner.learn(window(&data, begin, end)).unwrap();
            let state = learner.save().unwrap();
            learner = self::learner(&tree);
            learner.restore(&state).unwrap();
            for first in (begin..end).step_by(size) {
                let last = end.min(first + size);
                t += 1.0;
                let mut next: Vec<f64> = w.iter().map(|w| (1.0 - 1.0 / t) * w).collect();
                for i in first..last {
                    let mut x = vec![0.0; columns as usize];
                    data.rows.row(i).iter().for_each(|(k, value)| x[k as usize] = value);
                    let truth = data.labels[i] as usize;
                    let (y, hinge) = worst(&x, truth, &w, classes);
                    let rate = if hinge > 0.0 { 1.0 / (lambda * t * (last - first) as f64) } else { 0.0 };
                    for (k, x) in x.iter().enumerate() {
                        next[y * columns as usize + k] -= rate * x;
                        next[truth * columns as usize + k] += rate * x;
                    }
                }
                w = next;
                bar.iter_mut().zip(&w).for_each(|(bar, w)| *bar += weight(t) * (w - *bar));
            }
        }
        let found = learner.model().unwrap().w;
        assert_near(&found, &bar, 1e-10, &format!("{averaging}, seed {seed}, size {size}, windows of {most}"));
    }
}

/// Columns that come late leave the weights that were there as if they had been 0 all along, a bias included.
#[test]
fn late_columns_change_nothing() {
    for (classes, solver) in [(2, "ssg"), (2, "pegasos-avg"), (3, "ssg-avg"), (3, "sfd1")] {
        let tree = json!({"task": {"name": task(classes), "bias": true}, "solver": solver, "lambda": 0.1,
            "stream": {"labels": (0..classes).collect::<Vec<_>>()}});
        let (early, late) = (rows(1, 30, classes, 4), rows(2, 30, classes, 11));
        let learn = |wide: bool| {
            let mut learner = learner(&tree);
            let mut first = early.clone();
            if wide {
                first.rows.widen(11);
            }
            let all = [first, late.clone()];
            all.into_iter().for_each(|data| _ = learner.learn(Dataset::new(data)).unwrap());
            learner.model().unwrap()
        };
        let (grown, wide) = (learn(false), learn(true));
        assert_eq!(grown.w.len(), 12 * if classes == 2 { 1 } else { classes as usize });
        assert_eq!(grown.w, wide.w, "{solver}");
    }
}

/// The progressive loss is that of predictions of each window by the model before it.
#[test]
fn the_progressive_loss_is_of_models_before() {
    for solver in ["ssg", "ssg-avg", "sfd1"] {
        let data = rows(5, 60, 3, 6);
        let tree = json!({"task": "multiclass", "solver": solver, "lambda": 0.1, "stream": {"labels": [0, 1, 2]}});
        let (mut learner, mut losses) = (learner(&tree), Vec::new());
        for begin in (0..60).step_by(15) {
            let part = window(&data, begin, begin + 15);
            let expected = (begin > 0).then(|| {
                let model = learner.model().unwrap();
                let problem = model.open(part.clone()).unwrap();
                problem.predictor().evaluate(&problem.from_file_layout(&model.w), 1).unwrap().loss.unwrap()
            });
            let found = learner.learn(part).unwrap();
            assert!(expected.is_none_or(|expected| expected == found.loss), "{solver}: {expected:?}, {found:?}");
            losses.push(found.loss);
        }
        let mean = losses.iter().sum::<f64>() / 4.0;
        assert!((learner.progressive_loss().unwrap() - mean).abs() < 1e-15);
    }
}

/// Rows that do not fit are refused and leave the learner as it was.
#[test]
fn what_does_not_fit_is_refused() {
    let tree = json!({"task": "binary", "solver": "ssg", "lambda": 0.1});
    let mut learner = learner(&tree);
    assert!(learner.model().is_err());
    let three = rows(1, 30, 3, 4);
    let error = |found: Result<multiplane::Window, multiplane::Error>| found.unwrap_err().to_string();
    assert!(
        error(learner.learn(Dataset::new(three.clone())))
            .contains("the first window has 3 (0, 1, 2): use --task multiclass")
    );
    learner.learn(Dataset::new(rows(1, 30, 2, 4))).unwrap();
    let before = learner.model().unwrap();
    assert_eq!(error(learner.learn(Dataset::new(three))), "found label 2, which is none of the stream's labels");
    assert_eq!(learner.model().unwrap(), before);
    let state = learner.save().unwrap();
    assert!(learner.restore(&state[..state.len() - 1]).is_err() && learner.model().unwrap() == before);
    let other = json!({"task": "binary", "solver": "ssg", "lambda": 0.2});
    assert!(self::learner(&other).restore(&state).is_err(), "another lambda");
}

/// A piece that fails in a later window teaches nothing: the learner is what it was, to the bit, and goes on as if nothing had been.
#[test]
fn pieces_are_learned_as_a_whole_or_not_at_all() {
    for solver in [json!("ssg"), json!("pegasos-avg"), json!("sfd1")] {
        let tree = json!({"task": "binary", "solver": solver, "lambda": 0.1, "clock": "work",
            "stream": {"labels": [0, 1], "window": 10}});
        let (good, mut bad) = (rows(3, 45, 2, 6), rows(4, 45, 2, 9));
        bad.rows.push(&[0, 2], &[f64::NAN, 1.0]);
        bad.labels.push(1);
        let mut unlabelled = rows(4, 45, 2, 6);
        unlabelled.rows.push(&[1], &[1.0]);
        unlabelled.labels.push(7);
        for before in [false, true] {
            let mut learner = self::learner(&tree);
            if before {
                learner.learn_piece(&Dataset::new(good.clone())).unwrap();
            }
            let state = learner.save().unwrap();
            for piece in [&bad, &unlabelled] {
                assert!(learner.learn_piece(&Dataset::new(piece.clone())).is_err(), "{solver}");
                assert!(learner.save().unwrap() == state, "{solver}: something was learned");
                assert_eq!((learner.windows(), learner.model().is_ok()), (if before { 5 } else { 0 }, before));
            }
            let mut other = self::learner(&tree);
            other.restore(&state).unwrap();
            for learner in [&mut learner, &mut other] {
                learner.learn_piece(&Dataset::new(good.clone())).unwrap();
            }
            assert_eq!(learner.model().unwrap().w, other.model().unwrap().w, "{solver}");
        }
    }
}

/// A piece is its windows.
#[test]
fn pieces_are_windows() {
    let tree = json!({"task": "multiclass", "solver": "sfd1", "stream": {"labels": [0, 1, 2], "window": 20}});
    let data = rows(6, 50, 3, 6);
    let (mut whole, mut parts) = (learner(&tree), learner(&tree));
    let loss = whole.learn_piece(&Dataset::new(data.clone())).unwrap();
    for begin in [0, 20, 40] {
        parts.learn(window(&data, begin, begin + 20)).unwrap();
    }
    assert_eq!(whole.model().unwrap(), parts.model().unwrap());
    assert!((loss - parts.progressive_loss().unwrap()).abs() < 1e-15);
}

/// What the last step of functional descent did keeps the bound of the thesis, on streams as well.
#[test]
fn descents_of_streams_keep_their_bound() {
    let tree = json!({"task": "multiclass", "solver": "sfd1", "stream": {"labels": [0, 1, 2]}});
    let (mut learner, data) = (learner(&tree), rows(8, 120, 3, 6));
    assert!(learner.details().is_none());
    for begin in (0..120).step_by(20) {
        learner.learn(window(&data, begin, begin + 20)).unwrap();
        let found = learner.details().unwrap();
        let [square, bound, lambda] =
            ["update_square", "update_bound", "lambda_t"].map(|key| found.number(key).unwrap());
        assert!(square > 0.0 && square <= bound * (1.0 + 1e-9), "{found:?}");
        assert_eq!(lambda, 1.0 / 10.0, "a hundredth of the usual window");
    }
}

/// With an overlap a window begins with the last rows of the one before: they are learned again, predicted and counted
/// once. By hand: a learner that is given those windows.
#[test]
fn windows_may_overlap() {
    let folder = tempfile::tempdir().unwrap();
    let (path, data) = (folder.path().join("rows.svm"), rows(9, 47, 3, 6));
    let mut text = String::new();
    for row in 0..47 {
        text += &data.labels[row].to_string();
        data.rows.row(row).iter().for_each(|(column, value)| text += &format!(" {}:{value}", column + 1));
        text += "\n";
    }
    std::fs::write(&path, text).unwrap();
    for solver in ["sfd1", "ssg"] {
        let tree = |overlap: usize| {
            json!({"task": "multiclass", "solver": {"name": solver, "size": 5}, "lambda": 0.1, "clock": "work",
                "data": {"path": path}, "stream": {"labels": [0, 1, 2], "window": 20, "overlap": overlap}})
        };
        let (stream, run) = StreamSpec::take(&mut tree(15).as_object().unwrap().clone()).unwrap();
        let feed = Feed::open(&run, &stream).unwrap();
        let mut found = Learner::new(run, stream).unwrap();
        let end = follow_stream(&mut found, feed, None, StreamOptions::default()).unwrap();
        assert!(end.fault.is_none());
        // Windows 0..20, 5..25, .., 25..45, 30..47.
        let (mut expected, mut losses) = (learner(&tree(0)), 0.0);
        for begin in (0..=30).step_by(5) {
            let fresh = window(&data, if begin == 0 { 0 } else { begin + 15 }, begin + 20);
            if begin > 0 {
                let test = expected.model().unwrap().open(fresh.clone()).unwrap();
                let w = test.from_file_layout(&expected.model().unwrap().w);
                losses += test.predictor().evaluate(&w, 1).unwrap().loss.unwrap() * fresh.len() as f64;
            }
            let learned = expected.learn(window(&data, begin, begin + 20)).unwrap();
            losses += if begin == 0 { learned.loss * 20.0 } else { 0.0 };
        }
        assert_eq!((found.windows(), found.examples(), found.steps()), (7, 47, expected.steps()), "{solver}");
        assert_near(&found.model().unwrap().w, &expected.model().unwrap().w, 1e-12, solver);
        assert!((found.progressive_loss().unwrap() - losses / 47.0).abs() < 1e-12, "{solver}");
        assert!(learner(&tree(15)).learn_piece(&window(&data, 0, 47)).is_err());
    }
    let refused = json!({"task": "binary", "stream": {"window": 20, "overlap": 20}});
    let error = StreamSpec::take(&mut refused.as_object().unwrap().clone()).unwrap_err().to_string();
    assert!(error.contains("stream.overlap = 20: must be less than stream.window"), "{error}");
}
