//! A task opened on data, with its types erased: what the command line, the model file and Python hold.
//!
//! A [`Problem`] hands out its parts: facts, oracles, predictions, the slow reference, the layout of weights, a kernel.
//! What changes one part implements that one and hands out the others of the problem inside. No method has a default,
//! so nothing is left out by forgetting.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use multiplane_core::executor::{Executor, PoolSize, PoolStats};
use multiplane_core::metric::Metric;
use multiplane_core::oracle::{BoxedOracle, OracleError};
use multiplane_core::rounding::Magnitudes;

use crate::data::SparseRows;
use crate::metrics::{Evaluation, LabelReport};
use crate::probe::BoxedProbe;
use crate::problem::error::OpenError;
use crate::problem::reduced::Reduced;
use crate::problem::sample::AnswerSample;
use crate::problem::several::{EachMargin, MarginalPrediction, TopPrediction};
use crate::problem::sizes::FeatureSizes;
use crate::problem::vocabulary::Vocabulary;

/// One predicted example.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The predicted labelling as text, one line.
    pub text: String,
    /// The true labelling as text; a label that training never saw shows as `?`. `None` where nothing is known of it.
    pub truth: Option<String>,
    /// The task loss, where there is a truth.
    pub loss: Option<f64>,
    /// `<w, phi(x, y)>` of the prediction, with what is added that has no weights; `None` where only a program knows.
    pub score: Option<f64>,
    /// Variables predicted wrongly; 0 without a truth.
    pub wrong: usize,
    /// Variables in all.
    pub variables: usize,
}

/// The result of a walk over all examples; the error names the first that failed.
pub type EachResult = Result<(), OracleError>;

/// Asked before each example whether to go on.
pub type GoOn<'a> = &'a (dyn Fn() -> bool + Sync);

/// Puts something around a problem.
pub type WrapProblem = dyn Fn(Arc<dyn Problem>) -> Result<Arc<dyn Problem>, OpenError>;

/// The facts of a problem that are known before it is asked anything.
#[derive(Clone, Debug)]
pub struct ProblemFacts {
    /// The name of the task.
    pub task: &'static str,
    /// Number of examples n.
    pub blocks: usize,
    /// Length d of w.
    pub dim: usize,
    /// Weights that must stay `>= 0`; see [`Task::nonnegative`](multiplane_core::task::Task::nonnegative).
    pub nonnegative: Vec<Range<usize>>,
    /// If answers of its oracles, also those of [`Oracles::executor`], are compared with each other already.
    pub is_audited: bool,
    /// If scores have a part that no weight multiplies.
    pub has_fixed_scores: bool,
    /// If a truth has labels for some of its variables only.
    pub is_partly_known: bool,
    /// If examples were given weights.
    pub is_weighted: bool,
    /// The sum of the weights of the examples, n if all count the same. It is the n of `lambda = 1/n` and of
    /// C = 1/(lambda n), so that an example of weight 2 is one that is there twice.
    pub total_weight: f64,
    /// The facts that a model must remember.
    pub vocabulary: Vocabulary,
    /// The sha256 of the parsed data.
    pub fingerprint: String,
    /// Warnings to the user.
    pub warnings: Vec<String>,
}

/// A problem whose truths have a label for every variable, or for none. Variables without one before cost nothing.
pub struct Completion {
    /// The problem.
    pub problem: Arc<dyn Problem>,
    /// The number of truths that are others than before.
    pub changed: usize,
    /// For each example whose complete truth changed: the plane to add to all of its planes.
    pub moves: Vec<(usize, multiplane_core::plane::Plane)>,
}

/// A task opened on data.
pub trait Problem: Send + Sync {
    /// Returns what is known without asking.
    fn facts(&self) -> &ProblemFacts;

    /// Returns what training asks.
    fn oracles(&self) -> &dyn Oracles;

    /// Returns what predicts and evaluates.
    fn predictor(&self) -> &dyn Predictor;

    /// Returns the slow code of `verify`.
    fn reference(&self) -> &dyn ProblemReference;

    /// Returns how files lay out the weights, and the features that these multiply.
    fn layout(&self) -> &dyn WeightLayout;

    /// Returns the kernel that weights are images of, if there is one.
    fn kernel(&self) -> Option<&dyn KernelModel>;

    /// Puts something around the problem that this one is a view of; returns `false` if it is not a view.
    ///
    /// # Errors
    ///
    /// Those of `wrap`.
    fn wrap_inner(&mut self, wrap: &WrapProblem) -> Result<bool, OpenError>;

    /// Weights the examples (`[n]`). The weights are finite, at least 0, and have a sum.
    ///
    /// # Errors
    ///
    /// Examples of this problem all count the same.
    fn weigh(&mut self, weights: &[f64]) -> Result<(), OpenError>;
}

/// A problem that is all of its parts itself, without a kernel.
pub(crate) trait WholeProblem: Oracles + Predictor + ProblemReference + WeightLayout {
    /// Returns what is known without asking.
    fn own_facts(&self) -> &ProblemFacts;

    /// Weights the examples; see [`Problem::weigh`].
    fn weigh_own(&mut self, weights: &[f64]) -> Result<(), OpenError>;
}

impl<P: WholeProblem> Problem for P {
    fn facts(&self) -> &ProblemFacts {
        self.own_facts()
    }
    fn oracles(&self) -> &dyn Oracles {
        self
    }
    fn predictor(&self) -> &dyn Predictor {
        self
    }
    fn reference(&self) -> &dyn ProblemReference {
        self
    }
    fn layout(&self) -> &dyn WeightLayout {
        self
    }
    fn kernel(&self) -> Option<&dyn KernelModel> {
        None
    }
    fn wrap_inner(&mut self, _: &WrapProblem) -> Result<bool, OpenError> {
        Ok(false)
    }
    fn weigh(&mut self, weights: &[f64]) -> Result<(), OpenError> {
        self.weigh_own(weights)
    }
}

/// The max-oracles of a problem and what is known of their answers.
pub trait Oracles: Send + Sync {
    /// Makes a max-oracle on the examples; every call makes a new worker. Oracles of one slot are never asked at the
    /// same time, so they may share what is expensive, such as a process.
    ///
    /// # Errors
    ///
    /// There is no example, or the worker cannot be started.
    fn oracle(&self, slot: usize) -> Result<BoxedOracle, OpenError>;

    /// Makes what answers many questions at one w with so many workers; `None` if that is an oracle for each thread.
    ///
    /// # Errors
    ///
    /// A worker cannot be started.
    fn executor(&self, size: PoolSize) -> Result<Option<Box<dyn Executor>>, OpenError>;

    /// Returns where it is noted what happens to workers, of this problem and of those who execute its oracle.
    fn pool_stats(&self) -> Arc<PoolStats>;

    /// Opens the task for the oracle doctor, in the layout that [`oracle`](Oracles::oracle) uses; `None` if it cannot
    /// be examined.
    ///
    /// # Errors
    ///
    /// A worker cannot be started.
    fn probe(&self) -> Result<Option<BoxedProbe<'_>>, OpenError>;

    /// Returns bounds on the terms of all scores; see [`ScoreMagnitudes`](multiplane_core::task::ScoreMagnitudes).
    fn magnitudes(&self) -> Option<Magnitudes>;

    /// Returns true if the loss is slack-rescaled.
    fn is_slack_rescaled(&self) -> bool;

    /// Returns a few of the answers given so far, if data and parameters do not determine the oracle: one that lives
    /// elsewhere.
    fn sample(&self) -> Option<AnswerSample>;

    /// Asks for answers of before again: a run that goes on needs the oracle that it began with.
    ///
    /// # Errors
    ///
    /// The first answer that differs, or cannot be had.
    fn check_sample(&self, sample: &AnswerSample) -> Result<(), String>;
}

/// Predictions at weights in the layout of training (`[d]`), on any number of threads, handed over in order.
pub trait Predictor: Send + Sync {
    /// Predicts every example.
    ///
    /// # Errors
    ///
    /// An example cannot be decoded.
    fn predict(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(Prediction)) -> EachResult;

    /// Predicts every example and hands over the numbers of the predicted labels, in the order of the vocabulary.
    ///
    /// # Errors
    ///
    /// An example cannot be decoded, or labellings of the task are not numbers of labels.
    fn predict_numbers(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(&[u32])) -> EachResult;

    /// Lists the `count` best labellings of every example; `count` is from 1 to
    /// [`MOST_LISTED`](crate::problem::MOST_LISTED).
    ///
    /// # Errors
    ///
    /// An example cannot be decoded, or the task lists no labellings.
    fn predict_top(&self, w: &[f64], count: usize, threads: usize, each: &mut dyn FnMut(TopPrediction)) -> EachResult;

    /// Finds the max-marginals of every example. With a `trust` above 0 labellings score that much higher for every
    /// variable but the one looked at that has its true label.
    ///
    /// # Errors
    ///
    /// An example cannot be decoded, or not exactly, or the task has no max-marginals.
    fn predict_margins(&self, w: &[f64], trust: f64, threads: usize, each: EachMargin<'_>) -> EachResult;

    /// Computes how probable every label is, of sequences and trees.
    ///
    /// # Errors
    ///
    /// The task has no such probabilities, or they are lost in rounding.
    fn predict_marginals(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(MarginalPrediction)) -> EachResult;

    /// Predicts every example and sums up; `None` if `goes_on` ended it, which is asked before each example.
    ///
    /// # Errors
    ///
    /// An example cannot be decoded.
    fn evaluate_while(&self, w: &[f64], threads: usize, goes_on: GoOn<'_>) -> Result<Option<Evaluation>, OracleError>;

    /// As [`evaluate_while`](Predictor::evaluate_while) to the end, with a report label by label; `None` if variables do
    /// not share their labels.
    ///
    /// # Errors
    ///
    /// An example cannot be decoded.
    fn evaluate_labels(&self, w: &[f64], threads: usize) -> Result<Option<(Evaluation, LabelReport)>, OracleError>;

    /// Completes truths that are known in part by the labellings of the highest scores that agree with the labels
    /// given; truths of before that are as good stay. Returns `None` if the task has no such truths.
    ///
    /// # Errors
    ///
    /// The first example of which no labelling agrees with what is known.
    fn completed(&self, w: &[f64], threads: usize) -> Result<Option<Completion>, OracleError>;

    /// Returns how often each label is true, each example counted as often as its weight says; `None` if variables do
    /// not share their labels.
    fn label_weights(&self) -> Option<Vec<f64>>;

    /// Returns the number of examples of whose truth nothing is known; evaluation leaves them out.
    fn unlabelled(&self) -> usize;
}

/// Slow code that shares nothing with training but the data and the costs. Weights are in the layout of files.
/// Labellings have no codes unless a problem says so.
pub trait ProblemReference: Send + Sync {
    /// Returns P at `w`, with prior weights (`None` for 0), computed on so many threads.
    ///
    /// # Errors
    ///
    /// As of [`hinge`](ProblemReference::hinge).
    fn primal(&self, prior: Option<&[f64]>, w: &[f64], lambda: f64, threads: usize) -> Result<f64, OracleError>;

    /// Returns `H_i(w)` of one example, with its 1/n.
    ///
    /// # Errors
    ///
    /// A program or a user's code gives no answer; built-in tasks always do.
    fn hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError>;

    /// Returns the largest error of one rounding of a score in [`hinge`](ProblemReference::hinge), as a share of the
    /// terms; u if it adds doubles.
    fn roundoff(&self) -> f64;

    /// Computes the plane of the labelling that `code` says, with its 1/n: hands over the parts of its coefficients in
    /// the layout of files, any coordinate any number of times, and returns its constant part. `None` if the code is
    /// not that of a labelling of this example, or the task has no codes.
    fn plane(&self, _block: usize, _code: &[u32], _add: &mut dyn FnMut(usize, f64)) -> Option<f64> {
        None
    }

    /// Returns the number of labellings of an example, if these are `most` at most and all have codes.
    fn labellings(&self, _block: usize, _most: usize) -> Option<usize> {
        None
    }

    /// Returns the slack-rescaled hinge of an example, with its 1/n, by looking at all labellings; `None` if
    /// [`labellings`](ProblemReference::labellings) does not count so many.
    ///
    /// # Errors
    ///
    /// As those of [`hinge`](ProblemReference::hinge).
    fn slack_hinge(&self, _block: usize, _w: &[f64], _most: usize) -> Result<Option<f64>, OracleError> {
        Ok(None)
    }
}

/// The layout of weights that the contract of files promises, and the features that weights multiply.
pub trait WeightLayout: Send + Sync {
    /// Returns the length of weights in the layout of files.
    fn file_dim(&self) -> usize;

    /// Returns the names of parts of w and where they lie in the layout of files; empty if the task has no names for
    /// them.
    fn weight_blocks(&self) -> Vec<(&'static str, Range<usize>)>;

    /// Returns a point of training in the layout of files.
    fn to_file(&self, w: &[f64]) -> Vec<f64>;

    /// Returns the weights of training of some in the layout of files.
    #[allow(clippy::wrong_self_convention)] // weights come from a file's layout, the problem stays
    fn from_file(&self, w: &[f64]) -> Vec<f64>;

    /// Returns the shapes of the matrices at the beginning of w that stand transposed in files.
    fn transposed(&self) -> Vec<[usize; 2]> {
        Vec::new()
    }

    /// Returns the range of each feature, as the task has scaled them, if they are numbers that could be scaled.
    fn feature_sizes(&self) -> Option<FeatureSizes>;

    /// Returns the rows of features that an example is made of, one for each variable, as the weights of the task meet
    /// them: scaled, and with a bias feature if there is one. `None` if examples are not made of rows, and with a
    /// kernel.
    ///
    /// # Panics
    ///
    /// May panic if there is no such block.
    fn rows(&self, block: usize) -> Option<&SparseRows>;
}

/// A problem whose weights are images of coefficients of rows; see [`Metric`].
pub trait KernelModel: Send + Sync {
    /// Returns the problem whose planes, labellings and hinges training has: that on rows by number.
    fn by_number(&self) -> &dyn Problem;

    /// Makes the metric that weights are measured with, and that training moves them by.
    ///
    /// # Errors
    ///
    /// The kernel is not defined on the data.
    fn metric(&self) -> Result<Metric, OpenError>;

    /// Returns the model of points of training that stand one after the other in the layout of files: as many in the
    /// layout of models, without rows that no point gives weight, and what these must remember.
    fn compact(&self, points: Vec<f64>) -> (Vec<f64>, Vocabulary);

    /// Returns the weights that predictions take here, of a model with this vocabulary.
    ///
    /// # Errors
    ///
    /// The kernel is not defined on the model's rows.
    fn weights_of_model(&self, w: &[f64], vocabulary: &Vocabulary) -> Result<Vec<f64>, OpenError>;

    /// Returns the squared length of coefficients of training (`[d]`, in the layout of files) and the sum of its terms
    /// without signs, by slow code that shares nothing with training but the data.
    ///
    /// # Errors
    ///
    /// The kernel is not defined on the data.
    fn reference_square(&self, coefficients: &[f64], threads: usize) -> Result<(f64, f64), OracleError>;

    /// Returns whether models are reduced to a budget of rows ([`reduced`](KernelModel::reduced)).
    fn has_budget(&self) -> bool;

    /// Returns the model of a point of training that has more parts than a model may hold, with fewer; `None` if it has
    /// not. `metric` is what moves points.
    fn reduced(&self, metric: &Metric, point: &[f64]) -> Option<Reduced>;
}

impl dyn Predictor + '_ {
    /// Predicts every example and sums up.
    ///
    /// # Errors
    ///
    /// An example cannot be decoded.
    pub fn evaluate(&self, w: &[f64], threads: usize) -> Result<Evaluation, OracleError> {
        Ok(self.evaluate_while(w, threads, &|| true)?.unwrap_or_default())
    }
}

impl dyn Problem + '_ {
    /// Returns the name of the task.
    pub fn task(&self) -> &'static str {
        self.facts().task
    }

    /// Returns the number of examples n.
    pub fn blocks(&self) -> usize {
        self.facts().blocks
    }

    /// Returns the length d of w.
    pub fn dim(&self) -> usize {
        self.facts().dim
    }

    /// Returns what a model must remember.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.facts().vocabulary
    }

    /// Returns the sha256 of the parsed data.
    pub fn fingerprint(&self) -> &str {
        &self.facts().fingerprint
    }

    /// Returns what a user should know.
    pub fn warnings(&self) -> &[String] {
        &self.facts().warnings
    }

    /// Makes a max-oracle of the first slot; see [`Oracles::oracle`].
    ///
    /// # Errors
    ///
    /// There is no example, or the worker cannot be started.
    pub fn oracle(&self) -> Result<BoxedOracle, OpenError> {
        self.oracles().oracle(0)
    }

    /// Returns a point of training in the layout of files.
    pub fn to_file_layout(&self, w: &[f64]) -> Vec<f64> {
        self.layout().to_file(w)
    }

    /// Inverts `to_file_layout`.
    #[allow(clippy::wrong_self_convention)] // weights come from a file's layout, the problem stays
    pub fn from_file_layout(&self, w: &[f64]) -> Vec<f64> {
        self.layout().from_file(w)
    }

    /// Makes the metric that weights are measured with; the identity without a kernel.
    ///
    /// # Errors
    ///
    /// The kernel is not defined on the data.
    pub fn metric(&self) -> Result<Metric, OpenError> {
        self.kernel().map_or_else(|| Ok(Metric::default()), KernelModel::metric)
    }

    /// Returns what a model holds of points of training in the layout of files; see [`KernelModel::compact`].
    pub fn compact(&self, points: Vec<f64>) -> (Vec<f64>, Vocabulary) {
        match self.kernel() {
            Some(kernel) => kernel.compact(points),
            None => (points, self.vocabulary().clone()),
        }
    }

    /// Returns what a model holds of a point of training: weights in the layout of files, and what it must remember.
    pub fn model_parts(&self, point: &[f64]) -> (Vec<f64>, Vocabulary) {
        self.compact(self.to_file_layout(point))
    }

    /// Returns the weights that predictions take here, of a model with this vocabulary.
    ///
    /// # Errors
    ///
    /// The kernel is not defined on the model's rows.
    pub fn weights_of_model(&self, w: &[f64], vocabulary: &Vocabulary) -> Result<Vec<f64>, OpenError> {
        match self.kernel() {
            Some(kernel) => kernel.weights_of_model(w, vocabulary),
            None => Ok(self.from_file_layout(w)),
        }
    }

    /// Returns the weights that predictions take here, of a point of `training`, whose vocabulary this was opened by.
    pub fn weights_of<'a>(&self, training: &dyn Problem, point: &'a [f64]) -> Cow<'a, [f64]> {
        if self.kernel().is_none() && self.layout().transposed() == training.layout().transposed() {
            return Cow::Borrowed(point);
        }
        let (w, vocabulary) = training.model_parts(point);
        Cow::Owned(self.weights_of_model(&w, &vocabulary).expect("rows of training are rows of its kernel"))
    }
}
