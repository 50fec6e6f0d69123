//! What an evaluation reports beside the mean loss: metrics by name, each counted by a measure of labellings.

mod chunks;
mod metric;

pub use chunks::{ChunkScore, ChunkTags};
pub use metric::{ACCURACY, Counts, EXACT, Evaluation, Measure, Metric, Unit};
