//! What a user writes: features, loss and decoding of one problem.
//!
//! [`TaskOracle`](crate::task_oracle::TaskOracle) turns a task and examples into a max-oracle. As with oracles, what
//! only some tasks can do is a trait of its own, handed out by [`Task::capabilities`].

use std::ops::Range;

use crate::example::{Example, Examples, Memory, Question, Workspace};
use crate::oracle::{Coded, Prices, Quality};
use crate::plane::Plane;
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
}

impl<T: Task + ?Sized> TaskCapabilities<'_, T> {
    /// Returns no capability.
    pub fn none() -> Self {
        TaskCapabilities { codes: None, recombination: None, coded_planes: None, magnitudes: None }
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
