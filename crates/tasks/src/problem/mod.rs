//! The common parts of all opened tasks, whatever their types: the interface of a problem, what a model remembers of
//! its data, what an evaluation sums up, and why a task cannot be opened.

mod detections;
mod erased;
mod error;
mod reduced;
mod sample;
mod scale;
mod several;
mod sizes;
mod slack;
pub mod tables;
mod tally;
mod vocabulary;

pub use crate::metrics::Evaluation;
pub use detections::Detections;
pub(crate) use erased::WholeProblem;
pub use erased::{
    Completion, EachResult, GoOn, KernelModel, Oracles, Prediction, Predictor, Problem, ProblemFacts, ProblemReference,
    WeightLayout, WrapProblem,
};
pub use error::{MAX_DIM, OpenError, check_dim};
pub use reduced::Reduced;
pub use sample::{AnswerSample, SampledAnswer, SampledLabel};
pub use scale::FeatureScale;
pub use several::{
    EachMargin, MOST_LISTED, MarginPrediction, MarginalPrediction, Rival, ScoredLabelling, TopPrediction,
};
pub use sizes::FeatureSizes;
pub use slack::{SlackProblem, slack_rescaled};
pub(crate) use tally::{Judged, Tally, decode_all};
pub use vocabulary::{FeatureSpace, LabelKind, MAX_DICTIONARY_BYTES, TaskVocabulary, Vocabulary};
