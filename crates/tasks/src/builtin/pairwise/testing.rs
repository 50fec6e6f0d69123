//! Checks of every task on nodes and edges: answers, planes, codes, recombination and magnitudes against
//! enumeration, and the second opinion of `verify`.

use std::sync::Arc;

use multiplane_core::example::{Example, Examples};
use multiplane_core::oracle::{MaxOracle, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Case, LabelledVariables, Task};
use multiplane_core::task_oracle::TaskOracle;

use super::labelling::Labelling;
use crate::builtin::task::BuiltinTask;
use crate::data::FormatEntry;
use crate::dataset::Dataset;

/// A problem small enough to enumerate.
pub(in crate::builtin) struct SmallPairwise<T: Task<Label = Labelling>> {
    pub(in crate::builtin) task: Arc<T>,
    pub(in crate::builtin) examples: Arc<Examples<T::Input, Labelling>>,
}

/// An example of a task.
type CaseOf<'a, T> = Example<'a, <T as Task>::Input, Labelling>;

impl<T: BuiltinTask<Label = Labelling>> SmallPairwise<T> {
    fn variables(&self) -> &dyn LabelledVariables<T> {
        self.task.capabilities().variables.unwrap()
    }

    /// Returns every labelling of the labelled nodes.
    pub(in crate::builtin) fn labellings(&self, example: CaseOf<'_, T>) -> Vec<Labelling> {
        let mut all = vec![example.truth.labels.clone()];
        for node in example.truth.labelled() {
            let with = |labels: &Vec<u32>, label: u32| {
                let mut labels = labels.clone();
                labels[node] = label;
                labels
            };
            let count = self.variables().label_count(example.input, node) as u32;
            all = all.iter().flat_map(|labels| (0..count).map(move |label| with(labels, label))).collect();
        }
        all.into_iter().map(Labelling::new).collect()
    }

    /// Score of a labelling with losses and fixed scores, relative to the truth, through features alone.
    pub(in crate::builtin) fn relative(&self, example: CaseOf<'_, T>, y: &Labelling, w: &[f64]) -> f64 {
        let of = |y: &Labelling| {
            let mut features = Plane::new();
            self.task.features(example.input, y, 1.0, &mut features);
            features.seal();
            features.view().score(w) + self.task.fixed_score(example.input, y)
        };
        of(y) - of(example.truth) + self.task.loss(example.truth, y)
    }

    /// Asks for planes of random blocks at weights of eight sizes; returns how many answers are exact, and how many are
    /// bounded.
    pub(in crate::builtin) fn check_answers(
        &self,
        seed: u64,
        weights: impl Fn(&mut Rng, f64) -> Vec<f64>,
        context: &str,
    ) -> [usize; 2] {
        let mut oracle = TaskOracle::new(self.task.clone(), self.examples.clone()).unwrap();
        let mut rng = Rng::new(seed, 1);
        let is_exact = |round: usize| {
            let w = weights(&mut rng, [0.0, 0.5, 3.0, 20.0][round % 4]);
            let block = rng.below(self.examples.labels.len() as u64) as usize;
            self.check_answer(&mut oracle, block, &w, &format!("{context}, seed {seed}, round {round}"))
                == Quality::Exact
        };
        let exact = (0..8).map(is_exact).filter(|exact| *exact).count();
        [exact, 8 - exact]
    }

    /// Asks for the plane of a block: the answer is as good as it says, its plane is that of its labelling, its score
    /// is what features say, and `verify` finds the same hinge.
    pub(in crate::builtin) fn check_answer(
        &self,
        oracle: &mut TaskOracle<T>,
        block: usize,
        w: &[f64],
        context: &str,
    ) -> Quality {
        let (task, n) = (&self.task, self.examples.labels.len() as f64);
        let example = self.examples.get(block);
        let all = self.labellings(example);
        let best = all.iter().map(|y| self.relative(example, y, w)).fold(f64::MIN, f64::max);
        let mut plane = Plane::new();
        let quality = oracle.maximize(block, w, &mut plane).unwrap();
        let found = plane.view().score(w) * n;
        let y = Labelling::new(plane.code().to_vec());
        assert!((self.relative(example, &y, w) - found).abs() < 1e-9, "{context}: not its plane");
        let score = |y: &Labelling| task.score(example.input, y, w, &mut Plane::new()).0;
        let scored = score(&y) - score(example.truth) + task.loss(example.truth, &y);
        assert!((scored - found).abs() < 1e-9, "{context}: score");
        assert!(found <= best + 1e-9, "{context}");
        let claimed = match quality {
            Quality::Exact => {
                assert!(found >= best - 1e-9, "{context}: {found} is not {best}");
                best
            }
            Quality::UpperBound(bound) => {
                assert!(bound * n >= best - 1e-9, "{context}: {bound} is below {best}");
                bound * n
            }
            Quality::Heuristic => panic!("{context}: no bound"),
        };
        let again = task.reference_hinge(example.input, example.truth, w);
        assert!((again - claimed).abs() < 1e-9, "{context}: verify finds {again}, not {claimed}");

        let mut rest = vec![0.0; task.dim()];
        plane.view().star.add_to(n, &mut rest);
        let circ = task.reference_plane(example.input, example.truth, plane.code(), &mut |k, value| rest[k] -= value);
        assert!(rest.iter().all(|value| value.abs() < 1e-9), "{context}: {rest:?}");
        assert!((circ.unwrap() - n * plane.view().circ).abs() < 1e-9, "{context}");
        assert!(self.variables().is_labelling(example, plane.code()), "{context}");
        if let Some(most) = task.largest_loss(example) {
            let largest = all.iter().map(|y| task.loss(example.truth, y)).fold(0.0, f64::max);
            assert!((most - largest).abs() < 1e-12, "{context}: {most} is not the largest loss {largest}");
        }
        quality
    }

    /// A combination of labellings has no label that none of them has, is at least as good as each, and where it is
    /// `exact` the best one.
    pub(in crate::builtin) fn check_recombination(&self, w: &[f64], exact: bool, rng: &mut Rng, context: &str) {
        let recombination = self.task.capabilities().recombination.unwrap();
        for block in 0..self.examples.labels.len() {
            let example = self.examples.get(block);
            let all = self.labellings(example);
            let some: Vec<&Labelling> = (0..3).map(|_| &all[rng.below(all.len() as u64) as usize]).collect();
            let codes: Vec<u32> = some.iter().flat_map(|y| y.labels.clone()).collect();
            let (mut scratch, mut memory, mut found) = (T::Scratch::default(), T::Memory::default(), all[0].clone());
            let case = Case::new(example, 1.0, &mut scratch, &mut memory);
            recombination.recombine(case, w, &codes, &mut found).unwrap();
            let value = self.relative(example, &found, w);
            let known = some.iter().copied().chain([example.truth]);
            let best_known = known.clone().map(|y| self.relative(example, y, w)).fold(f64::MIN, f64::max);
            let made_of = |y: &&Labelling| {
                (0..y.labels.len()).all(|node| known.clone().any(|known| known.labels[node] == y.labels[node]))
            };
            assert!(made_of(&&found), "{context}: a label that none has");
            let best = all.iter().filter(made_of).map(|y| self.relative(example, y, w)).fold(f64::MIN, f64::max);
            assert!(value >= best_known - 1e-9 && value <= best + 1e-9, "{context}: {best_known} {value} {best}");
            assert!(!exact || value >= best - 1e-9, "{context}: {value} is not {best}");
        }
    }

    /// No score has larger terms than the magnitudes say.
    pub(in crate::builtin) fn check_magnitudes(&self, w: &[f64]) {
        let magnitudes = self.task.capabilities().magnitudes.unwrap().magnitudes(&self.examples);
        let most = |block: usize| {
            let example = self.examples.get(block);
            let terms = |y: &Labelling| {
                let terms = self.task.score(example.input, y, w, &mut Plane::new()).1;
                terms - self.task.fixed_score(example.input, y).abs()
            };
            self.labellings(example).iter().map(terms).fold(0.0, f64::max)
        };
        let n = self.examples.labels.len();
        let mean = (0..n).map(most).sum::<f64>() / n as f64;
        assert!(mean <= magnitudes.most(w) + 1e-6, "{mean} {}", magnitudes.most(w));
    }
}

/// Arrays with one change are refused with this text.
pub(in crate::builtin) fn check_fault<A, D>(
    mut arrays: A,
    take: fn(A) -> Result<D, String>,
    change: &dyn Fn(&mut A),
    expected: &str,
) {
    change(&mut arrays);
    let found = take(arrays).map(|_| ()).unwrap_err();
    assert!(found.contains(expected), "found `{found}`, expected `{expected}`");
}

/// A container is read as it was written, and has the fingerprint of the data; what is cut short is refused.
pub(in crate::builtin) fn check_container(data: &Dataset, bytes: &[u8], format: &'static FormatEntry) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.safetensors");
    std::fs::write(&path, bytes).unwrap();
    let read = crate::data::read(&path, None).unwrap();
    assert_eq!(read.fingerprint(), data.fingerprint());
    let (some, rest) = (read.subset(&[2, 0]), read.subset(&[0, 2]));
    assert!(some.len() == 2 && some.fingerprint() != rest.fingerprint());
    for cut in [4, 20, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let error = crate::data::read(&path, Some(format)).unwrap_err().to_string();
        assert!(error.contains("small.safetensors"), "{error}");
    }
}
