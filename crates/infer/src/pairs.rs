//! A model's graph with its parallel edges merged, as message passing needs it: one message per pair of nodes.
//!
//! O(edges log edges) to build, O(edges) to refresh with new energies (and the entries of the tables that are summed).

use crate::messages::PairwiseForm;
use crate::mrf::Mrf;
use crate::term::Term;

/// The pairs of nodes that share edges, and who neighbours whom, for one order of the nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    /// Nodes in the order in which they are visited.
    pub(crate) order: Vec<u32>,
    /// Sorted by the visits of their nodes.
    pub(crate) pairs: Vec<Pair>,
    neighbours: Vec<Neighbour>,
    /// The first neighbour of each node; one more than nodes.
    neighbour_starts: Vec<usize>,
    /// How many of a node's neighbours, the first ones, lead to nodes that are visited before it.
    behind: Vec<u32>,
    /// The edges of all pairs, and where each pair's begin.
    members: Vec<u32>,
    member_starts: Vec<usize>,
    /// Sums of unlike parallel edges, row-major by the label of the pair's first node.
    sums: Vec<f64>,
    /// Label offsets and edges' ends of the model this was built for.
    offsets: Vec<usize>,
    ends: Vec<(u32, u32)>,
    /// Largest finite size of each term's energies.
    term_sizes: Vec<f64>,
}

/// Two nodes and the sum of all energies between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// Visited first.
    pub(crate) first: u32,
    /// Visited later.
    pub(crate) second: u32,
    /// No finite energy of this pair exceeds it in size.
    pub(crate) size: f64,
    weight: f64,
    form: StoredForm,
}

#[derive(Clone, Copy, Debug)]
enum StoredForm {
    Potts,
    Linear { cap: f64 },
    Quadratic { cap: f64 },
    Table { term: u32, first_is_tail: bool },
    Sum { start: usize },
}

/// A pair as one of its nodes sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    /// The other node.
    pub(crate) node: u32,
    /// Index of the pair.
    pub(crate) pair: u32,
}

impl Pairs {
    /// Builds the graph of a model for an order of its nodes.
    pub(crate) fn build(&mut self, problem: &Mrf, order: Vec<u32>) {
        let mut rank = vec![0; problem.nodes()];
        for (position, &node) in order.iter().enumerate() {
            rank[node as usize] = position as u32;
        }
        let ends = |edge: &crate::mrf::Edge| {
            let (a, b) = (rank[edge.tail as usize], rank[edge.head as usize]);
            (a.min(b), a.max(b))
        };
        let mut sorted: Vec<_> = problem.edges().iter().zip(0u32..).map(|(edge, index)| (ends(edge), index)).collect();
        sorted.sort_unstable();
        self.pairs.clear();
        self.members.clear();
        self.member_starts.clear();
        let mut last = None;
        for &((a, b), index) in &sorted {
            if last != Some((a, b)) {
                last = Some((a, b));
                let (first, second) = (order[a as usize], order[b as usize]);
                self.pairs.push(Pair { first, second, size: 0.0, weight: 0.0, form: StoredForm::Potts });
                self.member_starts.push(self.members.len());
            }
            self.members.push(index);
        }
        self.member_starts.push(self.members.len());
        self.order = order;
        self.connect(problem.nodes());
        problem.offsets().clone_into(&mut self.offsets);
        self.ends.clear();
        self.ends.extend(problem.edges().iter().map(|edge| (edge.tail, edge.head)));
    }

    /// Lists each node's neighbours: to nodes before it, then to nodes after it, both in the order of visits.
    fn connect(&mut self, nodes: usize) {
        self.behind = vec![0; nodes];
        self.neighbour_starts = vec![0; nodes + 1];
        for pair in &self.pairs {
            self.neighbour_starts[pair.first as usize + 1] += 1;
            self.neighbour_starts[pair.second as usize + 1] += 1;
            self.behind[pair.second as usize] += 1;
        }
        for node in 0..nodes {
            self.neighbour_starts[node + 1] += self.neighbour_starts[node];
        }
        let mut next = self.neighbour_starts.clone();
        let mut next_ahead: Vec<usize> =
            (0..nodes).map(|n| self.neighbour_starts[n] + self.behind[n] as usize).collect();
        self.neighbours = vec![Neighbour { node: 0, pair: 0 }; 2 * self.pairs.len()];
        for (index, pair) in (0u32..).zip(&self.pairs) {
            let (ahead, behind) = (&mut next_ahead[pair.first as usize], &mut next[pair.second as usize]);
            self.neighbours[*ahead] = Neighbour { node: pair.second, pair: index };
            self.neighbours[*behind] = Neighbour { node: pair.first, pair: index };
            *ahead += 1;
            *behind += 1;
        }
    }

    /// Returns whether a model has the nodes, label counts and edges of the one that this was built for.
    pub(crate) fn fits(&self, problem: &Mrf) -> bool {
        let edges = problem.edges();
        self.offsets == problem.offsets()
            && self.ends.len() == edges.len()
            && self.ends.iter().zip(edges).all(|(ends, edge)| *ends == (edge.tail, edge.head))
    }

    /// Takes over the energies of a model that [fits](Pairs::fits).
    pub(crate) fn refresh(&mut self, problem: &Mrf) {
        self.term_sizes.clear();
        self.term_sizes.extend(problem.terms().iter().map(|term| term_size(term, problem.most_labels())));
        self.sums.clear();
        for index in 0..self.pairs.len() {
            let members = &self.members[self.member_starts[index]..self.member_starts[index + 1]];
            let edges = members.iter().map(|&edge| &problem.edges()[edge as usize]);
            let term_of = |edge| problem.term(edge);
            let head = &problem.edges()[members[0] as usize];
            let weights: f64 = edges.clone().map(|edge| edge.weight).sum();
            let pair = &mut self.pairs[index];
            pair.size = edges.clone().map(|edge| edge.weight.abs() * self.term_sizes[edge.term as usize]).sum();
            let alike = !matches!(term_of(head), Term::Table(_)) && edges.clone().all(|e| term_of(e) == term_of(head));
            pair.weight = weights;
            pair.form = match term_of(head) {
                Term::Table(_) if members.len() == 1 => {
                    StoredForm::Table { term: head.term, first_is_tail: head.tail == pair.first }
                }
                Term::Potts if alike => StoredForm::Potts,
                Term::Linear { cap } if alike => StoredForm::Linear { cap: *cap },
                Term::Quadratic { cap } if alike => StoredForm::Quadratic { cap: *cap },
                _ => {
                    pair.weight = 1.0;
                    let start = self.sums.len();
                    for a in 0..problem.labels(pair.first) as u32 {
                        for b in 0..problem.labels(pair.second) as u32 {
                            let energy = |edge: &crate::mrf::Edge| match edge.tail == pair.first {
                                true => problem.edge_energy(edge, a, b),
                                false => problem.edge_energy(edge, b, a),
                            };
                            self.sums.push(edges.clone().map(energy).sum());
                        }
                    }
                    StoredForm::Sum { start }
                }
            };
        }
    }

    /// Returns the energies between a pair's nodes, as a message sees them that is sent from one of them.
    #[inline]
    pub(crate) fn form<'a>(&'a self, problem: &'a Mrf, pair: u32, from: u32) -> PairwiseForm<'a> {
        let pair = &self.pairs[pair as usize];
        let (weight, from_first) = (pair.weight, from == pair.first);
        match pair.form {
            StoredForm::Potts => PairwiseForm::Potts { weight },
            StoredForm::Linear { cap } => PairwiseForm::Linear { weight, cap },
            StoredForm::Quadratic { cap } => PairwiseForm::Quadratic { weight, cap },
            StoredForm::Table { term, first_is_tail } => match &problem.terms()[term as usize] {
                Term::Table(table) => PairwiseForm::Table {
                    values: table.values(),
                    columns: table.columns(),
                    weight,
                    from_rows: first_is_tail == from_first,
                },
                other => unreachable!("term {term} was a table when energies were taken over, now {other:?}"),
            },
            StoredForm::Sum { start } => {
                let (rows, columns) = (problem.labels(pair.first), problem.labels(pair.second));
                PairwiseForm::Table {
                    values: &self.sums[start..start + rows * columns],
                    columns,
                    weight,
                    from_rows: from_first,
                }
            }
        }
    }

    /// Returns all neighbours of a node.
    #[inline]
    pub(crate) fn neighbours(&self, node: u32) -> &[Neighbour] {
        &self.neighbours[self.neighbour_starts[node as usize]..self.neighbour_starts[node as usize + 1]]
    }

    /// Returns a node's neighbours to the nodes that are visited before it, and to those after it.
    #[inline]
    pub(crate) fn sides(&self, node: u32) -> (&[Neighbour], &[Neighbour]) {
        self.neighbours(node).split_at(self.behind[node as usize] as usize)
    }

    /// Returns the edges of a pair.
    pub(crate) fn edges_of(&self, pair: u32) -> &[u32] {
        &self.members[self.member_starts[pair as usize]..self.member_starts[pair as usize + 1]]
    }

    /// Returns the first edge of a pair: what errors name.
    pub(crate) fn first_edge(&self, pair: usize) -> u32 {
        self.members[self.member_starts[pair]]
    }
}

/// Returns the largest finite size of a term's energies between nodes of at most `labels` labels; without the cap, as
/// distance transforms work without it.
fn term_size(term: &Term, labels: usize) -> f64 {
    let far = labels.saturating_sub(1) as f64;
    match term {
        Term::Potts => 1.0,
        Term::Linear { .. } => far,
        Term::Quadratic { .. } => far * far,
        Term::Table(table) => table.values().iter().filter(|v| v.is_finite()).fold(0.0, |most, v| v.abs().max(most)),
    }
}

/// Returns the representative of a node's tree in a union-find forest, whose paths are halved on the way.
pub(crate) fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        parents[node as usize] = parents[parents[node as usize] as usize];
        node = parents[node as usize];
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Table;

    /// Parallel edges, in either direction and of different terms, add up to one pair with their sum.
    #[test]
    fn parallel_edges_add_up() {
        let mut mrf = Mrf::new();
        for labels in [2, 3] {
            mrf.add_node(&vec![0.0; labels]).unwrap();
        }
        let potts = mrf.add_term(Term::Potts).unwrap();
        let table =
            mrf.add_term(Term::Table(Table::new(2, vec![1.0, 2.0, 4.0, 8.0, 16.0, f64::INFINITY]).unwrap())).unwrap();
        mrf.add_edge(0, 1, potts, 32.0).unwrap();
        mrf.add_edge(1, 0, table, 1.0).unwrap();
        mrf.add_edge(1, 0, potts, 64.0).unwrap();
        for order in [vec![0, 1], vec![1, 0]] {
            let mut pairs = Pairs::default();
            pairs.build(&mrf, order);
            pairs.refresh(&mrf);
            assert_eq!(pairs.pairs.len(), 1);
            for (a, b) in (0..2).flat_map(|a| (0..3).map(move |b| (a, b))) {
                let energy = mrf.energy(&[a, b]);
                assert_eq!(pairs.form(&mrf, 0, 0).energy(a, b), energy);
                assert_eq!(pairs.form(&mrf, 0, 1).energy(b, a), energy);
            }
        }
    }
}
