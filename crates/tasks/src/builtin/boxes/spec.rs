//! The parameters of the task.

use multiplane_infer::boxes::{BinKernel, BoxLoss, Norm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builtin::kernelized::KernelSpec;
use crate::kernel::KernelStore;

/// The divisor of the histogram of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Normalise {
    /// The points in the image: large boxes can have large scores. The fastest to search.
    #[default]
    None,
    /// The pixels of the box.
    Area,
    /// The sum of the histogram: small boxes can have large scores.
    L1,
    /// The Euclidean length of the histogram. The slowest to search.
    L2,
}

/// The loss of a box: the least over the boxes that are right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OverlapLoss {
    /// 1 - intersection / union.
    #[default]
    Overlap,
    /// 1 if intersection / union is at most 1/2, else 0.
    Missed,
}

/// The kernel that bins of histograms are compared by, their sum that of boxes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HistogramKernel {
    /// The product of the bins.
    #[default]
    Linear,
    /// The smaller bin, approximated by a map of three numbers.
    Intersection,
    /// `2ab / (a + b)`, approximated by a map of three numbers.
    Chi2,
}

/// The boxes that are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoxSearch {
    /// All whose sides lie on a grid, by branch and bound, or by a sweep if that costs less.
    #[default]
    BranchAndBound,
    /// Those of some sizes, at all places of a grid.
    Windows,
}

/// Parameters of the task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BoxSpec {
    /// The number of words in each vocabulary, which the data must have; empty: as the data have.
    pub words: Vec<usize>,
    /// Levels of the spatial pyramid, 1 to 4: 1 cell, 2 x 2, 4 x 4, 8 x 8.
    pub levels: usize,
    /// The divisor of the histogram of a box.
    pub normalise: Normalise,
    /// The kernel of histograms; another one than `linear` goes with `normalise = none`.
    pub bin_kernel: HistogramKernel,
    /// The kernel of whole histograms of windows: `rbf`, `polynomial` or `linear`. A model is then a sum over windows
    /// of training. It goes with search `windows`, with `normalise` `l1` or `l2` and with the solvers that take
    /// kernels; gamma `scale` goes by the boxes that are right, whatever their weights.
    pub kernel: KernelSpec,
    /// How rows of the kernel's matrix are kept in training.
    pub kernel_rows: KernelStore,
    /// How many windows a model may hold; `null` for as many as carry weight. Once training has ended, the weights are
    /// projected onto the span of so many.
    pub kernel_budget: Option<u32>,
    /// The loss that the oracle adds to the scores, and whose mean evaluation reports.
    pub loss: OverlapLoss,
    /// The boxes that are searched.
    pub search: BoxSearch,
    /// Pixels between the lines of the grid.
    pub stride: u32,
    /// The number of sizes that the boxes of the training data are grouped into (search `windows`).
    pub windows: usize,
    /// After so many sets of boxes were divided a search gives up, and its answer is a box with a bound, unless a sweep
    /// over pairs of rows costs less (search `branch-and-bound`).
    pub max_sets: usize,
    /// The largest overlap, intersection / union, of two boxes in a list of the best.
    pub apart: f64,
    /// If an image may have no box, which is then an answer with a weight of its own.
    pub none: bool,
}

impl Default for BoxSpec {
    fn default() -> Self {
        BoxSpec {
            words: Vec::new(),
            levels: 2,
            normalise: Normalise::default(),
            bin_kernel: HistogramKernel::default(),
            kernel: KernelSpec::default(),
            kernel_rows: KernelStore::default(),
            kernel_budget: None,
            loss: OverlapLoss::default(),
            search: BoxSearch::default(),
            stride: 4,
            windows: 2,
            max_sets: 200_000,
            apart: 0.5,
            none: false,
        }
    }
}

impl From<Normalise> for Norm {
    fn from(normalise: Normalise) -> Norm {
        match normalise {
            Normalise::None => Norm::None,
            Normalise::Area => Norm::Area,
            Normalise::L1 => Norm::L1,
            Normalise::L2 => Norm::L2,
        }
    }
}

impl From<HistogramKernel> for BinKernel {
    fn from(kernel: HistogramKernel) -> BinKernel {
        match kernel {
            HistogramKernel::Linear => BinKernel::Linear,
            HistogramKernel::Intersection => BinKernel::Intersection,
            HistogramKernel::Chi2 => BinKernel::ChiSquare,
        }
    }
}

impl From<OverlapLoss> for BoxLoss {
    fn from(loss: OverlapLoss) -> BoxLoss {
        match loss {
            OverlapLoss::Overlap => BoxLoss::Overlap,
            OverlapLoss::Missed => BoxLoss::Missed,
        }
    }
}
