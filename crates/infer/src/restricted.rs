//! Recombination: the best labelling that a few known labellings can be put together from.
//!
//! Learning keeps labellings that were once the answer for other energies. For the present energies none of them may be
//! good, but a combination, taking each node's label from one or another, often is, and it is far cheaper to find than
//! a new answer: nodes on which all agree are constants.
//!
//! - Two labels and submodular edges: one minimum cut over the nodes on which they differ, exactly the best of all
//!   combinations.
//! - Many labels, Potts or metric edges: expansion moves from the best of the given labellings, in which a node may
//!   take only labels that it has in one of them. (One cut cannot fuse two arbitrary labellings, not even for two
//!   labels per node: `[a != b]` between nodes of which one swaps its labels is not submodular.) The result is never
//!   above the best given labelling and no move among the seen labels lowers it.
//!
//! Cost: O((nodes + edges) * labellings) to look at them, and the cuts.

use crate::error::InferError;
use crate::expansion::Expansion;
use crate::min_cut::MinCut;
use crate::mrf::Mrf;

/// Finds combinations of labellings; keeps its memory from call to call.
///
/// ```
/// use multiplane_infer::{Mrf, Term, restricted::Restricted};
/// let mut mrf = Mrf::new();
/// let nodes = [[0.0, 2.0], [0.0, 2.0], [2.0, 0.0]].map(|unary| mrf.add_node(&unary).unwrap());
/// let potts = mrf.add_term(Term::Potts)?;
/// mrf.add_edge(nodes[0], nodes[1], potts, 1.0)?;
/// mrf.add_edge(nodes[1], nodes[2], potts, 1.0)?;
/// let (one, other) = (vec![0, 0, 0], vec![1, 0, 1]);
/// let mut labels = Vec::new();
/// let found = Restricted::default().solve(&mrf, [&one[..], &other[..]].into_iter(), &mut labels)?;
/// assert_eq!((found.energy, found.best, labels), (1.0, 0, vec![0, 0, 1]));
/// assert!(found.exact);
/// # Ok::<(), multiplane_infer::InferError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Restricted {
    cut: MinCut,
    expansion: Expansion,
    /// One bit per node and label that the node has in some labelling; `words` numbers per node.
    seen: Vec<u64>,
    words: usize,
}

/// A combination of labellings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recombined {
    /// Its energy; `+inf` where all labellings are forbidden.
    pub energy: f64,
    /// Number of the best labelling given; the first of equals.
    pub best: usize,
    /// Energy of the best labelling given: never below `energy`.
    pub best_energy: f64,
    /// True if no combination is lower, up to rounding.
    pub exact: bool,
}

impl Restricted {
    /// Writes the best combination found into `labels`. Forbidden labellings are left out.
    ///
    /// # Errors
    /// [`InferError::Invalid`] where no labelling is given, or one that does not fit the model;
    /// [`InferError::DoesNotApply`] where neither engine takes the model.
    pub fn solve<'a>(
        &mut self,
        problem: &Mrf,
        known: impl Iterator<Item = &'a [u32]> + Clone,
        labels: &mut Vec<u32>,
    ) -> Result<Recombined, InferError> {
        let (best, best_energy) = self.look(problem, known.clone())?;
        let start = known.clone().nth(best).ok_or_else(|| InferError::invalid("found no labelling to combine"))?;
        labels.clear();
        labels.extend_from_slice(start);
        let kept = Recombined { energy: best_energy, best, best_energy, exact: true };
        if best_energy == f64::INFINITY || self.seen.chunks_exact(self.words).all(|seen| count(seen) == 1) {
            return Ok(kept);
        }
        let exact = problem.most_labels() <= 2;
        if exact {
            let words = self.words;
            let agreed = |node: usize| {
                let seen = &self.seen[node * words..(node + 1) * words];
                (count(seen) == 1).then(|| seen[0].trailing_zeros())
            };
            self.cut.solve_given(problem, agreed, labels)?;
        } else {
            let (seen, words) = (&self.seen, self.words);
            self.expansion.improve_among(problem, |node, label| has(&seen[node * words..], label), labels)?;
        }
        let energy = problem.energy(labels);
        if energy < best_energy {
            return Ok(Recombined { energy, exact, ..kept });
        }
        labels.clear();
        labels.extend_from_slice(start);
        Ok(Recombined { exact, ..kept })
    }

    /// Finds the best labelling, and which labels each node has in those that are allowed.
    fn look<'a>(&mut self, problem: &Mrf, known: impl Iterator<Item = &'a [u32]>) -> Result<(usize, f64), InferError> {
        self.words = problem.most_labels().div_ceil(64).max(1);
        self.seen.clear();
        self.seen.resize(problem.nodes() * self.words, 0);
        let mut best = (0, f64::INFINITY);
        for (index, labelling) in known.enumerate() {
            check(problem, index, labelling)?;
            let energy = problem.energy(labelling);
            if energy == f64::INFINITY {
                continue;
            }
            if energy < best.1 {
                best = (index, energy);
            }
            for (seen, &label) in self.seen.chunks_exact_mut(self.words).zip(labelling) {
                seen[label as usize / 64] |= 1 << (label % 64);
            }
        }
        Ok(best)
    }
}

fn count(seen: &[u64]) -> u32 {
    seen.iter().map(|word| word.count_ones()).sum()
}

fn has(seen: &[u64], label: u32) -> bool {
    seen[label as usize / 64] >> (label % 64) & 1 == 1
}

fn check(problem: &Mrf, index: usize, labelling: &[u32]) -> Result<(), InferError> {
    if labelling.len() != problem.nodes() {
        let (found, nodes) = (labelling.len(), problem.nodes());
        return Err(InferError::invalid(format!("labelling {index}: found {found} labels, expected {nodes}")));
    }
    let outside = |&(node, &label): &(usize, &u32)| label as usize >= problem.labels(node as u32);
    if let Some((node, label)) = labelling.iter().enumerate().find(outside) {
        let labels = problem.labels(node as u32);
        return Err(InferError::invalid(format!(
            "labelling {index}: found label {label} at node {node}, expected one below {labels}"
        )));
    }
    Ok(())
}
