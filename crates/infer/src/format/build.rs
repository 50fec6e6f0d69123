//! The builder of all readers of pairwise models: functions are added one by one, and become a [`Mrf`] at the end.
//!
//! Memory follows what the file holds. What it only implies (labels without energies, tables filled with a default)
//! is limited. Equal tables become one term, found by their hash, and tables of 0 and one positive number
//! [`Term::Potts`].

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

use super::entry::Instance;
use super::words::Scope;
use crate::mrf::{Edge, Mrf};
use crate::term::{Table, Term};

/// Most numbers that a file may imply without holding them: a quarter of a gigabyte.
const IMPLIED_LIMIT: u64 = 1 << 25;

/// Why a function cannot be added: what was found, and the rule.
pub(super) type BuildFault = String;

/// A model that is being read.
pub(super) struct Build {
    labels: Vec<u32>,
    /// Sums of unary energies; empty where there was none.
    unary: Vec<Vec<f64>>,
    constant: f64,
    terms: Vec<Term>,
    edges: Vec<(u32, u32, u32, f64)>,
    /// The first term with a hash.
    found: BTreeMap<u64, u32>,
    implied: u64,
    /// True if a function of at most one variable forbids every labelling.
    forbidden: bool,
}

impl Build {
    /// Makes a model of variables with these numbers of labels.
    pub(super) fn new(labels: Vec<u32>) -> Self {
        Build {
            unary: vec![Vec::new(); labels.len()],
            labels,
            constant: 0.0,
            terms: Vec::new(),
            edges: Vec::new(),
            found: BTreeMap::new(),
            implied: 0,
            forbidden: false,
        }
    }

    /// Returns the number of variables.
    pub(super) fn variables(&self) -> usize {
        self.labels.len()
    }

    /// Returns the number of labels of a variable.
    pub(super) fn labels(&self, variable: u32) -> u32 {
        self.labels[variable as usize]
    }

    /// Returns the number of entries of a function of these variables.
    pub(super) fn entries(&self, scope: &[u32]) -> u64 {
        scope.iter().map(|&variable| u64::from(self.labels(variable))).product()
    }

    /// Accounts for numbers that the file implies.
    pub(super) fn imply(&mut self, numbers: u64) -> Result<(), BuildFault> {
        self.implied = self.implied.saturating_add(numbers);
        match self.implied <= IMPLIED_LIMIT {
            true => Ok(()),
            false => Err(format!(
                "found {} energies that the file implies without holding them, expected at most {IMPLIED_LIMIT}",
                self.implied
            )),
        }
    }

    /// Takes back what turned out to stand in the file.
    pub(super) fn hold(&mut self, numbers: u64) {
        self.implied = self.implied.saturating_sub(numbers);
    }

    /// Adds a function of at most two different variables; the last one's label changes fastest.
    pub(super) fn add(&mut self, scope: &[u32], energies: &[f64]) -> Result<(), BuildFault> {
        match *scope {
            [] => self.add_constant(energies[0]),
            [variable] => self.add_unary(variable, energies),
            [tail, head] => self.add_pair(tail, head, energies),
            _ => unreachable!("readers refuse larger scopes"),
        }
    }

    fn add_constant(&mut self, energy: f64) -> Result<(), BuildFault> {
        self.forbidden |= energy == f64::INFINITY;
        self.constant = sum(self.constant, energy)?;
        Ok(())
    }

    fn add_unary(&mut self, variable: u32, energies: &[f64]) -> Result<(), BuildFault> {
        let sums = &mut self.unary[variable as usize];
        match sums.is_empty() {
            true => sums.extend_from_slice(energies),
            false => {
                for (total, &energy) in sums.iter_mut().zip(energies) {
                    *total = sum(*total, energy)?;
                }
            }
        }
        self.forbidden |= sums.iter().all(|energy| !energy.is_finite());
        Ok(())
    }

    fn add_pair(&mut self, tail: u32, head: u32, energies: &[f64]) -> Result<(), BuildFault> {
        let columns = self.labels(head) as usize;
        let (term, weight) = match potts(columns, energies) {
            Some(weight) => (Term::Potts, weight),
            None => (Term::Table(Table::new(columns, energies.to_vec()).map_err(|error| error.to_string())?), 1.0),
        };
        let at = self.intern(term);
        self.edges.push((tail, head, at, weight));
        Ok(())
    }

    /// Returns the number of functions of two variables.
    pub(super) fn pairs(&self) -> usize {
        self.edges.len()
    }

    /// Adds the `pair`-th function of two variables once more, to others with as many labels.
    pub(super) fn add_again(&mut self, pair: usize, tail: u32, head: u32) {
        let (_, _, term, weight) = self.edges[pair];
        self.edges.push((tail, head, term, weight));
    }

    /// Returns the index of a term, an earlier one if it is the same. One whose hash another has is kept twice.
    fn intern(&mut self, term: Term) -> u32 {
        let new = self.terms.len() as u32;
        let at = *self.found.entry(hash(&term)).or_insert(new);
        if at != new && self.terms[at as usize] == term {
            return at;
        }
        self.terms.push(term);
        new
    }

    /// Makes the model of all functions that were added.
    pub(super) fn finish(mut self) -> Result<Instance, BuildFault> {
        if self.forbidden {
            return Ok(Instance::Forbidden { variables: self.labels.len(), edges: self.edges.len() });
        }
        let absent = |(unary, labels): (&Vec<f64>, &u32)| if unary.is_empty() { u64::from(*labels) } else { 0 };
        let implied = self.unary.iter().zip(&self.labels).map(absent).sum();
        self.imply(implied)?;
        let mut mrf = Mrf::new();
        let mut zeros = Vec::new();
        for (unary, &labels) in self.unary.iter_mut().zip(&self.labels) {
            let unary = std::mem::take(unary);
            if unary.is_empty() {
                zeros.resize(labels as usize, 0.0);
            }
            mrf.add_node(if unary.is_empty() { &zeros } else { &unary }).map_err(|error| error.to_string())?;
        }
        for term in self.terms {
            mrf.add_term(term).map_err(|error| error.to_string())?;
        }
        for (tail, head, term, weight) in self.edges {
            mrf.add_edge(tail, head, term, weight).map_err(|error| error.to_string())?;
        }
        mrf.add_constant(self.constant).map_err(|error| error.to_string())?;
        Ok(Instance::Mrf(mrf))
    }
}

/// Returns a sum that does not turn finite numbers into what forbids.
fn sum(total: f64, energy: f64) -> Result<f64, BuildFault> {
    let new = total + energy;
    match new.is_finite() || total == f64::INFINITY || energy == f64::INFINITY {
        true => Ok(new),
        false => {
            Err(format!("found energies {total:e} and {energy:e} to be added, expected a sum that is a finite number"))
        }
    }
}

/// Returns the weight of a square table that is 0 where labels agree and one positive number elsewhere.
fn potts(columns: usize, energies: &[f64]) -> Option<f64> {
    let weight = *energies.get(1)?;
    let is_potts = |(at, &energy): (usize, &f64)| {
        let agree = at / columns == at % columns;
        energy == if agree { 0.0 } else { weight }
    };
    let square = columns > 1 && energies.len() == columns * columns;
    (square && weight > 0.0 && weight.is_finite() && energies.iter().enumerate().all(is_potts)).then_some(weight)
}

fn hash(term: &Term) -> u64 {
    let mut hasher = DefaultHasher::new(); // its function is fixed
    if let Term::Table(table) = term {
        hasher.write_usize(table.columns());
        table.values().iter().for_each(|value| hasher.write_u64(value.to_bits()));
    }
    hasher.finish()
}

/// A function for others to share the costs of.
pub(super) struct SharedCosts {
    scope: Scope,
    /// Of at most one variable.
    energies: Vec<f64>,
    /// Of two variables: its number among the pairwise ones.
    pair: usize,
}

impl SharedCosts {
    /// Makes the record of the function that is added to the model next.
    pub(super) fn next(build: &Build, scope: Scope, energies: &[f64]) -> Self {
        let energies = if scope.as_slice().len() < 2 { energies.to_vec() } else { Vec::new() };
        SharedCosts { scope, energies, pair: build.pairs() }
    }

    /// Adds a function of other variables with the same costs.
    pub(super) fn add(&self, build: &mut Build, scope: &Scope) -> Result<(), BuildFault> {
        let labels =
            |scope: &Scope| scope.as_slice().iter().map(|&variable| build.labels(variable)).collect::<Vec<_>>();
        let (found, expected) = (labels(scope), labels(&self.scope));
        if found != expected {
            return Err(format!(
                "found a function on {found:?} labels with the costs of one on {expected:?}, expected the same numbers"
            ));
        }
        match scope.as_slice() {
            &[tail, head] => build.add_again(self.pair, tail, head),
            few => {
                build.imply(self.energies.len() as u64)?;
                build.add(few, &self.energies)?;
            }
        }
        Ok(())
    }
}

/// Returns a number that the energy of no allowed labelling, and no finite energy of a function, is above; not
/// negative.
pub(super) fn greatest_sum(mrf: &Mrf) -> f64 {
    let greatest = |energies: &mut dyn Iterator<Item = f64>| energies.filter(|e| e.is_finite()).fold(0.0, f64::max);
    let unary = (0..mrf.nodes() as u32).map(|node| greatest(&mut mrf.unary(node).iter().copied())).sum::<f64>();
    let pairs = mrf.edges().iter().map(|edge| greatest(&mut pairwise(mrf, edge))).sum::<f64>();
    mrf.constant().max(0.0) + unary + pairs
}

/// Returns the energies of an edge, the head's label changing fastest.
pub(super) fn pairwise<'a>(mrf: &'a Mrf, edge: &'a Edge) -> impl Iterator<Item = f64> + Clone + 'a {
    let (rows, columns) = (mrf.labels(edge.tail) as u32, mrf.labels(edge.head) as u32);
    let pairs = (0..rows).flat_map(move |a| (0..columns).map(move |b| (a, b)));
    pairs.map(|(a, b)| mrf.edge_energy(edge, a, b))
}
