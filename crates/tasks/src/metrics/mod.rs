//! Metrics that an evaluation reports besides the mean loss, by name, each counted by a measure of labellings.

mod chunks;
mod metric;
mod report;
mod score;

pub use chunks::ChunkTags;
pub use metric::{ACCURACY, Counts, EXACT, Evaluation, EvaluationMetric, Measure, Unit};
pub use report::{ChunkReport, LabelReport, MeanScore};
pub use score::ClassScore;
