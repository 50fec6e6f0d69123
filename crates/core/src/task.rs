//! What a user writes: features, loss and decoding of one problem. [`TaskOracle`] turns it into a max-oracle.

use std::ops::Range;
use std::sync::Arc;

use crate::linalg;
use crate::oracle::{MaxOracle, OracleError, Quality};
use crate::plane::Plane;

/// A structured prediction problem: joint features, a loss and a decoder. Knows no lambda and no solver.
pub trait Task {
    /// What is given, e.g. the images of a word's letters.
    type Input;
    /// What is predicted, e.g. the word.
    type Label: Clone + PartialEq;
    /// Working memory of a decoder; one per thread.
    type Scratch: Default;

    /// Length d of the joint feature vector and of w.
    fn dim(&self) -> usize;

    /// Weights that must stay `>= 0`, as ranges of coordinates: where inference would be wrong otherwise, e.g. the
    /// weights of a cut. Solvers keep them so.
    fn nonnegative(&self) -> Vec<Range<usize>> {
        Vec::new()
    }

    /// Adds `scale * phi(x, y)` to `out` with [`Plane::push`].
    fn features(&self, x: &Self::Input, y: &Self::Label, scale: f64, out: &mut Plane);

    /// The task loss `Delta(truth, y) >= 0`; zero at the truth.
    fn loss(&self, truth: &Self::Label, y: &Self::Label) -> f64;

    /// Writes into `out` the `y` that maximises `<w, phi(x, y)>`, plus `Delta(truth, y)` where `truth` is given.
    ///
    /// An approximate decoder says so; its [`Quality::UpperBound`] bounds that maximum itself (no 1/n, the
    /// truth's score not subtracted). The error is a reason; the caller adds which example.
    fn decode(
        &self,
        x: &Self::Input,
        w: &[f64],
        truth: Option<&Self::Label>,
        scratch: &mut Self::Scratch,
        out: &mut Self::Label,
    ) -> Result<Quality, String>;

    /// Whether [`recombine`](Task::recombine) works.
    fn recombines(&self) -> bool {
        false
    }

    /// Whether `code` is what [`encode`](Task::encode) writes for some labelling of an input with this truth.
    fn is_code(&self, _truth: &Self::Label, code: &[u32]) -> bool {
        code.is_empty()
    }

    /// Writes `y` as numbers, as many for every labelling of one input.
    fn encode(&self, _y: &Self::Label, _code: &mut Vec<u32>) {}

    /// Like loss-augmented [`decode`](Task::decode), but at every variable only over the labels that the truth or
    /// one of the encoded labellings has there; `codes` holds them one after the other.
    fn recombine(
        &self,
        _x: &Self::Input,
        _w: &[f64],
        _truth: &Self::Label,
        _codes: &[u32],
        _scratch: &mut Self::Scratch,
        _out: &mut Self::Label,
    ) -> Result<(), String> {
        Err("this task cannot recombine labellings".into())
    }

    /// Whether planes can be scored and added from encoded labellings ([`linear_scores`](Task::linear_scores),
    /// [`add_planes`](Task::add_planes)), so that solvers need not store them: pays where the planes of an example
    /// share its features.
    fn knows_planes(&self) -> bool {
        false
    }

    /// `out[k] = <w, phi(x, y_k) - phi(x, truth)>` for encoded labellings `y_k`, one after the other in `codes`.
    fn linear_scores(
        &self,
        _x: &Self::Input,
        _truth: &Self::Label,
        _w: &[f64],
        _codes: &[u32],
        _scratch: &mut Self::Scratch,
        _out: &mut [f64],
    ) {
    }

    /// `target += sum_k scale amounts[k] (phi(x, y_k) - phi(x, truth))`; codes as in
    /// [`linear_scores`](Task::linear_scores).
    #[allow(clippy::too_many_arguments)] // what is added, how much of it, and to what
    fn add_planes(
        &self,
        _x: &Self::Input,
        _truth: &Self::Label,
        _codes: &[u32],
        _amounts: &[f64],
        _scale: f64,
        _scratch: &mut Self::Scratch,
        _target: &mut [f64],
    ) {
    }

    /// A hint: `x` will be decoded next; its numbers may be brought nearer.
    fn expect(&self, _x: &Self::Input) {}

    /// Writes the plane of labelling `y`, scaled by `scale` (1/n): feature difference and loss.
    ///
    /// The default subtracts two feature vectors; a task that knows where they agree does better.
    fn plane(
        &self,
        x: &Self::Input,
        truth: &Self::Label,
        y: &Self::Label,
        scale: f64,
        _scratch: &mut Self::Scratch,
        out: &mut Plane,
    ) {
        out.clear();
        if y != truth {
            self.features(x, y, scale, out);
            self.features(x, truth, -scale, out);
            out.set_circ(scale * self.loss(truth, y));
        }
        out.seal();
    }
}

/// Inputs with their true labels.
#[derive(Clone, Debug, Default)]
pub struct Examples<X, Y> {
    /// What is given, one per example.
    pub inputs: Vec<X>,
    /// The truth, one per example.
    pub labels: Vec<Y>,
}

/// The max-oracle of a task on a set of examples.
///
/// It never trusts a decoder's score: the plane is rebuilt from the labelling.
pub struct TaskOracle<T: Task> {
    task: Arc<T>,
    examples: Arc<Examples<T::Input, T::Label>>,
    scratch: T::Scratch,
    answer: T::Label,
    truth: Plane,
}

impl<T: Task> TaskOracle<T> {
    /// A worker on shared data; `None` where there are no examples.
    pub fn new(task: Arc<T>, examples: Arc<Examples<T::Input, T::Label>>) -> Option<Self> {
        let answer = examples.labels.first()?.clone();
        Some(TaskOracle { task, examples, scratch: T::Scratch::default(), answer, truth: Plane::new() })
    }
}

impl<T: Task> MaxOracle for TaskOracle<T> {
    fn blocks(&self) -> usize {
        self.examples.labels.len()
    }
    fn dim(&self) -> usize {
        self.task.dim()
    }
    fn is_code(&self, block: usize, code: &[u32]) -> bool {
        self.task.is_code(&self.examples.labels[block], code)
    }
    fn recombines(&self) -> bool {
        self.task.recombines()
    }
    fn recombine(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut Plane) -> Result<bool, OracleError> {
        if !self.task.recombines() {
            return Ok(false);
        }
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        self.task
            .recombine(x, w, truth, codes, &mut self.scratch, &mut self.answer)
            .map_err(|reason| OracleError { block, reason })?;
        let scale = 1.0 / self.examples.labels.len() as f64;
        self.task.plane(x, truth, &self.answer, scale, &mut self.scratch, out);
        self.task.encode(&self.answer, out.code_mut());
        Ok(true)
    }
    fn knows_planes(&self) -> bool {
        self.task.knows_planes()
    }
    fn linear_scores(&mut self, block: usize, w: &[f64], codes: &[u32], out: &mut [f64]) {
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        self.task.linear_scores(x, truth, w, codes, &mut self.scratch, out);
        linalg::scale(1.0 / self.examples.labels.len() as f64, out);
    }
    fn add_planes(&mut self, block: usize, codes: &[u32], amounts: &[f64], scale: f64, target: &mut [f64]) {
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        let scale = scale / self.examples.labels.len() as f64;
        self.task.add_planes(x, truth, codes, amounts, scale, &mut self.scratch, target);
    }
    fn expect(&self, block: usize) {
        self.task.expect(&self.examples.inputs[block]);
    }
    fn maximize(&mut self, block: usize, w: &[f64], out: &mut Plane) -> Result<Quality, OracleError> {
        let (x, truth) = (&self.examples.inputs[block], &self.examples.labels[block]);
        let quality = self
            .task
            .decode(x, w, Some(truth), &mut self.scratch, &mut self.answer)
            .map_err(|reason| OracleError { block, reason })?;
        let scale = 1.0 / self.examples.labels.len() as f64;
        self.task.plane(x, truth, &self.answer, scale, &mut self.scratch, out);
        self.task.encode(&self.answer, out.code_mut());
        Ok(match quality {
            Quality::UpperBound(bound) => {
                self.truth.clear();
                self.task.features(x, truth, 1.0, &mut self.truth);
                self.truth.seal();
                Quality::UpperBound(scale * (bound - self.truth.view().score(w)))
            }
            other => other,
        })
    }
}
