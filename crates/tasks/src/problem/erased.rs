//! A task opened on data, with its types erased: what the command line, the model file and Python hold.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use multiplane_core::executor::{Executor, Ledger, Staff};
use multiplane_core::metric::Metric;
use multiplane_core::oracle::{BoxedOracle, OracleError, SlackCount};
use multiplane_core::rounding::{Magnitudes, UNIT};

use crate::data::SparseRows;
use crate::metrics::{Evaluation, LabelReport};
use crate::probe::BoxedProbe;
use crate::problem::error::OpenError;
use crate::problem::reduced::Reduced;
use crate::problem::sample::AnswerSample;
use crate::problem::several::{MarginPrediction, TopPrediction};
use crate::problem::sizes::FeatureSizes;
use crate::problem::vocabulary::Vocabulary;
use crate::reference::careful_sum;

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

/// What is put around a problem.
pub type WrapProblem = dyn Fn(Arc<dyn Problem>) -> Result<Arc<dyn Problem>, OpenError>;

/// A task opened on data.
pub trait Problem: Send + Sync {
    /// Returns the name of the task.
    fn task(&self) -> &'static str;

    /// Whether answers of its oracles, all of them and those of [`executor`](Problem::executor), are held against each other
    /// already.
    fn is_audited(&self) -> bool {
        false
    }

    /// Returns the number of examples n.
    fn blocks(&self) -> usize;

    /// Returns the length d of w.
    fn dim(&self) -> usize;

    /// Returns the length of weights in the layout of files.
    fn file_dim(&self) -> usize {
        self.dim()
    }

    /// Makes the metric that weights are measured with, which training moves them by; the identity but for kernels.
    ///
    /// # Errors
    ///
    /// A kernel that is not defined on the data.
    fn metric(&self) -> Result<Metric, OpenError> {
        Ok(Metric::default())
    }

    /// Returns what a model holds of a point of training (see [`Metric`]): weights in the layout of files, and what it must
    /// remember beside them.
    fn model_parts(&self, point: &[f64]) -> (Vec<f64>, Vocabulary) {
        self.compact(self.to_file_layout(point))
    }

    /// Returns what a model holds of points of training that stand one after the other in the layout of files
    /// ([`to_file_layout`](Problem::to_file_layout)): as many in the layout of models, and what these must remember. With a
    /// kernel rows that no point gives weight are left out.
    fn compact(&self, points: Vec<f64>) -> (Vec<f64>, Vocabulary) {
        (points, self.vocabulary().clone())
    }

    /// Whether models are reduced to a budget of rows ([`reduced`](Problem::reduced)).
    fn has_budget(&self) -> bool {
        false
    }

    /// Returns the model of a point of training that has more parts than a model may hold, with fewer; `None` where it has
    /// not. What moves points is `metric`.
    ///
    /// # Errors
    ///
    /// A kernel that is not defined on rows that were made.
    fn reduced(&self, _metric: &Metric, _point: &[f64]) -> Result<Option<Reduced>, OpenError> {
        Ok(None)
    }

    /// Returns the weights that `predict` and `evaluate` take here, of a model with this vocabulary.
    ///
    /// # Errors
    ///
    /// A kernel that is not defined on the model's rows.
    fn weights_of_model(&self, w: &[f64], _vocabulary: &Vocabulary) -> Result<Vec<f64>, OpenError> {
        Ok(self.from_file_layout(w))
    }

    /// Returns the weights that `predict` and `evaluate` take here, of a point of `training`, by whose vocabulary this was
    /// opened.
    fn weights_of<'a>(&self, _training: &dyn Problem, point: &'a [f64]) -> Cow<'a, [f64]> {
        Cow::Borrowed(point)
    }

    /// Returns the names of parts of w and where they lie in the layout of files; empty where the task has no names for
    /// them.
    fn weight_blocks(&self) -> Vec<(&'static str, Range<usize>)> {
        Vec::new()
    }

    /// Returns the weights that must stay `>= 0`; see [`Task::nonnegative`](multiplane_core::task::Task::nonnegative).
    fn nonnegative(&self) -> Vec<Range<usize>>;

    /// Returns bounds on the terms of all scores; see
    /// [`ScoreMagnitudes`](multiplane_core::task::ScoreMagnitudes).
    fn magnitudes(&self) -> Option<Magnitudes> {
        None
    }

    /// Returns how large the features are, as the task has scaled them, where they are numbers that could be scaled.
    fn feature_sizes(&self) -> Option<FeatureSizes> {
        None
    }

    /// Returns the rows of features that an example is made of, one for each variable, as the weights of the task meet them:
    /// scaled, and with a bias feature where there is one. None where examples are not made of rows, and with a kernel.
    ///
    /// # Panics
    ///
    /// May panic if there is no such block.
    fn rows(&self, _block: usize) -> Option<&SparseRows> {
        None
    }

    /// Makes a max-oracle on these examples; every call makes a new worker.
    ///
    /// # Errors
    ///
    /// There is no example, or the worker cannot be started.
    fn oracle(&self) -> Result<BoxedOracle, OpenError>;

    /// As [`oracle`](Problem::oracle), for callers that ask several at a time: oracles of one slot are never asked at
    /// the same time, so they may share what is expensive, such as a process.
    ///
    /// # Errors
    ///
    /// As of [`oracle`](Problem::oracle).
    fn oracle_of(&self, _slot: usize) -> Result<BoxedOracle, OpenError> {
        self.oracle()
    }

    /// Makes what answers many questions at one w with so many workers, where that is not an oracle per thread.
    ///
    /// # Errors
    ///
    /// A worker cannot be started.
    fn executor(&self, _staff: Staff) -> Result<Option<Box<dyn Executor>>, OpenError> {
        Ok(None)
    }

    /// Returns where it is noted what happens to workers, of this problem and of those who execute its oracle.
    fn ledger(&self) -> Arc<Ledger> {
        Arc::default()
    }

    /// Opens the task for the oracle doctor, in the layout that `oracle` uses; `None` where it cannot be examined.
    ///
    /// # Errors
    ///
    /// A worker cannot be started.
    fn probe(&self) -> Result<Option<BoxedProbe<'_>>, OpenError> {
        Ok(None)
    }

    /// Returns the layout of weights that the contract of files promises, from the one that `oracle`, `predict` and
    /// `evaluate` use.
    fn to_file_layout(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }

    /// Inverts [`to_file_layout`](Problem::to_file_layout).
    #[allow(clippy::wrong_self_convention)] // weights come from a file's layout, the problem stays
    fn from_file_layout(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }

    /// Predicts every example at `w` on so many threads and hands over the predictions in order.
    ///
    /// # Errors
    ///
    /// An example cannot be decoded.
    fn predict(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(Prediction)) -> Result<(), OracleError>;

    /// Predicts every example at `w` on so many threads and hands over the numbers of the predicted labels, in the
    /// order of the vocabulary, example by example.
    ///
    /// # Errors
    ///
    /// An example cannot be decoded, or labellings of the task are not numbers of labels.
    fn predict_numbers(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(&[u32])) -> Result<(), OracleError>;

    /// Lists the `count` best labellings of every example at `w` on so many threads, and hands the lists over in order;
    /// `count` is from 1 to [`MOST_LISTED`](crate::problem::MOST_LISTED).
    ///
    /// # Errors
    ///
    /// An example cannot be decoded, or the task lists no labellings.
    fn predict_top(
        &self,
        _w: &[f64],
        _count: usize,
        _threads: usize,
        _each: &mut dyn FnMut(TopPrediction),
    ) -> Result<(), OracleError> {
        let reason = format!("task `{}` lists no labellings beside the best", self.task());
        Err(OracleError { block: 0, reason })
    }

    /// Finds the max-marginals of every example at `w` on so many threads, and hands them over in order.
    ///
    /// # Errors
    ///
    /// An example cannot be decoded, or not exactly, or the task has no max-marginals.
    fn predict_margins(
        &self,
        _w: &[f64],
        _threads: usize,
        _each: &mut dyn FnMut(MarginPrediction),
    ) -> Result<(), OracleError> {
        let reason = format!("task `{}` has no max-marginals", self.task());
        Err(OracleError { block: 0, reason })
    }

    /// Predicts every example at `w` on so many threads and sums up.
    ///
    /// # Errors
    ///
    /// An example cannot be decoded.
    fn evaluate(&self, w: &[f64], threads: usize) -> Result<Evaluation, OracleError>;

    /// As [`evaluate`](Problem::evaluate), with a report label by label; `None` where variables do not share their labels.
    ///
    /// # Errors
    ///
    /// An example cannot be decoded.
    fn evaluate_labels(&self, _w: &[f64], _threads: usize) -> Result<Option<(Evaluation, LabelReport)>, OracleError> {
        Ok(None)
    }

    /// Returns the number of examples of whose truth nothing is known; evaluation leaves them out.
    fn unlabelled(&self) -> usize {
        0
    }

    /// Returns P at `w`, which is in the layout of files, computed on so many threads by slow code that shares nothing
    /// with training but the data and the costs.
    ///
    /// # Errors
    ///
    /// As of [`reference_hinge`](Problem::reference_hinge).
    fn reference_primal(&self, w: &[f64], lambda: f64, threads: usize) -> Result<f64, OracleError> {
        self.reference_primal_from(None, w, lambda, threads)
    }

    /// The same with prior weights (`None` for 0), in the layout of files, too.
    ///
    /// # Errors
    ///
    /// As of [`reference_hinge`](Problem::reference_hinge).
    fn reference_primal_from(
        &self,
        prior: Option<&[f64]>,
        w: &[f64],
        lambda: f64,
        threads: usize,
    ) -> Result<f64, OracleError>;

    /// Returns `H_i(w)` of one example, with its 1/n, by the same slow code, `w` in the layout of files.
    ///
    /// # Errors
    ///
    /// A program or a user's code gives no answer; built-in tasks always do.
    fn reference_hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError>;

    /// Returns what one rounding of a score in [`reference_hinge`](Problem::reference_hinge) is off by at most, as a share
    /// of the terms: where it adds doubles, u.
    fn reference_roundoff(&self) -> f64 {
        UNIT
    }

    /// Computes the plane of the labelling that `code` says, with its 1/n, by slow code: hands over the parts of its
    /// coefficients in the layout of files, any coordinate any number of times, and returns its constant part. `None`
    /// where the code is not that of a labelling of this example, or the task has no codes.
    fn reference_plane(&self, block: usize, code: &[u32], add: &mut dyn FnMut(usize, f64)) -> Option<f64>;

    /// Returns the problem whose planes, labellings and hinges training has, where it is another one: with a kernel that on
    /// rows by number, whose weights are images.
    fn by_number(&self) -> Option<&dyn Problem> {
        None
    }

    /// Returns the squared length of coefficients of training (`[d]`, in the layout of files) and the sum of its terms
    /// without signs, by slow code that shares nothing with training but the data.
    ///
    /// # Errors
    ///
    /// A kernel that is not defined on the data.
    fn reference_square(&self, coefficients: &[f64], _threads: usize) -> Result<(f64, f64), OracleError> {
        let square = careful_sum(coefficients.iter().map(|u| u * u));
        Ok((square, square))
    }

    /// Whether scores have a part that no weight multiplies.
    fn has_fixed_scores(&self) -> bool {
        false
    }

    /// Returns the number of labellings of an example, where these are `most` at most and all have codes.
    fn labellings(&self, _block: usize, _most: usize) -> Option<usize> {
        None
    }

    /// Returns the slack-rescaled hinge of an example, with its 1/n, at `w` in the layout of files, by slow code that looks
    /// at all labellings; `None` where [`labellings`](Problem::labellings) does not count so many.
    fn reference_slack(&self, _block: usize, _w: &[f64], _most: usize) -> Option<f64> {
        None
    }

    /// Puts something around the problem that this one is a view of; returns whether it is one.
    ///
    /// # Errors
    ///
    /// Those of `wrap`.
    fn wrap_inner(&mut self, _wrap: &WrapProblem) -> Result<bool, OpenError> {
        Ok(false)
    }

    /// Returns the sum of the weights of the examples: their number where all count the same. It is the n of `lambda = 1/n` and of
    /// C = 1/(lambda n), so that an example of weight 2 is one that is there twice.
    fn total_weight(&self) -> f64 {
        self.blocks() as f64
    }

    /// Whether examples were given weights.
    fn is_weighted(&self) -> bool {
        false
    }

    /// Lets examples count as much as these numbers say, `[n]`; they are finite, at least 0, and have a sum.
    ///
    /// # Errors
    ///
    /// They all count the same here.
    fn weigh(&mut self, _weights: &[f64]) -> Result<(), OpenError> {
        Err(OpenError::new(format!("task `{}` takes no weights of examples", self.task())))
    }

    /// Returns what slack-rescaled answers took so far, where the loss is slack-rescaled.
    fn slack_count(&self) -> Option<SlackCount> {
        None
    }

    /// Returns what a model must remember.
    fn vocabulary(&self) -> &Vocabulary;

    /// Returns the sha256 of the parsed data.
    fn fingerprint(&self) -> &str;

    /// Returns a few of the answers given so far, where data and parameters do not say all of the oracle: one that lives
    /// elsewhere.
    fn sample(&self) -> Option<AnswerSample> {
        None
    }

    /// Asks for answers of before again: a run that goes on needs the oracle that it began with.
    ///
    /// # Errors
    ///
    /// The first answer that differs, or cannot be had.
    fn check_sample(&self, _sample: &AnswerSample) -> Result<(), String> {
        Ok(())
    }

    /// Returns what a user should know.
    fn warnings(&self) -> &[String];
}
