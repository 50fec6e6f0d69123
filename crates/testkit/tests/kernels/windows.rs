//! Windows of images as rows of a kernel: made when they are asked for, they are what rows that are kept would be.

use multiplane_core::regularizer::Regularizer;
use multiplane_core::rng::Rng;
use multiplane_core::run::{Evaluate, Stop};
use multiplane_tasks::data::boxes::{BoxArrays, Boxes};
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::problem::{OpenError, Problem, Vocabulary};
use multiplane_tasks::registry;
use serde_json::{Value, json};

use super::problems::run;

/// Images of up to 12 x 9 pixels with words of two vocabularies, and one or two boxes.
fn images(seed: u64) -> Dataset {
    let mut rng = Rng::new(seed, 21);
    let mut arrays = BoxArrays { word_counts: vec![3, 2], box_offsets: vec![0], ..BoxArrays::default() };
    for _ in 0..7 {
        let (height, width) = (4 + rng.below(6) as i64, 4 + rng.below(9) as i64);
        arrays.map_sizes.push([height, width]);
        for count in [3, 2] {
            arrays
                .words
                .extend((0..height * width).map(|_| rng.below(count + 2).cast_signed() - 2).map(|word| word.max(-1)));
        }
        for _ in 0..1 + rng.below(2) {
            let (left, top) = (rng.below(width as u64 - 2) as i64, rng.below(height as u64 - 2) as i64);
            arrays.boxes.push([left, top, left + 2, top + 2]);
        }
        arrays.box_offsets.push(arrays.boxes.len());
    }
    Dataset::new(Boxes::new(&arrays).unwrap())
}

fn open(changes: &Value, data: Dataset, model: Option<&Vocabulary>) -> Result<Box<dyn Problem>, OpenError> {
    let entry = registry::find("box").unwrap();
    let mut all = (entry.defaults)();
    let own = json!({"search": "windows", "stride": 2, "normalise": "l2"});
    for changes in [&own, changes] {
        changes.as_object().unwrap().iter().for_each(|(key, value)| all[key] = value.clone());
    }
    entry.open(&all, data, model)
}

fn kernel(kernel: &Value) -> Value {
    json!({"kernel": kernel, "kernel_rows": {"storage": "f64"}})
}

/// F after some passes of MP-BCFW.
fn value(problem: &dyn Problem, passes: f64) -> f64 {
    let regularizer = Regularizer::from(0.1).with_metric(problem.metric().unwrap());
    let mut planes = (multiplane_solvers::find("mp-bcfw").unwrap().preset)()["planes"].clone();
    planes["slope_rule"] = false.into(); // it goes by what calls cost
    planes["max_passes"] = 3.into();
    let stop = (Stop { passes: Some(passes), ..Stop::default() }, Evaluate::Pass);
    let oracles = [problem.oracle().unwrap(), problem.oracle().unwrap()];
    let outcome = run(("mp-bcfw", &json!({"planes": planes})), oracles, regularizer, 0, stop).0;
    outcome.progress.dual.unwrap()
}

/// With the linear kernel, primal values of random coefficients are those of the same weights without one, and F comes
/// to the same, for norms, levels, losses and "no box".
#[test]
fn the_linear_kernel_of_windows_is_none() {
    for seed in 0..8 {
        let (normalise, loss) = (["l1", "l2"][seed % 2], ["overlap", "missed"][seed / 2 % 2]);
        let plain = json!({"levels": 1 + seed % 3, "normalise": normalise, "loss": loss, "none": seed % 3 == 1});
        let mut rows = kernel(&json!({"name": "linear"}));
        plain.as_object().unwrap().iter().for_each(|(key, value)| rows[key] = value.clone());
        let [plain, rows] = [plain, rows].map(|task| open(&task, images(seed as u64), None).unwrap());
        let mut rng = Rng::new(seed as u64, 22);
        let coefficients: Vec<f64> = (0..rows.dim()).map(|_| rng.unit() - 0.5).collect();
        let counts = rows.compact(coefficients.clone()).1.support.unwrap();
        let mut w = vec![0.0; plain.dim()];
        w[counts.columns()..].copy_from_slice(&coefficients[counts.len()..]);
        for (row, coefficient) in coefficients[..counts.len()].iter().enumerate() {
            let values = || counts.row(row).iter().map(|(_, count)| count);
            let norm: f64 = if normalise == "l1" {
                values().sum()
            } else {
                values().map(|count| count * count).sum::<f64>().sqrt()
            };
            counts.row(row).iter().for_each(|(column, count)| w[column as usize] += coefficient * count / norm);
        }
        let [expected, found] =
            [(&plain, &w), (&rows, &coefficients)].map(|(of, w)| of.reference().primal(None, w, 0.3, 1).unwrap());
        assert!((found - expected).abs() <= 1e-12 * expected && expected > 0.1, "seed {seed}: {found} {expected}");
        let [expected, found] = [&plain, &rows].map(|problem| value(&**problem, 300.0));
        assert!((found - expected).abs() <= 1e-5 && expected > 1e-3, "seed {seed}: {found:e} instead of {expected:e}");
    }
}

/// A model of some windows, opened on its training data and on other data, has the scores that plain code gives, and
/// its primal value on the training data is that of training.
#[test]
fn models_hold_the_windows_that_carry_weight() {
    let rbf = json!({"name": "rbf", "gamma": 0.7});
    let polynomial = json!({"name": "polynomial", "degree": 2, "gamma": 1.0, "coef0": 0.5});
    for (seed, own) in [(1, rbf), (2, polynomial)] {
        let task = kernel(&own);
        let problem = open(&task, images(seed), None).unwrap();
        let metric = problem.metric().unwrap();
        let regularizer = Regularizer::from(0.05).with_metric(metric.clone());
        let stop = (Stop { passes: Some(5.0), ..Stop::default() }, Evaluate::Pass);
        let oracles = [problem.oracle().unwrap(), problem.oracle().unwrap()];
        let outcome = run(("bcfw", &json!({})), oracles, regularizer, 0, stop).0;
        let coefficients = problem.to_file_layout(metric.coefficients(&outcome.w));
        let rounding = outcome.certificate.primal - problem.reference().primal(None, &coefficients, 0.05, 1).unwrap();
        assert!((0.0..1e-6 * outcome.certificate.primal).contains(&rounding), "{rounding:e}");
        let (w, vocabulary) = problem.compact(coefficients.clone());
        let support = vocabulary.support.as_ref().unwrap();
        assert!(support.len() > 3 && support.len() < coefficients.len() && w.len() == support.len());
        let again = open(&task, images(seed), Some(&vocabulary)).unwrap();
        let other = open(&task, images(seed + 100), Some(&vocabulary)).unwrap();
        for (problem, w) in [(&problem, &coefficients), (&again, &w), (&other, &w)] {
            let images = problem.from_file_layout(w);
            let primal = problem.reference().primal(None, w, 0.0, 2).unwrap();
            let hinges: f64 = (0..problem.blocks())
                .map(|k| problem.kernel().unwrap().by_number().reference().hinge(k, &images).unwrap())
                .sum();
            assert!((primal - hinges).abs() <= 1e-9, "{primal} instead of {hinges}");
        }
        let [trained, read] = [(&problem, &coefficients), (&again, &w)].map(|(problem, w)| problem.from_file_layout(w));
        let apart = trained.iter().zip(&read).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let of_run = metric.weights(&outcome.w).iter().zip(&read).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart <= 1e-12 && of_run <= 1e-9, "{apart:e} {of_run:e}");
        let (square, _) = again.kernel().unwrap().reference_square(&w, 2).unwrap();
        let (of_all, _) = problem.kernel().unwrap().reference_square(&coefficients, 1).unwrap();
        assert!((square - of_all).abs() <= 1e-12 * square && square > 0.0);
    }
}

/// No bit of a value depends on which row is made, and on what is asked for with it.
#[test]
fn values_are_symmetric_to_the_bit() {
    let problem = open(&kernel(&json!({"name": "rbf", "gamma": "scale"})), images(5), None).unwrap();
    let metric = problem.metric().unwrap();
    let dim = problem.dim();
    let images: Vec<Vec<f64>> = (0..dim)
        .map(|row| {
            let mut point = vec![0.0; 2 * dim];
            point[dim + row] = 1.0;
            metric.renew(&mut point);
            metric.weights(&point).to_vec()
        })
        .collect();
    for (a, image) in images.iter().enumerate() {
        assert!((image[a] - 1.0).abs() <= 1e-15, "{}", image[a]);
        (0..a).for_each(|b| assert_eq!(image[b].to_bits(), images[b][a].to_bits(), "{a} {b}"));
    }
}

/// Parameters that do not go with a kernel of windows are refused.
#[test]
fn what_does_not_fit_is_refused() {
    let refusal = |changes: Value| {
        let mut task = kernel(&json!({"name": "rbf"}));
        changes.as_object().unwrap().iter().for_each(|(key, value)| task[key] = value.clone());
        open(&task, images(1), None).err().unwrap().to_string()
    };
    let cases = [
        (json!({"normalise": "none"}), "normalise"),
        (json!({"search": "branch-and-bound"}), "search"),
        (json!({"bin_kernel": "intersection", "normalise": "none"}), "bin_kernel"),
        (json!({"kernel": {"name": "intersection"}}), "kernel"),
        (json!({"kernel": {"name": "none"}, "kernel_budget": 3}), "kernel_budget"),
    ];
    for (changes, parameter) in cases {
        let refused = refusal(changes);
        assert!(refused.contains(parameter) && refused.contains("must") || refused.contains("needs"), "{refused}");
    }
}
