//! Min-sum messages: `out[y] = min_x (from[x] + energy(x, y))`, for all labels y at once.
//!
//! With k labels at both ends: Potts O(k); truncated linear and quadratic O(k) by distance transforms, or O(k r)
//! vectorised where the energies are constant beyond a short reach r; tables, and negative weights of the truncated
//! ones, O(k^2) vectorised. Felzenszwalb and Huttenlocher, "Distance transforms of sampled functions" (Theory of
//! Computing 2012). Values may be `+inf`; nothing is ever subtracted from it, so no NaN comes about.

mod table;
mod transform;
pub(crate) mod vectors;

pub(crate) use vectors::{first_smallest, smallest};

/// The energies between two nodes, seen from the one whose label is known: the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PairwiseForm<'a> {
    Potts {
        weight: f64,
    },
    Linear {
        weight: f64,
        cap: f64,
    },
    Quadratic {
        weight: f64,
        cap: f64,
    },
    /// Row-major; the sender's label chooses the row or else the column.
    Table {
        values: &'a [f64],
        columns: usize,
        weight: f64,
        from_rows: bool,
    },
}

/// Working memory of [`send`](PairwiseForm::send).
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageScratch {
    values: Vec<f64>,
    profile: Vec<f64>,
    envelope: transform::Envelope,
}

/// Up to this reach a window over neighbouring labels beats the two passes of the linear transform.
const LINEAR_REACH: usize = 8;
/// The same for the quadratic transform, whose steps are longer.
const QUADRATIC_REACH: usize = 48;

impl PairwiseForm<'_> {
    /// Returns the energy of a pair of labels, the sender's first.
    #[inline]
    pub(crate) fn energy(&self, x: u32, y: u32) -> f64 {
        let distance = f64::from(x.abs_diff(y));
        match *self {
            PairwiseForm::Potts { weight } => weight * f64::from(u8::from(x != y)),
            PairwiseForm::Linear { weight, cap } => weight * distance.min(cap),
            PairwiseForm::Quadratic { weight, cap } => weight * (distance * distance).min(cap),
            PairwiseForm::Table { values, columns, weight, from_rows } => {
                let (row, column) = if from_rows { (x, y) } else { (y, x) };
                weight * values[row as usize * columns + column as usize]
            }
        }
    }

    /// Computes `out[y] += energy(x, y)` for all y.
    pub(crate) fn add_energies(&self, x: u32, out: &mut [f64]) {
        match *self {
            PairwiseForm::Table { values, columns, weight, from_rows: true } => {
                let row = &values[x as usize * columns..][..columns];
                out.iter_mut().zip(row).for_each(|(out, value)| *out += weight * value);
            }
            PairwiseForm::Table { values, columns, weight, from_rows: false } => {
                let column = values[x as usize..].iter().step_by(columns);
                out.iter_mut().zip(column).for_each(|(out, value)| *out += weight * value);
            }
            PairwiseForm::Potts { weight } => {
                let agreeing = out.get(x as usize).copied();
                out.iter_mut().for_each(|out| *out += weight);
                if let Some(agreeing) = agreeing {
                    out[x as usize] = agreeing;
                }
            }
            PairwiseForm::Linear { weight, cap } => vectors::add_linear(x, weight, cap, out),
            PairwiseForm::Quadratic { weight, cap } => vectors::add_quadratic(x, weight, cap, out),
        }
    }

    /// Writes `min_x (from[x] + energy(x, y))` to every `out[y]`.
    pub(crate) fn send(&self, from: &[f64], out: &mut [f64], scratch: &mut MessageScratch) {
        match *self {
            PairwiseForm::Potts { weight } => transform::potts(weight, from, out),
            PairwiseForm::Linear { weight, cap } => {
                let distance = |d: usize| d as f64;
                let reach = reach(from.len().max(out.len()), cap, distance);
                if weight > 0.0 && reach > LINEAR_REACH {
                    transform::linear(weight, cap, from, out, &mut scratch.values);
                } else {
                    windowed(weight, cap, reach, distance, from, out, scratch);
                }
            }
            PairwiseForm::Quadratic { weight, cap } => {
                let distance = |d: usize| (d * d) as f64;
                let reach = reach(from.len().max(out.len()), cap, distance);
                if weight > 0.0 && reach > QUADRATIC_REACH {
                    transform::quadratic(weight, cap, from, out, &mut scratch.envelope);
                } else {
                    windowed(weight, cap, reach, distance, from, out, scratch);
                }
            }
            PairwiseForm::Table { values, columns, weight, from_rows: true } => {
                table::by_rows(values, columns, weight, from, out);
            }
            PairwiseForm::Table { values, columns, weight, from_rows: false } => {
                table::by_columns(values, columns, weight, from, out);
            }
        }
    }
}

/// Returns the largest difference of labels below `labels` at which a distance is still below its cap.
fn reach(labels: usize, cap: f64, distance: impl Fn(usize) -> f64) -> usize {
    (1..labels).take_while(|&d| distance(d) < cap).count()
}

/// Writes messages of a function of the labels' difference, by trying all differences within the reach. What lies
/// beyond costs the cap; with a negative weight that is a gain, so all differences are tried.
fn windowed(
    weight: f64,
    cap: f64,
    reach: usize,
    distance: impl Fn(usize) -> f64,
    from: &[f64],
    out: &mut [f64],
    scratch: &mut MessageScratch,
) {
    let reach = if weight < 0.0 { from.len().max(out.len()) - 1 } else { reach };
    let beyond = match weight > 0.0 {
        true => smallest(from) + weight * cap,
        false if weight == 0.0 => smallest(from),
        false => f64::INFINITY,
    };
    scratch.profile.clear();
    scratch.profile.extend((0..=2 * reach).map(|at| weight * distance(at.abs_diff(reach)).min(cap)));
    scratch.values.clear();
    scratch.values.resize(reach, f64::INFINITY);
    scratch.values.extend_from_slice(from);
    scratch.values.resize(from.len().max(out.len()) + 2 * reach, f64::INFINITY);
    table::window(&scratch.values, &scratch.profile, beyond, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of energy, weight of either sign, unequal label counts, forbidden labels: messages are the minima
    /// that trying all pairs of labels gives.
    #[test]
    fn messages_are_minima() {
        let mut state = 1u64;
        let mut next = |modulus: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % modulus
        };
        let mut scratch = MessageScratch::default();
        for round in 0..4000 {
            let top = if round % 10 == 0 { 150 } else { 12 };
            let (senders, receivers) = (1 + next(top) as usize, 1 + next(top) as usize);
            let weight = next(9) as f64 * 0.37 - 1.11;
            let cap = [0.5, 1.0, 2.0, 3.7, 9.0, 30.0, 2500.0, f64::INFINITY][next(8) as usize];
            let mut value = |forbid: u64| match next(forbid) {
                0 => f64::INFINITY,
                _ => next(1000) as f64 / 30.0 - 10.0,
            };
            let from: Vec<f64> = (0..senders).map(|_| value(4)).collect();
            let table: Vec<f64> = (0..senders * receivers).map(|_| value(6)).collect();
            let form = match round % 5 {
                0 => PairwiseForm::Potts { weight },
                1 => PairwiseForm::Linear { weight, cap },
                2 => PairwiseForm::Quadratic { weight, cap },
                3 => PairwiseForm::Table { values: &table, columns: receivers, weight: 0.7, from_rows: true },
                _ => PairwiseForm::Table { values: &table, columns: senders, weight: 0.7, from_rows: false },
            };
            let mut out = vec![f64::NAN; receivers];
            form.send(&from, &mut out, &mut scratch);
            for (y, &got) in (0u32..).zip(&out) {
                let each = (0u32..).zip(&from).map(|(x, from)| from + form.energy(x, y));
                let expected = each.fold(f64::INFINITY, f64::min);
                let same = got == expected || (got - expected).abs() <= 1e-12 * (1.0 + expected.abs()) * 1e2;
                assert!(same, "round {round}, {form:?}, label {y}: {got} is not {expected}");
            }
            let mut sums = vec![1.0; receivers];
            form.add_energies(0, &mut sums);
            for (y, &got) in (0u32..).zip(&sums) {
                assert_eq!(got, 1.0 + form.energy(0, y), "round {round}, {form:?}, label {y}");
            }
        }
    }
}
