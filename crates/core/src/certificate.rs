//! Dual points laid open: what a solver's dual value stands on, in a form that others can check; and gaps asked for.

use crate::plane::PlaneView;

/// A dual-feasible point: planes whose sum gives w and F.
#[derive(Clone, Debug)]
pub struct DualCertificate<'a> {
    /// F as the solver has it on its books.
    pub value: f64,
    /// One part per example in their order, or a single one for the sum of all examples' planes.
    pub parts: Vec<CertificatePart<'a>>,
}

/// A part of a dual point.
#[derive(Clone, Debug)]
pub enum CertificatePart<'a> {
    /// A plane that is said to be a convex combination of an example's planes; of which was not remembered.
    Plane(PlaneView<'a>),
    /// A plane that is kept in no one place: its linear part, all coordinates, and its constant part.
    Sum(Vec<f64>, f64),
    /// Masses on the truth (whose plane is zero) and on all planes kept, some of them 0.
    Masses {
        /// WeightedPlane on the truth.
        truth: f64,
        /// The planes with their masses.
        planes: Vec<WeightedPlane<'a>>,
    },
}

/// A plane kept, with or without mass.
#[derive(Clone, Copy, Debug)]
pub struct WeightedPlane<'a> {
    /// Its mass, at least 0.
    pub mass: f64,
    /// The plane, where its numbers are stored; else only its code says what it is.
    pub plane: Option<PlaneView<'a>>,
    /// Its constant part.
    pub circ: f64,
    /// The oracle's code of its labelling; empty if it attached none.
    pub code: &'a [u32],
}

/// When the gap is small enough.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapTarget {
    /// `P - F` at most this.
    Absolute(f64),
    /// `P - F` at most this many percent of P.
    Percent(f64),
}

impl From<f64> for GapTarget {
    fn from(gap: f64) -> Self {
        GapTarget::Absolute(gap)
    }
}

impl GapTarget {
    /// The gap wanted at primal value `primal`.
    pub fn at(self, primal: f64) -> f64 {
        match self {
            GapTarget::Absolute(gap) => gap,
            GapTarget::Percent(percent) => percent / 100.0 * primal,
        }
    }
}
