//! Hinge and planes of sentences by plain code, for `verify`: twice the digits, features by their definition, and a
//! search of its own: cycles of best heads are contracted in a table of all arcs, and every word is tried as the root's
//! only child.

use std::cmp::Ordering;

use super::input::Sentence;
use super::layout::ArborescenceTask;
use crate::double_double::DoubleDouble;
use crate::reference::{AddFeature, row_features};

/// `[head][word]`: scores of arcs, the root being 0; nothing where there is none.
type ArcTable = Vec<Vec<Option<DoubleDouble>>>;

impl ArborescenceTask {
    /// Returns the places where the weights of an arc's rows begin, with their amounts.
    fn plain_rows(&self, x: &Sentence, head: usize, word: usize) -> Vec<(usize, f64)> {
        let (d, buckets) = (self.features, self.distances.len() + 1);
        if head == 0 {
            return vec![(0, 1.0)];
        }
        let (head, direction) = (head - 1, usize::from(head - 1 > word));
        let far = head.max(word) - head.min(word);
        let bucket = (0..buckets - 1).find(|&k| far <= self.distances[k] as usize).unwrap_or(buckets - 1);
        let mut rows = vec![(d * (1 + direction * buckets + bucket), 1.0)];
        let pairs = d * (1 + 2 * buckets);
        rows.extend(x.rows().row(head).iter().map(|(f, value)| (pairs + d * (2 * f as usize + direction), value)));
        rows
    }

    fn plain_arc(&self, x: &Sentence, head: usize, word: usize, w: &[f64]) -> DoubleDouble {
        let of_row = |(start, amount): (usize, f64)| {
            let term = |(g, value)| DoubleDouble::product(amount, value) * w[start + g as usize];
            x.rows().row(word).iter().map(term).sum::<DoubleDouble>()
        };
        self.plain_rows(x, head, word).into_iter().map(of_row).sum()
    }

    /// `max_y (loss + score) - score of the truth`.
    pub(super) fn plain_hinge(&self, x: &Sentence, truth: &[u32], w: &[f64]) -> f64 {
        let words = x.words();
        let mut table: ArcTable = vec![vec![None; words + 1]; words + 1];
        let mut of_truth = DoubleDouble::ZERO;
        for word in 0..words {
            for head in (0..=words).filter(|&head| head != word + 1) {
                let (score, right) = (self.plain_arc(x, head, word, w), truth[word] as usize == head);
                let cost = if right { 0.0 } else { self.cost(words) };
                table[head][word + 1] = Some(score + cost.into());
                of_truth = if right { of_truth + score } else { of_truth };
            }
        }
        let best = if self.single_root && words > 0 {
            let alone = |child: usize| {
                let mut table = table.clone();
                (1..=words).filter(|&word| word != child).for_each(|word| table[0][word] = None);
                largest(table)
            };
            (1..=words).filter_map(alone).reduce(DoubleDouble::max)
        } else {
            largest(table)
        };
        best.map_or(0.0, |best| (best - of_truth).value())
    }

    /// Hands over `scale * phi(x, y)`, one occurrence after the other.
    pub(super) fn plain_features(&self, x: &Sentence, y: &[u32], scale: f64, add: AddFeature<'_>) {
        for (word, &head) in y.iter().enumerate() {
            for (start, amount) in self.plain_rows(x, head as usize, word) {
                row_features(x.rows().row(word), start, scale * amount, add);
            }
        }
    }
}

/// Returns the score of the best tree: that of the best heads where these make no cycle; else that of the cycle, and of
/// the best tree of a graph in which the cycle is one vertex and arcs into it lose what they replace.
fn largest(mut table: ArcTable) -> Option<DoubleDouble> {
    let mut sum = DoubleDouble::ZERO;
    loop {
        let count = table.len();
        let mut heads = vec![0; count];
        for word in 1..count {
            let by_score =
                |a: &usize, b: &usize| table[*a][word].partial_cmp(&table[*b][word]).unwrap_or(Ordering::Equal);
            heads[word] = (0..count).max_by(by_score)?;
            table[heads[word]][word]?;
        }
        let best = |word: usize| table[heads[word]][word].unwrap_or_default();
        let Some(cycle) = cycle_of(&heads) else { return Some(sum + (1..count).map(best).sum::<DoubleDouble>()) };
        sum = sum + cycle.iter().map(|&word| best(word)).sum::<DoubleDouble>();
        let rest: Vec<usize> = (0..count).filter(|vertex| !cycle.contains(vertex)).collect();
        let mut next: ArcTable = rest.iter().map(|&a| rest.iter().map(|&b| table[a][b]).collect()).collect();
        let higher = |a: Option<DoubleDouble>, b: Option<DoubleDouble>| if b > a { b } else { a };
        for (row, &head) in next.iter_mut().zip(&rest) {
            row.push(cycle.iter().map(|&word| table[head][word].map(|score| score - best(word))).fold(None, higher));
        }
        let out = |&word: &usize| cycle.iter().map(|&head| table[head][word]).fold(None, higher);
        next.push(rest.iter().map(out).chain([None]).collect());
        next.iter_mut().for_each(|row| row[0] = None);
        table = next;
    }
}

/// A cycle of heads, if there is one.
fn cycle_of(heads: &[usize]) -> Option<Vec<usize>> {
    (1..heads.len()).find_map(|start| {
        let mut cycle = vec![start];
        let mut at = heads[start];
        while at != 0 && at != start && cycle.len() < heads.len() {
            cycle.push(at);
            at = heads[at];
        }
        (at == start).then_some(cycle)
    })
}
