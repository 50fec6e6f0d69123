//! Rows of K that wait before they are added to an image: no bit shows it.

use multiplane_core::layout::Layout;
use multiplane_core::metric::{KernelMetric, Metric, Waiting};
use multiplane_core::plane::Plane;

use super::metric::{Written, table};

/// Random steps of random examples, some of them two at a visit and some of none: the weights of the example in hand have the
/// bits of steps made at once at every visit, and so has the whole point once nothing waits.
#[test]
fn what_waits_changes_no_bit() {
    for seed in 0..200 {
        let (mut rng, table) = table(seed, 4);
        let (dim, rows) = (table.dim, table.rows());
        let k: Vec<f64> = (0..rows * rows).map(|at| 1.0 / (1 + at / rows + at % rows) as f64).collect();
        let metric = Metric::of_kernel(KernelMetric::new(table.clone(), Box::new(Written(rows, k))));
        let (mut at_once, mut later) = (vec![0.0; metric.size(dim)], vec![0.0; metric.size(dim)]);
        let mut waiting = Waiting::default();
        for visit in 0..120 {
            let block = rng.below(table.examples.len() as u64) as usize;
            metric.open(block, &mut later, &mut waiting);
            let own = |row: usize, label: usize| match table.layout {
                Layout::LabelMajor => table.start + label * table.columns + row,
                Layout::ColumnMajor => table.start + row * table.labels + label,
            };
            let coordinates: Vec<usize> = (0..table.labels)
                .flat_map(|label| table.examples[block].clone().map(move |row| own(row, label)))
                .collect();
            let check = |at_once: &[f64], later: &[f64]| {
                let same = coordinates.iter().all(|&at| at_once[at].to_bits() == later[at].to_bits());
                assert!(same, "seed {seed}, visit {visit} of example {block}");
            };
            check(&at_once, &later);
            for _ in 0..rng.below(3) {
                let mut plane = Plane::new();
                let mut touched = coordinates.clone();
                touched.push(dim - 1);
                touched.sort_unstable();
                for at in touched.into_iter().filter(|_| rng.below(2) == 0).collect::<Vec<_>>() {
                    plane.push(at as u32, rng.unit() - 0.5);
                }
                plane.seal();
                let alpha = rng.unit() - 0.5;
                metric.add(alpha, plane.view().star, &mut at_once);
                metric.add_later(alpha, plane.view().star, &mut later, &mut waiting);
                check(&at_once, &later);
                assert_eq!(at_once[dim - 1].to_bits(), later[dim - 1].to_bits(), "linear weights move at once");
            }
            metric.close(&mut later, &mut waiting);
            if rng.below(20) == 0 {
                metric.flush(&mut later, &mut waiting);
                assert_eq!(at_once, later, "seed {seed}, after visit {visit}");
            }
        }
        metric.flush(&mut later, &mut waiting);
        assert!(waiting.is_empty() && at_once == later, "seed {seed}");
    }
}
