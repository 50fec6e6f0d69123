//! Small pictures as graphs: blots of three colours on a grid, seen through noise.

use super::dice::Dice;
use crate::container::Matrix;
use crate::graphs::{GraphArrays, Graphs};
use crate::pairwise::NodesAndEdges;

/// Rows and columns of a picture.
const SIDE: i32 = 8;

/// Colours, which are the labels.
const COLOURS: u32 = 3;

/// Features of a cell: how much of each colour is seen, and 1.
const FEATURES: usize = COLOURS as usize + 1;

/// Returns `n` pictures of 8 x 8 cells: background 0, and blots of the labels 1 and 2. A cell's features are how much
/// of each colour is seen there, in quarters, and 1; neighbours are joined, with the features 1 and how alike the two
/// look. In every picture two cells have no label.
pub fn synthetic_graphs(n: usize, seed: u64) -> Graphs {
    let cells = (SIDE * SIDE) as usize;
    let (mut features, mut labels) = (Vec::new(), Vec::new());
    let (mut node_offsets, mut edge_offsets, mut edges, mut edge_features) = (vec![0], vec![0], Vec::new(), Vec::new());
    for picture in 0..n {
        let mut dice = Dice::new(seed, picture as u64);
        let mut truth = vec![0i64; cells];
        for blot in 0..3 {
            let (row, column) = (dice.below(SIDE as u32) as i32, dice.below(SIDE as u32) as i32);
            let reach = 1 + dice.below(5) as i32;
            for (cell, label) in truth.iter_mut().enumerate() {
                let (down, right) = (cell as i32 / SIDE - row, cell as i32 % SIDE - column);
                if down * down + right * right <= reach {
                    *label = i64::from(1 + blot % 2);
                }
            }
        }
        let first = features.len();
        for label in &truth {
            for colour in 0..COLOURS {
                let seen = if *label == i64::from(colour) { 3 } else { 1 };
                features.push(f32::from((seen + dice.around(3)) as i16) / 4.0);
            }
            features.push(1.0);
        }
        let seen = &features[first..];
        for cell in 0..SIDE * SIDE {
            let neighbours = [(cell % SIDE + 1 < SIDE, cell + 1), (cell / SIDE + 1 < SIDE, cell + SIDE)];
            for other in neighbours.into_iter().filter(|(inside, _)| *inside).map(|(_, other)| other) {
                let at = |cell: i32| &seen[cell as usize * FEATURES..][..FEATURES];
                let apart: f32 = at(cell).iter().zip(at(other)).map(|(one, other)| (one - other).abs()).sum();
                edges.push([cell as u32, other as u32]);
                edge_features.extend([1.0, (4.0 - apart).max(0.0) / 4.0]);
            }
        }
        (0..2).for_each(|_| truth[dice.below(cells as u32) as usize] = -1);
        labels.extend(truth);
        node_offsets.push(labels.len());
        edge_offsets.push(edges.len());
    }
    let arrays = GraphArrays {
        node_features: Matrix::new(features, labels.len(), FEATURES),
        edge_features: Some(Matrix::new(edge_features, edges.len(), 2)),
        frame: NodesAndEdges { node_offsets, labels, node_weights: None, edge_offsets, edges },
    };
    Graphs::new(arrays).unwrap_or_else(|fault| unreachable!("synthetic graphs are sound: {fault}"))
}
