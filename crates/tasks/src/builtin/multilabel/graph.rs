//! Which pairs of labels have weights, and in which order messages go where these pairs make no cycle.

/// No parent: the first label of a tree.
const ROOT: u32 = u32::MAX;

/// A label and the edge to its parent in a forest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LabelLink {
    pub(super) label: u32,
    /// Parent and edge; `None` at a root.
    pub(super) up: Option<(u32, u32)>,
}

/// A graph over labels.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelGraph {
    labels: usize,
    /// Pairs j < k, ascending.
    edges: Vec<[u32; 2]>,
    /// Parents before children; `None` where there is a cycle.
    forest: Option<Vec<LabelLink>>,
}

impl LabelGraph {
    /// Makes a graph of these pairs, in any order; twice the same pair is one.
    ///
    /// # Panics
    /// If a pair is not of two different labels below `labels`.
    pub fn new(labels: usize, edges: impl IntoIterator<Item = [u32; 2]>) -> Self {
        let mut edges: Vec<[u32; 2]> = edges.into_iter().map(|[j, k]| [j.min(k), j.max(k)]).collect();
        assert!(edges.iter().all(|&[j, k]| j < k && (k as usize) < labels), "pairs are of two different labels");
        edges.sort_unstable();
        edges.dedup();
        let forest = forest(labels, &edges);
        LabelGraph { labels, edges, forest }
    }

    /// Makes the graph of all pairs.
    pub fn full(labels: usize) -> Self {
        let all = |k: u32| (0..k).map(move |j| [j, k]);
        LabelGraph::new(labels, (0..labels as u32).flat_map(all))
    }

    /// Returns the number of labels.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Returns the pairs j < k, ascending: the order of their weights.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// Returns the labels of a graph without cycles, parents before children.
    pub(super) fn forest(&self) -> Option<&[LabelLink]> {
        self.forest.as_deref()
    }
}

/// Orders the labels from roots to leaves; `None` where there is a cycle.
fn forest(labels: usize, edges: &[[u32; 2]]) -> Option<Vec<LabelLink>> {
    if edges.len() >= labels.max(1) {
        return None;
    }
    let mut neighbours = vec![Vec::new(); labels];
    for (edge, &[j, k]) in edges.iter().enumerate() {
        neighbours[j as usize].push((k, edge as u32));
        neighbours[k as usize].push((j, edge as u32));
    }
    let mut order: Vec<LabelLink> = Vec::with_capacity(labels);
    let mut seen = vec![false; labels];
    for root in 0..labels as u32 {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        let mut next = order.len();
        order.push(LabelLink { label: root, up: None });
        while let Some(&LabelLink { label, up }) = order.get(next) {
            let parent = up.map_or(ROOT, |(parent, _)| parent);
            for &(other, edge) in neighbours[label as usize].iter().filter(|(other, _)| *other != parent) {
                if std::mem::replace(&mut seen[other as usize], true) {
                    return None;
                }
                order.push(LabelLink { label: other, up: Some((label, edge)) });
            }
            next += 1;
        }
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forests are told from graphs with cycles, whatever the number of edges, and their order begins at roots.
    #[test]
    fn forests_are_known() {
        let is_forest = |labels, edges: &[[u32; 2]]| LabelGraph::new(labels, edges.iter().copied()).forest().is_some();
        assert!(is_forest(0, &[]) && is_forest(3, &[]) && is_forest(4, &[[3, 0], [1, 3]]));
        assert!(!is_forest(3, &[[0, 1], [1, 2], [2, 0]]) && !is_forest(9, &[[4, 6], [5, 4], [6, 5]]));
        assert!(LabelGraph::full(2).forest().is_some() && LabelGraph::full(3).forest().is_none());
        let graph = LabelGraph::new(5, [[4, 1], [1, 0], [1, 4]]);
        assert_eq!(graph.edges(), [[0, 1], [1, 4]]);
        let order: Vec<_> = graph.forest().unwrap().iter().map(|link| (link.label, link.up)).collect();
        assert_eq!(order, [(0, None), (1, Some((0, 0))), (4, Some((1, 1))), (2, None), (3, None)]);
    }
}
