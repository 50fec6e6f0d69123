//! Checks of any task whose labellings are lists of numbers: answers, planes, codes and combinations against sums of
//! features.

use std::sync::Arc;

use multiplane_core::example::{Example, Examples};
use multiplane_core::oracle::{Coded, MaxOracle, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Case, Question, TaskLabel, UNLABELLED};
use multiplane_core::task_oracle::TaskOracle;

use crate::builtin::TaskProblem;
use crate::builtin::enumerate;
use crate::builtin::pairwise::Labelling;
use crate::builtin::partial::CompletedTruths;
use crate::builtin::task::{BuiltinTask, to_file_layout};

/// One example of a task with weights, and all labellings of it.
pub(super) struct ListedExample<'a, T: BuiltinTask> {
    pub(super) task: &'a T,
    pub(super) x: &'a T::Input,
    pub(super) truth: &'a Vec<u32>,
    pub(super) w: &'a [f64],
    pub(super) all: Vec<Vec<u32>>,
    pub(super) seed: u64,
}

/// Returns the labelling with these labels.
fn label<L: TaskLabel>(labels: &[u32]) -> L {
    L::from_numbers(labels.to_vec()).unwrap()
}

impl<'a, T: BuiltinTask<Memory = (), Input: Clone>> ListedExample<'a, T> {
    /// Lists the labellings of an example: input, truth, weights.
    pub(super) fn new(task: &'a T, (x, truth, w): (&'a T::Input, &'a Vec<u32>, &'a [f64]), seed: u64) -> Self {
        let all = enumerate::codes(task, x, &label(truth), usize::MAX).unwrap();
        ListedExample { task, x, truth, w, all, seed }
    }

    fn example<'b>(&'b self, truth: &'b T::Label) -> Example<'b, T::Input, T::Label> {
        Example { index: 0, input: self.x, truth }
    }

    fn features(&self, y: &[u32]) -> Plane {
        let mut phi = Plane::new();
        self.task.features(self.x, &label(y), 1.0, &mut phi);
        phi.seal();
        phi
    }

    /// Returns the score of a labelling, the loss added if it is asked for.
    fn score(&self, y: &[u32], augmented: bool) -> f64 {
        self.features(y).view().score(self.w)
            + if augmented { self.task.loss(&label(self.truth), &label(y)) } else { 0.0 }
    }

    fn best<'y>(&self, among: impl Iterator<Item = &'y Vec<u32>>, augmented: bool) -> f64 {
        among.map(|y| self.score(y, augmented)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Decoding finds the best of all labellings, with and without loss, by `features` and `loss` alone; the plain
    /// reference on weights in the layout of files agrees, and its planes are those of training; magnitudes are as
    /// large as any score, and no loss is larger than the largest.
    pub(super) fn check_answers(&self, scratch: &mut T::Scratch) {
        let &ListedExample { task, x, truth, w, seed, .. } = self;
        let right: T::Label = label(truth);
        let mut found = right.clone();
        // Without the truth all variables have labels.
        let asked = if truth.contains(&UNLABELLED) { &[true][..] } else { &[false, true] };
        for &augmented in asked {
            let ask = if augmented { Question::augmented } else { Question::plain };
            task.decode(ask(self.example(&right), w).call(scratch, &mut ()), &mut found).unwrap();
            let labels = found.numbers().unwrap().to_vec();
            assert!(self.all.contains(&labels), "seed {seed}: {labels:?}");
            let best = self.best(self.all.iter(), augmented);
            assert!((self.score(&labels, augmented) - best).abs() < 1e-12, "seed {seed}");
        }
        let labels = found.numbers().unwrap();
        let hinge = self.score(labels, true) - self.score(truth, true);
        let reference = task.reference_hinge(x, &right, &to_file_layout(task, w));
        assert!((hinge - reference).abs() < 1e-12, "seed {seed}: {hinge} is not {reference}");

        let mut plane = Plane::new();
        task.plane(Case::new(self.example(&right), 1.0, scratch, &mut ()), &found, &mut plane);
        assert_eq!(plane.fault(task.dim()), None, "seed {seed}");
        let mut rest = vec![0.0; task.dim()];
        plane.view().star.add_to(1.0, &mut rest);
        let mut rest = to_file_layout(task, &rest);
        let circ = task.reference_plane(x, &right, labels, &mut |k, value| rest[k] -= value).unwrap();
        let near = rest.iter().all(|value| value.abs() < 1e-12) && (circ - plane.view().circ).abs() < 1e-12;
        assert!(near, "seed {seed}");
        let nonsense = vec![99; truth.len() + 1];
        assert_eq!(task.reference_plane(x, &right, &nonsense, &mut |_, _| ()), None);

        let examples = Examples::new(vec![x.clone()], vec![right.clone()]);
        let most = task.capabilities().magnitudes.unwrap().magnitudes(&examples).most(w);
        for y in &self.all {
            let terms = self.features(y).view().star.absolute_dot(w);
            assert!(terms <= most + 1e-12, "seed {seed}: {terms} above {most}");
        }
        let largest = self.all.iter().map(|y| task.loss(&right, &label(y))).fold(0.0, f64::max);
        assert!((task.largest_loss(self.example(&right)).unwrap() - largest).abs() < 1e-12, "seed {seed}");
    }

    /// A list of the best labellings, the loss added, begins with the decoder's answer and leaves out no better one.
    pub(super) fn check_top(&self, scratch: &mut T::Scratch) {
        let right: T::Label = label(self.truth);
        let (mut list, mut first) = (vec![right.clone(); 4], right.clone());
        let question = || Question::augmented(self.example(&right), self.w);
        self.task.decode(question().call(scratch, &mut ()), &mut first).unwrap();
        let kbest = self.task.capabilities().kbest.unwrap();
        let (count, _) = kbest.top(question().call(scratch, &mut ()), &mut list).unwrap();
        assert!(count == self.all.len().min(4) && list[0] == first, "seed {}: {count}", self.seed);
        let list: Vec<Vec<u32>> = list.iter().map(|y| y.numbers().unwrap().to_vec()).collect();
        for (k, y) in list[..count].iter().enumerate() {
            let rest = self.all.iter().filter(|other| !list[..k].contains(other));
            assert!(!list[..k].contains(y) && (self.score(y, true) - self.best(rest, true)).abs() < 1e-12, "{list:?}");
        }
    }

    /// A combination has only labels that variables have in the truth or a known labelling, and none such is better.
    pub(super) fn check_recombination(&self, known: &[Vec<u32>], scratch: &mut T::Scratch) {
        let right: T::Label = label(self.truth);
        let (mut found, recombination, memory) =
            (right.clone(), self.task.capabilities().recombination.unwrap(), &mut ());
        let case = Case::new(self.example(&right), 1.0, scratch, memory);
        recombination.recombine(case, self.w, &known.concat(), &mut found).unwrap();
        let is_made =
            |y: &&Vec<u32>| (0..y.len()).all(|v| y[v] == self.truth[v] || known.iter().any(|known| known[v] == y[v]));
        let found = found.numbers().unwrap().to_vec();
        assert!(self.all.contains(&found) && is_made(&&found), "seed {}: {found:?}", self.seed);
        let best = self.best(self.all.iter().filter(is_made), true);
        assert!((self.score(&found, true) - best).abs() < 1e-12, "seed {}", self.seed);
    }

    /// Planes known by their labellings alone, compiled or not, score and add up like differences of feature vectors,
    /// and compiling changes no bit.
    pub(super) fn check_codes(&self, planes: &[Vec<u32>], scratch: &mut T::Scratch) {
        let &ListedExample { task, truth, w, seed, .. } = self;
        let right: T::Label = label(truth);
        let amounts: Vec<f64> = (0..planes.len()).map(|k| [0.0, 0.5, -2.0][(k + seed as usize) % 3]).collect();
        let mut expected = vec![0.25; task.dim()];
        for (y, amount) in planes.iter().zip(&amounts) {
            self.features(y).view().star.add_to(3.0 * amount, &mut expected);
            self.features(truth).view().star.add_to(-3.0 * amount, &mut expected);
        }
        let coded = task.capabilities().coded_planes.unwrap();
        let (codes, mut compiled, mut bits) = (planes.concat(), Vec::new(), Vec::<u64>::new());
        coded.compile(Case::new(self.example(&right), 1.0, scratch, &mut ()), &codes, &mut compiled);
        for planes_coded in [Coded::new(&codes), Coded { codes: &codes, compiled: &compiled }] {
            let (mut scores, mut sum) = (vec![f64::NAN; planes.len()], vec![0.25; task.dim()]);
            coded.linear_scores(Case::new(self.example(&right), 1.0, scratch, &mut ()), w, planes_coded, &mut scores);
            for (y, score) in planes.iter().zip(&scores) {
                let right = self.score(y, false) - self.score(truth, false);
                assert!((score - right).abs() < 1e-12, "seed {seed}: {y:?}, truth {truth:?}");
            }
            coded.add_planes(Case::new(self.example(&right), 3.0, scratch, &mut ()), planes_coded, &amounts, &mut sum);
            assert!(sum.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "seed {seed}");
            let found: Vec<u64> = scores.iter().chain(&sum).map(|value| value.to_bits()).collect();
            assert!(bits.is_empty() || bits == found, "seed {seed}: compiling changed bits");
            bits = found;
        }
    }
}

/// Truths that are completed at `w` are the best of those that agree with what is known, and errors cost what they cost
/// before; the hinge is that of enumeration, and `verify` finds it. Once more nothing changes, and elsewhere scores
/// rise by what is said.
pub(super) fn check_completions<T>(task: &T, examples: Examples<T::Input, Labelling>, w: &[f64], context: &str)
where
    T: BuiltinTask<Label = Labelling, Vocabulary: Default, Input: Clone> + Clone,
{
    let score = |x: &T::Input, y: &Labelling, w: &[f64]| {
        let mut features = Plane::new();
        task.features(x, y, 1.0, &mut features);
        features.seal();
        features.view().score(w) + task.fixed_score(x, y)
    };
    let n = examples.labels.len() as f64;
    let problem =
        TaskProblem::new("small", task.clone(), Arc::new(examples.clone()), Default::default(), String::new(), vec![]);
    let completed = problem.as_ref().map(|problem| problem.completed_truths(w, 1).unwrap().unwrap().truths).unwrap();
    let made = Examples::new(examples.inputs.to_vec(), completed.clone());
    let mut oracle = TaskOracle::new(Arc::new(task.clone()), Arc::new(made)).unwrap();
    let (mut plane, mut rise, opposite) = (Plane::new(), 0.0, w.iter().map(|w| w.abs() * 0.5).collect::<Vec<f64>>());
    for (block, truth) in completed.iter().enumerate() {
        let (x, given) = (&examples.inputs[block], &examples.labels[block]);
        if given.iter().all(|label| *label == UNLABELLED) {
            assert_eq!(truth, given, "{context}: nothing is known");
            continue;
        }
        let variables = task.capabilities().variables.unwrap();
        let first = Labelling::new(vec![0; given.len()]);
        let all = enumerate::codes(task, x, &first, usize::MAX).unwrap();
        let all: Vec<Labelling> = all.into_iter().map(Labelling::new).collect();
        assert!(all.iter().all(|y| variables.is_labelling(Example { index: block, input: x, truth: &first }, y)));
        let agrees = |y: &&Labelling| y.iter().zip(&given.labels).all(|(y, known)| *known == UNLABELLED || y == known);
        let best = |w: &[f64]| all.iter().filter(agrees).map(|y| score(x, y, w)).fold(f64::NEG_INFINITY, f64::max);
        assert!(agrees(&truth) && (score(x, truth, w) - best(w)).abs() < 1e-9, "{context}: {truth:?} is not the best");
        for y in &all {
            let (found, expected) = (task.loss(truth, y), task.loss(given, y));
            assert!((found - expected).abs() < 1e-12, "{context}: {found} is not {expected}");
        }
        let hinge =
            all.iter().map(|y| score(x, y, w) + task.loss(given, y)).fold(f64::NEG_INFINITY, f64::max) - best(w);
        let quality = oracle.maximize(block, w, &mut plane).unwrap();
        let found = n * plane.view().score(w);
        assert!(quality != Quality::Exact || (found - hinge).abs() < 1e-9, "{context}: {found} is not {hinge}");
        assert!(found <= hinge + 1e-9, "{context}: {found} is above {hinge}");
        if quality == Quality::Exact {
            let again = task.reference_hinge(x, truth, &to_file_layout(task, w));
            assert!((again - hinge).abs() < 1e-9, "{context}: verify finds {again}, not {hinge}");
        }
        if let Some(most) = task.largest_loss(Example { index: block, input: x, truth }) {
            let largest = all.iter().map(|y| task.loss(given, y)).fold(0.0, f64::max);
            assert!((most - largest).abs() < 1e-12, "{context}: {most} is not the largest loss {largest}");
        }
        if given.contains(&UNLABELLED) {
            rise += (best(&opposite) - score(x, truth, &opposite)) / n;
        }
    }
    let problem =
        problem.unwrap().with_truths(Arc::new(Examples::new(examples.inputs.to_vec(), completed)), Arc::new(examples));
    assert_eq!(problem.completed_truths(w, 1).unwrap().unwrap().changed, 0, "{context}: ties stay");
    let CompletedTruths { changed, moves, .. } = problem.completed_truths(&opposite, 2).unwrap().unwrap();
    let found = -moves.iter().map(|(_, plane)| plane.view().score(&opposite)).sum::<f64>();
    assert!((found - rise).abs() < 1e-9 && (changed > 0) == (found > 0.0), "{context}: {found} is not {rise}");
}

/// Takes the labels of about a third of the variables away.
pub(super) fn partly_labelled(mut labels: Vec<u32>, rng: &mut Rng) -> Vec<u32> {
    labels.iter_mut().filter(|_| rng.below(3) == 0).for_each(|label| *label = UNLABELLED);
    labels
}

/// Returns `y` with the labels that the truth has, and no others.
pub(super) fn labelled_as(truth: &[u32], y: Vec<u32>) -> Vec<u32> {
    y.into_iter().zip(truth).map(|(label, truth)| if *truth == UNLABELLED { UNLABELLED } else { label }).collect()
}
