//! Steps of weights that do not all move freely.

use crate::plane::Star;
use crate::regularizer::{Constraint, Regularizer};

/// The coordinates that do not move freely, and what they were before a step: (coordinate, free weight, weight).
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    coordinates: Vec<u32>,
    before: Vec<(u32, f64, f64)>,
}

impl Bounded {
    /// Takes the coordinates that some constraints are about.
    pub(super) fn new(constraints: &[Constraint]) -> Self {
        let at = constraints.iter().zip(0..).filter(|(constraint, _)| **constraint != Constraint::Free);
        Bounded { coordinates: at.map(|(_, k)| k).collect(), before: Vec::new() }
    }

    /// Adds `alpha` times a linear part to the free weights, and the weights follow within the constraints of the
    /// regulariser. Returns the surplus of the step.
    pub(super) fn step(
        &mut self,
        regularizer: &Regularizer,
        (free, weights): (&mut [f64], &mut [f64]),
        alpha: f64,
        star: Star<'_>,
    ) -> f64 {
        let Bounded { coordinates, before } = self;
        let Some(constraints) = regularizer.constraints() else { return 0.0 };
        // All move as if they were free, which is fast, and those that are not are put right afterwards: of many bounded
        // ones those that move.
        let at = |k: u32| (k, free[k as usize], weights[k as usize]);
        let is_bounded = |k: &&u32| constraints[**k as usize] != Constraint::Free;
        before.clear();
        match star {
            Star::Sparse { indices, .. } if indices.len() < coordinates.len() => {
                before.extend(indices.iter().filter(is_bounded).map(|&k| at(k)));
            }
            _ => before.extend(coordinates.iter().map(|&k| at(k))),
        }
        star.add_to(alpha, free);
        star.add_to(alpha, weights);
        let mut surplus = 0.0;
        for &(k, from, weight) in &*before {
            let (k, to) = (k as usize, free[k as usize]);
            weights[k] = match constraints[k] {
                Constraint::NonNegative => {
                    surplus += regularizer.surplus(from, to);
                    to.max(0.0)
                }
                Constraint::Free | Constraint::Frozen => weight,
            };
        }
        surplus
    }
}
