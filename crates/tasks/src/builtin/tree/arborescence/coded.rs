//! The trees kept of one sentence, compiled: the arcs in which any of them differs from the truth, each once, and which
//! of these every tree has. An arc is scored once, however many trees have it.
//!
//! Compiled: the number of arcs, word and head of each, then for every tree the number of its arcs and the arcs. Arcs
//! of a word stand together.

use multiplane_core::linalg;
use multiplane_core::oracle::Coded;

use super::input::Sentence;
use super::layout::ArborescenceTask;
use crate::builtin::label_codes::counted;

/// Working memory for planes by code.
#[derive(Debug, Default)]
pub(super) struct CodedArcs {
    /// The terms of planes that came without.
    compiled: Vec<u32>,
    /// Scores of arcs less those of the truth's, or their amounts.
    terms: Vec<f64>,
}

/// Compiled trees, in parts.
struct ArcTerms<'a> {
    arcs: &'a [[u32; 2]],
    trees: &'a [u32],
}

impl<'a> ArcTerms<'a> {
    fn new(compiled: &'a [u32]) -> Self {
        let (arcs, trees) = compiled[1..].split_at(2 * compiled[0] as usize);
        ArcTerms { arcs: arcs.as_chunks().0, trees }
    }

    /// The arcs of each tree.
    fn trees(&self) -> impl Iterator<Item = &'a [u32]> {
        counted(self.trees)
    }
}

/// Writes into `out` what `codes` come to.
pub(super) fn compile(truth: &[u32], codes: &[u32], out: &mut Vec<u32>) {
    let (words, mut starts) = (truth.len(), Vec::with_capacity(truth.len() + 1));
    out.clear();
    out.push(0);
    for (word, &right) in truth.iter().enumerate() {
        let start = out.len();
        starts.push(start);
        for &head in codes.iter().skip(word).step_by(words) {
            if head != right && !out[start..].chunks_exact(2).any(|arc| arc[1] == head) {
                out.extend([word as u32, head]);
            }
        }
    }
    starts.push(out.len());
    out[0] = (out.len() / 2) as u32;
    for tree in codes.chunks_exact(words.max(1)) {
        let count = out.len();
        out.push(0);
        for (word, head) in tree.iter().enumerate() {
            let own = &out[starts[word]..starts[word + 1]];
            let place = own.chunks_exact(2).position(|arc| arc[1] == *head);
            out.extend(place.map(|place| (starts[word] / 2 + place) as u32));
        }
        out[count] = (out.len() - count - 1) as u32;
    }
}

impl CodedArcs {
    /// Writes `<w, phi(x, y) - phi(x, truth)>` of every tree.
    pub(super) fn score(
        &mut self,
        task: &ArborescenceTask,
        (x, truth): (&Sentence, &[u32]),
        w: &[f64],
        planes: Coded<'_>,
        out: &mut [f64],
    ) {
        let all = terms(&mut self.compiled, truth, planes);
        self.terms.clear();
        let mut right = (u32::MAX, 0.0);
        for &[word, head] in all.arcs {
            if right.0 != word {
                right = (word, task.arc(x, truth[word as usize], word as usize, w));
            }
            self.terms.push(task.arc(x, head, word as usize, w) - right.1);
        }
        for (out, own) in out.iter_mut().zip(all.trees()) {
            *out = own.iter().map(|&term| self.terms[term as usize]).sum();
        }
    }

    /// Adds `scale * amount` times the plane of each tree to `target`, arc by arc.
    pub(super) fn add(
        &mut self,
        task: &ArborescenceTask,
        (x, truth): (&Sentence, &[u32]),
        planes: Coded<'_>,
        (amounts, scale): (&[f64], f64),
        target: &mut [f64],
    ) {
        let all = terms(&mut self.compiled, truth, planes);
        self.terms.clear();
        self.terms.resize(all.arcs.len(), 0.0);
        for (own, &amount) in all.trees().zip(amounts) {
            if amount != 0.0 {
                own.iter().for_each(|&term| self.terms[term as usize] += amount);
            }
        }
        let mut add = |head: u32, word: usize, amount: f64| {
            let own = x.rows().row(word);
            task.rows_of(x, head, word, |row, value| {
                let weights = &mut target[row * task.features..][..task.features];
                linalg::add_sparse_row(scale * amount * value, own.indices, own.values, weights);
            });
        };
        let mut terms = all.arcs.iter().zip(&self.terms).peekable();
        while let Some((&[word, head], &amount)) = terms.next() {
            let mut total = amount;
            if amount != 0.0 {
                add(head, word as usize, amount);
            }
            while let Some((&[_, head], &amount)) = terms.next_if(|(arc, _)| arc[0] == word) {
                if amount != 0.0 {
                    add(head, word as usize, amount);
                }
                total += amount;
            }
            if total != 0.0 {
                add(truth[word as usize], word as usize, -total);
            }
        }
    }
}

/// Returns the terms that the planes were compiled to, or compiles them.
fn terms<'a>(room: &'a mut Vec<u32>, truth: &[u32], planes: Coded<'a>) -> ArcTerms<'a> {
    if planes.compiled.is_empty() {
        compile(truth, planes.codes, room);
        return ArcTerms::new(room);
    }
    ArcTerms::new(planes.compiled)
}
