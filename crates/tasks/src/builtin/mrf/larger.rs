//! Pairwise models larger than what is enumerated, against the flow of `verify`.

use std::sync::Arc;

use multiplane_core::oracle::{MaxOracle, Quality};
use multiplane_core::plane::Plane;
use multiplane_core::rng::Rng;
use multiplane_core::task_oracle::TaskOracle;

use super::*;
use crate::builtin::pairwise::testing::SmallPairwise;
use crate::builtin::pairwise::{Labelling, cut_hinge};
use crate::builtin::task::BuiltinTask;
use crate::data::container::Matrix;
use crate::data::mrf::{MrfArrays, Mrfs};
use crate::dataset::Dataset;

/// Models larger than what is enumerated: cuts are exact by the flow of `verify`, and not where a weight makes edges
/// like to differ; bounds of the rest are above what local changes reach.
#[test]
fn larger_models_are_cut() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed, 5);
        let side = 6usize;
        let counts: Vec<usize> = (0..side * side).map(|_| if rng.below(8) == 0 { 1 } else { 2 }).collect();
        let mut edges = Vec::new();
        for node in 0..(side * side) as u32 {
            let (row, column) = (node / side as u32, node % side as u32);
            if column + 1 < side as u32 {
                edges.push([node, node + 1]);
            }
            if row + 1 < side as u32 {
                edges.push([node + side as u32, node]);
            }
        }
        let mut offsets = vec![0];
        counts.iter().for_each(|count| offsets.push(offsets[offsets.len() - 1] + count));
        let (mut pair, mut pair_offsets) = (Vec::new(), vec![0]);
        for [tail, head] in edges.iter().map(|ends| ends.map(|end| counts[end as usize])) {
            for at in 0..tail * head {
                let (a, b) = (at / head, at % head);
                pair.push(if a == b { 0.5 + rng.unit() } else { 0.5 * rng.unit() });
            }
            pair_offsets.push(pair.len());
        }
        let rows = offsets[counts.len()];
        let arrays = MrfArrays {
            node_offsets: vec![0, counts.len()],
            unary_features: Matrix::new((0..rows).map(|_| 2.0 * rng.unit() - 1.0).collect::<Vec<f64>>(), rows, 1),
            label_offsets: offsets,
            unary_columns: None,
            labels: counts.iter().map(|&count| rng.below(count as u64) as i64).collect(),
            node_weights: None,
            edge_offsets: vec![0, edges.len()],
            edges,
            pair_features: Matrix::new(pair, pair_offsets[pair_offsets.len() - 1], 1),
            pair_offsets,
            pair_columns: Some(vec![1]),
        };
        let data = Dataset::new(Mrfs::new(arrays).unwrap());
        let (task, examples) = examples(&MrfSpec::default(), &data).unwrap();
        let small = SmallPairwise { task: Arc::new(task), examples: Arc::new(examples) };
        let mut oracle = TaskOracle::new(small.task.clone(), small.examples.clone()).unwrap();
        let (task, example) = (&small.task, small.examples.get(0));
        let mut plane = Plane::new();
        for (w, is_cut) in [([1.0, 0.4], true), ([0.1, 3.0], true), ([0.3, -1.0], false)] {
            let quality = oracle.maximize(0, &w, &mut plane).unwrap();
            let found = plane.view().score(&w);
            let again = task.reference_hinge(example.input, example.truth, &w);
            assert_eq!(cut_hinge(task, example.input, example.truth, &w).is_some(), is_cut, "seed {seed}, {w:?}");
            match quality {
                Quality::UpperBound(bound) => assert!(!is_cut && (again - bound).abs() < 1e-9 && bound >= found - 1e-9),
                _ => assert!((again - found).abs() < 1e-9, "seed {seed}, {w:?}: {again} {found}"),
            }
            let mut near = task.neighbours(example.input, &Labelling::new(plane.code().to_vec()), 99, &mut rng);
            near.retain(|y| small.relative(example, y, &w) > found + 1e-9);
            assert!(near.is_empty() || !is_cut, "seed {seed}, {w:?}: a neighbour is better");
        }
    }
}
