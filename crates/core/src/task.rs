//! What a user writes: features, loss and decoding of one problem.
//!
//! [`TaskOracle`](crate::task_oracle::TaskOracle) turns a task and examples into a max-oracle. As with oracles, what
//! only some tasks can do is a trait of its own, handed out by [`Task::capabilities`].

use std::ops::Range;

use crate::example::{Example, Examples, Memory, Question, Workspace};
use crate::oracle::{Coded, Prices, Quality};
use crate::plane::Plane;
use crate::rng::Rng;
use crate::rounding::Magnitudes;

/// An example of task `T`.
pub type ExampleOf<'a, T> = Example<'a, <T as Task>::Input, <T as Task>::Label>;

/// A question to the decoder of task `T`.
pub type QuestionOf<'a, T> = Question<'a, <T as Task>::Input, <T as Task>::Label>;

/// What task `T` may work with in a call.
pub type WorkspaceOf<'a, T> = Workspace<'a, <T as Task>::Scratch, <T as Task>::Memory>;

/// A structured prediction problem: joint features, a loss and a decoder. Knows no lambda and no solver.
pub trait Task {
    /// What is given, e.g. the images of a word's letters.
    type Input;
    /// What is predicted, e.g. the word.
    type Label: Clone + PartialEq;
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

    /// Returns the largest loss that any labelling of this input has, where that is known without a search and there are
    /// no fixed scores: the hinge at w = 0.
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

    /// Returns `<w, phi(x, y)> + theta(x, y)` and how large its terms are without signs, those of a node or edge counted as one
    /// where a task adds them up so: what is taken off a decoder's bound, and what its rounding is measured by.
    /// The default writes the features of `y` into `features`; a task whose features are many does better.
    fn score(&self, x: &Self::Input, y: &Self::Label, w: &[f64], features: &mut Plane) -> (f64, f64) {
        features.clear();
        self.features(x, y, 1.0, features);
        features.seal();
        let fixed = self.fixed_score(x, y);
        (features.view().score(w) + fixed, features.view().star.absolute_dot(w) + fixed.abs())
    }

    /// Writes into `out` the `y` that maximises `<w, phi(x, y)> + theta(x, y)`, plus `Delta(truth, y)` where the
    /// question has a truth. What `out` holds before is some labelling, not always of this input.
    ///
    /// An approximate decoder says so; its [`Quality::UpperBound`] bounds that maximum itself (no 1/n, the truth's
    /// score not subtracted).
    ///
    /// # Errors
    ///
    /// The reason why there is no answer; the caller adds which example.
    fn decode(
        &self,
        question: QuestionOf<'_, Self>,
        w: &[f64],
        work: WorkspaceOf<'_, Self>,
        out: &mut Self::Label,
    ) -> Result<Quality, String>;

    /// Writes the plane of labelling `y`, scaled by `scale` (1/n): feature difference, loss and fixed scores.
    ///
    /// The default subtracts two feature vectors; a task that knows where they agree does better.
    fn plane(
        &self,
        example: ExampleOf<'_, Self>,
        y: &Self::Label,
        scale: f64,
        _work: WorkspaceOf<'_, Self>,
        out: &mut Plane,
    ) {
        let Example { input, truth, .. } = example;
        out.clear();
        if y != truth {
            self.features(input, y, scale, out);
            self.features(input, truth, -scale, out);
            let fixed = self.fixed_score(input, y) - self.fixed_score(input, truth);
            out.set_circ(scale * (self.loss(truth, y) + fixed));
        }
        out.seal();
    }

    /// Hands to `each` the indices of all weights that scores and features of `x` take notice of, whatever the labelling: a
    /// start, and numbers that are added to it. Returns `false`, and hands over nothing, where it does not know them. Who
    /// keeps weights scaled brings these up to date before a call, and not all d.
    fn reads(&self, _x: &Self::Input, _each: &mut dyn FnMut(u32, &[u32])) -> bool {
        false
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
    /// Writing labellings as numbers.
    pub codes: Option<&'a dyn LabelCodes<T>>,
    /// Recombining labellings.
    pub recombination: Option<&'a dyn RecombineLabels<T>>,
    /// Scoring and adding planes from codes.
    pub coded_planes: Option<&'a dyn CodedFeatures<T>>,
    /// Bounding the terms of scores.
    pub magnitudes: Option<&'a dyn ScoreMagnitudes<T>>,
    /// The best labellings, and not the best one alone.
    pub top: Option<&'a dyn TopLabels<T>>,
    /// Good labellings that differ from given ones.
    pub diverse: Option<&'a dyn DiverseLabels<T>>,
    /// Summing over labellings.
    pub marginals: Option<&'a dyn LabelMarginals<T>>,
    /// The best score for each label of each variable.
    pub max_marginals: Option<&'a dyn MaxMarginals<T>>,
}

impl<T: Task + ?Sized> TaskCapabilities<'_, T> {
    /// Returns no capability.
    pub fn none() -> Self {
        TaskCapabilities {
            codes: None,
            recombination: None,
            coded_planes: None,
            magnitudes: None,
            top: None,
            diverse: None,
            marginals: None,
            max_marginals: None,
        }
    }
}

/// Writes labellings as numbers, as many for every labelling of one input: the [code](Plane::code) of a plane.
pub trait LabelCodes<T: Task + ?Sized> {
    /// Writes `y` into `code`.
    fn encode(&self, y: &T::Label, code: &mut Vec<u32>);

    /// Returns whether `code` is what [`encode`](LabelCodes::encode) writes for some labelling of an input with this
    /// truth.
    fn is_code(&self, truth: &T::Label, code: &[u32]) -> bool;
}

/// Recombines labellings; needs [`LabelCodes`] as well.
pub trait RecombineLabels<T: Task + ?Sized> {
    /// Answers like the loss-augmented [`decode`](Task::decode), but at every variable only over the labels that the
    /// truth or one of the encoded labellings has there; `codes` holds them one after the other.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer; the caller adds which example.
    fn recombine(
        &self,
        example: ExampleOf<'_, T>,
        w: &[f64],
        codes: &[u32],
        work: WorkspaceOf<'_, T>,
        out: &mut T::Label,
    ) -> Result<(), String>;
}

/// Scores and adds planes from encoded labellings, so that solvers need not store them: pays where the planes of an
/// example share its features. Needs [`LabelCodes`] as well.
pub trait CodedFeatures<T: Task + ?Sized> {
    /// Writes into `compiled` (empty) what makes the methods below faster for these encoded labellings, one after the other
    /// in `codes`: a function of example and codes, which is handed back with them.
    fn compile(&self, _: ExampleOf<'_, T>, _codes: &[u32], _: &mut T::Scratch, _compiled: &mut Vec<u32>) {}

    /// Writes `out[k] = <w, phi(x, y_k) - phi(x, truth)>` for encoded labellings `y_k`; nothing may be compiled of them.
    fn linear_scores(
        &self,
        example: ExampleOf<'_, T>,
        w: &[f64],
        planes: Coded<'_>,
        scratch: &mut T::Scratch,
        out: &mut [f64],
    );

    /// Adds `sum_k scale amounts[k] (phi(x, y_k) - phi(x, truth))` to `target`; nothing may be compiled of the planes.
    fn add_planes(
        &self,
        example: ExampleOf<'_, T>,
        planes: Coded<'_>,
        amounts: &[f64],
        scale: f64,
        scratch: &mut T::Scratch,
        target: &mut [f64],
    );
}

/// Bounds the terms of all scores of a data set, so that bounds on P and F can be rounded outward by what rounding may
/// have done to scores, decoders and planes. A task without it has this bounded by the planes that an evaluation sees:
/// then a labelling that the decoder missed by rounding goes unnoticed where features span many orders of magnitude.
pub trait ScoreMagnitudes<T: Task + ?Sized> {
    /// Returns the bounds for these examples; O(data).
    fn magnitudes(&self, examples: &Examples<T::Input, T::Label>) -> Magnitudes;
}

/// Lists the best labellings.
pub trait TopLabels<T: Task + ?Sized> {
    /// Writes into `out` the labellings of the highest scores, all different, the best first, and returns how many there
    /// are: fewer than asked for where the input has no more. The first is as good as what [`decode`](Task::decode)
    /// answers, with its quality; scores as there.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer; the caller adds which example.
    fn top(
        &self,
        question: QuestionOf<'_, T>,
        w: &[f64],
        work: WorkspaceOf<'_, T>,
        out: &mut [T::Label],
    ) -> Result<(usize, Quality), String>;
}

/// Finds good labellings that differ from given ones; needs [`LabelCodes`] as well.
pub trait DiverseLabels<T: Task + ?Sized> {
    /// Answers like [`decode`](Task::decode) with `sum_m penalties[m] d(y, y^m)` added to the score of y: `d` counts the
    /// variables labelled otherwise, `codes` holds the encoded labellings y^m one after the other. It only lowers the
    /// unary scores of labels that were used.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer; the caller adds which example.
    fn decode_apart(
        &self,
        question: QuestionOf<'_, T>,
        w: &[f64],
        codes: &[u32],
        penalties: &[f64],
        work: WorkspaceOf<'_, T>,
        out: &mut T::Label,
    ) -> Result<Quality, String>;

    /// Writes into `out` the encoded labelling with the labels of `changes` variables drawn anew, each another one than
    /// before; of all variables where there are fewer. A variable that has one label keeps it.
    fn relabel(&self, example: ExampleOf<'_, T>, code: &[u32], changes: usize, rng: &mut Rng, out: &mut T::Label);
}

/// Sums over labellings; see [`Marginals`](crate::oracle::Marginals), whose methods these are without the factor 1/n.
pub trait LabelMarginals<T: Task + ?Sized> {
    /// Returns how many numbers the marginals of this input are.
    fn len(&self, x: &T::Input) -> usize;

    /// Writes into `to` the marginals of the distribution that is all on `y`.
    fn all_on(&self, x: &T::Input, y: &T::Label, to: &mut [f64]);

    /// Writes into `to` the marginals of `p(y) ~ q(y) exp(score(y) / tau)`, and returns
    /// `tau log sum_y q(y) exp(score(y) / tau)`; 0 where `tau` is infinite. Scores as in [`decode`](Task::decode), less that
    /// of the truth where the question has one. What is written is consistent up to the last digits, however large scores
    /// are: it is the marginals of some distribution, which certificates stand on.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer; the caller adds which example.
    fn gibbs(
        &self,
        question: QuestionOf<'_, T>,
        w: &[f64],
        tau: f64,
        from: &[f64],
        work: WorkspaceOf<'_, T>,
        to: &mut [f64],
    ) -> Result<f64, String>;

    /// Writes the expected plane under `marginals`, scaled by `scale` (1/n).
    fn expected(
        &self,
        example: ExampleOf<'_, T>,
        marginals: &[f64],
        scale: f64,
        work: WorkspaceOf<'_, T>,
        out: &mut Plane,
    );

    /// Returns the entropy, in nats, of the distribution of largest entropy that has these marginals.
    fn entropy(&self, x: &T::Input, marginals: &[f64]) -> f64;
}

/// Finds what every label of every variable would cost.
pub trait MaxMarginals<T: Task + ?Sized> {
    /// Writes into `out`, variable by variable, the highest score of a labelling that has each label there, scores as in
    /// [`decode`](Task::decode); the length of a variable's run is its number of labels.
    ///
    /// # Errors
    ///
    /// The reason why there is no answer; the caller adds which example.
    fn max_marginals(
        &self,
        question: QuestionOf<'_, T>,
        w: &[f64],
        work: WorkspaceOf<'_, T>,
        out: &mut Vec<f64>,
    ) -> Result<(), String>;
}
