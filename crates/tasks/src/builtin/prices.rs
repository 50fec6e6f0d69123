//! Prices of calls and planes of the built-in tasks: formulas in the sizes of an example, so that decisions need no
//! clock.
//!
//! The constants are seconds, fitted by hand to measurements of the data sets at hand; `benchmarks/scripts/prices.py`
//! compares them with a machine. Only ratios decide anything.

use multiplane_core::oracle::Prices;

use crate::data::SparseRows;

/// A call beside everything that grows.
const CALL: f64 = 2e-7;

/// An entry of a row, and an entry times a label, in scores of rows.
const ENTRY: f64 = 3.5e-9;
const ENTRY_LABEL: f64 = 4e-10;

/// More for an entry where the weights do not fit into the processor's cache.
const ENTRY_FAR: f64 = 1e-8;

/// Weights that fit.
const NEAR_WEIGHTS: usize = 1 << 19;

/// A label in the choice of the best.
const LABEL: f64 = 1e-8;

/// A pair of labels at neighbouring positions, in Viterbi's recursion.
const TRANSITION: f64 = 3.5e-10;

/// One set of labels, in the enumeration of all.
const LABEL_SET: f64 = 1.5e-9;

/// A pair of labels, in a message of a tree and in the many sweeps of an inexact search.
const PAIR: f64 = 1e-8;
const PAIR_SEARCHED: f64 = 4e-5;

/// A pair of entries in the score of an arc, and an arc in the search for the best tree.
const PAIR_ENTRY: f64 = 1e-9;
const ARC: f64 = 1.2e-8;

/// A plane kept that is known by its labelling, more for each position that the labelling has, and for each entry of a
/// single row.
const CODED_PLANE: f64 = 2e-7;
const CODED_POSITION: f64 = 4e-8;
const CODED_ENTRY: f64 = 2e-9;

/// A plane that is stored with its numbers.
const STORED_PLANE: f64 = 6e-7;

/// Scores of all `labels` at all rows of `x`, with `dim` weights.
fn scores(x: &SparseRows, labels: usize, dim: usize) -> f64 {
    let far = if dim > NEAR_WEIGHTS { ENTRY_FAR } else { 0.0 };
    x.nonzeros() as f64 * (ENTRY + ENTRY_LABEL * labels as f64 + far)
}

/// Two classes: the planes are stored.
pub(crate) fn of_binary(x: &SparseRows, dim: usize) -> Prices {
    Prices::of_sizes(0.5 * CALL + scores(x, 1, dim), STORED_PLANE + CODED_ENTRY * x.nonzeros() as f64)
}

/// One of several classes.
pub(crate) fn of_multiclass(x: &SparseRows, classes: usize, dim: usize) -> Prices {
    let call = CALL + scores(x, classes, dim) + LABEL * classes as f64;
    Prices::of_sizes(call, CODED_PLANE + CODED_ENTRY * x.nonzeros() as f64)
}

/// A chain of `x.len()` positions.
pub(crate) fn of_chain(x: &SparseRows, labels: usize, dim: usize) -> Prices {
    let positions = x.len() as f64;
    let call = CALL + scores(x, labels, dim) + TRANSITION * positions * (labels * labels) as f64;
    let (by_code, by_numbers) = (CODED_PLANE + CODED_POSITION * positions, STORED_PLANE + CODED_ENTRY * dim as f64);
    Prices::of_sizes(call, by_code.min(by_numbers))
}

/// A sentence whose words have features from `columns` ones: scores of all arcs, and the best tree.
pub(crate) fn of_arborescence(x: &SparseRows, columns: usize, dim: usize) -> Prices {
    let (words, nonzeros) = (x.len() as f64, x.nonzeros() as f64);
    let far = if dim > NEAR_WEIGHTS { ENTRY_FAR / 4.0 } else { 0.0 };
    let pairs = nonzeros * (2 * columns) as f64 * (PAIR_ENTRY + far) + nonzeros * words * PAIR_ENTRY;
    let call = CALL + pairs + ARC * words * words;
    Prices::of_sizes(call, CODED_PLANE + words * (CODED_POSITION + CODED_ENTRY * nonzeros / words.max(1.0)))
}

/// How the best set of labels is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SetSearch {
    /// Messages along the edges of a forest.
    Messages,
    /// All sets.
    Enumeration,
    /// Message passing on a graph with cycles.
    Sweeps,
}

/// A set of labels with `pairs` pairs that have weights.
pub(crate) fn of_multilabel(x: &SparseRows, labels: usize, pairs: usize, dim: usize, search: SetSearch) -> Prices {
    let found = match search {
        SetSearch::Messages => PAIR * (labels + pairs) as f64,
        SetSearch::Enumeration => LABEL_SET * (labels as f64).exp2() + PAIR * pairs as f64,
        SetSearch::Sweeps => PAIR_SEARCHED * pairs as f64,
    };
    let rows = CODED_ENTRY * (x.nonzeros() * labels.min(4)) as f64;
    Prices::of_sizes(CALL + scores(x, labels, dim) + found, CODED_PLANE + rows + 1e-9 * (labels + pairs) as f64)
}
