//! A stream of labelled rows, one per line, in windows. Memory is one window: its rows, or fewer where they are long.

use std::sync::Arc;

use multiplane_core::linalg;
use multiplane_infer::file::DataError;

use super::classified::Classified;
use super::format::{StreamRules, Windows};
use super::row_labels::{RowLabel, RowLabels};
use super::strings::Strings;
use super::text::{Line, Lines};
use crate::dataset::Dataset;

/// A window ends early where it holds so many entries (12 MiB): lines may be 16 MiB long.
const MOST_ENTRIES: usize = 1 << 20;

/// The label of a row with the byte where it begins; `None` of a line without a row.
pub(super) type Label = Result<Option<(usize, RowLabel)>, DataError>;

/// What is said of a row that [`is_too_long`].
pub const TOO_LONG: &str =
    "found features whose squares add up to more than numbers hold, expected at most 1e150 or so: scale them";

/// Returns true if the squared length of a difference of two such rows is beyond 64-bit numbers.
pub fn is_too_long(values: &[f64]) -> bool {
    !(4.0 * linalg::sum_squares(values)).is_finite()
}

/// Reads a format line by line.
pub(super) trait ReadRow {
    /// Reads a line: the columns and values of its row into the buffers.
    fn read(&mut self, line: &Line<'_>, indices: &mut Vec<u32>, values: &mut Vec<f64>) -> Label;

    /// Returns how many columns every row has, of a format that tells.
    fn columns(&self) -> usize {
        0
    }

    /// Returns the names of the columns, of a format that tells.
    fn names(&self) -> Option<Arc<Strings>> {
        None
    }
}

impl<F: FnMut(&Line<'_>, &mut Vec<u32>, &mut Vec<f64>) -> Label> ReadRow for F {
    fn read(&mut self, line: &Line<'_>, indices: &mut Vec<u32>, values: &mut Vec<f64>) -> Label {
        self(line, indices, values)
    }
}

/// Labelled rows in windows.
pub(super) struct RowWindows<R> {
    lines: Lines,
    rules: StreamRules,
    read: R,
    /// True if `rules.labels` were given, and not seen.
    declared: bool,
    /// What is to be told once the rows before it have been handed out.
    fault: Option<DataError>,
    over: bool,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl<R: ReadRow> RowWindows<R> {
    pub(super) fn new(mut lines: Lines, mut rules: StreamRules, read: R) -> Self {
        if rules.keep_text {
            lines.keep();
        }
        if let Some(labels) = &mut rules.labels {
            labels.sort_unstable();
        }
        let declared = rules.labels.is_some();
        RowWindows { lines, rules, read, declared, fault: None, over: false, indices: Vec::new(), values: Vec::new() }
    }

    /// Appends the next row; `false` at the end.
    fn push(&mut self, data: &mut Classified, named: &mut RowLabels) -> Result<bool, DataError> {
        loop {
            let line = if self.rules.whole_lines { self.lines.next_whole_line()? } else { self.lines.next_line()? };
            let Some(line) = line else { return Ok(false) };
            let Some((at, label)) = self.read.read(&line, &mut self.indices, &mut self.values)? else { continue };
            if !self.rules.reading.unlabelled {
                // Those who learn from a stream must know the labels before they see them.
                let number = match &label {
                    RowLabel::Number(number) => *number,
                    RowLabel::Name(name) => {
                        return Err(line.bad(at, name, "label", "an integer: streams have no names"));
                    }
                    RowLabel::Missing => return Err(line.bad(at, "", "label", "an integer")),
                };
                if let Some(labels) = &self.rules.labels
                    && labels.binary_search(&number).is_err()
                {
                    return Err(unknown_label(&line, at, number, labels, self.declared));
                }
            }
            if is_too_long(&self.values) {
                return Err(line.error(at, TOO_LONG));
            }
            let columns = self.read.columns();
            if let Some(most) = self.rules.features.filter(|&most| columns > most as usize) {
                let message = format!("found {columns} features, expected at most {most} (stream.features)");
                return Err(line.error(line.text.len(), message));
            }
            if let (Some(&last), Some(most)) = (self.indices.last(), self.rules.features)
                && last >= most
            {
                let message = format!("found index {}, expected at most {most} (stream.features)", u64::from(last) + 1);
                return Err(line.error(line.text.len(), message));
            }
            named.push(&line, at, label)?;
            data.rows.widen(columns);
            data.rows.push(&self.indices, &self.values);
            return Ok(true);
        }
    }
}

impl<R: ReadRow> Windows for RowWindows<R> {
    fn next(&mut self, most: usize) -> Result<Option<Dataset>, DataError> {
        if let Some(fault) = self.fault.take() {
            self.over = true;
            return Err(fault);
        }
        let (mut data, mut labels) = (Classified::default(), RowLabels::default());
        while !self.over && labels.len() < most && data.rows.nonzeros() < MOST_ENTRIES {
            if self.rules.prompt && !labels.is_empty() && !self.lines.has_arrived() {
                break;
            }
            match self.push(&mut data, &mut labels) {
                Ok(more) => self.over = !more,
                Err(fault) if labels.is_empty() => {
                    self.over = true;
                    return Err(fault);
                }
                Err(fault) => {
                    self.fault = Some(fault);
                    break;
                }
            }
        }
        if labels.is_empty() {
            return Ok(None);
        }
        (data.labels, data.names) = labels.finish();
        data.features = self.read.names();
        if self.rules.labels.is_none() && !self.rules.reading.unlabelled {
            let mut labels = data.labels.clone();
            labels.sort_unstable();
            labels.dedup();
            self.rules.labels = Some(labels);
        }
        Ok(Some(Dataset::new(data)))
    }

    fn take_text(&mut self) -> String {
        self.lines.take_kept()
    }
}

#[cold]
fn unknown_label(line: &Line<'_>, at: usize, label: i64, labels: &[i64], declared: bool) -> DataError {
    let mut known = labels.iter().take(20).map(i64::to_string).collect::<Vec<_>>().join(", ");
    if labels.len() > 20 {
        known += &format!(", ... ({} in all)", labels.len());
    }
    let whose = match declared {
        true => "stream.labels",
        false => "the labels of the first window; stream.labels=... declares all",
    };
    line.error(at, format!("found label {label}, expected one of {known} ({whose})"))
}

#[cfg(test)]
mod tests {
    use super::super::libsvm::FORMAT;
    use super::*;

    fn windows(text: &[u8], rules: StreamRules) -> Box<dyn Windows> {
        (FORMAT.windows.unwrap())(Lines::from_bytes("f", text).unwrap(), rules)
    }

    fn lengths(text: &[u8], rules: StreamRules, most: usize) -> (Vec<usize>, Option<String>) {
        let (mut windows, mut found) = (windows(text, rules), Vec::new());
        loop {
            match windows.next(most) {
                Ok(Some(window)) => found.push(window.len()),
                Ok(None) => return (found, None),
                Err(fault) => {
                    assert!(windows.next(most).unwrap().is_none(), "after a fault there is nothing");
                    return (found, Some(fault.to_string()));
                }
            }
        }
    }

    /// All windows together are the file, in order, whatever their size.
    #[test]
    fn windows_are_the_file() {
        let text = b"1 1:0.5\n\n# c\n-1 3:1\n1 2:2\n-1 9:1 10:2\n1\n";
        for most in 1..7 {
            let (mut all, mut windows) = (
                Classified::default(),
                windows(text, StreamRules { labels: Some(vec![1, -1]), ..StreamRules::default() }),
            );
            while let Some(window) = windows.next(most).unwrap() {
                assert!(window.len() <= most);
                let part = window.get::<Classified>().unwrap();
                all.rows.append(&part.rows, 0..part.rows.len());
                all.labels.extend(&part.labels);
            }
            let whole = super::super::libsvm::parse(Lines::from_bytes("f", text).unwrap()).unwrap();
            assert_eq!(all, whole);
        }
    }

    /// Rows before a fault are handed out, then it is told, with its place: lines that break off, labels and features
    /// that were not declared or not seen in the first window.
    #[test]
    fn faults_come_after_the_rows_before_them() {
        let whole = StreamRules { whole_lines: true, ..StreamRules::default() };
        let text = b"1 1:1\n-1 1:2\n1 2:3\n1 4:0.2";
        let broken = "f:4:8: found the end of the stream within a line, expected the rest of it";
        assert_eq!(lengths(text, whole.clone(), 2), (vec![2, 1], Some(broken.into())));
        assert_eq!(lengths(text, StreamRules::default(), 2), (vec![2, 2], None));
        assert_eq!(lengths(b"1 1:1\n-1 1:", whole, 5).1.unwrap().split(": ").next(), Some("f:2:6"));
        let label = "f:3:1: found label 2, expected one of -1, 1 (the labels of the first window; stream.labels=... \
                     declares all)";
        assert_eq!(lengths(b"1 1:1\n-1 1:1\n2 1:1\n", StreamRules::default(), 2), (vec![2], Some(label.into())));
        let two = StreamRules { labels: Some(vec![2, 1]), features: Some(3), ..StreamRules::default() };
        let label = "f:2:2: found label 3, expected one of 1, 2 (stream.labels)";
        assert_eq!(lengths(b"1 1:1\n 3 1:1\n", two.clone(), 9), (vec![1], Some(label.into())));
        let feature = "f:2:6: found index 4, expected at most 3 (stream.features)";
        assert_eq!(lengths(b"1 3:1\n2 4:1\n", two, 9), (vec![1], Some(feature.into())));
        assert_eq!(lengths(b"", StreamRules::default(), 9), (vec![], None));
        let long = format!("f:3:1: {TOO_LONG}");
        for row in ["1 3:1e308 4:1e308", "1 1:1e200"] {
            let text = format!("1 1:1e150\n\n{row}\n");
            assert_eq!(lengths(text.as_bytes(), StreamRules::default(), 9), (vec![1], Some(long.clone())));
        }
    }
}
