//! Working memory of a pairwise task.

use multiplane_infer::marginals::{Marginals, SumProduct};

use super::engines::Engines;
use super::known::KnownLabels;
use super::part::LabelledPart;
use super::structure::StructureKernels;

/// Working memory of sums.
#[derive(Debug, Default)]
pub(super) struct PairwiseSums {
    pub(super) engine: SumProduct,
    pub(super) found: Marginals,
    /// Marginals of nodes and edges, where the distribution is over labellings.
    pub(super) short: Vec<f64>,
    /// Label counts of the nodes of a part.
    pub(super) counts: Vec<usize>,
}

/// Working memory of a pairwise task.
pub struct PairwiseScratch<S: StructureKernels> {
    pub(in crate::builtin) part: LabelledPart,
    pub(in crate::builtin) parents: Vec<u32>,
    pub(in crate::builtin) engines: Engines,
    pub(super) known: KnownLabels,
    pub(super) sums: PairwiseSums,
    /// Labels of the nodes of a part.
    pub(in crate::builtin) labels: Vec<u32>,
    /// Numbers of a plane under construction.
    pub(super) dense: Vec<f64>,
    /// Working memory of the structure.
    pub(in crate::builtin) own: S::Scratch,
}

impl<S: StructureKernels> Default for PairwiseScratch<S> {
    fn default() -> Self {
        PairwiseScratch {
            part: LabelledPart::default(),
            parents: Vec::new(),
            engines: Engines::default(),
            known: KnownLabels::default(),
            sums: PairwiseSums::default(),
            labels: Vec::new(),
            dense: Vec::new(),
            own: S::Scratch::default(),
        }
    }
}
