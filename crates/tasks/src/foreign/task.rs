//! The interface of a task that lives elsewhere: what it is asked, and what it says of itself.

use std::ops::Range;

use multiplane_core::executor::HandOut;
use multiplane_core::oracle::Quality;
use multiplane_core::rng::Rng;

use crate::foreign::features::FeatureVector;
use crate::probe::RawFeatures;

/// The facts that a foreign task tells before the first question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// Number of examples n.
    pub examples: usize,
    /// Length d of the joint feature vector and of w.
    pub dim: usize,
    /// Weights that must stay `>= 0`.
    pub nonnegative: Vec<Range<usize>>,
    /// The identity of the data, for model file and checkpoint.
    pub fingerprint: String,
    /// If features come with a part of the score that no weight multiplies.
    pub has_fixed_scores: bool,
    /// Warnings to the user.
    pub warnings: Vec<String>,
}

/// The answer to a decoding: the labelling with its features and loss.
#[derive(Clone, Debug)]
pub struct ForeignAnswer<L> {
    /// The labelling; `None` before the first answer.
    pub label: Option<L>,
    /// `phi(x, label)`.
    pub features: FeatureVector,
    /// `Delta(truth, label)`.
    pub loss: f64,
    /// How far the decoding can be trusted; an upper bound is on `<w, phi(x, y)> + Delta(truth, y)` over all y (no
    /// 1/n, the truth's score not subtracted).
    pub quality: Quality,
    /// The seconds that the decoding took, if helpers made and measured it.
    pub seconds: Option<f64>,
}

impl<L> Default for ForeignAnswer<L> {
    fn default() -> Self {
        ForeignAnswer {
            label: None,
            features: FeatureVector::default(),
            loss: 0.0,
            quality: Quality::Heuristic,
            seconds: None,
        }
    }
}

/// A worker of a task that lives elsewhere, with its examples: asked by one thread at a time.
///
/// Every error is a reason in words; the caller adds which example.
pub trait ForeignTask: WorkerControl {
    /// A labelling, as the other side knows it.
    type Label: Clone + Send + Sync + 'static;

    /// Returns the truth of an example.
    ///
    /// # Errors
    ///
    /// There is no answer, or one that cannot be read; the reason in words.
    fn truth(&mut self, example: usize) -> Result<Self::Label, String>;

    /// Writes `phi(x, label)` into `out`, which is empty.
    ///
    /// # Errors
    ///
    /// There is no answer, or one that cannot be read; the reason in words.
    fn features(&mut self, example: usize, label: &Self::Label, out: &mut FeatureVector) -> Result<(), String>;

    /// Returns `Delta(truth, label)`.
    ///
    /// # Errors
    ///
    /// There is no answer, or one that cannot be read; the reason in words.
    fn loss(&mut self, example: usize, label: &Self::Label) -> Result<f64, String>;

    /// Returns the labelling that maximises `<w, phi(x, y)>`, plus `Delta(truth, y)` where `augmented`.
    ///
    /// # Errors
    ///
    /// There is no answer, or one that cannot be read; the reason in words.
    fn decode(&mut self, example: usize, w: &[f64], augmented: bool) -> Result<(Self::Label, Quality), String>;

    /// Returns a labelling as one line of text.
    ///
    /// # Errors
    ///
    /// There is no answer, or one that cannot be read; the reason in words.
    fn show(&mut self, label: &Self::Label) -> Result<String, String>;

    /// Decodes and describes the answer. For workers that do both at once.
    ///
    /// # Errors
    ///
    /// There is no answer, or one that cannot be read; the reason in words.
    fn answer(
        &mut self,
        example: usize,
        w: &[f64],
        augmented: bool,
        out: &mut ForeignAnswer<Self::Label>,
    ) -> Result<(), String> {
        let (label, quality) = self.decode(example, w, augmented)?;
        out.features.clear();
        self.features(example, &label, &mut out.features)?;
        out.loss = self.loss(example, &label)?;
        out.quality = quality;
        out.label = Some(label);
        Ok(())
    }

    /// Writes features and loss of a labelling into `out`. For workers that know both at once.
    ///
    /// # Errors
    ///
    /// There is no answer, or one that cannot be read; the reason in words.
    fn describe(
        &mut self,
        example: usize,
        label: &Self::Label,
        out: &mut ForeignAnswer<Self::Label>,
    ) -> Result<(), String> {
        out.features.clear();
        self.features(example, label, &mut out.features)?;
        out.loss = self.loss(example, label)?;
        Ok(())
    }

    /// Writes a labelling down so that [`read`](ForeignTask::read) has it back in another process; `None` where that
    /// cannot be done.
    fn write(&self, _label: &Self::Label) -> Option<String> {
        None
    }

    /// Reads a labelling that was written down.
    fn read(&self, _text: &str) -> Option<Self::Label> {
        None
    }

    /// Says what is declared of decodings, in the words of the other side.
    fn declared(&self) -> String {
        String::new()
    }

    /// Returns true if answers that are declared exact, or bounded, are held against each other here while a run lasts.
    fn is_audited(&self) -> bool {
        true
    }

    /// Answers many questions at one w; fails with the first, in their order, that gets no answer.
    ///
    /// # Errors
    ///
    /// The first question without an answer: its place, and the reason in words.
    fn answers(
        &mut self,
        examples: &[usize],
        w: &[f64],
        augmented: bool,
        out: &mut [ForeignAnswer<Self::Label>],
    ) -> Result<(), (usize, String)> {
        for (slot, (&example, answer)) in examples.iter().zip(out).enumerate() {
            self.answer(example, w, augmented, answer).map_err(|reason| (slot, reason))?;
        }
        Ok(())
    }

    /// Counts wrong variables and variables in all; a task that does not count them has one, wrong where there is a
    /// loss.
    ///
    /// # Errors
    ///
    /// The answer cannot be compared with the truth; the reason in words.
    fn errors(&mut self, _example: usize, _label: &Self::Label, loss: f64) -> Result<(usize, usize), String> {
        Ok((usize::from(loss != 0.0), 1))
    }
}

/// A worker as those who hand out its work see it. A task in this process has nothing to say here.
pub trait WorkerControl: Send {
    /// Returns if this worker broke down: it answers nothing until it is started again.
    fn is_lost(&self) -> bool {
        false
    }

    /// Starts a worker again that broke down, and counts the loss if that fails.
    ///
    /// # Errors
    ///
    /// It is of no more use; the reason in words.
    fn restart(&mut self) -> Result<(), String> {
        Err("it cannot be started again".into())
    }

    /// Returns how many questions at one w should be asked together, and which.
    fn hand_out(&self) -> HandOut {
        HandOut::of(1)
    }

    /// Sends out decodings, the loss added, that [`answers`](ForeignTask::answers) will be asked for next, and does not
    /// wait. Only for workers that want several batches at a time; what goes wrong is said by `answers`.
    fn begin(&mut self, _examples: &[usize], _w: &[f64]) {}

    /// Returns if the thread that this worker belongs to should go on waiting for others. Called several times a
    /// second.
    fn goes_on_waiting(&mut self) -> bool {
        true
    }
}

/// A foreign task as the oracle doctor sees it.
pub trait Examinable: ForeignTask {
    /// Returns true if the task says how far its decodings can be trusted. If it does not, training takes them for
    /// heuristics, and the doctor looks whether they could be exact.
    fn declares_quality(&self) -> bool {
        true
    }

    /// Returns `phi(x, label)` before anything checks it.
    ///
    /// # Errors
    ///
    /// There is no answer, or one that cannot be read; the reason in words.
    fn raw_features(&mut self, example: usize, label: &Self::Label) -> Result<RawFeatures, String> {
        let mut features = FeatureVector::default();
        self.features(example, label, &mut features)?;
        Ok(RawFeatures::Pairs(features.iter().map(|(index, value)| (i64::from(index), value)).collect()))
    }

    /// Returns if two labellings are the same.
    fn same(&mut self, one: &Self::Label, other: &Self::Label) -> bool {
        matches!((self.show(one), self.show(other)), (Ok(one), Ok(other)) if one == other)
    }

    /// Returns the type of a labelling, in words.
    fn kind(&mut self, _label: &Self::Label) -> String {
        String::new()
    }

    /// Returns at most `most` labellings of the example that differ from `label` in one variable.
    fn neighbours(&mut self, _example: usize, _label: &Self::Label, _most: usize, _rng: &mut Rng) -> Vec<Self::Label> {
        Vec::new()
    }

    /// Returns if `label`, seen with another example, is a labelling of this one too.
    fn fits(&mut self, _example: usize, _label: &Self::Label) -> bool {
        false
    }
}
