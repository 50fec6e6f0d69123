//! Chains that fold back on themselves, as pairwise models: a few rotamers, with energies, at every place.

use super::dice::Dice;
use crate::container::Matrix;
use crate::mrf::{MrfArrays, Mrfs};
use crate::pairwise::NodesAndEdges;

/// Most rotamers of a place.
const ROTAMERS: u32 = 6;

/// Energies of a rotamer alone: features 0 to 2.
const ALONE: usize = 3;

/// Energies of two rotamers that meet: features 2 to 4, of which the first is also one of a rotamer alone.
const MET: usize = 3;

/// Places that a meeting skips at least.
const LOOP: usize = 3;

/// Returns `n` chains of 8 to 14 places with one to six rotamers each. Neighbours along the chain meet, and some places
/// further apart. The features are scores in quarters: those of the true rotamers are higher by up to three quarters,
/// by how much depends on the feature. In every chain one place has no label.
pub fn synthetic_rotamers(n: usize, seed: u64) -> Mrfs {
    let (mut node_offsets, mut label_offsets, mut edge_offsets, mut pair_offsets) =
        (vec![0], vec![0], vec![0], vec![0]);
    let (mut unary, mut pair, mut labels, mut edges): (Vec<f32>, Vec<f32>, Vec<i64>, Vec<[u32; 2]>) =
        Default::default();
    for chain in 0..n {
        let mut dice = Dice::new(seed, chain as u64);
        let places = 8 + dice.below(7) as usize;
        let counts: Vec<u32> = (0..places).map(|_| 1 + dice.below(ROTAMERS)).collect();
        let mut truth: Vec<i64> = counts.iter().map(|&count| i64::from(dice.below(count))).collect();
        let mut quarters = |gain: i32| f32::from((gain + dice.around(3)) as i16) / 4.0;
        for (&count, &right) in counts.iter().zip(&truth) {
            for rotamer in 0..i64::from(count) {
                unary.extend([2, 1, 0].map(|gain| quarters(if rotamer == right { gain } else { 0 })));
            }
            label_offsets.push(unary.len() / ALONE);
        }
        let far = |tail: usize| (tail + LOOP..places).filter(move |head| (tail + head).is_multiple_of(LOOP + 2));
        for tail in 0..places {
            for head in std::iter::once(tail + 1).filter(|&head| head < places).chain(far(tail)) {
                edges.push([tail as u32, head as u32]);
                for (a, b) in (0..counts[tail]).flat_map(|a| (0..counts[head]).map(move |b| (a, b))) {
                    let right = (i64::from(a), i64::from(b)) == (truth[tail], truth[head]);
                    pair.extend([0, 3, 1].map(|gain| quarters(if right { gain } else { 0 })));
                }
                pair_offsets.push(pair.len() / MET);
            }
        }
        truth[dice.below(places as u32) as usize] = -1;
        labels.extend(truth);
        node_offsets.push(labels.len());
        edge_offsets.push(edges.len());
    }
    let matrix = |numbers: Vec<f32>, columns: usize| {
        let rows = numbers.len() / columns;
        Matrix::new(numbers, rows, columns)
    };
    let arrays = MrfArrays {
        frame: NodesAndEdges { node_offsets, labels, node_weights: None, edge_offsets, edges },
        label_offsets,
        unary_features: matrix(unary, ALONE),
        unary_columns: Some((0..ALONE as u32).collect()),
        pair_offsets,
        pair_features: matrix(pair, MET),
        pair_columns: Some((2..2 + MET as u32).collect()),
    };
    Mrfs::new(arrays).unwrap_or_else(|fault| unreachable!("synthetic chains are sound: {fault}"))
}
