//! Labels of rows as a file has them: integers, or names. Names become numbers in alphabetical order once all are
//! known.

use multiplane_infer::file::{DataError, quote};

use super::classified::Classified;
use super::strings::Strings;
use super::text::{Line, label};

/// The label of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RowLabel {
    Number(i64),
    Name(String),
    /// There is none.
    Missing,
}

impl RowLabel {
    /// Reads a field: what is a number must be an integer, anything else is a name. With `named` all are.
    pub(super) fn read(line: &Line<'_>, at: usize, field: &str, named: bool) -> Result<RowLabel, DataError> {
        if field.is_empty() {
            return Err(line.bad(at, field, "label", "an integer or a name"));
        }
        if named || field.parse::<f64>().is_err() {
            return Ok(RowLabel::Name(field.to_owned()));
        }
        match label(line, at, field)? {
            Classified::NO_LABEL => Err(line.bad(at, field, "label", "an integer greater than -2^63")),
            number => Ok(RowLabel::Number(number)),
        }
    }
}

/// The labels of the rows of a file.
#[derive(Debug, Default)]
pub(super) struct RowLabels {
    numbers: Vec<i64>,
    /// Names in the order of first appearance: where there are any, `numbers` are their places.
    names: Strings,
    /// The line of the first label, and whether that is a name.
    first: Option<(u64, bool)>,
}

impl RowLabels {
    /// Appends the label that begins at byte `at`: all are integers, or all are names, so that a slip of the pen is no
    /// class.
    pub(super) fn push(&mut self, line: &Line<'_>, at: usize, label: RowLabel) -> Result<(), DataError> {
        let is_name = match label {
            RowLabel::Missing => {
                self.numbers.push(Classified::NO_LABEL);
                return Ok(());
            }
            RowLabel::Name(_) => true,
            RowLabel::Number(_) => false,
        };
        let (first, named) = *self.first.get_or_insert((line.number, is_name));
        match label {
            RowLabel::Name(name) if !named => {
                let rule = format!("an integer as on line {first}: labels are all integers or all names");
                return Err(line.bad(at, &name, "label", &rule));
            }
            RowLabel::Number(number) if named => {
                let found = quote(&number.to_string());
                let rule = format!("a name as on line {first}: labels are all integers or all names");
                return Err(line.error(at, format!("found {found} as label, expected {rule}")));
            }
            RowLabel::Name(name) => self.numbers.push(i64::from(self.names.intern(&name))),
            RowLabel::Number(number) => self.numbers.push(number),
            RowLabel::Missing => {}
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the labels, and the names that they are numbers of, where they are.
    pub(super) fn finish(self) -> (Vec<i64>, Vec<String>) {
        let mut order: Vec<u32> = (0..self.names.len() as u32).collect();
        order.sort_unstable_by_key(|&name| self.names.get(name));
        let mut rank = vec![0i64; order.len()];
        order.iter().enumerate().for_each(|(place, &name)| rank[name as usize] = place as i64);
        let names = order.iter().map(|&name| self.names.get(name).to_owned()).collect();
        let mut numbers = self.numbers;
        if !rank.is_empty() {
            let named = numbers.iter_mut().filter(|number| **number != Classified::NO_LABEL);
            named.for_each(|number| *number = rank[*number as usize]);
        }
        (numbers, names)
    }
}
