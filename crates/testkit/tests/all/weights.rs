//! Weights of examples: training on weighted examples is training on as many copies of each.

use multiplane::dataset::Dataset;
use multiplane::synth::{
    single_letters, synthetic_boxes, synthetic_graphs, synthetic_rotamers, synthetic_scenes, synthetic_trees,
    synthetic_words,
};
use multiplane::{Model, RunOptions, RunSpec, Session, Summary};
use multiplane_solvers::SOLVERS;
use multiplane_tasks::data::boxes::Boxes;
use serde_json::{Value, json};

const LAMBDA: f64 = 0.2;

/// How often each example counts, over and over. Weights are 0.7 times that: at a lambda that is given they are relative.
const COPIES: [usize; 5] = [1, 3, 0, 2, 1];

fn session(task: &Value, solver: &str, data: Dataset, passes: f64) -> Session {
    let stop = json!({"gap": "2%", "passes": passes});
    let tree = json!({"task": task, "solver": solver, "lambda": LAMBDA, "clock": "work", "stop": stop});
    Session::on(RunSpec::from_tree(tree.as_object().unwrap()).unwrap(), data, None).unwrap()
}

fn trained(session: &Session) -> (Model, Summary) {
    session.run(RunOptions::default()).unwrap()
}

/// The same data with weights, and with copies.
fn both(data: &Dataset) -> (Dataset, Dataset) {
    let copies = |example: usize| COPIES[example % COPIES.len()];
    let weights = (0..data.len()).map(|example| 0.7 * copies(example) as f64).collect();
    let places: Vec<usize> = (0..data.len()).flat_map(|example| vec![example; copies(example)]).collect();
    (data.clone().with_weights(weights).unwrap(), data.subset(&places))
}

fn check(task: &Value, solver: &str, data: &Dataset, passes: f64) {
    let (weighted, copied) = both(data);
    let (of_weights, of_copies) = (session(task, solver, weighted, passes), session(task, solver, copied, passes));
    let ((model, summary), (_, other)) = (trained(&of_weights), trained(&of_copies));
    let what = format!("{task} {solver}: {:?} {:?}", summary.certificate, other.certificate);
    let (own, copies) = (of_weights.problem(), of_copies.problem());
    let scale = 1.0 + summary.certificate.primal.abs();
    let is_bound = task == "graph" || task == "mrf";
    if task.get("kernel").is_none() {
        assert_eq!(own.dim(), copies.dim(), "{task}: every label must come in an example that counts");
        let judged = |problem: &dyn multiplane::Problem| problem.reference().primal(None, &model.w, LAMBDA, 1).unwrap();
        assert!((judged(own) - judged(copies)).abs() < 1e-12 * scale, "{what}: the judge");
        // Where answers are bounds P is one, too.
        let above = summary.certificate.primal - judged(copies);
        assert!(above > -1e-9 * scale && (is_bound || above < 1e-9 * scale), "{what}: P");
    }
    // Each bracket holds the one optimum.
    for (bracket, value) in [(&summary, &other), (&other, &summary)] {
        let dual = bracket.certificate.dual.unwrap_or(f64::NEG_INFINITY);
        assert!(dual <= value.certificate.primal + 1e-9 * scale, "{what}: brackets");
    }
    if summary.certificate.dual.is_some() {
        assert!(summary.certificate.certified, "{what}");
        let is_slow = is_bound || !["auto", "one-slack"].contains(&solver);
        assert!(is_slow || summary.certificate.gap.unwrap() < 0.06 * summary.certificate.primal, "{what}");
    } else {
        assert!(summary.certificate.primal < 2.0 * other.certificate.primal, "{what}");
    }
}

/// Every solver that minimises.
#[test]
fn weights_are_copies_for_every_solver() {
    let words = Dataset::new(synthetic_words(10, 3));
    for entry in SOLVERS.iter().filter(|entry| entry.minimises) {
        let (task, data) = match entry.name {
            "lasvm" => continue, // of two classes: below
            _ => (json!("chain"), &words),
        };
        check(&task, entry.name, data, 500.0);
    }
}

/// Every solver that minimises, on two classes, where some go their own ways; and with a kernel, where they take one.
#[test]
fn weights_are_copies_for_two_classes() {
    let mut letters = single_letters(&synthetic_words(8, 3));
    letters.labels.iter_mut().for_each(|label| *label = if *label % 2 == 0 { 1 } else { -1 });
    let data = Dataset::new(letters);
    for entry in SOLVERS.iter().filter(|entry| entry.minimises) {
        check(&json!("binary"), entry.name, &data, 300.0);
        if entry.takes_kernels() {
            check(&json!({"name": "binary", "kernel": {"name": "rbf", "gamma": 0.05}}), entry.name, &data, 300.0);
        }
    }
}

/// Every task of the registry that reads data, and kernels.
#[test]
fn weights_are_copies_for_every_task() {
    let letters = || Dataset::new(single_letters(&synthetic_words(30, 3)));
    let kernel = json!({"name": "rbf", "gamma": 0.5});
    let windows = json!({"name": "box", "search": "windows", "stride": 16, "normalise": "l2", "kernel": kernel});
    for (task, data) in [
        (json!("multiclass"), letters()),
        (json!({"name": "multiclass", "kernel": {"name": "rbf", "gamma": 0.05}}), letters()),
        (json!({"name": "multiclass", "class_weights": null, "bias": true}), letters()),
        (json!("chain"), Dataset::new(synthetic_words(30, 4))),
        (json!("multilabel"), Dataset::new(synthetic_scenes(30, 3))),
        (json!("tree"), Dataset::new(synthetic_trees(60, 3))),
        (json!("graph"), Dataset::new(synthetic_graphs(5, 3))),
        (json!("mrf"), Dataset::new(synthetic_rotamers(10, 3))),
        (windows, Dataset::new(Boxes::new(&synthetic_boxes(8, 3)).unwrap())),
    ] {
        check(&task, "auto", &data, 600.0);
        check(&task, "bcfw", &data, 600.0);
    }
}

/// The n of lambda = 1/n and of C is the sum of the weights, so that a weight of 2 is an example that is there twice; equal weights
/// change nothing but that.
#[test]
fn lambda_counts_weights() {
    let words = || Dataset::new(synthetic_words(4, 3));
    let lambda = |data: Dataset, lambda: &str| {
        let tree = json!({"task": "chain", "lambda": lambda});
        Session::on(RunSpec::from_tree(tree.as_object().unwrap()).unwrap(), data, None).unwrap().lambda()
    };
    let weighted = || words().with_weights(vec![1.0, 2.0, 0.5, 1.5]).unwrap();
    assert_eq!((lambda(words(), "1/n"), lambda(weighted(), "1/n"), lambda(weighted(), "c:2")), (0.25, 0.2, 0.1));
}

/// What is no weight is refused, and where no weights are taken it is said.
#[test]
fn bad_weights_are_refused() {
    let words = || Dataset::new(synthetic_words(3, 3));
    for (weights, message) in [
        (vec![1.0], "1 weights for 3 examples"),
        (vec![1.0, -1.0, 1.0], "weight -1 of example 1"),
        (vec![1.0, 1.0, f64::NAN], "weight NaN of example 2"),
        (vec![0.0; 3], "sum up to 0"),
        (vec![1e308; 3], "sum up to inf"),
    ] {
        assert!(words().with_weights(weights).unwrap_err().contains(message), "{message}");
    }
    let slack = json!({"task": {"name": "chain", "rescaling": "slack"}});
    let weighted = words().with_weights(vec![1.0, 2.0, 3.0]).unwrap();
    let refused = Session::on(RunSpec::from_tree(slack.as_object().unwrap()).unwrap(), weighted.clone(), None);
    assert!(refused.err().unwrap().to_string().contains("not with task.rescaling = slack"));
    assert_ne!(weighted.fingerprint(), words().fingerprint());
}
