//! What a block's planes hold at coordinates that must stay `>= 0`, laid out for its QP.

use crate::cache::WorkingSets;
use crate::iterate::Iterate;
use crate::plane::Star;
use crate::qp::ConstrainedPart;
use crate::regularizer::Constraint;

/// Gathers what the planes of `block` hold at coordinates that must stay `>= 0`, with the free weights there.
pub(super) fn collect(part: &mut ConstrainedPart, sets: &WorkingSets, block: usize, iterate: &Iterate) {
    let Some(constraints) = iterate.regularizer().constraints() else { return };
    let planes = sets.len(block);
    let constrained = |k: usize| constraints[k] == Constraint::NonNegative;
    part.coordinates.clear();
    for p in 0..planes {
        match sets.plane(block, p).star {
            Star::Sparse { indices, .. } => {
                part.coordinates.extend(indices.iter().filter(|&&k| constrained(k as usize)));
            }
            Star::Dense(values) => {
                part.coordinates.extend((0..values.len() as u32).filter(|&k| constrained(k as usize)));
            }
        }
    }
    part.coordinates.sort_unstable();
    part.coordinates.dedup();
    part.values.clear();
    part.values.resize(planes * part.coordinates.len(), 0.0);
    for p in 0..planes {
        let row = &mut part.values[p * part.coordinates.len()..][..part.coordinates.len()];
        match sets.plane(block, p).star {
            Star::Sparse { indices, values } => {
                for (k, value) in indices.iter().zip(values) {
                    if let Ok(at) = part.coordinates.binary_search(k) {
                        row[at] = *value;
                    }
                }
            }
            Star::Dense(values) => {
                row.iter_mut().zip(&part.coordinates).for_each(|(row, &k)| *row = values[k as usize]);
            }
        }
    }
    let free = iterate.free();
    part.free.clear();
    part.free.extend(part.coordinates.iter().map(|&k| free[k as usize]));
}
