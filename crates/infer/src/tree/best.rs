//! The M best labellings of a forest, in order: sorted lists that grow only as far as they are read.
//!
//! Each node and label has a list of the labellings of its subtree, made of its children's lists by sums (children are
//! independent) and choices (of the child's label). After one run of max-product, each further labelling costs
//! O(nodes + touched lists * log labels), plus O(labels) for each list that is touched first. Huang and Chiang,
//! "Better k-best parsing" (IWPT 2005), algorithm 3, on the lists of Nilsson, "An efficient algorithm for finding the
//! M most probable configurations" (1998).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::engine::Answer;
use crate::forest::{ParentLink, RootedForest};
use crate::mrf::Mrf;
use crate::several::RankedLabelling;

/// Returns the `count` labellings of lowest energy, lowest first; fewer if no more have a finite energy. No labelling
/// comes twice. Ties come in an order that depends on nothing but the model.
///
/// The forest must be that of the model, its messages collected.
pub(super) fn labellings(forest: &RootedForest, problem: &Mrf, count: usize) -> Vec<RankedLabelling> {
    let mut lists = Lists::new(problem, forest);
    let top = lists.top();
    let mut found: Vec<RankedLabelling> = Vec::new();
    while found.len() < count && lists.get(top, found.len() as u32).is_some() {
        let labels = lists.labelling(top, found.len() as u32);
        let energy = problem.energy(&labels);
        found.push(RankedLabelling { labels, answer: Answer { energy, bound: energy, iterations: 1 } });
    }
    // Sums in another order may differ in the last bits from those that the lists are sorted by.
    found.sort_by(|a, b| a.answer.energy.total_cmp(&b.answer.energy));
    found
}

/// Index of a list.
type Index = u32;
const NONE: Index = u32::MAX;

/// The source of the entries of a list.
#[derive(Clone, Copy, Debug)]
enum ListSource {
    /// Nothing: there is one entry, of this cost.
    Single(f64),
    /// An entry of each of two lists.
    Sum(Index, Index),
    /// A label of a node and an entry of that label's list, given the label of the parent if there is one.
    Choice { node: u32, parent_label: u32 },
}

/// An entry: its cost, and the two ranks of a sum, or the label of a choice and the rank in its list.
#[derive(Clone, Copy, Debug)]
struct Entry {
    cost: f64,
    left: u32,
    right: u32,
}

/// The lowest cost is the greatest, so that heaps have it on top; ties go to the lower indices.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then((other.left, other.right).cmp(&(self.left, self.right)))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

#[derive(Clone, Debug)]
struct List {
    source: ListSource,
    /// The entries known, in order.
    found: Vec<Entry>,
    candidates: BinaryHeap<Entry>,
    /// Coordinates of candidates whose cost is not known yet.
    pending: Vec<(u32, u32)>,
    started: bool,
    complete: bool,
}

/// The outcome of reading an entry of another list.
enum Lookup {
    Cost(f64),
    Missing,
    Wanted(Index, u32),
}

struct Lists<'a> {
    problem: &'a Mrf,
    forest: &'a RootedForest,
    children: Vec<Vec<u32>>,
    lists: Vec<List>,
    /// The list of each node and label, laid out as the model's unaries; made when first asked for.
    of_label: Vec<Index>,
}

impl<'a> Lists<'a> {
    fn new(problem: &'a Mrf, forest: &'a RootedForest) -> Self {
        let mut children = vec![Vec::new(); problem.nodes()];
        for &node in &forest.order {
            if let Some(ParentLink { parent, .. }) = forest.links[node as usize] {
                children[parent as usize].push(node);
            }
        }
        Lists { problem, forest, children, lists: Vec::new(), of_label: vec![NONE; problem.unaries().len()] }
    }

    fn add(&mut self, source: ListSource) -> Index {
        let (found, candidates, pending) = Default::default();
        self.lists.push(List { source, found, candidates, pending, started: false, complete: false });
        self.lists.len() as Index - 1
    }

    /// Makes the list of all labellings of the forest.
    fn top(&mut self) -> Index {
        let mut top = self.add(ListSource::Single(0.0));
        let forest = self.forest;
        for &node in forest.order.iter().filter(|&&node| forest.links[node as usize].is_none()) {
            let tree = self.add(ListSource::Choice { node, parent_label: 0 });
            top = self.add(ListSource::Sum(top, tree));
        }
        top
    }

    /// Returns the list of the labellings of a node's subtree in which the node has this label.
    fn of_label(&mut self, node: u32, label: u32) -> Index {
        let at = self.problem.offsets()[node as usize] + label as usize;
        if self.of_label[at] == NONE {
            let mut list = self.add(ListSource::Single(self.problem.unaries()[at]));
            for child in 0..self.children[node as usize].len() {
                let child = self.children[node as usize][child];
                let choice = self.add(ListSource::Choice { node: child, parent_label: label });
                list = self.add(ListSource::Sum(list, choice));
            }
            self.of_label[at] = list;
        }
        self.of_label[at]
    }

    /// Returns the energy of the edge to the parent.
    fn link_energy(&self, node: u32, parent_label: u32, label: u32) -> f64 {
        match self.forest.links[node as usize] {
            Some(ParentLink { parent, pair }) => {
                self.forest.pairs.form(self.problem, pair, parent).energy(parent_label, label)
            }
            None => 0.0,
        }
    }

    /// Returns the entry of a rank, counted from 0; none where the list is shorter.
    fn get(&mut self, list: Index, rank: u32) -> Option<Entry> {
        if let Some(&entry) = self.lists[list as usize].found.get(rank as usize) {
            return Some(entry);
        }
        // Not recursive: lists depend on others as deep as the tree is high.
        let mut wanted = vec![(list, rank)];
        while let Some(&(list, rank)) = wanted.last() {
            match self.read(list, rank) {
                Lookup::Wanted(..) => self.advance(list, &mut wanted),
                _ => drop(wanted.pop()),
            }
        }
        self.lists[list as usize].found.get(rank as usize).copied()
    }

    fn read(&self, list: Index, rank: u32) -> Lookup {
        let (index, list) = (list, &self.lists[list as usize]);
        match list.found.get(rank as usize) {
            Some(entry) => Lookup::Cost(entry.cost),
            None if list.complete => Lookup::Missing,
            None => Lookup::Wanted(index, rank),
        }
    }

    /// Finds a list's next entry or that there is none, or wants an entry of another list first.
    fn advance(&mut self, index: Index, wanted: &mut Vec<(Index, u32)>) {
        self.start(index);
        let source = self.lists[index as usize].source;
        while let Some(&(left, right)) = self.lists[index as usize].pending.last() {
            match self.cost(source, left, right) {
                Lookup::Cost(cost) => self.lists[index as usize].candidates.push(Entry { cost, left, right }),
                Lookup::Missing => {}
                Lookup::Wanted(list, rank) => return wanted.push((list, rank)),
            }
            self.lists[index as usize].pending.pop();
        }
        let list = &mut self.lists[index as usize];
        match list.candidates.pop() {
            None => list.complete = true,
            Some(entry) => {
                list.found.push(entry);
                let Entry { left, right, .. } = entry;
                match source {
                    ListSource::Single(_) => {}
                    ListSource::Choice { .. } => list.pending.push((left, right + 1)),
                    ListSource::Sum(..) => {
                        // Each pair of ranks follows exactly one other, that does not cost more.
                        list.pending.push((left, right + 1));
                        if right == 0 {
                            list.pending.push((left + 1, 0));
                        }
                    }
                }
            }
        }
    }

    /// Finds the first candidates of a list.
    fn start(&mut self, index: Index) {
        if std::mem::replace(&mut self.lists[index as usize].started, true) {
            return;
        }
        let mut first = Vec::new();
        match self.lists[index as usize].source {
            ListSource::Single(cost) => first.push(Entry { cost, left: 0, right: 0 }),
            ListSource::Sum(..) => self.lists[index as usize].pending.push((0, 0)),
            ListSource::Choice { node, parent_label } => {
                // Max-product has told the best of every label, so no label's list is touched for it.
                let start = self.problem.offsets()[node as usize];
                for left in 0..self.problem.labels(node) as u32 {
                    let below = self.forest.below[start + left as usize];
                    first.push(Entry { cost: below + self.link_energy(node, parent_label, left), left, right: 0 });
                }
            }
        }
        first.retain(|entry| entry.cost < f64::INFINITY);
        self.lists[index as usize].candidates = first.into();
    }

    /// Returns what a sum's or choice's entry of these coordinates costs.
    fn cost(&mut self, source: ListSource, left: u32, right: u32) -> Lookup {
        match source {
            ListSource::Single(_) => Lookup::Missing,
            ListSource::Sum(a, b) => match (self.read(a, left), self.read(b, right)) {
                (Lookup::Cost(a), Lookup::Cost(b)) => Lookup::Cost(a + b),
                (Lookup::Missing, _) | (_, Lookup::Missing) => Lookup::Missing,
                (wanted @ Lookup::Wanted(..), _) | (_, wanted) => wanted,
            },
            ListSource::Choice { node, parent_label } => {
                let list = self.of_label(node, left);
                match self.read(list, right) {
                    Lookup::Cost(cost) => Lookup::Cost(cost + self.link_energy(node, parent_label, left)),
                    other => other,
                }
            }
        }
    }

    /// Returns the labelling that an entry stands for.
    fn labelling(&mut self, top: Index, rank: u32) -> Vec<u32> {
        let mut labels = vec![0; self.problem.nodes()];
        let mut parts = vec![(top, rank)];
        while let Some((list, rank)) = parts.pop() {
            let entry = self.get(list, rank);
            let Entry { left, right, .. } = entry.expect("parts of an entry are entries");
            match self.lists[list as usize].source {
                ListSource::Single(_) => {}
                ListSource::Sum(a, b) => parts.extend([(a, left), (b, right)]),
                ListSource::Choice { node, .. } => {
                    labels[node as usize] = left;
                    parts.push((self.of_label(node, left), right));
                }
            }
        }
        labels
    }
}
