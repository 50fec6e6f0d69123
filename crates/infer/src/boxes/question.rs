//! Questions which rectangles score highest, and answers.

use super::kernel::BinKernel;
use super::loss::BoxLoss;
use super::map::WordMap;
use super::rect::Rect;
use super::sums::{Norm, Scores};

/// Largest relative rounding error of a bound.
const ROUNDING: f64 = 1e-9;

/// Returns a number below a score, by more than rounding moves a bound.
pub(super) fn just_below(score: f64) -> f64 {
    score - ROUNDING * (1.0 + score.abs())
}

/// The rectangles among which one is sought.
#[derive(Clone, Copy, Debug)]
pub enum Places<'a> {
    /// All whose sides lie on every `stride`-th line between pixels, or on the last one.
    Grid {
        /// Pixels from line to line, at least 1.
        stride: u32,
        /// A search that divided so many sets, and has no cheaper sweep, gives up; what is left is in its bound.
        most: usize,
    },
    /// All of these sizes, width and height, whose first corner lies on every `stride`-th line; a size that is larger
    /// than the image stands for the image.
    Windows {
        /// The sizes.
        sizes: &'a [(u32, u32)],
        /// Pixels from place to place, at least 1.
        stride: u32,
    },
}

/// The question which rectangles of a map score highest.
#[derive(Clone, Copy, Debug)]
pub struct BoxQuestion<'a> {
    /// The points.
    pub map: &'a WordMap,
    /// The score of each word in each cell, `[cell][word]`; for kernels whose maps have several numbers
    /// `[cell][word][number]`.
    pub scores: &'a [f64],
    /// The kernel of bins. With one that is not linear, bins are shares of the points in the image, whatever the norm.
    pub kernel: BinKernel,
    /// Levels of the pyramid, at least 1.
    pub levels: usize,
    /// The divisor of sums.
    pub norm: Norm,
    /// The loss that is added, with the rectangles that are right.
    pub loss: Option<(BoxLoss, &'a [Rect])>,
    /// The rectangles to choose among.
    pub places: Places<'a>,
}

impl BoxQuestion<'_> {
    pub(super) fn scores(&self) -> Scores<'_> {
        Scores { map: self.map, of: self.scores, levels: self.levels, norm: self.norm }
    }

    /// Returns the loss of a rectangle, if it is added.
    pub(super) fn loss_of(&self, rect: Rect) -> f64 {
        self.loss.map_or(0.0, |(loss, truths)| loss.loss(truths, rect))
    }
}

/// A rectangle with its score, loss included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundBox {
    /// The rectangle.
    pub rect: Rect,
    /// Its score.
    pub score: f64,
}
