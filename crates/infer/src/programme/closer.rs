//! Rows with the same whole vectors and a closer relaxation.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::matrix::SparseMatrix;
use super::rows::Programme;

/// The largest number in a row that is changed.
const LARGEST: f64 = (1_u64 << 40) as f64;

/// A row `entries y <= end`.
#[derive(Clone, Debug)]
struct RowBelow {
    entries: Vec<(u32, f64)>,
    end: f64,
    /// If it has one end, whole numbers alone, and variables that are 0 or 1: only such rows change.
    is_free: bool,
    /// The lower end, of rows that do not change.
    start: f64,
}

impl RowBelow {
    fn free(entries: Vec<(u32, f64)>, end: f64) -> RowBelow {
        RowBelow { entries, end, is_free: true, start: f64::NEG_INFINITY }
    }

    fn sum(&self) -> f64 {
        self.entries.iter().map(|entry| entry.1).sum()
    }

    /// Returns the columns in order, if all coefficients are `value`.
    fn all(&self, value: f64) -> Option<Vec<u32>> {
        let mut columns: Vec<u32> = self.entries.iter().map(|entry| entry.0).collect();
        columns.sort_unstable();
        self.entries.iter().all(|entry| entry.1 == value).then_some(columns)
    }
}

/// Returns a programme with the same whole vectors, made from one row at a time, then from rows that several imply. Only
/// rows with one end and variables that are 0 or 1 change.
///
/// - `k e <= a + b + ..` becomes `e <= a`, `e <= b`, ..; `e + f <= 2 a` becomes `e <= a`, `f <= a`.
/// - `3 a - e - f - g <= 2` becomes `a - e - f - g <= 0`: a coefficient that is larger than it need be.
/// - `2 m - e - f <= 0`, where `e + f <= 1`, says that m is 0, as does `2 m - e <= 0`.
/// - `e + f - s <= k`, where `e <= a` and `f <= a`, becomes `e + f - s <= k a`.
pub fn closer(programme: &Programme) -> Programme {
    let is_binary = |&(column, _): &(usize, f64)| {
        let v = column;
        programme.integral[v] && (programme.lower[v], programme.upper[v]) == (0.0, 1.0)
    };
    let is_whole = |value: f64| value == value.round() && value.abs() <= LARGEST;
    let mut rows: Vec<RowBelow> = Vec::new();
    for row in 0..programme.matrix.rows() {
        let (low, high) = (programme.row_lower[row], programme.row_upper[row]);
        let entries = programme.matrix.row(row).filter(|entry| entry.1 != 0.0);
        let sign = if high.is_finite() { 1.0 } else { -1.0 };
        let end = if high.is_finite() { high } else { -low };
        let is_free = low.is_finite() != high.is_finite()
            && is_whole(end)
            && entries.clone().all(|entry| is_binary(&entry) && is_whole(entry.1))
            && entries.clone().nth(1).is_some();
        let sign = if is_free { sign } else { 1.0 };
        let entries = entries.map(|(column, value)| (column as u32, sign * value)).collect();
        rows.push(match is_free {
            true => RowBelow::free(entries, end),
            false => RowBelow { entries, end: high, is_free, start: low },
        });
    }
    // Of how many of these variables are 1 at most.
    let mut most: HashMap<Vec<u32>, f64> = HashMap::new();
    for row in rows.iter().filter(|row| row.is_free) {
        if let Some(columns) = row.all(1.0) {
            let known = most.entry(columns).or_insert(f64::INFINITY);
            *known = known.min(row.end);
        }
    }
    let mut upper = programme.upper.clone();
    let changed = rows.into_iter().flat_map(|row| if row.is_free { closed(row, &most, &mut upper) } else { vec![row] });
    let rows = tightened(changed.collect());
    Programme {
        matrix: SparseMatrix::of_rows(rows.iter().map(|row| row.entries.as_slice()), programme.variables()),
        row_lower: rows.iter().map(|row| row.start).collect(),
        row_upper: rows.iter().map(|row| row.end).collect(),
        lower: programme.lower.clone(),
        upper,
        integral: programme.integral.clone(),
    }
}

/// Returns the row or the rows in its place; lowers the upper bounds of variables that must be 0.
fn closed(row: RowBelow, most: &HashMap<Vec<u32>, f64>, upper: &mut [f64]) -> Vec<RowBelow> {
    let (up, down): (Vec<_>, Vec<_>) = row.entries.iter().copied().partition(|entry| entry.1 > 0.0);
    let limit = |entries: &[(u32, f64)]| {
        let mut columns: Vec<u32> = entries.iter().map(|entry| entry.0).collect();
        columns.sort_unstable();
        most.get(&columns).copied().unwrap_or(f64::INFINITY)
    };
    if let ([below], true) = (&down[..], up.len() > 1 && row.end == 0.0 && row.sum() == 0.0) {
        return up.iter().map(|&(column, _)| RowBelow::free(vec![(column, 1.0), (below.0, -1.0)], 0.0)).collect();
    }
    if let ([above], true) = (&up[..], down.iter().all(|entry| entry.1 == -1.0))
        && above.1 > row.end + limit(&down).min(down.len() as f64)
    {
        upper[above.0 as usize] = 0.0;
        return vec![row];
    }
    let mut largest: f64 = up.iter().map(|entry| entry.1).sum();
    if let ([below], true) = (&down[..], up.iter().all(|entry| entry.1 == 1.0)) {
        largest = largest.min(limit(&up));
        let spare = row.end - (largest + below.1);
        if spare > 0.0 && spare < -below.1 {
            let mut entries = up;
            entries.push((below.0, below.1 + spare));
            return vec![RowBelow::free(entries, row.end)];
        }
    }
    let first_largest = |best: (u32, f64), entry: &(u32, f64)| if entry.1 > best.1 { *entry } else { best };
    let (column, value) = up.iter().fold((0, 0.0), first_largest);
    let spare = row.end - (largest - value);
    if spare > 0.0 && spare < value {
        let shrunk = |&(c, v): &(u32, f64)| (c, if c == column { v - spare } else { v });
        return vec![RowBelow::free(row.entries.iter().map(shrunk).collect(), row.end - spare)];
    }
    vec![row]
}

/// Strengthens rows that several rows imply.
fn tightened(rows: Vec<RowBelow>) -> Vec<RowBelow> {
    // `k e <= a + b + ..`: what e implies.
    let ordered = |row: &RowBelow| {
        let positive = row.entries.iter().filter(|entry| entry.1 > 0.0).map(|entry| entry.0).collect::<Vec<u32>>();
        let is_ordered = row.is_free && row.end == 0.0 && row.sum() == 0.0 && row.entries.len() > 1;
        (is_ordered && positive.len() == 1).then(|| positive[0])
    };
    let mut implied: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let (mut kept, mut less) = (Vec::new(), Vec::new());
    for row in rows {
        let Some(child) = ordered(&row) else {
            kept.push(row);
            continue;
        };
        for (parent, _) in row.entries.into_iter().filter(|entry| entry.0 != child) {
            if implied.entry(child).or_default().insert(parent) {
                less.push(RowBelow::free(vec![(child, 1.0), (parent, -1.0)], 0.0));
            }
        }
    }
    for row in kept.iter_mut().filter(|row| row.is_free && row.end > 0.0) {
        let above = || row.entries.iter().filter(|entry| entry.1 > 0.0);
        let Some(first) = above().next().and_then(|(column, _)| implied.get(column)) else { continue };
        let is_common = |parent: &&u32| above().all(|(c, _)| implied.get(c).is_some_and(|of| of.contains(*parent)));
        let mut common = first.iter().filter(is_common);
        if let (Some(&parent), None) = (common.next(), common.next())
            && above().map(|entry| entry.1).sum::<f64>() > row.end
        {
            let end = std::mem::take(&mut row.end);
            match row.entries.iter_mut().find(|entry| entry.0 == parent) {
                Some(entry) => entry.1 -= end,
                None => row.entries.push((parent, -end)),
            }
        }
    }
    kept.extend(less);
    kept
}
