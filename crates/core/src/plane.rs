//! Planes: the linear functions `w -> <star, w> + circ` that oracles return and solvers combine.
//!
//! A labelling y of example i gives `star = (phi(x_i, y) - phi(x_i, y_i)) / n` and
//! `circ = (Delta(y_i, y) + theta(x_i, y) - theta(x_i, y_i)) / n` (MP-BCFW, Eq. 3).

use crate::linalg;

/// A plane that owns its numbers, sparse or dense; also the buffer that an oracle writes its answer into.
///
/// Build it with [`clear`](Plane::clear), [`push`](Plane::push) (any order, repeated indices add up),
/// [`set_circ`](Plane::set_circ) and [`seal`](Plane::seal), or dense with [`dense`](Plane::dense). Buffers keep
/// their capacity, so a reused plane allocates nothing.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Plane {
    indices: Vec<u32>,
    values: Vec<f64>,
    circ: f64,
    dense: bool,
    code: Vec<u32>,
    #[serde(skip)]
    inner_calls: u32,
    #[serde(skip)]
    sorter: Vec<(u32, f64)>,
}

impl Plane {
    /// The zero plane: the plane of the ground truth.
    pub fn new() -> Self {
        Plane::default()
    }

    /// Makes this the zero plane, sparse; keeps the buffers.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
        self.circ = 0.0;
        self.dense = false;
        self.code.clear();
    }

    /// Attaches what the oracle needs to know its labelling again, for its [`Capabilities`]; solvers keep it
    /// with the plane and do not look inside.
    ///
    /// [`Capabilities`]: crate::oracle::Capabilities
    pub fn code_mut(&mut self) -> &mut Vec<u32> {
        &mut self.code
    }

    /// Says how many calls of another oracle this answer took, where it is made of such calls.
    pub fn set_inner_calls(&mut self, calls: u32) {
        self.inner_calls = calls;
    }

    /// Returns the calls of another oracle that this answer took; 0 where it is made of none.
    pub fn inner_calls(&self) -> u32 {
        self.inner_calls
    }

    /// Returns the code that the oracle attached.
    pub fn code(&self) -> &[u32] {
        &self.code
    }

    /// Adds `value` at `index` of a sparse plane.
    pub fn push(&mut self, index: u32, value: f64) {
        debug_assert!(!self.dense, "push into a dense plane");
        self.indices.push(index);
        self.values.push(value);
    }

    /// Adds `scale * values` at `start + indices` of a sparse plane.
    pub fn extend_scaled(&mut self, start: u32, indices: &[u32], scale: f64, values: Option<&[f64]>) {
        assert!(values.is_none_or(|values| values.len() == indices.len()), "one value per index");
        self.indices.extend(indices.iter().map(|index| start + index));
        match values {
            Some(values) => self.values.extend(values.iter().map(|value| scale * value)),
            None => self.values.resize(self.values.len() + indices.len(), scale),
        }
    }

    /// Adds `scale` times the numbers of `table` that are not 0 to a sparse plane: the number in row r and column c
    /// at `start + r * width + columns[c]`. Costs no branch per number, which matters where zeros come at random.
    pub fn extend_table(&mut self, start: u32, width: u32, columns: &[u32], table: &[f64], scale: f64) {
        let mut len = self.indices.len();
        let most = len + table.len();
        self.indices.resize(most, 0);
        self.values.resize(most, 0.0);
        let (indices, values) = (&mut self.indices[..most], &mut self.values[..most]);
        let mut start = start;
        for row in table.chunks_exact(columns.len().max(1)) {
            for (column, &value) in columns.iter().zip(row) {
                indices[len] = start + column;
                values[len] = scale * value;
                len += usize::from(value != 0.0);
            }
            start += width;
        }
        self.indices.truncate(len);
        self.values.truncate(len);
    }

    /// Makes this a plane with the linear part `star` and nothing else.
    pub fn copy_star(&mut self, star: Star<'_>) {
        self.clear();
        match star {
            Star::Sparse { indices, values } => {
                self.indices.extend_from_slice(indices);
                self.values.extend_from_slice(values);
            }
            Star::Dense(values) => {
                self.dense = true;
                self.values.extend_from_slice(values);
            }
        }
    }

    /// Sets the constant part.
    pub fn set_circ(&mut self, circ: f64) {
        self.circ = circ;
    }

    /// Makes this a dense plane of `dim` zeros and hands them out to be filled; `circ` becomes 0.
    pub fn dense(&mut self, dim: usize) -> &mut [f64] {
        self.clear();
        self.dense = true;
        self.values.resize(dim, 0.0);
        &mut self.values
    }

    /// Takes the coordinates at which `fixed` knows the weight out of the linear part and into the constant one.
    pub fn fold(&mut self, fixed: impl Fn(usize) -> Option<f64>) {
        if self.dense {
            for (k, value) in self.values.iter_mut().enumerate() {
                if let Some(weight) = fixed(k) {
                    self.circ += *value * weight;
                    *value = 0.0;
                }
            }
            return;
        }
        let mut kept = 0;
        for at in 0..self.indices.len() {
            let (index, value) = (self.indices[at], self.values[at]);
            match fixed(index as usize) {
                Some(weight) => self.circ += value * weight,
                None => {
                    (self.indices[kept], self.values[kept]) = (index, value);
                    kept += 1;
                }
            }
        }
        self.indices.truncate(kept);
        self.values.truncate(kept);
    }

    /// Multiplies the linear part by `factor` and leaves the constant one; 0 takes all coefficients away.
    pub fn scale_linear(&mut self, factor: f64) {
        if factor == 0.0 {
            self.indices.clear();
            self.values.clear();
            self.dense = false;
        }
        linalg::scale(factor, &mut self.values);
    }

    /// Sorts the indices and adds up repeated ones. Costs one look at each entry if they are sorted already.
    pub fn seal(&mut self) {
        if self.dense || linalg::is_ascending(&self.indices) {
            return;
        }
        self.sorter.clear();
        self.sorter.extend(self.indices.iter().copied().zip(self.values.iter().copied()));
        self.sorter.sort_by_key(|&(index, _)| index); // stable: equal indices add up in the order of pushing
        self.indices.clear();
        self.values.clear();
        for &(index, value) in &self.sorter {
            if self.indices.last() == Some(&index) {
                if let Some(last) = self.values.last_mut() {
                    *last += value;
                }
            } else {
                self.indices.push(index);
                self.values.push(value);
            }
        }
    }

    /// A view of this plane, which must have been sealed.
    pub fn view(&self) -> PlaneView<'_> {
        let star = if self.dense {
            Star::Dense(&self.values)
        } else {
            Star::Sparse { indices: &self.indices, values: &self.values }
        };
        PlaneView { star, circ: self.circ }
    }

    /// Why this plane may not reach a solver of dimension `dim`, if so: a number that is not finite, an index
    /// out of range or out of order, a dense plane of another length.
    pub fn fault(&self, dim: usize) -> Option<String> {
        if !self.circ.is_finite() {
            return Some(format!("its constant part is {}", self.circ));
        }
        // The squared length is what line searches divide by. One look at all coefficients finds both faults.
        if !linalg::sum_squares(&self.values).is_finite() {
            let finite = self.values.iter().all(|value| value.is_finite());
            let fault =
                if finite { "its squared length is too large" } else { "one of its coefficients is not finite" };
            return Some(fault.into());
        }
        if self.dense {
            let len = self.values.len();
            return (len != dim).then(|| format!("it is dense with {len} coefficients, expected {dim}"));
        }
        if !linalg::is_ascending(&self.indices) {
            return Some("its indices are not sorted: seal() was not called".into());
        }
        match self.indices.last() {
            Some(&last) if last as usize >= dim => Some(format!("index {last} is not below the dimension {dim}")),
            _ => None,
        }
    }

    /// Returns true if a plane that was restored is one of dimension `dim`.
    pub fn is_sound(&self, dim: usize) -> bool {
        let coordinates = if self.dense { 0 } else { self.values.len() };
        self.indices.len() == coordinates && self.fault(dim).is_none()
    }
}

/// The linear part of a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Star<'a> {
    /// Strictly ascending indices and the values there.
    Sparse {
        /// Coordinates.
        indices: &'a [u32],
        /// Values at these coordinates.
        values: &'a [f64],
    },
    /// One value per coordinate.
    Dense(&'a [f64]),
}

impl<'a> Star<'a> {
    /// Returns the stored coefficients.
    pub fn values(self) -> &'a [f64] {
        match self {
            Star::Sparse { values, .. } | Star::Dense(values) => values,
        }
    }

    /// Returns `<star, w>`.
    pub fn dot(self, w: &[f64]) -> f64 {
        match self {
            Star::Sparse { indices, values } => linalg::sparse_dot(indices, values, w),
            Star::Dense(values) => linalg::dot(values, w),
        }
    }

    /// Returns `sum_k |star_k w_k|`.
    pub fn absolute_dot(self, w: &[f64]) -> f64 {
        let term = |value: &f64, weight: f64| (value * weight).abs();
        match self {
            Star::Sparse { indices, values } => {
                indices.iter().zip(values).map(|(&k, value)| term(value, w[k as usize])).sum()
            }
            Star::Dense(values) => values.iter().zip(w).map(|(value, &weight)| term(value, weight)).sum(),
        }
    }

    /// Calls `take` for each stored coefficient, with its coordinate.
    pub fn each(self, mut take: impl FnMut(usize, f64)) {
        match self {
            Star::Sparse { indices, values } => {
                indices.iter().zip(values).for_each(|(&k, &value)| take(k as usize, value));
            }
            Star::Dense(values) => values.iter().enumerate().for_each(|(k, &value)| take(k, value)),
        }
    }

    /// Adds `alpha` times this to `y`: the one place where planes are added up.
    pub fn add_to(self, alpha: f64, y: &mut [f64]) {
        match self {
            Star::Sparse { indices, values } => linalg::scatter_axpy(alpha, indices, values, y),
            Star::Dense(values) => linalg::axpy(alpha, values, y),
        }
    }

    /// Sets the coordinates at which this stores something to 0 in `y`.
    pub fn clear_in(self, y: &mut [f64]) {
        match self {
            Star::Sparse { indices, .. } => indices.iter().for_each(|&index| y[index as usize] = 0.0),
            Star::Dense(_) => y.fill(0.0),
        }
    }
}

/// A borrowed plane: what steps are made of, wherever the numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneView<'a> {
    /// The linear part.
    pub star: Star<'a>,
    /// The constant part.
    pub circ: f64,
}

impl PlaneView<'_> {
    /// The plane of the ground truth: zero everywhere.
    pub const ZERO: PlaneView<'static> = PlaneView { star: Star::Sparse { indices: &[], values: &[] }, circ: 0.0 };

    /// Returns `<star, w> + circ`.
    pub fn score(&self, w: &[f64]) -> f64 {
        self.star.dot(w) + self.circ
    }
}

/// Makes a sealed plane of one coordinate.
#[cfg(test)]
pub(crate) fn single(index: u32, value: f64, circ: f64) -> Plane {
    let mut plane = Plane::new();
    plane.push(index, value);
    plane.set_circ(circ);
    plane.seal();
    plane
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sealing sorts and adds up, and a reused buffer remembers nothing.
    #[test]
    fn seal_sorts_and_adds_up() {
        let mut plane = Plane::new();
        plane.dense(3)[1] = 5.0;
        plane.clear();
        for (index, value) in [(7, 1.0), (2, 0.5), (7, 2.0), (0, -1.0)] {
            plane.push(index, value);
        }
        plane.set_circ(0.25);
        plane.seal();
        assert_eq!(
            plane.view(),
            PlaneView { star: Star::Sparse { indices: &[0, 2, 7], values: &[-1.0, 0.5, 3.0] }, circ: 0.25 }
        );
        let w = [1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 10.0];
        assert_eq!(plane.view().score(&w), -1.0 + 1.0 + 30.0 + 0.25);
    }

    /// A table's numbers land where they belong, zeros nowhere.
    #[test]
    fn tables_are_spread() {
        let mut plane = Plane::new();
        plane.push(1, 4.0);
        plane.extend_table(10, 5, &[0, 3], &[0.0, 1.0, -0.0, 0.0, 2.0, 3.0], 0.5);
        plane.seal();
        let star = Star::Sparse { indices: &[1, 13, 20, 23], values: &[4.0, 0.5, 1.0, 1.5] };
        assert_eq!(plane.view(), PlaneView { star, circ: 0.0 });
    }

    /// Every kind of bad plane is named.
    #[test]
    fn faults_are_found() {
        let mut plane = Plane::new();
        plane.push(3, 1.0);
        assert_eq!(plane.fault(4), None);
        assert!(plane.fault(3).unwrap().contains("index 3"));
        plane.push(2, 1.0);
        assert!(plane.fault(4).unwrap().contains("seal"));
        plane.clear();
        plane.push(0, f64::NAN);
        assert!(plane.fault(4).unwrap().contains("finite"));
        plane.clear();
        plane.push(0, 1e200);
        assert!(plane.fault(4).unwrap().contains("too large"));
        plane.clear();
        plane.set_circ(f64::INFINITY);
        assert!(plane.fault(4).unwrap().contains("inf"));
        plane.dense(5);
        assert!(plane.fault(4).unwrap().contains("expected 4"));
    }
}
