//! The shape of a model, by which engines tell whether the next one fits what they have built.

use crate::mrf::Mrf;

/// Label counts and edges of a model, without its numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelShape {
    offsets: Vec<usize>,
    /// Tail, head and term of each edge.
    edges: Vec<(u32, u32, u32)>,
}

impl ModelShape {
    /// Returns whether a model has the label counts and the edges, with the same terms, of the one recorded last; never
    /// before anything is recorded.
    pub(crate) fn fits(&self, problem: &Mrf) -> bool {
        self.offsets == problem.offsets()
            && self.edges.len() == problem.edges().len()
            && self.edges.iter().zip(problem.edges()).all(|(&known, edge)| known == (edge.tail, edge.head, edge.term))
    }

    pub(crate) fn record(&mut self, problem: &Mrf) {
        self.offsets.clear();
        self.offsets.extend_from_slice(problem.offsets());
        self.edges.clear();
        self.edges.extend(problem.edges().iter().map(|edge| (edge.tail, edge.head, edge.term)));
    }

    /// Fits nothing from now on.
    pub(crate) fn forget(&mut self) {
        self.offsets.clear();
    }
}
