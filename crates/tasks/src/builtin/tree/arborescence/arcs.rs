//! Writes sums of arcs' features as planes: entry by entry and sorted, or, where there are more entries than pairs of
//! the sentence's features, in a table of these.

use multiplane_core::linalg;
use multiplane_core::plane::Plane;

use super::input::Sentence;
use super::layout::ArborescenceTask;

/// Sorting an entry takes as long as that many cells of a table.
const CELLS_PER_ENTRY: usize = 4;

/// An arc with its amount: head (0 for the root, else from 1), word (from 0), amount.
pub(super) type Arc = (u32, usize, f64);

/// Working memory.
#[derive(Debug, Default)]
pub(super) struct ArcSums {
    pub(super) arcs: Vec<Arc>,
    /// `[row][column]`, of the rows and columns that the sentence has.
    table: Vec<f64>,
}

impl ArcSums {
    /// Writes `scale` times the sum of the features of `arcs` into a plane that is empty, and seals it.
    pub(super) fn write(&mut self, task: &ArborescenceTask, x: &Sentence, scale: f64, out: &mut Plane) {
        let (rows, columns) = (x.rows(), x.columns().len());
        let size = |word: usize| rows.row(word).indices.len();
        let head_size = |head: u32| 1 + if head > 0 { size(head as usize - 1) } else { 0 };
        let entries: usize = self.arcs.iter().map(|&(head, word, _)| head_size(head) * size(word)).sum();
        if (task.fixed_rows() + 2 * columns) * columns > CELLS_PER_ENTRY * entries {
            for &(head, word, amount) in &self.arcs {
                let own = rows.row(word);
                task.rows_of(x, head, word, |row, value| {
                    out.extend_scaled((row * task.features) as u32, own.indices, scale * amount * value, own.values);
                });
            }
        } else {
            self.fill(task, x);
            let fixed = task.fixed_rows();
            for (place, sums) in self.table.chunks_exact(columns.max(1)).enumerate() {
                let row = match place.checked_sub(fixed) {
                    Some(pair) => fixed + 2 * x.columns()[pair / 2] as usize + pair % 2,
                    None => place,
                };
                out.extend_table((row * task.features) as u32, 0, x.columns(), sums, scale);
            }
        }
        out.seal();
    }

    /// Adds all arcs up.
    fn fill(&mut self, task: &ArborescenceTask, x: &Sentence) {
        let (columns, fixed, local) = (x.columns().len(), task.fixed_rows(), x.local());
        self.table.clear();
        self.table.resize((fixed + 2 * columns) * columns, 0.0);
        for &(head, word, amount) in &self.arcs {
            let own = local.row(word);
            let mut add = |row: usize, amount: f64| {
                let sums = &mut self.table[row * columns..][..columns];
                linalg::add_sparse_row(amount, own.indices, own.values, sums);
            };
            add(task.fixed_row(head, word), amount);
            if head > 0 {
                let after = usize::from(head as usize > word);
                let row = local.row(head as usize - 1);
                row.iter().for_each(|(place, value)| add(fixed + 2 * place as usize + after, amount * value));
            }
        }
    }
}
