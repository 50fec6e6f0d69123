//! Boxes in maps of visual words: the rectangle of the highest score, by branch and bound over sets of rectangles, or
//! among windows of given sizes.
//!
//! A *word map* has points in pixels, each with a word. A rectangle is divided into the cells of a *spatial pyramid*:
//! 1, then 2 x 2, then 4 x 4. Its score is the sum, over cells and the points in them, of the score of the point's
//! word in that cell, divided by a [`Norm`] of the rectangle's histogram; a [`BoxLoss`] may be added. With a
//! [`BinKernel`] that is not linear the score is a sum, over cells and words, of a function of the word's share in
//! the cell.
//!
//! The search is that of Lampert, Blaschko and Hofmann (Efficient subwindow search, PAMI 2009): a set of rectangles is
//! an interval for each side; a bound on the scores of a set comes from sums over its largest and its smallest
//! rectangle, positive and negative scores apart, of blocks that no line of the grid divides. Cost: `O(cells (columns
//! rows + points))` for the sums of one question, with columns and rows that have points; then `O(cells)` for a set,
//! and with [`Norm::L2`] the points of a single rectangle; with a kernel the points of the largest rectangle of a set.
//! With a linear kernel and a norm other than [`Norm::L2`], one best rectangle that is not found soon is looked for
//! among all, by a sweep over pairs of rows.

mod kernel;
mod loss;
mod map;
mod products;
mod question;
mod rect;
mod search;
mod set;
mod squares;
mod steps;
mod sums;
mod sweep;

#[cfg(test)]
mod tests;

pub use kernel::BinKernel;
pub use loss::BoxLoss;
pub use map::{WordMap, WordPoint};
pub use products::BoxProducts;
pub use question::{BoxQuestion, FoundBox, Places};
pub use rect::{Rect, cells};
pub use search::{BoxEngine, take_apart, windows};
pub use sums::Norm;
