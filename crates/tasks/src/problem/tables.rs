//! The tables that weights are made of, one after the other in the layout of files, as tasks declare them. Blocks that
//! are frozen by name and what `show` prints both come from here.

use std::ops::Range;

/// The names of the elements of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisNames {
    /// By the labels of the vocabulary.
    Labels,
    /// By the features of the vocabulary; where these have no names, by number from here on.
    Features(usize),
    /// By number from 0: rows of a kernel, buckets.
    Numbers,
    /// By two labels of the vocabulary each.
    LabelPairs(Vec<[u32; 2]>),
    /// By these names.
    Own(Vec<String>),
}

/// One axis of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The kind of its elements.
    pub name: &'static str,
    /// How many they are.
    pub len: usize,
    /// The names of its elements.
    pub names: AxisNames,
    /// True if the last one is the feature that is always 1.
    pub bias: bool,
}

impl Axis {
    /// Makes an axis of so many labels.
    pub fn labels(name: &'static str, len: usize) -> Self {
        Axis { name, len, names: AxisNames::Labels, bias: false }
    }

    /// Makes an axis of so many features, which are counted from `first` where they have no names.
    pub fn features(name: &'static str, len: usize, first: usize) -> Self {
        Axis { name, len, names: AxisNames::Features(first), bias: false }
    }

    /// Makes an axis whose elements have numbers from 0.
    pub fn numbers(name: &'static str, len: usize) -> Self {
        Axis { name, len, names: AxisNames::Numbers, bias: false }
    }

    /// Makes an axis of these pairs of labels.
    pub fn label_pairs(name: &'static str, pairs: &[[u32; 2]]) -> Self {
        Axis { name, len: pairs.len(), names: AxisNames::LabelPairs(pairs.to_vec()), bias: false }
    }

    /// Makes an axis whose elements have these names.
    pub fn own(name: &'static str, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        Axis { name, len: names.len(), names: AxisNames::Own(names), bias: false }
    }
}

/// A table of weights, row-major in its axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightTable {
    /// Its name, as `--freeze` knows it.
    pub name: &'static str,
    /// The axes that tell its weights apart; the last changes fastest.
    pub axes: Vec<Axis>,
    /// The meaning of a weight, if the axes do not say it.
    pub note: Option<&'static str>,
}

impl WeightTable {
    /// Makes a table of these axes.
    pub fn new(name: &'static str, axes: impl Into<Vec<Axis>>) -> Self {
        WeightTable { name, axes: axes.into(), note: None }
    }

    /// Says what a weight means.
    pub fn noted(mut self, note: &'static str) -> Self {
        self.note = Some(note);
        self
    }

    /// Returns the number of its weights; the largest number there is where no memory could hold them.
    pub fn size(&self) -> usize {
        self.axes.iter().fold(1, |size: usize, axis| size.saturating_mul(axis.len))
    }

    /// Returns where a weight, counted within the table, stands on each axis.
    pub fn place(&self, index: usize) -> Vec<usize> {
        let mut rest = index;
        let mut place: Vec<usize> = (self.axes.iter().rev())
            .map(|axis| {
                let at = rest % axis.len.max(1);
                rest /= axis.len.max(1);
                at
            })
            .collect();
        place.reverse();
        place
    }
}

/// Returns the names of tables and where they lie.
pub fn blocks(tables: &[WeightTable]) -> Vec<(&'static str, Range<usize>)> {
    let mut start: usize = 0;
    let block = |table: &WeightTable| {
        let begin = start;
        start = start.saturating_add(table.size());
        (table.name, begin..start)
    };
    tables.iter().map(block).collect()
}

/// Says whether the last feature (or the last of a kernel's rows) is always 1.
pub fn with_bias(mut tables: Vec<WeightTable>, bias: bool) -> Vec<WeightTable> {
    let axes = tables.iter_mut().flat_map(|table| &mut table.axes);
    axes.filter(|axis| matches!(axis.names, AxisNames::Features(_))).for_each(|axis| axis.bias = bias);
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks stand one after the other, and places count as row-major tables do.
    #[test]
    fn blocks_and_places() {
        let unary = WeightTable::new("unary", [Axis::labels("label", 2), Axis::features("feature", 3, 1)]);
        let pair =
            WeightTable::new("pair", [Axis::own("type", ["a", "b"]), Axis::labels("from", 2), Axis::numbers("k", 5)]);
        let tables = with_bias(vec![unary, pair], true);
        assert_eq!(blocks(&tables), [("unary", 0..6), ("pair", 6..26)]);
        let mut index = 0;
        for a in 0..2 {
            for b in 0..2 {
                for c in 0..5 {
                    assert_eq!(tables[1].place(index), [a, b, c]);
                    index += 1;
                }
            }
        }
        let biases: Vec<bool> = tables.iter().flat_map(|table| &table.axes).map(|axis| axis.bias).collect();
        assert_eq!(biases, [false, true, false, false, false]);
        let huge = WeightTable::new("w", [Axis::numbers("i", usize::MAX), Axis::numbers("j", 2)]);
        assert_eq!(huge.size(), usize::MAX);
    }
}
