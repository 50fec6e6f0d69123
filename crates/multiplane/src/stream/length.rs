//! What is to be said of a stream that is not as long as was announced, and of a lambda without effect.

use super::learner::Learner;
use crate::spec::Lambda;

impl Learner {
    /// Returns what is to be said where lambda is given to a solver that takes no notice of it.
    pub fn lambda_warning(&self) -> Option<String> {
        self.spec.lambda.unused_by(self.spec.solver.entry)
    }

    /// Returns what is to be said where the examples are not as many as `stream.n` has announced, or already more of them where
    /// the stream has not `ended`.
    pub fn length_warning(&self, ended: bool) -> Option<String> {
        let (found, announced) = (self.kept.examples, self.stream.n?);
        if found == announced || (found < announced && !ended) {
            return None;
        }
        let meaning = if self.online.goes_by_examples() {
            let last = |n| self.online.steps() as f64 / n as f64;
            format!(
                "lambda_t = t/n was that of {announced} rows: the last step had {}, of {found} rows it had had {}",
                last(announced),
                last(found)
            )
        } else {
            match (self.spec.lambda, self.lambda()) {
                (Lambda::Value(_), _) | (_, None) => "nothing of this solver goes by it".into(),
                (by_n, Some(lambda)) => {
                    let meant = by_n.value(found as f64)?;
                    format!("lambda was that of {announced} rows, {lambda}: of {found} rows it is {meant}")
                }
            }
        };
        Some(format!("stream.n = {announced}, but {found} rows were read: {meaning}"))
    }
}
