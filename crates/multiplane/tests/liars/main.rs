//! Oracles that are not what they say, with every solver: each is caught, or certifies nothing, or what is certified is true
//! all the same. Through both ways on which a task of one's own comes: foreign tasks, and tasks in Rust.

mod patient;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use multiplane::foreign::{Examinable, FeatureVector, ForeignProblem, ForeignTask, Shape, WorkerControl};
use multiplane::oracle::Quality;
use multiplane::{Choice, Problem, RunOptions, RunSpec, Session, Summary};
use multiplane_core::example::Examples;
use multiplane_core::plane::Plane;
use multiplane_core::task::{Call, Task, TaskLabel};
use multiplane_solvers::{SOLVERS, SolverEntry};
use multiplane_tasks::builtin::{BuiltinTask, TaskProblem};
use multiplane_tasks::problem::TaskVocabulary;
use patient::Lie::{Honest, HonestBound, Modest};
use patient::{CLASSES, LAMBDA, LIES, Lie, Patient, WIDTH};
use serde_json::json;

/// The patient as a foreign task.
struct Abroad(Arc<Patient>);

impl WorkerControl for Abroad {}

impl Examinable for Abroad {}

impl ForeignTask for Abroad {
    type Label = usize;

    fn truth(&mut self, example: usize) -> Result<usize, String> {
        Ok(self.0.truths[example])
    }
    fn features(&mut self, example: usize, class: &usize, out: &mut FeatureVector) -> Result<(), String> {
        let mut row = self.0.rows[example].iter().enumerate();
        row.try_for_each(|(k, x)| out.push((class * WIDTH + k) as i64, *x, CLASSES * WIDTH))
    }
    fn loss(&mut self, example: usize, class: &usize) -> Result<f64, String> {
        Ok(self.0.loss(example, *class))
    }
    fn decode(&mut self, example: usize, w: &[f64], augmented: bool) -> Result<(usize, Quality), String> {
        Ok(self.0.decode(example, w, augmented))
    }
    fn show(&mut self, class: &usize) -> Result<String, String> {
        Ok(class.to_string())
    }
}

/// What a model of the task in Rust remembers.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
struct Nothing {}

impl TaskVocabulary for Nothing {}

/// The patient as a task in Rust; an input is the number of an example.
struct AtHome(Arc<Patient>);

/// A class, with the number of its example.
#[derive(Clone, PartialEq)]
struct Seen(usize, usize);

impl TaskLabel for Seen {}

impl Task for AtHome {
    type Input = usize;
    type Label = Seen;
    type Scratch = ();
    type Memory = ();

    fn dim(&self) -> usize {
        CLASSES * WIDTH
    }
    fn features(&self, x: &usize, Seen(_, class): &Seen, scale: f64, out: &mut Plane) {
        self.0.rows[*x].iter().enumerate().for_each(|(k, x)| out.push((class * WIDTH + k) as u32, scale * x));
    }
    fn loss(&self, Seen(example, _): &Seen, Seen(_, class): &Seen) -> f64 {
        self.0.loss(*example, *class)
    }
    fn decode(&self, call: Call<'_, Self>, out: &mut Seen) -> Result<Quality, String> {
        let question = call.question;
        let (class, quality) = self.0.decode(*question.input, question.w, question.truth.is_some());
        *out = Seen(*question.input, class);
        Ok(quality)
    }
}

impl BuiltinTask for AtHome {
    type Vocabulary = Nothing;

    fn show(&self, Seen(_, class): &Seen, _: &Nothing) -> String {
        class.to_string()
    }
    fn reference_hinge(&self, x: &usize, Seen(_, class): &Seen, w: &[f64]) -> f64 {
        self.0.ranked(Honest, *x, w, 1.0)[0].0 - self.0.score(Honest, *x, w, *class)
    }
}

type Open = fn(Arc<Patient>) -> Arc<dyn Problem>;

fn abroad(patient: Arc<Patient>) -> Arc<dyn Problem> {
    let shape = Shape { examples: patient.rows.len(), dim: CLASSES * WIDTH, ..Shape::default() };
    let first = Abroad(patient.clone());
    let more = Box::new(move |_| Ok(Abroad(patient.clone())));
    Arc::new(ForeignProblem::new("user", shape, first, more, Arc::default()).unwrap())
}

fn at_home(patient: Arc<Patient>) -> Arc<dyn Problem> {
    let labels: Vec<Seen> = patient.truths.iter().enumerate().map(|(example, &class)| Seen(example, class)).collect();
    let examples = Examples::new((0..labels.len()).collect(), labels);
    Arc::new(TaskProblem::new("user", AtHome(patient), Arc::new(examples), Nothing {}, "x".into(), vec![]).unwrap())
}

/// The solvers that need no more of an oracle than answers.
fn solvers() -> impl Iterator<Item = &'static SolverEntry> {
    SOLVERS.iter().filter(|entry| (entry.parse)(&(entry.preset)()).unwrap().needs().is_none())
}

fn train(open: Open, patient: &Arc<Patient>, entry: &SolverEntry, passes: f64) -> Result<(Vec<f64>, Summary), String> {
    let stop = if entry.has_dual { json!({"passes": passes, "gap": 1e-6}) } else { json!({"passes": passes}) };
    let tree = json!({"solver": entry.name, "lambda": LAMBDA, "stop": stop, "clock": "work"});
    let task = Choice { name: "user".into(), params: Default::default() };
    let spec = RunSpec::for_task(tree.as_object().unwrap(), task).unwrap();
    let session = Session::on_problem(spec, open(patient.clone()), None).unwrap();
    let (model, summary) = session.run(RunOptions::default()).map_err(|error| error.to_string())?;
    Ok((model.w, summary))
}

/// A value of P that no other is far below.
fn optimum() -> f64 {
    static OPTIMUM: OnceLock<f64> = OnceLock::new();
    *OPTIMUM.get_or_init(|| {
        let patient = Arc::new(Patient::new(Honest));
        let entry = multiplane_solvers::find("mp-bcfw").unwrap();
        let (w, summary) = train(at_home, &patient, entry, 1000.0).unwrap();
        assert!(summary.certificate.certified && summary.certificate.gap.unwrap() < 1e-5, "{summary:?}");
        patient.primal(&w)
    })
}

#[derive(Debug, Default)]
struct Matrix {
    caught: usize,
    not_certified: usize,
    true_all_the_same: usize,
}

fn cross(name: &str, open: Open) {
    let mut matrix: BTreeMap<Lie, Matrix> = BTreeMap::new();
    let mut falsely = Vec::new();
    for (lie, entry) in LIES.into_iter().flat_map(|lie| solvers().map(move |entry| (lie, entry))) {
        for passes in [3.0, 40.0] {
            let patient = Arc::new(Patient::new(lie));
            let counts = matrix.entry(lie).or_default();
            let Ok((w, summary)) = train(open, &patient, entry, passes) else {
                counts.caught += 1;
                continue;
            };
            let certificate = summary.certificate;
            if !certificate.certified {
                counts.not_certified += 1;
            } else if certificate.primal >= patient.primal(&w) - 1e-6 && certificate.dual.unwrap() <= optimum() + 1e-6 {
                counts.true_all_the_same += 1;
            } else {
                let truth = patient.primal(&w);
                falsely.push(format!("{lie:?}, {}, {passes} passes: {certificate:?}, P is {truth}", entry.name));
            }
        }
    }
    matrix.iter().for_each(|(lie, counts)| eprintln!("{name}, {lie:?}: {counts:?}"));
    assert!(falsely.is_empty(), "{name}, certified and false:\n{}", falsely.join("\n"));
}

/// No foreign task gets a false certificate by lying.
#[test]
fn foreign_tasks_are_held_to_their_word() {
    cross("foreign", abroad);
}

/// Nor does a task in Rust that is none of the registry.
#[test]
fn tasks_in_rust_are_held_to_their_word() {
    cross("Rust", at_home);
}

/// Who keeps their word is believed, by every solver: exact, with bounds, or as a heuristic without a certificate.
#[test]
fn the_honest_are_believed() {
    for (open, lie) in
        [abroad as Open, at_home].into_iter().flat_map(|open| [Honest, HonestBound, Modest].map(|lie| (open, lie)))
    {
        for entry in solvers() {
            let (_, summary) = train(open, &Arc::new(Patient::new(lie)), entry, 20.0).unwrap();
            let expected = entry.has_dual && lie != Modest;
            assert_eq!(summary.certificate.certified, expected, "{lie:?}, {}: {summary:?}", entry.name);
        }
    }
}
