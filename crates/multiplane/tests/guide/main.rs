//! The examples that CONTRIBUTING.md links: a solver, an order, a task, a data format. They compile, and they do what
//! they claim.

#![allow(unreachable_pub)] // the examples are written as files of a library

mod batch_subgradient;
mod cyclic;
mod label_sets;
mod multilabel;
mod solvers;

use multiplane::doctor::{ExaminationPlan, examine};
use multiplane::{Choice, Model, RunOptions, RunSpec, Session};
use multiplane_core::rng::Rng;
use multiplane_tasks::data::Format;
use multiplane_tasks::dataset::Dataset;
use multiplane_tasks::entry::TaskEntry;
use serde_json::json;

/// The registries, with the line that a new task or format takes.
static TASKS: &[TaskEntry] = &[multilabel::ENTRY];
static FORMATS: &[Format] = &[&label_sets::FORMAT];

/// Rows of which label `a` follows the first feature, `b` the second, and `c` never comes without `a`.
fn written(n: usize, seed: u64) -> String {
    let mut rng = Rng::new(seed, 0);
    let row = |_| {
        let (x, y) = (2.0 * rng.unit() - 1.0, 2.0 * rng.unit() - 1.0);
        let labels = [(x > 0.0, "a"), (y > 0.0, "b"), (x > 0.5, "c")];
        let labels: Vec<&str> = labels.into_iter().filter(|(holds, _)| *holds).map(|(_, name)| name).collect();
        let labels = if labels.is_empty() { "-".into() } else { labels.join(",") };
        format!("{labels} 1:{x:.4} 2:{y:.4}\n")
    };
    (0..n).map(row).collect()
}

fn data(text: &str) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.sets");
    std::fs::write(&path, text).unwrap();
    multiplane_tasks::data::read(&path, Some(FORMATS[0])).unwrap()
}

/// The task is trained to a certificate that the slow code confirms; the model, read back, opens other data in the same
/// way, and evaluation reports the task's own metric.
#[test]
fn sets_are_learned() {
    let (train, test) = (data(&written(60, 1)), data(&format!("{}a,z 1:1\n", written(40, 2))));
    let entry = &TASKS[0];
    let config = (entry.parse)(&json!({"bias": true})).unwrap();
    let problem = config.open(train, None).unwrap();
    assert_eq!(problem.dim(), 3 * 3 + 3);
    let tree = json!({"solver": "mp-bcfw", "lambda": 0.01, "stop": {"gap": 1e-3}});
    let task = Choice { name: entry.name.into(), params: config.value().as_object().unwrap().clone() };
    let spec = RunSpec::for_task(tree.as_object().unwrap(), task).unwrap();
    let session = Session::on_problem(spec, problem.into(), None).unwrap();
    let (model, summary) = session.run(RunOptions::default()).unwrap();
    assert!(summary.certificate.certified && summary.certificate.gap.unwrap() <= 1e-3, "{summary:?}");
    let primal = session.problem().reference().primal(None, &model.w, 0.01, 1).unwrap();
    assert!((primal - summary.certificate.primal).abs() < 1e-9, "{primal} is not {}", summary.certificate.primal);

    let model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(model.info.provenance.vocabulary.labels, ["a", "b", "c"]);
    let problem = config.open(test, Some(&model.info.provenance.vocabulary)).unwrap();
    assert_eq!(problem.warnings().len(), 1, "{:?}", problem.warnings());
    let found = problem.predictor().evaluate(&problem.from_file_layout(&model.w), 1).unwrap();
    assert!(found.get("f1").unwrap() > 0.9 && found.get("accuracy").unwrap() > 0.9, "{found:?}");
    let mut last = None;
    problem.predictor().predict(&model.w, 1, &mut |prediction| last = Some(prediction.truth)).unwrap();
    assert_eq!(last.flatten().as_deref(), Some("a,?"));
}

/// The oracle doctor finds nothing.
#[test]
fn sets_are_sound() {
    for seed in 0..20 {
        let problem = TASKS[0].open(&json!({}), data(&written(20, seed)), None).unwrap();
        let mut probe = problem.oracles().probe().unwrap().unwrap();
        let diagnosis = examine(&mut *probe, &ExaminationPlan { seed, ..ExaminationPlan::default() });
        assert!(diagnosis.findings.is_empty(), "seed {seed}: {:#?}", diagnosis.findings);
    }
}

/// A parameter that cannot be read is told with its name, value and rule; data of another kind is refused in words.
#[test]
fn faults_are_told() {
    let error = (TASKS[0].parse)(&json!({"bias": 3})).unwrap_err();
    assert_eq!(error.to_string(), "bias = 3: must be true or false");
    let words = Dataset::new(multiplane_tasks::synth::synthetic_words(2, 1));
    let error = TASKS[0].open(&json!({}), words, None).err().unwrap();
    assert_eq!(error.to_string(), "task `multilabel` reads sets, found words (letter.data)");
}
