//! The part that one example has of a dual point, as data that can be handed to a run on other examples.

use crate::cache::WorkingSets;
use crate::certificate::CertificatePart;
use crate::certificate::DualCertificate;
use crate::plane::{Plane, PlaneView};

/// A plane of an example, with its mass.
#[derive(Clone, Debug, Default)]
pub struct MassPlane {
    /// Its mass, from 0 to 1.
    pub mass: f64,
    /// The plane. If [`by_code`](MassPlane::by_code) is true, its linear part is missing.
    pub plane: Plane,
    /// If only the code says what the linear part is.
    pub by_code: bool,
    /// If it is one of the planes kept. Otherwise it is a mixture of planes, which has no code.
    pub kept: bool,
}

impl MassPlane {
    /// Takes all mass of an example to `plane`.
    pub fn all(plane: &Plane, kept: bool) -> Self {
        MassPlane { mass: 1.0, plane: plane.clone(), by_code: false, kept }
    }
}

/// The part that one example has of a dual point. The mass that its planes do not have is the truth's.
#[derive(Clone, Debug)]
pub struct BlockPoint {
    /// The planes with mass, and those that are only kept.
    pub planes: Vec<MassPlane>,
    /// The gap of the example at its last oracle call; infinite before the first.
    pub gap: f64,
}

impl Default for BlockPoint {
    /// All mass on the truth, and no gap known.
    fn default() -> Self {
        BlockPoint { planes: Vec::new(), gap: f64::INFINITY }
    }
}

/// Makes the part of each example.
pub type BlockSource<'a> = dyn FnMut(usize) -> BlockPoint + 'a;

/// Copies a plane that is stored as numbers, or as the code alone.
fn copied(plane: Option<PlaneView<'_>>, circ: f64, code: &[u32]) -> Plane {
    let mut copy = Plane::new();
    if let Some(view) = plane {
        copy.copy_star(view.star);
    }
    copy.set_circ(circ);
    copy.code_mut().extend_from_slice(code);
    copy
}

/// Takes a dual point apart, example by example. `sets` are the planes kept; `gap` says the gap of an example.
pub fn taken_apart(point: DualCertificate<'_>, sets: &WorkingSets, gap: impl Fn(usize) -> f64) -> Vec<BlockPoint> {
    let planes_of = |(block, part): (usize, CertificatePart<'_>)| {
        let mixture = |plane: PlaneView<'_>| {
            let plane = copied(Some(plane), plane.circ, &[]);
            MassPlane { mass: 1.0, plane, by_code: false, kept: false }
        };
        let mut planes = Vec::new();
        let masses = match part {
            CertificatePart::Masses { planes, .. } => planes.into_iter().map(|plane| plane.mass).collect(),
            CertificatePart::Plane(plane) => {
                planes.extend((plane != PlaneView::ZERO).then(|| mixture(plane)));
                vec![0.0; sets.len(block)]
            }
            CertificatePart::Sum(..) => Vec::new(), // of all examples together
        };
        planes.extend(masses.into_iter().enumerate().map(|(k, mass)| {
            let stored = sets.stored(block, k);
            let plane = copied(stored, sets.circ(block, k), sets.code(block, k));
            MassPlane { mass, plane, by_code: stored.is_none(), kept: true }
        }));
        BlockPoint { planes, gap: gap(block) }
    };
    point.parts.into_iter().enumerate().map(planes_of).collect()
}
