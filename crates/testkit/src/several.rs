//! What every task has to satisfy that knows more labellings than the best: lists, answers kept apart, labels drawn anew,
//! max-marginals; all against enumeration.

use multiplane_core::example::Examples;
use multiplane_core::linalg;
use multiplane_core::oracle::Quality;
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task::{Call, DiversityPenalty, Question, Task, TaskCapabilities, TaskLabel};

use crate::dense::{densify, weights};

/// What was held against enumeration, so that a suite can tell that it looked at something.
#[derive(Clone, Copy, Debug, Default)]
pub struct Looked {
    /// Lists that are proven.
    pub lists: usize,
    /// Lists that are not.
    pub unproven: usize,
    /// Proven answers to lowered scores.
    pub apart: usize,
    /// Tables of max-marginals.
    pub margins: usize,
}

impl std::ops::AddAssign for Looked {
    fn add_assign(&mut self, other: Looked) {
        self.lists += other.lists;
        self.unproven += other.unproven;
        self.apart += other.apart;
        self.margins += other.margins;
    }
}

/// What labels the variables of a labelling take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variables {
    /// Any of their own, whatever the others have.
    Free,
    /// Heads of a tree: of v variables each has labels from 0 to v, and not all labels go together.
    Heads,
    /// As many as this, not all of which go together.
    Tied(usize),
}

/// A task, examples, all labellings of each, and whether predictions are among these.
pub(crate) struct Enumerated<'a, T: Task> {
    pub(crate) name: &'a str,
    pub(crate) task: &'a T,
    pub(crate) examples: &'a Examples<T::Input, T::Label>,
    pub(crate) all: &'a [Vec<T::Label>],
    pub(crate) predicts: bool,
    pub(crate) variables: Variables,
}

/// One question with everything that is known of it.
struct Asked<'a, T: Task> {
    name: String,
    task: &'a T,
    question: Question<'a, T>,
    all: &'a [T::Label],
    codes: Vec<Vec<u32>>,
    scores: Vec<f64>,
}

impl<T: Task> Enumerated<'_, T> {
    /// Holds all capabilities against enumeration, at a few weights, with the loss and without.
    pub(crate) fn check(&self, seed: u64) -> Looked {
        let mut rng = Rng::new(seed, 3);
        let mut looked = Looked::default();
        for _ in 0..4 {
            let mut w = weights(&mut rng, self.task.dim());
            for range in self.task.nonnegative() {
                w[range].iter_mut().for_each(|w| *w = w.abs());
            }
            for block in 0..self.examples.labels.len() {
                for augmented in [true, false] {
                    if augmented || self.predicts {
                        looked += self.ask(block, &w, augmented).check(self, block, &mut rng);
                    }
                }
            }
        }
        looked
    }

    fn ask<'a>(&'a self, block: usize, w: &'a [f64], augmented: bool) -> Asked<'a, T> {
        let example = self.examples.get(block);
        let question = if augmented { Question::augmented(example, w) } else { Question::plain(example, w) };
        let score = |y: &T::Label| {
            let mut phi = Plane::new();
            self.task.features(example.input, y, 1.0, &mut phi);
            phi.seal();
            let loss = question.truth.map_or(0.0, |truth| self.task.loss(truth, y));
            linalg::dot(&densify(&phi, self.task.dim()).0, w) + self.task.fixed_score(example.input, y) + loss
        };
        let all = &self.all[block];
        let scores = all.iter().map(score).collect();
        let encode = |y: &T::Label| y.numbers().expect("a task that keeps labellings apart has variables").to_vec();
        let name = format!("{}, block {block}, augmented {augmented}", self.name);
        Asked { name, task: self.task, question, all, codes: all.iter().map(encode).collect(), scores }
    }
}

impl<T: Task> Asked<'_, T> {
    fn check(&self, problem: &Enumerated<'_, T>, block: usize, rng: &mut Rng) -> Looked {
        let capabilities = self.task.capabilities();
        let decoded = self.with_scratch(|call| {
            let mut y = self.all[0].clone();
            self.task.decode(call, &mut y).map(|quality| (y, quality))
        });
        let decoded = decoded.unwrap_or_else(|reason| panic!("{}: {reason}", self.name));
        let mut looked = Looked::default();
        for count in [1, 3, self.all.len() + 2] {
            match self.check_top(&capabilities, &decoded, count) {
                true => looked.lists += 1,
                false => looked.unproven += 1,
            }
        }
        looked.apart += usize::from(self.check_apart(&capabilities, &decoded, rng));
        self.check_relabelled(&capabilities, problem, block, rng);
        looked.margins += usize::from(self.check_max_marginals(&capabilities, problem.variables));
        looked
    }

    fn with_scratch<R>(&self, ask: impl FnOnce(Call<'_, T>) -> R) -> R {
        ask(self.question.call(&mut T::Scratch::default(), &mut T::Memory::default()))
    }

    fn place(&self, y: &T::Label) -> usize {
        let place = self.all.iter().position(|other| other == y);
        place.unwrap_or_else(|| panic!("{}: an answer that is no labelling", self.name))
    }

    fn near(&self, a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-10 * (1.0 + b.abs())
    }

    fn best(&self) -> f64 {
        self.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// A list begins with what decoding answers, no labelling comes twice, and where it is proven its scores are the
    /// highest of all, in order. Returns whether it is proven.
    fn check_top(&self, capabilities: &TaskCapabilities<'_, T>, decoded: &(T::Label, Quality), count: usize) -> bool {
        let (name, top) = (&self.name, capabilities.kbest.expect("a list"));
        let mut out = vec![self.all[0].clone(); count];
        let (found, quality) = self.with_scratch(|call| top.top(call, &mut out)).unwrap();
        let places: Vec<usize> = out[..found].iter().map(|y| self.place(y)).collect();
        assert!(out[0] == decoded.0, "{name}: the first of {count} is not what decoding answers");
        assert!((1..found).all(|k| !places[..k].contains(&places[k])), "{name}: a labelling twice in {places:?}");
        match quality {
            Quality::Exact => {
                let mut sorted = self.scores.clone();
                sorted.sort_by(|a, b| b.total_cmp(a));
                assert_eq!(found, count.min(self.all.len()), "{name}");
                for (k, (&place, &best)) in places.iter().zip(&sorted).enumerate() {
                    assert!(
                        self.near(self.scores[place], best),
                        "{name}: rank {k} scores {}, not {best}",
                        self.scores[place]
                    );
                }
            }
            Quality::UpperBound(bound) => {
                assert!(bound >= self.best() - 1e-9 * (1.0 + self.best().abs()), "{name}: {bound} is no bound");
                assert!(count > 1 || decoded.1 != Quality::Exact, "{name}: less proven than decoding");
            }
            Quality::Heuristic => assert_eq!(decoded.1, Quality::Heuristic, "{name}: less proven than decoding"),
        }
        quality == Quality::Exact
    }

    /// Without codes or with penalties of 0 the answer is that of decoding; else it maximises the sum, as far as it says.
    /// Returns whether it is proven.
    fn check_apart(
        &self,
        capabilities: &TaskCapabilities<'_, T>,
        decoded: &(T::Label, Quality),
        rng: &mut Rng,
    ) -> bool {
        let name = &self.name;
        assert!(capabilities.kbest.is_some(), "{name}: labellings are not kept apart");
        let ask = |codes: &[u32], penalties: &[f64]| {
            let (mut y, penalty) = (self.all[0].clone(), DiversityPenalty { codes, penalties });
            let (mut scratch, mut memory) = (T::Scratch::default(), T::Memory::default());
            let call = Question { penalty, ..self.question }.call(&mut scratch, &mut memory);
            let quality = self.task.decode(call, &mut y).unwrap();
            (y, quality)
        };
        let some: Vec<usize> = (0..1 + rng.below(3)).map(|_| rng.below(self.all.len() as u64) as usize).collect();
        let codes: Vec<u32> = some.iter().flat_map(|&k| self.codes[k].iter().copied()).collect();
        assert!(ask(&[], &[]) == *decoded, "{name}: no codes, another answer");
        assert!(ask(&codes, &vec![0.0; some.len()]).0 == decoded.0, "{name}: no penalties, another answer");
        let penalties: Vec<f64> =
            some.iter().map(|_| [0.0, 0.1, 1.0, 10.0][rng.below(4) as usize] * rng.unit()).collect();
        let (y, quality) = ask(&codes, &penalties);
        let value = |k: usize| {
            let differ = |other: usize| self.codes[k].iter().zip(&self.codes[other]).filter(|(a, b)| a != b).count();
            self.scores[k] + some.iter().zip(&penalties).map(|(&m, penalty)| penalty * differ(m) as f64).sum::<f64>()
        };
        let best = (0..self.all.len()).map(value).fold(f64::NEG_INFINITY, f64::max);
        let found = value(self.place(&y));
        match quality {
            Quality::Exact => assert!(self.near(found, best), "{name}: {found} for lowered scores, not {best}"),
            Quality::UpperBound(bound) => {
                assert!(bound >= best - 1e-9 * (1.0 + best.abs()), "{name}: {bound}, best {best}")
            }
            Quality::Heuristic => {}
        }
        quality == Quality::Exact
    }

    /// As many variables change as are asked for, or all that can; where they are not free, some.
    fn check_relabelled(
        &self,
        capabilities: &TaskCapabilities<'_, T>,
        problem: &Enumerated<'_, T>,
        block: usize,
        rng: &mut Rng,
    ) {
        let kbest = capabilities.kbest.expect("labellings drawn by chance");
        let code = &self.codes[rng.below(self.codes.len() as u64) as usize];
        let free = (0..code.len()).filter(|&v| self.codes.iter().any(|other| other[v] != code[v])).count();
        let changes = rng.below(code.len() as u64 + 2) as usize;
        let y = T::Label::from_numbers(kbest.relabelled(problem.examples.get(block), code, changes, rng));
        let y = y.expect("a labelling of numbers");
        let found = &self.codes[self.place(&y)];
        let changed = code.iter().zip(found).filter(|(a, b)| a != b).count();
        let right = match problem.variables {
            Variables::Free => changed == changes.min(free),
            // One may take others along, and not all can change at once.
            Variables::Heads | Variables::Tied(_) => (changed == 0) == (changes.min(free) == 0),
        };
        assert!(right, "{}: {changes} changes of {code:?} gave {found:?}", self.name);
    }

    /// The table is that of enumeration, or bounds it where nothing exact applies. Returns true if it is exact.
    fn check_max_marginals(&self, capabilities: &TaskCapabilities<'_, T>, variables: Variables) -> bool {
        let (name, margins) = (&self.name, capabilities.kbest.expect("max-marginals"));
        let mut out = Vec::new();
        let quality = self.with_scratch(|call| margins.max_marginals(call, &mut out));
        let exact = quality.unwrap_or_else(|reason| panic!("{name}: {reason}")) == Quality::Exact;
        let mut expected = Vec::new();
        for v in 0..self.codes[0].len() {
            let of = |label: u32| {
                let with = self.codes.iter().zip(&self.scores).filter(|(code, _)| code[v] == label);
                with.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max)
            };
            match variables {
                // A node that is unlabelled has a number that is no label, and no run.
                Variables::Free => expected.extend((0..).map(of).take_while(|best| *best > f64::NEG_INFINITY)),
                Variables::Tied(labels) => expected.extend((0..labels as u32).map(of)),
                Variables::Heads => expected.extend((0..=self.codes[0].len() as u32).map(of)),
            }
        }
        let near = |(a, b): (&f64, &f64)| a == b || self.near(*a, *b) || !exact && a > b;
        let sound = out.iter().zip(&expected).all(near);
        assert!(sound && out.len() == expected.len(), "{name}: {out:?}, expected {expected:?}");
        exact
    }
}
