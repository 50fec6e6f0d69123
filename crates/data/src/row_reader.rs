//! Labelled rows, one per line: those of a file, or of a stream, whose labels and features must be known before.

use std::collections::BTreeSet;
use std::sync::Arc;

use multiplane_core::linalg;
use multiplane_infer::file::DataError;

use super::classified::Classified;
use super::example_windows::{LinePlace, ReadExamples};
use super::format::StreamRules;
use super::row_labels::{RowLabel, RowLabels};
use super::rules::ReadRules;
use super::strings::Strings;
use super::text::{Line, Lines};
use crate::dataset::Dataset;

/// The label of a row with the byte where it begins; `None` of a line without a row.
pub(super) type Label = Result<Option<(usize, RowLabel)>, DataError>;

/// The message about a row that [`is_too_long`].
pub const TOO_LONG: &str =
    "found features whose squares add up to more than numbers hold, expected at most 1e150 or so: scale them";

/// Returns true if the squared length of a difference of two such rows is beyond 64-bit numbers.
pub fn is_too_long(values: &[f64]) -> bool {
    !(4.0 * linalg::sum_squares(values)).is_finite()
}

/// Reads a format of rows line by line.
pub(super) trait ReadRow: Sized + 'static {
    /// The content that a file must have, for messages.
    const EXPECTED: &'static str;

    /// Begins to read.
    fn new(rules: &ReadRules) -> Self;

    /// Reads a line: the columns and values of its row into the buffers.
    fn read(&mut self, line: &Line<'_>, indices: &mut Vec<u32>, values: &mut Vec<f64>) -> Label;

    /// Returns the number of columns of every row, of a format that tells.
    fn columns(&self) -> usize {
        0
    }

    /// Returns the names of the columns, of a format that tells.
    fn names(&self) -> Option<Arc<Strings>> {
        None
    }

    /// Makes the error of a file without rows.
    fn nothing(&self, lines: &Lines) -> DataError {
        lines.nothing(Self::EXPECTED)
    }
}

/// Labelled rows as examples.
pub(super) struct RowReader<R> {
    read: R,
    /// The rules of a stream, whose rows are held to the labels and features that are known.
    stream: Option<StreamRules>,
    /// True if the labels of the stream were declared, and not seen.
    declared: bool,
    /// The label of the row in hand.
    label: Option<(usize, RowLabel)>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl<R: ReadRow> RowReader<R> {
    /// Refuses a row that whoever learns from a stream cannot take.
    fn check(&self, line: &Line<'_>, at: usize, label: &RowLabel, stream: &StreamRules) -> Result<(), DataError> {
        if !stream.reading.unlabelled {
            // Those who learn from a stream must know the labels before they see them.
            let number = match label {
                RowLabel::Number(number) => *number,
                RowLabel::Name(name) => {
                    return Err(line.bad(at, name, "label", "an integer: streams have no names"));
                }
                RowLabel::Missing => return Err(line.bad(at, "", "label", "an integer")),
            };
            if let Some(labels) = &stream.labels
                && labels.binary_search(&number).is_err()
            {
                return Err(unknown_label(line, at, number, labels, self.declared));
            }
        }
        if is_too_long(&self.values) {
            return Err(line.error(at, TOO_LONG));
        }
        let (columns, last) = (self.read.columns(), self.indices.last().map_or(0, |&last| last as usize + 1));
        let found = match stream.features {
            Some(most) if columns > most as usize => format!("{columns} features, expected at most {most}"),
            Some(most) if last > most as usize => format!("index {last}, expected at most {most}"),
            _ => return Ok(()),
        };
        Err(line.error(line.text.len(), format!("found {found} (stream.features)")))
    }
}

impl<R: ReadRow> ReadExamples for RowReader<R> {
    type Of = (Classified, RowLabels);

    const EXPECTED: &'static str = R::EXPECTED;
    const MOST: usize = 1 << 20; // entries of 12 bytes; lines may be 16 MiB long

    fn new(rules: &ReadRules) -> Self {
        let (indices, values) = Default::default();
        RowReader { read: R::new(rules), stream: None, declared: false, label: None, indices, values }
    }

    fn of_stream(rules: &StreamRules) -> Self {
        let mut stream = rules.clone();
        stream.labels.iter_mut().for_each(|labels| labels.sort_unstable());
        RowReader { declared: stream.labels.is_some(), stream: Some(stream), ..RowReader::new(&rules.reading) }
    }

    fn begin(&self) -> Self::Of {
        Default::default()
    }

    fn place(&mut self, line: &Line<'_>) -> Result<LinePlace, DataError> {
        self.label = self.read.read(line, &mut self.indices, &mut self.values)?;
        let Some((at, label)) = &self.label else { return Ok(LinePlace::Nowhere) };
        self.stream.iter().try_for_each(|stream| self.check(line, *at, label, stream))?;
        Ok(LinePlace::Last)
    }

    fn push(&mut self, line: &Line<'_>, (data, labels): &mut Self::Of) -> Result<(), DataError> {
        let Some((at, label)) = self.label.take() else { return Ok(()) };
        labels.push(line, at, label)?;
        data.rows.widen(self.read.columns());
        data.rows.push(&self.indices, &self.values);
        Ok(())
    }

    fn size((data, labels): &Self::Of) -> (usize, usize) {
        (labels.len(), data.rows.nonzeros())
    }

    fn nothing(&self, lines: &Lines) -> DataError {
        self.read.nothing(lines)
    }

    fn take_dataset(&mut self, (mut data, labels): Self::Of) -> Dataset {
        (data.labels, data.names) = labels.finish();
        data.features = self.read.names();
        if let Some(stream) = self.stream.as_mut().filter(|stream| !stream.reading.unlabelled) {
            stream.labels.get_or_insert_with(|| Vec::from_iter(BTreeSet::from_iter(data.labels.clone())));
        }
        Dataset::new(data)
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
    use super::super::format::Windows;
    use super::super::libsvm::{FORMAT, SvmRows};
    use super::super::text::parse;
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
            let whole = parse::<RowReader<SvmRows>, _>(Lines::from_bytes("f", text).unwrap()).unwrap();
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
