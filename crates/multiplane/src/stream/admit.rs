//! Which rows a stream takes: labels and features that there may be.

use multiplane_tasks::data::{Classified, TOO_LONG, is_too_long};
use multiplane_tasks::problem::check_dim;
use serde_json::Value;

use super::learner::Learner;
use crate::error::Error;

impl Learner {
    /// The labels of the stream, once it has these rows.
    pub(super) fn labels_with(&self, rows: &Classified) -> Result<Vec<i64>, Error> {
        let known = match (&self.stream.labels, self.kept.labels.is_empty()) {
            (_, false) => self.kept.labels.clone(),
            (Some(declared), true) => declared.clone(),
            (None, true) => {
                let mut labels = rows.labels.clone();
                labels.sort_unstable();
                labels.dedup();
                labels
            }
        };
        let (count, binary) = (known.len(), self.spec.task.name == "binary");
        if count < 2 || (binary && count > 2) {
            let shown = known.iter().take(5).map(i64::to_string).collect::<Vec<_>>().join(", ");
            let rule = if binary { "two" } else { "two or more" };
            let rest = if count > 5 { ", ..." } else { "" };
            let noun = if count == 1 { "label" } else { "labels" };
            let whose = if self.stream.labels.is_some() { "stream.labels" } else { "the first window" };
            if count > 2 {
                return Err(Error::input(format!(
                    "task `binary` needs two labels, {whose} has {count} ({shown}{rest}): use --task multiclass"
                )));
            }
            if self.stream.labels.is_some() {
                return Err(Error::input(format!("stream.labels has {count} {noun} ({shown}{rest}), expected {rule}")));
            }
            return Err(Error::input(format!(
                "the first window has {count} {noun} ({shown}{rest}), expected {rule}: declare all by stream.labels, as in \
                 stream.labels=-1,1"
            )));
        }
        match rows.labels.iter().find(|label| known.binary_search(label).is_err()) {
            Some(label) => Err(Error::input(format!("found label {label}, which is none of the stream's labels"))),
            None => Ok(known),
        }
    }

    /// Refuses rows whose squared length no number holds: planes made of them would be none.
    pub(super) fn check_lengths(&self, rows: &Classified) -> Result<(), Error> {
        let is_too_long = |&row: &usize| is_too_long(rows.rows.row(row).values.unwrap_or_default());
        match (0..rows.rows.len()).find(is_too_long) {
            Some(row) => Err(Error::input(format!("example {row}: {TOO_LONG}"))),
            None => Ok(()),
        }
    }

    /// The features of the stream, once it has these rows.
    pub(super) fn features_with(&self, rows: &Classified, labels: usize) -> Result<usize, Error> {
        let columns = rows.rows.columns();
        if let Some(most) = self.stream.features.filter(|&most| columns > most as usize) {
            return Err(Error::input(format!("found {columns} features, expected at most {most} (stream.features)")));
        }
        let bias = usize::from(self.has_bias());
        // One column even where no row has had a feature yet.
        let features = self.features().max(columns.max(1 - bias) + bias);
        check_dim(features, if self.spec.task.name == "binary" { 1 } else { labels })?;
        Ok(features)
    }

    pub(super) fn has_bias(&self) -> bool {
        self.spec.task.params.get("bias") == Some(&Value::Bool(true))
    }
}
