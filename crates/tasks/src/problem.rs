//! A task opened on data, with its types erased: what the command line, the model file and Python hold.

mod opened;

use std::ops::Range;
use std::sync::Arc;

use multiplane_core::executor::Executor;
use multiplane_core::oracle::{BoxedOracle, OracleError};
use multiplane_core::task::Task;
use serde::{Deserialize, Serialize};

use crate::chunks::ChunkScore;
use crate::data::{DataError, Strings};
use crate::patient::BoxedPatient;

pub use opened::Opened;

/// Largest dimension of w: 2^28 numbers are 2 GiB.
pub const MAX_DIM: usize = 1 << 28;

/// What a model must remember of its training data to read other data in the same way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vocabulary {
    /// Names of the labels, in the order of the weight layout.
    pub labels: Vec<String>,
    /// Features per variable, a bias feature included.
    pub features: usize,
    /// How features are made of text, where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub template: Vec<String>,
    /// What an external program wants to be given again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<serde_json::Value>,
    /// Names of the features, where they have any. The model file keeps them apart from the rest.
    #[serde(skip)]
    pub dictionary: Option<Arc<Strings>>,
}

impl Vocabulary {
    /// Labels and a number of features, which have no names.
    pub fn new(labels: Vec<String>, features: usize) -> Self {
        Vocabulary { labels, features, ..Vocabulary::default() }
    }

    /// The name of a label; `?` for one that training never saw.
    pub fn label(&self, label: u32) -> &str {
        self.labels.get(label as usize).map_or("?", String::as_str)
    }
}

/// Why a task could not be opened on data.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The data file is at fault.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Task, parameters, data and model do not fit together.
    #[error("{0}")]
    Mismatch(String),
}

impl OpenError {
    /// Something does not fit.
    pub fn new(message: String) -> Self {
        OpenError::Mismatch(message)
    }
}

impl From<String> for OpenError {
    fn from(message: String) -> Self {
        OpenError::Mismatch(message)
    }
}

impl From<serde_json::Error> for OpenError {
    fn from(error: serde_json::Error) -> Self {
        OpenError::Mismatch(format!("task parameters: {error}"))
    }
}

/// Refuses a dimension for which w would not fit, before anything of that size is allocated.
pub fn check_dim(features: usize, labels: usize) -> Result<(), OpenError> {
    match features.checked_mul(labels) {
        Some(0) => Err(OpenError::new("the data has no feature at all: there is nothing to learn from".into())),
        Some(dim) if dim <= MAX_DIM => Ok(()),
        _ => Err(OpenError::new(format!(
            "{labels} labels x {features} features need weights of {:.1} GiB, expected at most {} GiB",
            features as f64 * labels as f64 / (1u64 << 27) as f64,
            MAX_DIM / (1 << 27)
        ))),
    }
}

/// One predicted example.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The predicted labelling as text, one line.
    pub text: String,
    /// The true labelling as text; a label that training never saw shows as `?`.
    pub truth: String,
    /// The task loss.
    pub loss: f64,
    /// Variables predicted wrongly.
    pub wrong: usize,
    /// Variables in all.
    pub variables: usize,
}

/// Totals over a data set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// Examples.
    pub n: usize,
    /// Mean task loss.
    pub loss: f64,
    /// Share of variables predicted rightly.
    pub accuracy: f64,
    /// Share of examples with no wrong variable.
    pub exact: f64,
    /// Chunks, where the labels are tags of chunks (`B-NP`, `I-NP`, `O`).
    pub chunks: Option<ChunkScore>,
}

/// A task opened on data.
pub trait Problem: Send + Sync {
    /// Name of the task.
    fn task(&self) -> &'static str;
    /// Number of examples n.
    fn blocks(&self) -> usize;
    /// Length d of w.
    fn dim(&self) -> usize;
    /// Names of parts of w and where they lie in the layout of files; empty where the task has no names for them.
    fn weight_blocks(&self) -> Vec<(&'static str, Range<usize>)>;
    /// Weights that must stay `>= 0`; see [`Task::nonnegative`].
    fn nonnegative(&self) -> Vec<Range<usize>>;
    /// A max-oracle on these examples; every call makes a new worker.
    fn oracle(&self) -> Result<BoxedOracle, OpenError>;
    /// As [`oracle`](Problem::oracle), for those who ask several at a time: oracles of one slot are never asked at
    /// the same time, so they may share what is dear, such as a process.
    fn oracle_of(&self, _slot: usize) -> Result<BoxedOracle, OpenError> {
        self.oracle()
    }
    /// Who answers many questions at one w on so many threads, where that is not an oracle per thread.
    fn executor(&self, _threads: usize) -> Result<Option<Box<dyn Executor>>, OpenError> {
        Ok(None)
    }
    /// The task laid open for the oracle doctor, in the layout that `oracle` uses; `None` where it cannot be.
    fn patient(&self) -> Result<Option<BoxedPatient<'_>>, OpenError> {
        Ok(None)
    }
    /// The layout of weights that the contract of files promises, from the one that `oracle`, `predict` and
    /// `evaluate` use.
    fn to_file_layout(&self, w: &[f64]) -> Vec<f64>;
    /// The inverse of [`to_file_layout`](Problem::to_file_layout).
    #[allow(clippy::wrong_self_convention)] // weights come from a file's layout, the problem stays
    fn from_file_layout(&self, w: &[f64]) -> Vec<f64>;
    /// Predicts every example at `w` on so many threads and hands over the predictions in order.
    fn predict(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(Prediction)) -> Result<(), OracleError>;
    /// Predicts every example at `w` on so many threads and hands over the numbers of the predicted labels, in the
    /// order of the vocabulary, example by example.
    fn predict_numbers(&self, w: &[f64], threads: usize, each: &mut dyn FnMut(&[u32])) -> Result<(), OracleError>;
    /// Predicts every example at `w` on so many threads and sums up.
    fn evaluate(&self, w: &[f64], threads: usize) -> Result<Evaluation, OracleError>;
    /// P at `w`, which is in the layout of files, computed on so many threads by slow code that shares nothing with
    /// training but the data and the cost table.
    fn reference_primal(&self, w: &[f64], lambda: f64, threads: usize) -> Result<f64, OracleError> {
        self.reference_primal_from(None, w, lambda, threads)
    }
    /// The same with prior weights (`None` for 0), in the layout of files, too.
    fn reference_primal_from(
        &self,
        prior: Option<&[f64]>,
        w: &[f64],
        lambda: f64,
        threads: usize,
    ) -> Result<f64, OracleError>;
    /// `H_i(w)` of one example, with its 1/n, by the same slow code, `w` in the layout of files.
    fn reference_hinge(&self, block: usize, w: &[f64]) -> Result<f64, OracleError>;
    /// The plane of the labelling that `code` says (see [`Task::encode`]), with its 1/n, by slow code: hands over
    /// the parts of its coefficients in the layout of files, any coordinate any number of times, and returns its constant part. `None`
    /// where the code is not that of a labelling of this example, or the task has no codes.
    fn reference_plane(&self, block: usize, code: &[u32], add: &mut dyn FnMut(usize, f64)) -> Option<f64>;
    /// What a model must remember.
    fn vocabulary(&self) -> &Vocabulary;
    /// sha256 of the parsed data.
    fn fingerprint(&self) -> &str;
    /// What a user should know.
    fn warnings(&self) -> &[String];
}

/// What a built-in task adds to [`Task`]: counting errors and showing labels.
pub trait Builtin: Task {
    /// Wrong variables and variables in all.
    fn errors(&self, truth: &Self::Label, y: &Self::Label) -> (usize, usize);
    /// The hinge loss of one example (no 1/n) at `w` in the layout of files, computed by the plain code of `reference`.
    fn reference_hinge(&self, x: &Self::Input, truth: &Self::Label, w: &[f64]) -> f64;
    /// See [`Problem::weight_blocks`].
    fn weight_blocks(&self) -> Vec<(&'static str, Range<usize>)> {
        Vec::new()
    }
    /// See [`Problem::to_file_layout`].
    fn to_file_layout(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }
    /// See [`Problem::from_file_layout`].
    #[allow(clippy::wrong_self_convention)] // as there
    fn from_file_layout(&self, w: &[f64]) -> Vec<f64> {
        w.to_vec()
    }
    /// The labels of a labelling, variable by variable.
    fn numbers<'a>(&self, y: &'a Self::Label) -> &'a [u32];
    /// The labelling of these labels, variable by variable, where every combination is one; for the doctor.
    fn from_numbers(_numbers: &[u32]) -> Option<Self::Label> {
        None
    }
    /// The labelling as a sequence of labels, where it is one: what chunks are counted in.
    fn sequence<'a>(&self, _y: &'a Self::Label) -> Option<&'a [u32]> {
        None
    }
    /// The plane of the labelling that `code` says (no 1/n), by the plain code of `reference`: see
    /// [`Problem::reference_plane`].
    fn reference_plane(
        &self,
        _x: &Self::Input,
        _truth: &Self::Label,
        _code: &[u32],
        _add: &mut dyn FnMut(usize, f64),
    ) -> Option<f64> {
        None
    }
    /// A labelling as one line of text; the truth may hold labels that the vocabulary lacks.
    fn show(&self, y: &Self::Label, vocabulary: &Vocabulary) -> String;
}
