//! Local search from a labelling: single nodes, forests of nodes, and small regions that are shaken first.
//!
//! Single nodes: iterated conditional modes (Besag, "On the statistical analysis of dirty pictures", 1986). Shaken
//! regions: iterated local search, with a few nodes at random labels, forests of the region relabelled around them and
//! then with them, and all of it undone where that gained nothing.

use super::forest::ForestMove;
use crate::messages::first_smallest;
use crate::mrf::Mrf;
use crate::pairs::Pairs;

/// The search with its working memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Polish {
    /// Nodes whose neighbours changed since they were looked at.
    pending: Vec<bool>,
    given: Vec<f64>,
    forest: ForestMove,
    all: Vec<u32>,
    random: Random,
    /// Nodes of a region, nearest to its centre first, and the labels that they had.
    region: Vec<u32>,
    before: Vec<u32>,
    inside: Vec<bool>,
    shuffled: Vec<u32>,
}

/// Most nodes of a region.
const REGION: u32 = 40;
/// Most nodes of a region that are set to random labels.
const SHAKEN: u32 = 3;
/// Forests relabelled in a shaken region.
const FORESTS: usize = 4;

impl Polish {
    /// Makes room for a model and begins the sequence of random choices anew.
    pub(super) fn fit(&mut self, problem: &Mrf) {
        let nodes = problem.nodes();
        self.pending.clear();
        self.pending.resize(nodes, true);
        self.inside.clear();
        self.inside.resize(nodes, false);
        self.all.clear();
        self.all.extend(0..nodes as u32);
        self.forest.fit(problem);
        self.random = Random::default();
    }

    /// Lets single nodes improve until none can.
    pub(super) fn single_nodes(&mut self, problem: &Mrf, pairs: &Pairs, labels: &mut [u32]) {
        self.pending.fill(true);
        let mut changed = true;
        while changed {
            changed = false;
            for node in 0..labels.len() as u32 {
                if !std::mem::replace(&mut self.pending[node as usize], false) {
                    continue;
                }
                self.given.clear();
                self.given.extend_from_slice(problem.unary(node));
                for neighbour in pairs.neighbours(node) {
                    let form = pairs.form(problem, neighbour.pair, neighbour.node);
                    form.add_energies(labels[neighbour.node as usize], &mut self.given);
                }
                let label = first_smallest(&self.given) as u32;
                if self.given[label as usize] < self.given[labels[node as usize] as usize] {
                    labels[node as usize] = label;
                    changed = true;
                    pairs.neighbours(node).iter().for_each(|neighbour| self.pending[neighbour.node as usize] = true);
                }
            }
        }
    }

    /// Relabels a random forest that spans as many nodes as it can. Costs about half an iteration of messages.
    pub(super) fn forest(&mut self, problem: &Mrf, pairs: &Pairs, labels: &mut [u32]) {
        self.random.shuffle(&mut self.all);
        self.forest.relabel(problem, pairs, &self.all, labels);
    }

    /// Shakes a random region and returns the change of energy; undoes it if that is an increase of more than a random
    /// share of `tolerated`.
    pub(super) fn shake(&mut self, problem: &Mrf, pairs: &Pairs, tolerated: f64, labels: &mut [u32]) -> f64 {
        self.draw_region(pairs, labels.len());
        self.before.clear();
        self.before.extend(self.region.iter().map(|&node| labels[node as usize]));
        let before = self.energy(problem, pairs, labels);
        let shaken = (1 + self.random.below(SHAKEN) as usize).min(self.region.len());
        for &node in &self.region[..shaken] {
            let label = self.random.below(problem.labels(node) as u32);
            if problem.unary(node)[label as usize].is_finite() {
                labels[node as usize] = label;
            }
        }
        for round in 0..FORESTS {
            self.shuffled.clear();
            self.shuffled.extend_from_slice(&self.region[if round == 0 { shaken } else { 0 }..]);
            self.random.shuffle(&mut self.shuffled);
            self.forest.relabel(problem, pairs, &self.shuffled, labels);
        }
        let change = self.energy(problem, pairs, labels) - before;
        let share = f64::from(self.random.below(1 << 20)) / f64::from(1 << 20);
        let kept = change < 0.0 || change < share * tolerated;
        for (&node, &label) in self.region.iter().zip(&self.before) {
            self.inside[node as usize] = false;
            if !kept {
                labels[node as usize] = label;
            }
        }
        if kept { change } else { 0.0 }
    }

    /// Returns the nodes nearest to a random one.
    fn draw_region(&mut self, pairs: &Pairs, nodes: usize) {
        let size = 1 + self.random.below(REGION) as usize;
        let centre = self.random.below(nodes as u32);
        self.region.clear();
        self.region.push(centre);
        self.inside[centre as usize] = true;
        let mut next = 0;
        while next < self.region.len() && self.region.len() < size {
            for neighbour in pairs.neighbours(self.region[next]) {
                if self.region.len() < size && !std::mem::replace(&mut self.inside[neighbour.node as usize], true) {
                    self.region.push(neighbour.node);
                }
            }
            next += 1;
        }
    }

    /// Returns the energy of everything that touches the region.
    fn energy(&self, problem: &Mrf, pairs: &Pairs, labels: &[u32]) -> f64 {
        let mut energy = 0.0;
        for &node in &self.region {
            energy += problem.unary(node)[labels[node as usize] as usize];
            for neighbour in pairs
                .neighbours(node)
                .iter()
                .filter(|neighbour| neighbour.node > node || !self.inside[neighbour.node as usize])
            {
                let form = pairs.form(problem, neighbour.pair, node);
                energy += form.energy(labels[node as usize], labels[neighbour.node as usize]);
            }
        }
        energy
    }
}

/// Random choices that are the same in every run (SplitMix64).
#[derive(Clone, Debug, Default)]
struct Random(u64);

impl Random {
    /// Draws uniformly below a positive number, up to 1 in 2^32.
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((((bits ^ (bits >> 31)) >> 32) * u64::from(end)) >> 32) as u32
    }

    fn shuffle(&mut self, nodes: &mut [u32]) {
        for last in (1..nodes.len()).rev() {
            nodes.swap(last, self.below(last as u32 + 1) as usize);
        }
    }
}
