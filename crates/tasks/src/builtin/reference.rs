//! Best values of small energies by plain code, for `verify`: minimum cuts by shortest augmenting paths (Edmonds and
//! Karp), and maximisation over one variable after the other, with twice the digits. No code is shared with the engines
//! of training.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use crate::double_double::DoubleDouble;

/// A network of which a minimum cut is wanted: nodes from 0, and a source and a sink of their own.
pub(super) struct Network {
    /// (to, residual), an arc and its reverse side by side.
    arcs: Vec<(usize, DoubleDouble)>,
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

    fn join(&mut self, from: usize, to: usize, there: DoubleDouble, back: DoubleDouble) {
        self.out[from].push(self.arcs.len());
        self.arcs.push((to, there));
        self.out[to].push(self.arcs.len());
        self.arcs.push((from, back));
    }

    /// Adds what a node costs more on the source's side than on the sink's.
    pub(super) fn lean(&mut self, node: usize, slope: DoubleDouble) {
        self.join(self.source(), node, (-slope).max(DoubleDouble::ZERO), DoubleDouble::ZERO);
        self.join(node, self.sink(), slope.max(DoubleDouble::ZERO), DoubleDouble::ZERO);
    }

    /// Adds what it costs if `from` is on the source's side and `to` on the sink's, and the other way round.
    pub(super) fn part(&mut self, from: usize, to: usize, there: DoubleDouble, back: DoubleDouble) {
        self.join(from, to, there, back);
    }

    /// Returns the nodes on the source's side of a minimum cut, and the cut's value.
    pub(super) fn cut(mut self) -> (Vec<bool>, DoubleDouble) {
        let (source, sink) = (self.source(), self.sink());
        let mut flow = DoubleDouble::ZERO;
        loop {
            let mut by = vec![usize::MAX; self.out.len()];
            let mut queue = VecDeque::from([source]);
            while let Some(node) = queue.pop_front() {
                for &arc in &self.out[node] {
                    let (to, residual) = self.arcs[arc];
                    if residual > DoubleDouble::ZERO && to != source && by[to] == usize::MAX {
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
            let least = |one: DoubleDouble, other: DoubleDouble| if other < one { other } else { one };
            let sent = path.iter().map(|&arc| self.arcs[arc].1).fold(f64::INFINITY.into(), least);
            for arc in path {
                self.arcs[arc].1 = self.arcs[arc].1 - sent;
                self.arcs[arc ^ 1].1 = self.arcs[arc ^ 1].1 + sent;
            }
            flow = flow + sent;
        }
    }
}

/// A function of some variables: its scope, and a value `[label of the first variable][of the second]...`.
pub(super) type LabelFunction = (Vec<usize>, Vec<DoubleDouble>);

/// Returns the largest sum of functions by maximising over one variable after the other: of those left, one with the
/// fewest neighbours. Variable v takes the labels `0..labels[v]`. On trees the time is linear in the number of
/// variables but for a logarithm.
pub(super) fn largest_sum(labels: &[usize], functions: Vec<LabelFunction>) -> DoubleDouble {
    let mut elimination = Elimination::new(labels, functions);
    let mut constant = DoubleDouble::ZERO;
    while let Some(variable) = elimination.next() {
        let (scope, table) = elimination.eliminate(variable);
        if scope.is_empty() { constant = constant + table[0] } else { elimination.add((scope, table)) }
    }
    constant
}

/// Functions of the variables that are left.
struct Elimination<'a> {
    labels: &'a [usize],
    /// A function that a variable was taken from is none any more.
    functions: Vec<Option<LabelFunction>>,
    /// By variable, the places of functions with it.
    with: Vec<Vec<usize>>,
    /// By variable, the others that it shares a function with.
    neighbours: Vec<BTreeSet<usize>>,
    /// Numbers of neighbours and variables; what does not hold any more is passed over.
    waiting: BinaryHeap<Reverse<(usize, usize)>>,
    gone: Vec<bool>,
}

impl<'a> Elimination<'a> {
    fn new(labels: &'a [usize], functions: Vec<LabelFunction>) -> Self {
        let count = labels.len();
        let mut elimination = Elimination {
            labels,
            functions: Vec::new(),
            with: vec![Vec::new(); count],
            neighbours: vec![BTreeSet::new(); count],
            waiting: BinaryHeap::new(),
            gone: vec![false; count],
        };
        functions.into_iter().for_each(|function| elimination.add(function));
        (0..count).for_each(|variable| elimination.wait(variable));
        elimination
    }

    fn wait(&mut self, variable: usize) {
        self.waiting.push(Reverse((self.neighbours[variable].len(), variable)));
    }

    /// Takes one more function.
    fn add(&mut self, (scope, table): LabelFunction) {
        for &variable in &scope {
            self.with[variable].push(self.functions.len());
            let before = self.neighbours[variable].len();
            self.neighbours[variable].extend(scope.iter().filter(|other| **other != variable));
            if self.neighbours[variable].len() != before {
                self.wait(variable);
            }
        }
        self.functions.push(Some((scope, table)));
    }

    /// Returns a variable with the fewest neighbours, while one is left.
    fn next(&mut self) -> Option<usize> {
        while let Some(Reverse((count, variable))) = self.waiting.pop() {
            if !self.gone[variable] && self.neighbours[variable].len() == count {
                return Some(variable);
            }
        }
        None
    }

    /// Takes a variable out, and returns the best that it makes of its functions, by the labels of its neighbours.
    fn eliminate(&mut self, variable: usize) -> LabelFunction {
        self.gone[variable] = true;
        let scope: Vec<usize> = std::mem::take(&mut self.neighbours[variable]).into_iter().collect();
        for &other in &scope {
            self.neighbours[other].remove(&variable);
            self.wait(other);
        }
        let places = std::mem::take(&mut self.with[variable]);
        let with: Vec<LabelFunction> = places.into_iter().filter_map(|place| self.functions[place].take()).collect();
        let labels = self.labels;
        let mut given = vec![0; scope.len()];
        let mut table = Vec::new();
        loop {
            let value = |own: usize| -> DoubleDouble {
                let label = |of: usize| scope.iter().position(|&other| other == of).map_or(own, |place| given[place]);
                let at = |scope: &[usize]| scope.iter().fold(0, |at, &of| at * labels[of] + label(of));
                with.iter().map(|(scope, values)| values[at(scope)]).sum()
            };
            table.push((0..labels[variable]).map(value).fold(f64::NEG_INFINITY.into(), DoubleDouble::max));
            let Some(next) = (0..scope.len()).rev().find(|&place| given[place] + 1 < labels[scope[place]]) else {
                return (scope, table);
            };
            given[next] += 1;
            given[next + 1..].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cut and a sum by hand, with variables of different sizes.
    #[test]
    fn by_hand() {
        let mut network = Network::new(3);
        [(0, -4.0), (1, 1.0), (2, 2.0)]
            .into_iter()
            .for_each(|(node, slope)| network.lean(node, DoubleDouble::from(slope)));
        network.part(0, 1, 3.0.into(), 3.0.into());
        network.part(1, 2, 0.5.into(), 0.0.into());
        assert_eq!(network.cut(), (vec![true, true, false], DoubleDouble::from(1.5)));

        let functions = vec![
            (vec![0], vec![0.0, 1.0]),
            (vec![0, 1], vec![5.0, 0.0, 0.0, 0.0, 0.0, 3.0]),
            (vec![2, 1], vec![0.0, 0.0, 2.0]),
        ];
        let doubled =
            |(scope, values): (Vec<usize>, Vec<f64>)| (scope, values.into_iter().map(DoubleDouble::from).collect());
        let functions = functions.into_iter().map(doubled).collect();
        assert_eq!(largest_sum(&[2, 3, 1], functions), DoubleDouble::from(6.0));
        assert_eq!(largest_sum(&[], Vec::new()), DoubleDouble::ZERO);
    }
    /// A chain and a star of many variables take no time to speak of, and come to what looking at both labels from one
    /// end to the other gives.
    #[test]
    fn trees_of_many_variables() {
        const COUNT: usize = 20_000;
        let number = |seed: usize| (((seed * 7919) % 1009) as f64 - 504.0) / 64.0; // sums are exact
        for star in [false, true] {
            let parent = |k: usize| if star { 0 } else { k - 1 };
            let unary = |k: usize| [number(2 * k), number(2 * k + 1)];
            let pair = |k: usize| [number(5 * k), number(5 * k + 1), number(5 * k + 2), number(5 * k + 3)];
            let double_double =
                |values: &[f64]| values.iter().map(|&value| DoubleDouble::from(value)).collect::<Vec<_>>();
            let mut functions: Vec<LabelFunction> = (0..COUNT).map(|k| (vec![k], double_double(&unary(k)))).collect();
            // Every other edge the other way round: the child first.
            functions.extend((1..COUNT).map(|k| match k % 2 {
                0 => (vec![parent(k), k], double_double(&pair(k))),
                _ => (vec![k, parent(k)], double_double(&[pair(k)[0], pair(k)[2], pair(k)[1], pair(k)[3]])),
            }));
            let mut left: Vec<[f64; 2]> = (0..COUNT).map(unary).collect();
            for k in (1..COUNT).rev() {
                let best = |above: usize| (left[k][0] + pair(k)[2 * above]).max(left[k][1] + pair(k)[2 * above + 1]);
                let gained = [best(0), best(1)];
                (0..2).for_each(|above| left[parent(k)][above] += gained[above]);
            }
            let expected = left[0][0].max(left[0][1]);
            let started = std::time::Instant::now();
            assert_eq!(largest_sum(&[2; COUNT], functions), DoubleDouble::from(expected));
            // Time that grows with the square of their number would be minutes.
            assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
        }
    }
}
