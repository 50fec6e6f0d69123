//! What a user writes: features, loss and decoding of one problem.
//!
//! [`TaskOracle`](crate::task_oracle::TaskOracle) turns a task and examples into a max-oracle. As with oracles, what
//! only some tasks can do is a trait of its own, handed out by [`Task::capabilities`].

use std::ops::Range;

use crate::example::{Example, Examples, Memory};
pub use crate::label::{TaskLabel, UNLABELLED};
use crate::oracle::{Coded, Prices, Quality};
use crate::plane::Plane;
use crate::rng::Rng;
use crate::rounding::Magnitudes;

/// An example of task `T`.
pub type ExampleOf<'a, T> = Example<'a, <T as Task>::Input, <T as Task>::Label>;

/// A question to the decoder of a task.
pub struct Question<'a, T: Task + ?Sized> {
    /// The place of the example in its data set, from 0.
    pub index: usize,
    /// The input of the example.
    pub input: &'a T::Input,
    /// The truth, if its loss is added to every score; `None` asks for the prediction.
    pub truth: Option<&'a T::Label>,
    /// The weights.
    pub w: &'a [f64],
    /// The labellings to keep away from: none, unless the task has [`KBest`].
    pub penalty: DiversityPenalty<'a>,
}

impl<T: Task + ?Sized> Clone for Question<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Task + ?Sized> Copy for Question<'_, T> {}

impl<'a, T: Task + ?Sized> Question<'a, T> {
    /// Asks for the prediction at `w`.
    pub fn plain(example: ExampleOf<'a, T>, w: &'a [f64]) -> Self {
        let penalty = DiversityPenalty::default();
        Question { index: example.index, input: example.input, truth: None, w, penalty }
    }

    /// Asks for the best labelling at `w` with the loss added.
    pub fn augmented(example: ExampleOf<'a, T>, w: &'a [f64]) -> Self {
        Question { truth: Some(example.truth), ..Question::plain(example, w) }
    }

    /// Adds what may be worked with.
    pub fn call(self, scratch: &'a mut T::Scratch, memory: &'a mut T::Memory) -> Call<'a, T> {
        Call { question: self, scratch, memory }
    }
}

/// A call of the decoder of a task: a question, and what may be worked with.
pub struct Call<'a, T: Task + ?Sized> {
    /// The question.
    pub question: Question<'a, T>,
    /// Working memory of the thread; nothing in it is read before it is written.
    pub scratch: &'a mut T::Scratch,
    /// Memory of the example, as the last call on it left it, or fresh.
    pub memory: &'a mut T::Memory,
}

/// An example whose planes are asked for, and what may be worked with.
pub struct Case<'a, T: Task + ?Sized> {
    /// The place of the example in its data set, from 0.
    pub index: usize,
    /// The input of the example.
    pub input: &'a T::Input,
    /// The truth.
    pub truth: &'a T::Label,
    /// The factor of planes: 1/n, the example's share in the mean.
    pub scale: f64,
    /// Working memory of the thread; nothing in it is read before it is written.
    pub scratch: &'a mut T::Scratch,
    /// Memory of the example, as the last call on it left it, or fresh.
    pub memory: &'a mut T::Memory,
}

impl<'a, T: Task + ?Sized> Case<'a, T> {
    /// Puts an example, the factor of its planes and memory together.
    pub fn new(example: ExampleOf<'a, T>, scale: f64, scratch: &'a mut T::Scratch, memory: &'a mut T::Memory) -> Self {
        Case { index: example.index, input: example.input, truth: example.truth, scale, scratch, memory }
    }

    /// Asks for the best labelling of the example at `w` with the loss added.
    pub fn question<'w>(&self, w: &'w [f64]) -> Question<'w, T>
    where
        'a: 'w,
    {
        Question::augmented(Example { index: self.index, input: self.input, truth: self.truth }, w)
    }
}

/// A structured prediction problem: joint features, a loss and a decoder. Knows no lambda and no solver.
pub trait Task {
    /// What is given, e.g. the images of a word's letters.
    type Input;
    /// What is predicted, e.g. the word.
    type Label: TaskLabel;
    /// Working memory of a decoder; one per thread.
    type Scratch: Default;
    /// What the decoder remembers of one example from call to call, `()` where that is nothing; see [`Memory`].
    type Memory: Memory;

    /// Returns the length d of the joint feature vector and of w.
    fn dim(&self) -> usize;

    /// Returns the weights that must stay `>= 0`, as ranges of coordinates: where inference would be wrong otherwise,
    /// e.g. the weights of a cut. Solvers keep them so.
    fn nonnegative(&self) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// Adds `scale * phi(x, y)` to `out` with [`Plane::push`].
    fn features(&self, x: &Self::Input, y: &Self::Label, scale: f64, out: &mut Plane);

    /// Returns the task loss `Delta(truth, y) >= 0`; zero at the truth.
    fn loss(&self, truth: &Self::Label, y: &Self::Label) -> f64;

    /// Returns the largest loss that any labelling of this input has, where that is known without a search and there
    /// are no fixed scores: the hinge at w = 0.
    fn largest_loss(&self, _example: ExampleOf<'_, Self>) -> Option<f64> {
        None
    }

    /// Returns what a call on this example and a plane of it cost, where that follows from its sizes; see [`Prices`].
    fn prices(&self, _x: &Self::Input) -> Option<Prices> {
        None
    }

    /// Returns `theta(x, y)`, the part of the score that no weight multiplies (MP-BCFW paper, Eq. 3).
    fn fixed_score(&self, _x: &Self::Input, _y: &Self::Label) -> f64 {
        0.0
    }

    /// Returns `<w, phi(x, y)> + theta(x, y)` and how large its terms are without signs, those of a node or edge
    /// counted as one where a task adds them up so: what is taken off a decoder's bound, and what its rounding is
    /// measured by. The default writes the features of `y` into `features`; a task whose features are many does better.
    fn score(&self, x: &Self::Input, y: &Self::Label, w: &[f64], features: &mut Plane) -> (f64, f64) {
        features.clear();
        self.features(x, y, 1.0, features);
        features.seal();
        let fixed = self.fixed_score(x, y);
        (features.view().score(w) + fixed, features.view().star.absolute_dot(w) + fixed.abs())
    }

    /// Writes into `out` the `y` that maximises `<w, phi(x, y)> + theta(x, y)`, plus `Delta(truth, y)` if the question
    /// has a truth. What `out` holds before is some labelling, not always of this input.
    ///
    /// With a penalty, `sum_m penalties[m] d(y, y^m)` is added: `d` counts the variables labelled otherwise, `y^m` are
    /// the labellings of the penalty. It only lowers the unary scores of labels that were used.
    ///
    /// An approximate decoder says so; its [`Quality::UpperBound`] bounds that maximum itself (no 1/n, the truth's
    /// score not subtracted).
    ///
    /// # Errors
    ///
    /// The reason why there is no answer; the caller adds which example.
    fn decode(&self, call: Call<'_, Self>, out: &mut Self::Label) -> Result<Quality, String>;

    /// Writes the scaled plane of labelling `y`: feature difference, loss and fixed scores.
    ///
    /// The default subtracts two feature vectors; a task that knows where they agree does better.
    fn plane(&self, case: Case<'_, Self>, y: &Self::Label, out: &mut Plane) {
        let Case { input, truth, scale, .. } = case;
        out.clear();
        if y != truth {
            self.features(input, y, scale, out);
            self.features(input, truth, -scale, out);
            let fixed = self.fixed_score(input, y) - self.fixed_score(input, truth);
            out.set_circ(scale * (self.loss(truth, y) + fixed));
        }
        out.seal();
    }

    /// Takes the hint that `x` will be decoded next; its numbers may be brought nearer.
    fn prefetch(&self, _x: &Self::Input) {}

    /// Returns what the task can do beside this.
    fn capabilities(&self) -> TaskCapabilities<'_, Self> {
        TaskCapabilities::none()
    }
}

/// What only some tasks can do; `None` for what this one cannot.
pub struct TaskCapabilities<'a, T: Task + ?Sized> {
    /// Labellings that are a label for every variable.
    pub variables: Option<&'a dyn LabelledVariables<T>>,
    /// Recombining labellings.
    pub recombination: Option<&'a dyn RecombineLabels<T>>,
    /// Scoring and adding planes from codes.
    pub coded_planes: Option<&'a dyn CodedFeatures<T>>,
    /// Bounding the terms of scores.
    pub magnitudes: Option<&'a dyn ScoreMagnitudes<T>>,
    /// More labellings than the best one.
    pub kbest: Option<&'a dyn KBest<T>>,
    /// Summing over labellings.
    pub marginals: Option<&'a dyn LabelMarginals<T>>,
    /// Completing truths that are known in part, for tasks that do not by decoding with penalties of other labels.
    pub completion: Option<&'a dyn CompleteTruths<T>>,
}

impl<'a, T> TaskCapabilities<'a, T>
where
    T: Task + RecombineLabels<T> + CodedFeatures<T> + ScoreMagnitudes<T> + KBest<T> + LabelMarginals<T>,
{
    /// Returns all capabilities of a task whose labellings are labels of variables.
    pub fn all(task: &'a T) -> Self {
        TaskCapabilities {
            variables: Some(task),
            recombination: Some(task),
            coded_planes: Some(task),
            magnitudes: Some(task),
            kbest: Some(task),
            marginals: Some(task),
            completion: None,
        }
    }
}

impl<T: Task + ?Sized> TaskCapabilities<'_, T> {
    /// Returns no capability.
    pub fn none() -> Self {
        TaskCapabilities {
            variables: None,
            recombination: None,
            coded_planes: None,
            magnitudes: None,
            kbest: None,
            marginals: None,
            completion: None,
        }
    }
}

/// The variables of inputs, whose labels are the [numbers](TaskLabel::numbers) of a labelling.
pub trait LabelledVariables<T: Task + ?Sized> {
    /// Returns the number of variables of this input.
    fn variables(&self, x: &T::Input) -> usize;

    /// Returns the number of labels that a variable of this input has.
    fn label_count(&self, x: &T::Input, variable: usize) -> usize;

    /// Returns the truth with these labels, in which errors cost what they cost in `truth`, which lacks some: nothing
    /// at the others. `None` if the task has no such truths.
    fn completed(&self, _truth: &T::Label, _labels: Vec<u32>) -> Option<T::Label> {
        None
    }

    /// Returns whether `code` is a labelling of this example: a known label for every variable, and none
    /// ([`UNLABELLED`]) for those without one in the truth.
    fn is_labelling(&self, example: ExampleOf<'_, T>, code: &[u32]) -> bool {
        let truth = example.truth.numbers().unwrap_or_default();
        let is_label = |(variable, (&label, &truth)): (usize, (&u32, &u32))| match truth {
            UNLABELLED => label == UNLABELLED,
            _ => (label as usize) < self.label_count(example.input, variable),
        };
        code.len() == truth.len() && code.iter().zip(truth).enumerate().all(is_label)
    }
}

/// Completes truths that are known in part, of labellings that are no lists of labels.
pub trait CompleteTruths<T: Task + ?Sized> {
    /// Returns if some of a truth is known, and not all.
    fn is_partly_known(&self, truth: &T::Label) -> bool;

    /// Returns the best labelling at `w` that agrees with the truth of an example, as a truth in which errors cost
    /// what they cost in this one.
    ///
    /// # Errors
    ///
    /// No labelling agrees; the caller adds which example.
    fn best_agreeing(&self, partly: ExampleOf<'_, T>, w: &[f64], scratch: &mut T::Scratch) -> Result<T::Label, String>;
}

/// Recombines labellings; needs [`LabelledVariables`] as well.
pub trait RecombineLabels<T: Task + ?Sized> {
    /// Answers like the loss-augmented [`decode`](Task::decode) at `w`, but at every variable only over the labels that
    /// the truth or one of the encoded labellings has there; `codes` holds them one after the other.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer; the caller adds which example.
    fn recombine(&self, case: Case<'_, T>, w: &[f64], codes: &[u32], out: &mut T::Label) -> Result<(), String>;
}

/// Scores and adds planes from encoded labellings, so that solvers need not store them: pays where the planes of an
/// example share its features. Needs [`LabelledVariables`] as well.
pub trait CodedFeatures<T: Task + ?Sized> {
    /// Writes into `compiled` (empty) what makes the methods below faster for these encoded labellings, one after the other
    /// in `codes`: a function of example and codes, which is handed back with them.
    fn compile(&self, _case: Case<'_, T>, _codes: &[u32], _compiled: &mut Vec<u32>) {}

    /// Writes `out[k] = <w, phi(x, y_k) - phi(x, truth)>`, not scaled, for encoded labellings `y_k`; nothing may be
    /// compiled of them.
    fn linear_scores(&self, case: Case<'_, T>, w: &[f64], planes: Coded<'_>, out: &mut [f64]);

    /// Adds `sum_k scale amounts[k] (phi(x, y_k) - phi(x, truth))` to `target`; nothing may be compiled of the planes.
    fn add_planes(&self, case: Case<'_, T>, planes: Coded<'_>, amounts: &[f64], target: &mut [f64]);

    /// Appends to `out` the inner products of `scale (phi(x, y) - phi(x, truth))` of the encoded labelling `y` with
    /// those of `planes`, then with itself. Returns false if they are not known without numbers.
    fn inner_products(&self, _case: Case<'_, T>, _planes: Coded<'_>, _code: &[u32], _out: &mut Vec<f64>) -> bool {
        false
    }

    /// Writes the best labelling into `out` and returns its score less that of the truth, not scaled, if it is known
    /// and `above` this. The last question was this example's, with the loss added, and since then w has moved by
    /// `sum_k scale amounts[k] (phi(x, y_k) - phi(x, truth))`. Scratch may keep the scores of that question.
    fn answer_after(
        &self,
        _case: Case<'_, T>,
        _planes: Coded<'_>,
        _amounts: &[f64],
        _above: f64,
        _out: &mut T::Label,
    ) -> Option<f64> {
        None
    }
}

/// Bounds the terms of all scores of a data set, so that bounds on P and F can be rounded outward by what rounding may
/// have done to scores, decoders and planes. A task without it has this bounded by the planes that an evaluation sees:
/// then a labelling that the decoder missed by rounding goes unnoticed where features span many orders of magnitude.
pub trait ScoreMagnitudes<T: Task + ?Sized> {
    /// Returns the bounds for these examples; O(data).
    fn magnitudes(&self, examples: &Examples<T::Input, T::Label>) -> Magnitudes;
}

/// Labellings to keep away from: a label that they have scores less.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiversityPenalty<'a> {
    /// The encoded labellings, one after the other.
    pub codes: &'a [u32],
    /// The penalty of a label of each.
    pub penalties: &'a [f64],
}

impl DiversityPenalty<'_> {
    /// Returns whether there is no labelling to keep away from.
    pub fn is_empty(self) -> bool {
        self.penalties.is_empty()
    }

    /// Calls `lower(variable, label, penalty)` for every label of these labellings of `variables` variables, but for
    /// variables without a label.
    pub fn each(self, variables: usize, mut lower: impl FnMut(usize, u32, f64)) {
        for (code, &penalty) in self.codes.chunks_exact(variables.max(1)).zip(self.penalties) {
            let labelled = code.iter().enumerate().filter(|(_, label)| **label != UNLABELLED);
            labelled.for_each(|(variable, &label)| lower(variable, label, penalty));
        }
    }

    /// Turns the quality of an answer to lowered scores into that of an answer to scores with rewards for differing:
    /// these are higher by all penalties of all variables. Without penalties it is the same.
    pub fn with_rewards(self, quality: Quality, variables: usize) -> Quality {
        match quality {
            Quality::UpperBound(bound) => {
                Quality::UpperBound(bound + variables as f64 * self.penalties.iter().sum::<f64>())
            }
            other => other,
        }
    }
}

/// Knows more labellings than the best one: lists, max-marginals, and in [`decode`](Task::decode) those that differ from
/// given ones.
pub trait KBest<T: Task + ?Sized>: LabelledVariables<T> {
    /// Writes into `out` the labellings of the highest scores, all different, the best first, and returns how many
    /// there are: fewer than asked for if the input has no more. The first is what [`decode`](Task::decode) answers,
    /// with its quality; scores as there.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer; the caller adds which example.
    fn top(&self, call: Call<'_, T>, out: &mut [T::Label]) -> Result<(usize, Quality), String>;

    /// Writes into `out`, variable by variable, the highest score of a labelling that has each label there, scores as
    /// in [`decode`](Task::decode); the length of a variable's run is its number of labels. If the quality is not
    /// [`Quality::Exact`], these are upper bounds on them.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer; the caller adds which example.
    fn max_marginals(&self, call: Call<'_, T>, out: &mut Vec<f64>) -> Result<Quality, String>;

    /// Returns the encoded labelling with another label at `changes` variables, drawn by chance, or at all that have
    /// several.
    fn relabelled(&self, example: ExampleOf<'_, T>, code: &[u32], changes: usize, rng: &mut Rng) -> Vec<u32> {
        let labels = |v: usize| if code[v] == UNLABELLED { 0 } else { self.label_count(example.input, v) };
        relabelled(code, labels, changes, rng)
    }
}

/// Returns `code` with another label at `changes` of the variables that have several, or at all of them; variable v has
/// `labels(v)`.
pub fn relabelled(code: &[u32], labels: impl Fn(usize) -> usize, changes: usize, rng: &mut Rng) -> Vec<u32> {
    let mut free: Vec<usize> = (0..code.len()).filter(|&variable| labels(variable) > 1).collect();
    rng.shuffle(&mut free);
    free.truncate(changes);
    let mut changed = code.to_vec();
    for variable in free {
        let old = code[variable];
        let known = (old as usize) < labels(variable);
        let drawn = rng.below(labels(variable) as u64 - u64::from(known)) as u32;
        changed[variable] = drawn + u32::from(known && drawn >= old);
    }
    changed
}

/// Sums over labellings; see [`MarginalPlanes`](crate::oracle::MarginalPlanes), whose methods these are without the
/// factor 1/n.
pub trait LabelMarginals<T: Task + ?Sized> {
    /// Returns how many numbers the marginals of an example are.
    ///
    /// # Errors
    ///
    /// The reason why the example has none.
    fn len(&self, example: ExampleOf<'_, T>) -> Result<usize, String>;

    /// Writes into `to` the marginals of the distribution that is all on the truth.
    fn all_on(&self, example: ExampleOf<'_, T>, to: &mut [f64]);

    /// Writes into `to` the marginals of `p(y) ~ q(y) exp(score(y) / tau)`, and returns `tau log sum_y q(y)
    /// exp(score(y) / tau)`; 0 where `tau` is infinite. Scores as in [`decode`](Task::decode), less that of the truth
    /// where the question has one. What is written is consistent up to the last digits, however large scores are: it is
    /// the marginals of some distribution, which certificates stand on.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer; the caller adds which example.
    fn gibbs(&self, call: Call<'_, T>, tau: f64, from: &[f64], to: &mut [f64]) -> Result<f64, String>;

    /// Writes into `out`, variable by variable, how probable each label is under `marginals`; the length of a
    /// variable's run is its number of labels. Returns false if they are of no single variables.
    fn of_labels(&self, _example: ExampleOf<'_, T>, _marginals: &[f64], _out: &mut Vec<f64>) -> bool {
        false
    }

    /// Writes the scaled expected plane under `marginals`.
    fn expected(&self, case: Case<'_, T>, marginals: &[f64], out: &mut Plane);

    /// Returns the price of a sum and its expected plane, in calls of the oracle, as measured.
    fn calls(&self) -> f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many variables change as may, to each of their other labels, and variables of one label or none do not.
    #[test]
    fn variables_are_relabelled() {
        let (code, labels) = ([0, 2, 0, UNLABELLED, 1], [1, 3, 2, 0, 2]);
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..1000 {
            let changes = (seed % 5) as usize;
            let found = relabelled(&code, |variable| labels[variable], changes, &mut Rng::new(seed, 0));
            assert_eq!(found.iter().zip(&code).filter(|(a, b)| a != b).count(), changes.min(3), "{found:?}");
            assert!((found[0], found[3]) == (0, UNLABELLED) && found[1] < 3 && found[2] < 2 && found[4] < 2);
            seen.insert(found);
        }
        assert_eq!(seen.len(), 3 * 2 * 2, "every labelling of the free variables comes up");
    }
}
