//! Integer programmes: linear rows over variables between bounds, some of them whole.

use super::matrix::SparseMatrix;
use crate::file::number;
use crate::sum::Sum;

/// The distance from a whole number at which a value still stands for it. What it is rounded to must keep the rows.
pub(super) const WHOLE: f64 = 1e-6;

/// The largest fault of a row that is kept, relative to the sizes that are summed in it.
const KEPT: f64 = 1e-7;

/// The largest coefficient and bound: HiGHS refuses ten times as much.
const LARGEST: f64 = 1e14;

/// Ends of rows from here on are infinite to HiGHS.
const HUGE: f64 = 1e20;

/// Twice a bound on the relative error of one operation, so that errors of errors need no count.
const EPSILON: f64 = 2.3e-16;

/// The vectors with `row_lower <= matrix y <= row_upper` and `lower <= y <= upper`, some variables whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Programme {
    /// `[rows, variables]`.
    pub matrix: SparseMatrix,
    /// The least value of each row, which may be minus infinity.
    pub row_lower: Vec<f64>,
    /// The largest value of each row, which may be infinity.
    pub row_upper: Vec<f64>,
    /// The least value of each variable.
    pub lower: Vec<f64>,
    /// The largest value of each variable.
    pub upper: Vec<f64>,
    /// If each variable is whole.
    pub integral: Vec<bool>,
}

/// Bounds of variables: the least values, then the largest.
pub type Bounds<'a> = (&'a [f64], &'a [f64]);

impl Programme {
    /// Checks lengths and bounds; bounds of whole variables become whole.
    ///
    /// # Errors
    ///
    /// Arrays of other lengths, coefficients or bounds of a variable above 1e14, bounds that nothing is between.
    pub fn checked(mut self) -> Result<Self, String> {
        let (rows, variables) = (self.matrix.rows(), self.matrix.width());
        let lengths = [
            ("row_lower", self.row_lower.len(), rows),
            ("row_upper", self.row_upper.len(), rows),
            ("lower", self.lower.len(), variables),
            ("upper", self.upper.len(), variables),
            ("integral", self.integral.len(), variables),
        ];
        if let Some((name, found, expected)) = lengths.into_iter().find(|(_, found, expected)| found != expected) {
            return Err(format!("{name} has {found} numbers, expected {expected}"));
        }
        if variables == 0 {
            return Err("it has no variables".into());
        }
        for v in 0..variables {
            let is_large = |end: &f64| end.is_nan() || end.abs() > LARGEST;
            if let Some(end) = [self.lower[v], self.upper[v]].into_iter().find(is_large) {
                let end = number(end);
                return Err(format!(
                    "variable {v} has the bound {end}: costs that are learned need finite ones, at most 1e14"
                ));
            }
            if self.integral[v] {
                (self.lower[v], self.upper[v]) = (self.lower[v].ceil() + 0.0, self.upper[v].floor() + 0.0);
            }
        }
        for row in 0..rows {
            if let Some((column, value)) = self.matrix.row(row).find(|entry| entry.1.abs() > LARGEST) {
                let value = number(value);
                return Err(format!("row {row} has {value} at variable {column}: expected sizes of at most 1e14"));
            }
        }
        let rows = self.row_lower.iter().zip(&self.row_upper).enumerate();
        let variables = self.lower.iter().zip(&self.upper).enumerate();
        let is_huge = |(low, high): (&f64, &f64)| *low >= HUGE || *high <= -HUGE;
        if let Some(row) = self.row_lower.iter().zip(&self.row_upper).position(is_huge) {
            let (low, high) = (number(self.row_lower[row]), number(self.row_upper[row]));
            return Err(format!("row {row} is between {low} and {high}: expected ends below 1e20 in size"));
        }
        let is_empty = |(low, high): (f64, f64)| !(low <= high && low < f64::INFINITY && high > f64::NEG_INFINITY);
        for (what, (at, (&low, &high))) in rows.map(|one| ("row", one)).chain(variables.map(|one| ("variable", one))) {
            if is_empty((low, high)) {
                return Err(format!("{what} {at} is between {} and {}: nothing is", number(low), number(high)));
            }
        }
        Ok(self)
    }

    /// Returns the number of variables.
    pub fn variables(&self) -> usize {
        self.lower.len()
    }

    /// Returns the bounds of the variables.
    pub fn bounds(&self) -> Bounds<'_> {
        (&self.lower, &self.upper)
    }

    /// Returns the first row that `y` breaks by more than rounding allows, with its value.
    fn broken(&self, y: &[f64]) -> Option<(usize, f64)> {
        (0..self.matrix.rows()).find_map(|row| {
            let size: f64 = self.matrix.row(row).map(|(column, value)| (value * y[column]).abs()).sum();
            let sum = self.matrix.dot(row, y);
            let excess = (self.row_lower[row] - sum).max(sum - self.row_upper[row]);
            (excess > KEPT * (1.0 + size)).then_some((row, sum))
        })
    }

    /// Returns the rule that a vector breaks, or `None` if it is feasible.
    pub fn fault(&self, y: &[f64]) -> Option<String> {
        if let Some(v) = (0..y.len()).find(|&v| !(y[v] >= self.lower[v] && y[v] <= self.upper[v])) {
            let (low, high) = (self.lower[v], self.upper[v]);
            return Some(format!("variable {v} is {}, expected {low} to {high}", y[v]));
        }
        if let Some(v) = (0..y.len()).find(|&v| self.integral[v] && y[v] != y[v].round()) {
            return Some(format!("variable {v} is {}, expected a whole number", y[v]));
        }
        let (row, sum) = self.broken(y)?;
        Some(format!("row {row} is {sum}, expected {} to {}", self.row_lower[row], self.row_upper[row]))
    }

    /// Returns `y` between the bounds, with whole numbers where they must be; `None` if they are too far away, or break
    /// a row.
    pub fn rounded(&self, y: &[f64], (lower, upper): Bounds<'_>) -> Option<Vec<f64>> {
        let near = |v: usize| {
            let value = if self.integral[v] { y[v].round() } else { y[v] };
            value.clamp(lower[v], upper[v]) + 0.0 // no -0
        };
        let nearest: Vec<f64> = (0..y.len()).map(near).collect();
        let is_near = nearest.iter().zip(y).all(|(near, y)| (near - y).abs() <= WHOLE);
        (is_near && self.broken(&nearest).is_none()).then_some(nearest)
    }

    /// Returns a lower bound on `costs y` between bounds; writes the reduced costs into `rest`.
    ///
    /// By weak duality any multipliers of the rows prove one, so nothing depends on the tolerances of a solver. What
    /// rounding may have added is taken away.
    pub fn bound(
        &self,
        costs: &[f64],
        duals: &[f64],
        (lower, upper): Bounds<'_>,
        (rest, errors): (&mut Vec<f64>, &mut Vec<f64>),
    ) -> f64 {
        rest.clear();
        rest.extend_from_slice(costs);
        errors.clear();
        errors.resize(costs.len(), 0.0);
        let mut bound = Sum::default();
        for (row, &dual) in duals.iter().enumerate() {
            let (low, high) = (self.row_lower[row], self.row_upper[row]);
            let end = if dual > 0.0 { low } else { high };
            if dual == 0.0 || !dual.is_finite() || !end.is_finite() {
                continue;
            }
            bound.add(dual * end);
            for (column, value) in self.matrix.row(row) {
                let product = dual * value;
                rest[column] -= product;
                errors[column] += product.abs() + rest[column].abs(); // of the product and of the difference
            }
        }
        let mut error = 0.0;
        for (v, &rest) in rest.iter().enumerate() {
            bound.add(rest * if rest > 0.0 { lower[v] } else { upper[v] });
            error += errors[v] * lower[v].abs().max(upper[v].abs());
        }
        bound.floor() - EPSILON * (error + bound.sizes()) // the products' own errors are in the sizes
    }

    /// Marks the variables of all rows that have one of `some`.
    pub fn tied(&self, some: &[bool]) -> Vec<bool> {
        let mut tied = vec![false; self.variables()];
        for row in 0..self.matrix.rows() {
            let entries = self.matrix.row(row).filter(|entry| entry.1 != 0.0);
            if entries.clone().any(|(column, _)| some[column]) {
                entries.for_each(|(column, _)| tied[column] = true);
            }
        }
        tied
    }

    /// Returns the programme with two more variables for each variable `inside`: its distance from its value, which is
    /// strictly between its bounds, and the side that it is on. Distances are the first `inside.len()` new variables.
    /// Rows only limit them from above, so their costs must be negative.
    pub fn with_distances(&self, inside: &[(usize, f64)]) -> Programme {
        let (size, count) = (self.variables(), inside.len());
        let mut found = self.clone();
        let mut rows: Vec<Vec<(u32, f64)>> = (0..self.matrix.rows())
            .map(|row| self.matrix.row(row).map(|(column, value)| (column as u32, value)).collect())
            .collect();
        for (k, &(v, value)) in inside.iter().enumerate() {
            let (below, above) = (value - self.lower[v], self.upper[v] - value);
            let [own, distance, side] = [v, size + k, size + count + k].map(|column| column as u32);
            // distance <= y - value on the upper side (side = 0), distance <= value - y on the lower one
            rows.push(vec![(own, -1.0), (distance, 1.0), (side, -2.0 * below)]);
            rows.push(vec![(own, 1.0), (distance, 1.0), (side, 2.0 * above)]);
            found.row_lower.extend([f64::NEG_INFINITY; 2]);
            found.row_upper.extend([-value, value + 2.0 * above]);
            found.upper.insert(size + k, below.max(above));
        }
        found.lower.extend(std::iter::repeat_n(0.0, 2 * count));
        found.upper.extend(std::iter::repeat_n(1.0, count));
        found.integral.extend((0..2 * count).map(|k| k >= count));
        found.matrix = SparseMatrix::of_rows(rows.iter().map(Vec::as_slice), size + 2 * count);
        found
    }
}
