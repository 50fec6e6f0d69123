//! Best values of small energies by plain code, for `verify`: minimum cuts by shortest augmenting paths (Edmonds and
//! Karp), and maximisation over one variable after the other, with twice the digits. No code is shared with the engines of
//! training.

use std::collections::VecDeque;

use crate::twofold::Twofold;

/// A network of which a minimum cut is wanted: nodes from 0, and a source and a sink of their own.
pub(super) struct Network {
    /// (to, residual), an arc and its reverse side by side.
    arcs: Vec<(usize, Twofold)>,
    out: Vec<Vec<usize>>,
}

impl Network {
    /// Makes a network of so many nodes.
    pub(super) fn new(nodes: usize) -> Self {
        Network { arcs: Vec::new(), out: vec![Vec::new(); nodes + 2] }
    }

    fn source(&self) -> usize {
        self.out.len() - 2
    }

    fn sink(&self) -> usize {
        self.out.len() - 1
    }

    fn join(&mut self, from: usize, to: usize, there: Twofold, back: Twofold) {
        self.out[from].push(self.arcs.len());
        self.arcs.push((to, there));
        self.out[to].push(self.arcs.len());
        self.arcs.push((from, back));
    }

    /// Adds what a node costs more on the source's side than on the sink's.
    pub(super) fn lean(&mut self, node: usize, slope: Twofold) {
        self.join(self.source(), node, (-slope).max(Twofold::ZERO), Twofold::ZERO);
        self.join(node, self.sink(), slope.max(Twofold::ZERO), Twofold::ZERO);
    }

    /// Adds what it costs if `from` is on the source's side and `to` on the sink's, and the other way round.
    pub(super) fn part(&mut self, from: usize, to: usize, there: Twofold, back: Twofold) {
        self.join(from, to, there, back);
    }

    /// Returns the nodes on the source's side of a minimum cut, and the cut's value.
    pub(super) fn cut(mut self) -> (Vec<bool>, Twofold) {
        let (source, sink) = (self.source(), self.sink());
        let mut flow = Twofold::ZERO;
        loop {
            let mut by = vec![usize::MAX; self.out.len()];
            let mut queue = VecDeque::from([source]);
            while let Some(node) = queue.pop_front() {
                for &arc in &self.out[node] {
                    let (to, residual) = self.arcs[arc];
                    if residual > Twofold::ZERO && to != source && by[to] == usize::MAX {
                        by[to] = arc;
                        queue.push_back(to);
                    }
                }
            }
            if by[sink] == usize::MAX {
                return (by[..source].iter().map(|&arc| arc != usize::MAX).collect(), flow);
            }
            let mut path = Vec::new();
            let mut node = sink;
            while node != source {
                path.push(by[node]);
                node = self.arcs[by[node] ^ 1].0;
            }
            let least = |one: Twofold, other: Twofold| if other < one { other } else { one };
            let sent = path.iter().map(|&arc| self.arcs[arc].1).fold(f64::INFINITY.into(), least);
            for arc in path {
                self.arcs[arc].1 = self.arcs[arc].1 - sent;
                self.arcs[arc ^ 1].1 = self.arcs[arc ^ 1].1 + sent;
            }
            flow = flow + sent;
        }
    }
}

/// Returns the largest sum of functions by maximising over one variable after the other: of those left, the one with the
/// fewest neighbours. Variable v takes the labels `0..labels[v]`; a function has a scope and a value
/// `[label of the first variable][of the second]...`.
pub(super) fn largest_sum(labels: &[usize], mut functions: Vec<(Vec<usize>, Vec<Twofold>)>) -> Twofold {
    let mut left: Vec<usize> = (0..labels.len()).collect();
    let mut constant = Twofold::ZERO;
    while !left.is_empty() {
        let neighbours = |variable: usize| {
            let with = functions.iter().filter(|(scope, _)| scope.contains(&variable)).flat_map(|(scope, _)| scope);
            let mut others: Vec<usize> = with.copied().filter(|&other| other != variable).collect();
            others.sort_unstable();
            others.dedup();
            others
        };
        let place = (0..left.len()).min_by_key(|&place| neighbours(left[place]).len()).unwrap_or(0);
        let variable = left.swap_remove(place);
        let scope = neighbours(variable);
        let (with, without): (Vec<_>, Vec<_>) = functions.into_iter().partition(|(scope, _)| scope.contains(&variable));
        functions = without;
        let mut given = vec![0; scope.len()];
        let mut table = Vec::new();
        loop {
            let value = |own: usize| -> Twofold {
                let label = |of: usize| scope.iter().position(|&other| other == of).map_or(own, |place| given[place]);
                let at = |scope: &[usize]| scope.iter().fold(0, |at, &of| at * labels[of] + label(of));
                with.iter().map(|(scope, values)| values[at(scope)]).sum()
            };
            table.push((0..labels[variable]).map(value).fold(f64::NEG_INFINITY.into(), Twofold::max));
            let Some(next) = (0..scope.len()).rev().find(|&place| given[place] + 1 < labels[scope[place]]) else {
                break;
            };
            given[next] += 1;
            given[next + 1..].fill(0);
        }
        if scope.is_empty() { constant = constant + table[0] } else { functions.push((scope, table)) }
    }
    constant
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cut and a sum by hand, with variables of different sizes.
    #[test]
    fn by_hand() {
        let mut network = Network::new(3);
        [(0, -4.0), (1, 1.0), (2, 2.0)].into_iter().for_each(|(node, slope)| network.lean(node, Twofold::from(slope)));
        network.part(0, 1, 3.0.into(), 3.0.into());
        network.part(1, 2, 0.5.into(), 0.0.into());
        assert_eq!(network.cut(), (vec![true, true, false], Twofold::from(1.5)));

        let functions = vec![
            (vec![0], vec![0.0, 1.0]),
            (vec![0, 1], vec![5.0, 0.0, 0.0, 0.0, 0.0, 3.0]),
            (vec![2, 1], vec![0.0, 0.0, 2.0]),
        ];
        let doubled =
            |(scope, values): (Vec<usize>, Vec<f64>)| (scope, values.into_iter().map(Twofold::from).collect());
        let functions = functions.into_iter().map(doubled).collect();
        assert_eq!(largest_sum(&[2, 3, 1], functions), Twofold::from(6.0));
        assert_eq!(largest_sum(&[], Vec::new()), Twofold::ZERO);
    }
}
