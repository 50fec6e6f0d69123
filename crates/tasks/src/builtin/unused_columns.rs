//! Columns that no example has. Where a weight for each would make w mostly gaps, w leaves them out, and the model
//! keeps the numbers of the others as names of its features.

use std::ops::Range;

use crate::builtin::vocabulary_match::{cut_rows, unseen_features};
use crate::data::{SparseRows, Strings};
use crate::problem::{OpenError, Vocabulary};

/// Weights that w may have with whatever gaps: 128 MiB.
const AFFORDABLE: usize = 1 << 24;

/// Gaps matter where at most one column in so many is used.
const SPARSE: usize = 4;

/// Returns if a number is 0: such fields of vocabularies stay out of model files.
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
pub(super) fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The columns that some example has, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedColumns(Vec<u32>);

impl UsedColumns {
    /// Looks for the columns that `rows` use; `None` where w may as well have weights for all, `tables` for each.
    pub fn learn(rows: &SparseRows, tables: usize) -> Option<Self> {
        if rows.columns().saturating_mul(tables) <= AFFORDABLE {
            return None;
        }
        let used = UsedColumns::of_rows(rows);
        (used.0.len().saturating_mul(SPARSE) <= rows.columns() && !used.0.is_empty()).then_some(used)
    }

    fn of_rows(rows: &SparseRows) -> Self {
        let mut used: Vec<u32> = (0..rows.len()).flat_map(|i| rows.row(i).indices).copied().collect();
        used.sort_unstable();
        used.dedup();
        UsedColumns(used)
    }

    /// Reads the columns of a model from the names of its features.
    ///
    /// # Errors
    ///
    /// They are not ascending numbers from 1.
    pub fn from_names(names: &Strings) -> Result<Self, OpenError> {
        let columns: Option<Vec<u32>> =
            names.iter().map(|name| name.parse::<u32>().ok().and_then(|number| number.checked_sub(1))).collect();
        let columns = columns.filter(|columns| columns.is_sorted_by(|a, b| a < b));
        columns.map(UsedColumns).ok_or_else(|| {
            OpenError::new("the names of the model's features are not the numbers of columns in ascending order")
        })
    }

    /// Returns the numbers of the columns, from 1, as names of features.
    pub fn names(&self) -> Strings {
        let mut names = Strings::new();
        for column in &self.0 {
            names.intern(&(column + 1).to_string());
        }
        names
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns some rows alone, with these columns alone; with `bias` one more, 1 everywhere.
    fn cut(&self, all: &SparseRows, range: Range<usize>, bias: bool) -> SparseRows {
        let entries = all.entries(range.clone()) + range.len() * usize::from(bias);
        let mut rows = SparseRows::with_capacity(self.len() + usize::from(bias), range.len(), entries);
        for i in range {
            let place = |(column, value)| self.0.binary_search(&column).ok().map(|place| (place as u32, value));
            let (mut indices, mut values): (Vec<u32>, Vec<f64>) = all.row(i).iter().filter_map(place).unzip();
            if bias {
                indices.push(self.len() as u32);
                values.push(1.0);
            }
            rows.push(&indices, &values);
        }
        rows
    }

    /// Returns the warning about columns of `rows` that are none of these; `None` where there are none.
    fn unseen(&self, rows: &SparseRows) -> Option<String> {
        let there = UsedColumns::of_rows(rows);
        let unseen = there.0.iter().filter(|column| self.0.binary_search(column).is_err()).count();
        let noun = if unseen == 1 { "feature was" } else { "features were" };
        (unseen > 0).then(|| format!("{unseen} {noun} never seen in training: ignored"))
    }
}

/// Returns the columns of the training data, counted, and those of them that a model has weights for, where it leaves
/// out others; numbers from 0.
pub fn used_columns(vocabulary: &Vocabulary) -> Option<(usize, Vec<u32>)> {
    let width = vocabulary.own.get("width")?.as_u64()?;
    let used = UsedColumns::from_names(vocabulary.dictionary.as_ref()?).ok()?;
    Some((usize::try_from(width).ok()?, used.0))
}

/// The columns that a model has weights for: the first ones, or those that are used where it leaves gaps out.
pub struct KnownColumns {
    used: Option<UsedColumns>,
    features: usize,
    bias: bool,
}

impl KnownColumns {
    /// The columns of a model with so many features, a `bias` among them. Where it leaves out gaps, its data had
    /// `width` columns, not 0, and the `names` of its features are the numbers of those left.
    ///
    /// # Errors
    ///
    /// The names are no numbers of columns, or not as many as the features.
    pub fn new(width: usize, names: Option<&Strings>, features: usize, bias: bool) -> Result<Self, OpenError> {
        let used = names.filter(|_| width > 0).map(UsedColumns::from_names).transpose()?;
        if used.as_ref().is_some_and(|used| used.len() + usize::from(bias) != features) {
            return Err(OpenError::new("the columns and the number of the features of the model do not fit together"));
        }
        Ok(KnownColumns { used, features, bias })
    }

    /// Returns some rows alone, with these columns alone; a bias is 1 everywhere.
    pub fn cut(&self, all: &SparseRows, range: Range<usize>) -> SparseRows {
        match &self.used {
            Some(used) => used.cut(all, range, self.bias),
            None => cut_rows(all, range, self.features, self.bias),
        }
    }

    /// Returns the warning about features of `rows` that training never saw; `None` where there are none.
    pub fn unseen(&self, rows: &SparseRows) -> Option<String> {
        match &self.used {
            Some(used) => used.unseen(rows),
            None => unseen_features(rows.columns(), self.features, self.bias),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(of: &[&[u32]], columns: usize) -> SparseRows {
        let mut rows = SparseRows::new(columns);
        of.iter().for_each(|indices| rows.push_ones(indices));
        rows
    }

    /// Only weights that would be many and mostly unused are left out.
    #[test]
    fn gaps_that_cost_are_left_out() {
        let wide = rows(&[&[3, 70], &[], &[70, (1 << 24) + 5]], 0);
        let used = UsedColumns::learn(&wide, 1).unwrap();
        assert_eq!(used, UsedColumns(vec![3, 70, (1 << 24) + 5]));
        assert_eq!(UsedColumns::learn(&rows(&[&[3, 70]], 1 << 20), 16), None);
        assert!(UsedColumns::learn(&rows(&[&[3, 70]], 1 << 20), 17).is_some());
        assert_eq!(UsedColumns::learn(&rows(&[&[0, 1, 2], &[5]], 15), 1 << 23), None);
        assert_eq!(UsedColumns::learn(&rows(&[&[]], 1 << 25), 1), None);
    }

    /// Rows keep what they have in the columns that there are, and names bring these back.
    #[test]
    fn rows_are_cut_to_columns() {
        let used = UsedColumns(vec![3, 70, 900]);
        let all = rows(&[&[1, 3, 900], &[2], &[70, 901]], 0);
        let cut = used.cut(&all, 0..3, true);
        let of = |i: usize| cut.row(i).indices.to_vec();
        assert_eq!((cut.columns(), of(0), of(1), of(2)), (4, vec![0, 2, 3], vec![3], vec![1, 3]));
        assert_eq!(used.unseen(&all).unwrap(), "3 features were never seen in training: ignored");
        assert_eq!(used.unseen(&rows(&[&[3]], 0)), None);
        assert_eq!(UsedColumns::from_names(&used.names()).unwrap(), used);
        for bad in [["0", "1"], ["2", "2x"], ["3", "2"]] {
            let mut names = Strings::new();
            bad.iter().for_each(|name| {
                names.intern(name);
            });
            assert!(UsedColumns::from_names(&names).is_err(), "{bad:?}");
        }
    }
}
