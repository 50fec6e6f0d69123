//! What the oracle doctor asks of a task: raw answers, before anything has checked or mended them.
//!
//! A [`Probe`] is answered by built-in tasks, external programs and the bindings of other languages. The doctor
//! itself is in the facade; this is only the language in which it asks.

use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;

/// A joint feature vector as the task gave it: nothing in it has been checked.
#[derive(Clone, Debug, PartialEq)]
pub enum RawFeatures {
    /// Index-value pairs in any order; repeated indices add up.
    Pairs(Vec<(i64, f64)>),
    /// All coordinates; should be `dim` of them.
    Dense(Vec<f64>),
}

/// A decoding: the labelling, and how far the decoder says that it can be trusted. An upper bound is on
/// `<w, phi(x, y)>`, plus `Delta(truth, y)` where the question was augmented. `None` where the task says nothing: training
/// takes the answer for a heuristic one, the doctor asks whether it could be exact.
pub type Decoded<L> = (L, Option<Quality>);

/// One decoding or error for each example, or `None` where examples are never decoded together.
pub type DecodedTogether<L> = Option<Vec<Result<Decoded<L>, String>>>;

/// A task on its examples, for examination.
///
/// Labels must come back as they were given; what is not a label of the right type is a label nevertheless.
///
/// Every error is the text of whatever went wrong: an exception, a refusal, an answer that cannot be read.
pub trait Probe {
    /// A labelling.
    type Label: Clone;

    /// Returns the number of examples.
    fn examples(&self) -> usize;

    /// Returns the length of feature vectors and of w.
    fn dim(&self) -> usize;

    /// Returns the weights that are never below 0.
    fn nonnegative(&self) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// Returns the truth of an example.
    ///
    /// # Errors
    ///
    /// What went wrong, as text.
    fn truth(&mut self, example: usize) -> Result<Self::Label, String>;

    /// Returns the part of a labelling's score that no weight multiplies.
    ///
    /// # Errors
    ///
    /// What went wrong, as text.
    fn fixed_score(&mut self, _example: usize, _label: &Self::Label) -> Result<f64, String> {
        Ok(0.0)
    }

    /// Returns `phi(x, label)`.
    ///
    /// # Errors
    ///
    /// What went wrong, as text.
    fn features(&mut self, example: usize, label: &Self::Label) -> Result<RawFeatures, String>;

    /// Returns `Delta(truth, label)`.
    ///
    /// # Errors
    ///
    /// What went wrong, as text.
    fn loss(&mut self, example: usize, label: &Self::Label) -> Result<f64, String>;

    /// Returns the labelling that should maximise `<w, phi(x, y)>`, plus `Delta(truth, y)` where `augmented`.
    ///
    /// # Errors
    ///
    /// What went wrong, as text.
    fn decode(&mut self, example: usize, w: &[f64], augmented: bool) -> Result<Decoded<Self::Label>, String>;

    /// Decodes several examples at the same time in the way that training would: on threads, or in one request.
    /// `None` where training never does.
    fn decode_together(&mut self, _: &[usize], _w: &[f64], _augmented: bool) -> DecodedTogether<Self::Label> {
        None
    }

    /// Returns at most `most` labellings of the example that are near `label`: with one variable changed, where there are
    /// variables.
    fn neighbours(&mut self, _example: usize, _label: &Self::Label, _most: usize, _rng: &mut Rng) -> Vec<Self::Label> {
        Vec::new()
    }

    /// Whether `label`, seen with another example, is a labelling of this one too.
    fn is_labelling_of(&mut self, _example: usize, _label: &Self::Label) -> bool {
        false
    }

    /// Returns if two labellings of an example have the same variables, so that decode should return the better one. If
    /// the truth leaves variables open, loss-augmented labellings have fewer than others.
    fn same_variables(&mut self, _one: &Self::Label, _other: &Self::Label) -> bool {
        true
    }

    /// Whether two labellings are the same.
    fn same(&mut self, one: &Self::Label, other: &Self::Label) -> bool;

    /// Says of which type a labelling is, in words such as `a list`; all sound labellings of a task are of one type.
    fn kind(&mut self, _label: &Self::Label) -> String {
        String::new()
    }

    /// Returns a labelling as one line of text.
    fn show(&mut self, label: &Self::Label) -> String;
}

/// A labelling of which only its task knows the type.
pub type AnyLabel = Rc<dyn Any>;

/// The probe of any task.
pub type BoxedProbe<'a> = Box<dyn Probe<Label = AnyLabel> + 'a>;

/// A probe with its label type erased.
struct Erased<P>(P);

/// Erases the label type.
pub fn erase<'a, P: Probe + 'a>(probe: P) -> BoxedProbe<'a>
where
    P::Label: 'static,
{
    Box::new(Erased(probe))
}

/// Labels only ever come back to the task that gave them.
fn own<L: 'static>(label: &AnyLabel) -> Result<&L, String> {
    label.downcast_ref().ok_or_else(|| "a label of another task".into())
}

fn wrap<L: 'static>((label, quality): Decoded<L>) -> Decoded<AnyLabel> {
    (Rc::new(label), quality)
}

impl<P: Probe> Probe for Erased<P>
where
    P::Label: 'static,
{
    type Label = AnyLabel;

    fn examples(&self) -> usize {
        self.0.examples()
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn nonnegative(&self) -> Vec<Range<usize>> {
        self.0.nonnegative()
    }
    fn truth(&mut self, example: usize) -> Result<AnyLabel, String> {
        Ok(Rc::new(self.0.truth(example)?))
    }
    fn features(&mut self, example: usize, label: &AnyLabel) -> Result<RawFeatures, String> {
        self.0.features(example, own(label)?)
    }
    fn loss(&mut self, example: usize, label: &AnyLabel) -> Result<f64, String> {
        self.0.loss(example, own(label)?)
    }
    fn decode(&mut self, example: usize, w: &[f64], augmented: bool) -> Result<Decoded<AnyLabel>, String> {
        self.0.decode(example, w, augmented).map(wrap)
    }
    fn decode_together(&mut self, examples: &[usize], w: &[f64], augmented: bool) -> DecodedTogether<AnyLabel> {
        let answers = self.0.decode_together(examples, w, augmented)?;
        Some(answers.into_iter().map(|answer| answer.map(wrap)).collect())
    }
    fn neighbours(&mut self, example: usize, label: &AnyLabel, most: usize, rng: &mut Rng) -> Vec<AnyLabel> {
        let Ok(label) = own(label) else { return Vec::new() };
        self.0.neighbours(example, label, most, rng).into_iter().map(|label| Rc::new(label) as AnyLabel).collect()
    }
    fn is_labelling_of(&mut self, example: usize, label: &AnyLabel) -> bool {
        own(label).is_ok_and(|label| self.0.is_labelling_of(example, label))
    }
    fn same_variables(&mut self, one: &AnyLabel, other: &AnyLabel) -> bool {
        matches!((own(one), own(other)), (Ok(one), Ok(other)) if self.0.same_variables(one, other))
    }
    fn same(&mut self, one: &AnyLabel, other: &AnyLabel) -> bool {
        matches!((own(one), own(other)), (Ok(one), Ok(other)) if self.0.same(one, other))
    }
    fn kind(&mut self, label: &AnyLabel) -> String {
        own(label).map_or_else(|_| String::new(), |label| self.0.kind(label))
    }
    fn show(&mut self, label: &AnyLabel) -> String {
        own(label).map_or_else(|_| "?".into(), |label| self.0.show(label))
    }
}
