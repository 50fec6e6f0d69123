//! What a block's planes hold at coordinates that must stay `>= 0`, laid out for its QP.

use super::HullState;
use crate::plane::Star;
use crate::regularizer::Sign;

impl HullState {
    /// Gathers what the block's planes hold at coordinates that must stay `>= 0`.
    pub(super) fn collect_signed(&mut self, block: usize) {
        let (Some(part), Some(signs)) = (&mut self.signed, self.iterate.regularizer().signs()) else { return };
        let planes = self.sets.len(block);
        let signed = |k: usize| signs[k] == Sign::NonNegative;
        part.coordinates.clear();
        for p in 0..planes {
            match self.sets.plane(block, p).star {
                Star::Sparse { indices, .. } => {
                    part.coordinates.extend(indices.iter().filter(|&&k| signed(k as usize)));
                }
                Star::Dense(values) => {
                    part.coordinates.extend((0..values.len() as u32).filter(|&k| signed(k as usize)))
                }
            }
        }
        part.coordinates.sort_unstable();
        part.coordinates.dedup();
        part.values.clear();
        part.values.resize(planes * part.coordinates.len(), 0.0);
        for p in 0..planes {
            let row = &mut part.values[p * part.coordinates.len()..][..part.coordinates.len()];
            match self.sets.plane(block, p).star {
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
        let free = self.iterate.free();
        part.free.clear();
        part.free.extend(part.coordinates.iter().map(|&k| free[k as usize]));
    }
}
