//! Writes `phi(x, y) - phi(x, y_i)` with sorted indices when all there is are rows of the input, given to labels,
//! and single weights: no entry where the two agree, and no memory or time beyond the entries that there are.
//!
//! Rows go to `[feature][label]`. Rows that share most features add up in a table; others in a sort by feature.

use multiplane_core::plane::Plane;

use crate::builtin::label_codes::PairSlots;
use crate::data::{Row, SparseRows};

/// A table is filled if it has at most that many cells for each entry that goes into it.
const CELLS_PER_ENTRY: usize = 16;

/// A row that changes hands; labels are positions in [`Difference::labels`].
#[derive(Clone, Copy, Debug)]
struct Move {
    row: usize,
    gains: u32,
    loses: u32,
}

/// A feature difference under construction; reuse it, it keeps its buffers.
#[derive(Debug, Default)]
pub(super) struct Difference {
    moves: Vec<Move>,
    /// Labels that gain or lose a row, ascending.
    labels: Vec<u32>,
    /// Sums by feature and position in `labels`, or for one feature alone.
    table: Vec<f64>,
    /// Feature in the upper half, position in `moves` in the lower: one for each entry of the rows.
    keys: Vec<u64>,
    /// (index, value)
    singles: Vec<(u32, f64)>,
}

impl Difference {
    /// Writes the plane of `y`, times `scale`, with its loss.
    pub(super) fn write_plane(
        &mut self,
        slots: &impl PairSlots,
        (truth, y): (&[u32], &[u32]),
        scale: f64,
        loss: impl FnOnce() -> f64,
        out: &mut Plane,
    ) {
        out.clear();
        if y == truth {
            return;
        }
        self.begin();
        for (row, (&label, &right)) in y.iter().zip(truth).enumerate() {
            if label != right {
                self.move_row(row, label, right);
            }
        }
        self.write_rows(slots.rows(), slots.labels() as u32, scale, out);
        slots.differing(truth, y, |index, sign| self.add_single(index, sign));
        self.write_singles(scale, out);
        out.set_circ(scale * loss());
        out.seal();
    }

    /// Forgets what was there.
    fn begin(&mut self) {
        self.moves.clear();
        self.labels.clear();
        self.singles.clear();
    }

    /// Moves row `row` of the input to `gains` instead of `loses`.
    fn move_row(&mut self, row: usize, gains: u32, loses: u32) {
        self.moves.push(Move { row, gains, loses });
        for label in [gains, loses] {
            if let Err(place) = self.labels.binary_search(&label) {
                self.labels.insert(place, label);
            }
        }
    }

    /// Adds `value` at one index, which must lie above all rows.
    fn add_single(&mut self, index: u32, value: f64) {
        self.singles.push((index, value));
    }

    /// Pushes the rows with ascending indices `feature * width + label`; what cancels is left out.
    fn write_rows(&mut self, x: &SparseRows, width: u32, scale: f64, out: &mut Plane) {
        for step in &mut self.moves {
            for label in [&mut step.gains, &mut step.loses] {
                *label = self.labels.partition_point(|known| known < label) as u32;
            }
        }
        if let [step] = self.moves[..] {
            return self.write_single(step, x, width, scale, out);
        }
        let entries: usize = self.moves.iter().map(|step| x.row(step.row).indices.len()).sum();
        if x.columns() * self.labels.len() <= CELLS_PER_ENTRY * entries {
            self.write_by_table(x, width, scale, out);
        } else {
            self.write_by_sorting(x, width, scale, out);
        }
    }

    /// One row alone is sorted already.
    fn write_single(&self, step: Move, x: &SparseRows, width: u32, scale: f64, out: &mut Plane) {
        let (gains, loses) = (self.labels[step.gains as usize], self.labels[step.loses as usize]);
        let (low, high, scale) = if gains < loses { (gains, loses, scale) } else { (loses, gains, -scale) };
        for (feature, value) in x.row(step.row).iter() {
            out.push(feature * width + low, scale * value);
            out.push(feature * width + high, -scale * value);
        }
    }

    fn write_by_table(&mut self, x: &SparseRows, width: u32, scale: f64, out: &mut Plane) {
        let labels = self.labels.len();
        self.table.clear();
        self.table.resize(x.columns() * labels, 0.0);
        for step in &self.moves {
            for (feature, value) in x.row(step.row).iter() {
                let cells = &mut self.table[feature as usize * labels..][..labels];
                cells[step.gains as usize] += value;
                cells[step.loses as usize] -= value;
            }
        }
        out.extend_table(0, width, &self.labels, &self.table, scale);
    }

    fn write_by_sorting(&mut self, x: &SparseRows, width: u32, scale: f64, out: &mut Plane) {
        self.keys.clear();
        for (position, step) in self.moves.iter().enumerate() {
            let features = x.row(step.row).indices.iter();
            self.keys.extend(features.map(|&feature| u64::from(feature) << 32 | position as u64));
        }
        self.keys.sort_unstable(); // no two are equal
        self.table.clear();
        self.table.resize(self.labels.len(), 0.0);
        let mut keys = &self.keys[..];
        while let Some(&key) = keys.first() {
            let feature = (key >> 32) as u32;
            let same = keys.iter().take_while(|key| (*key >> 32) as u32 == feature).count();
            let mut add = |key: u64| {
                let step = self.moves[key as u32 as usize];
                let value = value_of(x.row(step.row), feature);
                self.table[step.gains as usize] += value;
                self.table[step.loses as usize] -= value;
                step
            };
            let start = feature * width;
            if same == 1 {
                let step = add(key);
                for label in [step.gains.min(step.loses), step.gains.max(step.loses)] {
                    let value = std::mem::take(&mut self.table[label as usize]);
                    out.push(start + self.labels[label as usize], scale * value);
                }
            } else {
                for &key in &keys[..same] {
                    add(key);
                }
                out.extend_table(start, width, &self.labels, &self.table, scale);
                self.table.fill(0.0);
            }
            keys = &keys[same..];
        }
    }

    /// Pushes the single weights in ascending order, added up; what cancels is left out.
    fn write_singles(&mut self, scale: f64, out: &mut Plane) {
        self.singles.sort_unstable_by_key(|&(index, _)| index); // values are +-1: order does not matter to a sum
        let mut singles = &self.singles[..];
        while let Some(&(index, _)) = singles.first() {
            let same = singles.iter().take_while(|entry| entry.0 == index).count();
            let value: f64 = singles[..same].iter().map(|entry| entry.1).sum();
            if value != 0.0 {
                out.push(index, scale * value);
            }
            singles = &singles[same..];
        }
    }
}

/// The value of a feature that the row has.
fn value_of(row: Row<'_>, feature: u32) -> f64 {
    let Some(values) = row.values else { return 1.0 };
    row.indices.binary_search(&feature).map_or(0.0, |place| values[place])
}

#[cfg(test)]
mod tests {
    use super::*;
    use multiplane_core::rng::Rng;

    /// Whichever way it is written, the difference is that of the feature vectors: same indices, same values.
    #[test]
    fn both_ways_write_the_difference() {
        let mut difference = Difference::default(); // reused, so stale buffers would show
        let mut routes = [0, 0];
        for seed in 0..400u64 {
            let mut rng = Rng::new(seed, 0);
            let (labels, columns) = (2 + rng.below(5) as u32, 1 + rng.below(40) as usize);
            let ones = rng.below(2) == 0;
            let mut x = SparseRows::new(if seed % 2 == 0 { columns } else { 1000 * columns });
            let mut expected = Plane::new();
            difference.begin();
            for row in 0..rng.below(6) as usize {
                let indices: Vec<u32> = (0..columns as u32).filter(|_| rng.below(3) == 0).collect();
                let value = |rng: &mut Rng| if ones { 1.0 } else { 1.0 + rng.below(4) as f64 };
                let values: Vec<f64> = indices.iter().map(|_| value(&mut rng)).collect();
                x.push(&indices, &values);
                let (gains, loses) = (rng.below(labels.into()) as u32, rng.below(labels.into()) as u32);
                if gains == loses {
                    continue;
                }
                difference.move_row(row, gains, loses);
                for (&index, &value) in indices.iter().zip(&values) {
                    expected.push(index * labels + gains, 0.5 * value);
                    expected.push(index * labels + loses, -0.5 * value);
                }
            }
            expected.seal();
            let mut found = Plane::new();
            difference.write_rows(&x, labels, 0.5, &mut found);
            assert_eq!(found.fault(x.columns() * labels as usize), None, "seed {seed}");
            routes[usize::from(difference.keys.is_empty())] += usize::from(difference.moves.len() > 1);
            difference.keys.clear();
            let mut rest = vec![0.0; x.columns() * labels as usize];
            expected.view().star.add_to(1.0, &mut rest);
            found.view().star.add_to(-1.0, &mut rest);
            assert!(rest.iter().all(|value| *value == 0.0), "seed {seed}: {found:?}, expected {expected:?}");
        }
        assert!(routes.iter().all(|count| *count > 50), "one way was hardly taken: {routes:?}");
    }
}
