//! Kernels: with the linear kernel every step is that of the linear code; with others it is that of explicit feature maps.

mod budget;
mod metric;
mod paths;
mod problems;
#[path = "../common/public_data.rs"]
mod public_data;
mod real_data;
mod refusals;
mod resume;
mod rounding;
mod waiting;
mod windows;

use multiplane_core::run::{Evaluate, Stop};
use multiplane_tasks::builtin::binary::Binary;
use multiplane_tasks::builtin::multiclass::Multiclass;
use multiplane_tasks::data::SparseRows;
use multiplane_tasks::kernel::Kernel;
use serde_json::{Value, json};

use problems::{Pair, binary, matrix, multiclass, rows};

const SOLVERS: [&str; 9] =
    ["bcfw", "bcfw-avg", "mp-bcfw", "bcfw-gap", "bcpfw", "bcpfw-gap-cache", "mp-bcfw-avg", "auto", "lasvm"];

/// Solvers whose planes are sums of all examples', and one with a master over those of each; evaluated by their own passes.
const MASTERS: [&str; 3] = ["one-slack", "bundle", "n-slack"];

/// Each with what is changed of its preset.
fn without_dual() -> [(&'static str, Value); 8] {
    [
        ("ssg", json!({})),
        ("ssg-avg", json!({})),
        ("pegasos", json!({"size": 3.0})),
        ("pegasos-avg", json!({"size": 0.2})),
        ("sfd1", json!({"margins": "exact", "accuracy": 1e-12})),
        ("sfd1", json!({"margins": "exact", "accuracy": 1e-12, "size": 4.0})),
        ("sfd2", json!({"margins": "exact", "accuracy": 1e-12})),
        ("sfd1", json!({"margins": "exact", "accuracy": 1e-12, "size": 4.0, "inner": {"name": "one-slack"}})),
    ]
}

/// Rows of two classes, in both ways.
fn of_two((x, labels): &(SparseRows, Vec<u32>)) -> Pair<'_, Binary> {
    let [on_features, on_numbers] = binary(x);
    Pair { on_features, on_numbers, maps: x, labels, tables: 1 }
}

/// Rows of several classes, in both ways.
fn of_several((x, labels): &(SparseRows, Vec<u32>), classes: usize) -> Pair<'_, Multiclass> {
    let [on_features, on_numbers] = multiclass(x, classes);
    Pair { on_features, on_numbers, maps: x, labels, tables: classes }
}

/// With the linear kernel, solvers without structural ties (those that meet them decide by the last bit) make the linear
/// code's steps; all come to its optimum.
#[test]
fn linear_kernels_make_linear_steps() {
    for seed in 0..6 {
        let lambda = [1.0, 0.1, 0.01][seed as usize % 3];
        let [two_rows, four_rows] = [2, 4].map(|classes| rows(seed, classes));
        let (two, four) = (of_two(&two_rows), of_several(&four_rows, 4));
        for name in ["bcfw", "bcfw-avg", "mp-bcfw", "mp-bcfw-avg"] {
            two.check_steps((name, &json!({})), seed, lambda, matrix(Kernel::Linear, two.maps));
            four.check_steps((name, &json!({})), seed, lambda, matrix(Kernel::Linear, four.maps));
        }
        for name in SOLVERS {
            two.check_optimum((name, &json!({})), seed, lambda, matrix(Kernel::Linear, two.maps), Evaluate::Pass);
            four.check_optimum((name, &json!({})), seed, lambda, matrix(Kernel::Linear, four.maps), Evaluate::Pass);
        }
    }
}

/// Sums of planes: the 1-slack method makes the linear code's steps, where no planes are made of those kept (which goes by
/// what calls cost); all come to its optimum, by the bounds that their own passes bring. So with several labellings of each
/// example.
#[test]
fn masters_with_linear_kernels() {
    let mut compared = 0;
    let several = json!({"solutions": {"name": "m-best", "planes": 3}});
    for seed in 0..6 {
        let lambda = [1.0, 0.1, 0.01][seed as usize % 3];
        let [two_rows, four_rows] = [2, 4].map(|classes| rows(seed, classes));
        let (two, four) = (of_two(&two_rows), of_several(&four_rows, 4));
        for name in ["one-slack", "bundle"] {
            let none_kept =
                json!({"cache": {"max_planes": 0, "share": 0.5}, "master": {"accuracy": 1e-9, "max_idle": 50}});
            compared += two.check_masters((name, &none_kept), seed, lambda, matrix(Kernel::Linear, two.maps));
            compared += four.check_masters((name, &none_kept), seed, lambda, matrix(Kernel::Linear, four.maps));
        }
        for name in MASTERS {
            two.check_optimum((name, &json!({})), seed, lambda, matrix(Kernel::Linear, two.maps), Evaluate::Auto);
            four.check_optimum((name, &json!({})), seed, lambda, matrix(Kernel::Linear, four.maps), Evaluate::Auto);
        }
        four.check_optimum(("one-slack", &several), seed, lambda, matrix(Kernel::Linear, four.maps), Evaluate::Auto);
        let stop = (Stop { passes: Some(300.0), ..Stop::default() }, Evaluate::Pass);
        let whole = json!({"size": 1e6});
        let both = four.both(("sampled-cuts", &whole), seed, lambda, matrix(Kernel::Linear, four.maps), &stop);
        let [a, b] = both.map(|(outcome, _)| outcome.certificate.primal);
        assert!((a - b).abs() <= 1e-3, "sampled-cuts, seed {seed}: P is {b}, expected {a}");
    }
    assert!(compared > 100, "{compared} records were far from the optimum");
}

/// Solvers without a dual: the same weights as the linear code's, and of functional descent the same lengths of steps.
#[test]
fn solvers_without_a_dual_with_linear_kernels() {
    let mut learned = 0;
    for seed in 0..6 {
        let lambda = [0.1, 0.03, 0.01][seed as usize % 3];
        let [two_rows, four_rows] = [2, 4].map(|classes| rows(seed, classes));
        let (two, four) = (of_two(&two_rows), of_several(&four_rows, 4));
        for (name, changes) in without_dual() {
            // With several labels their scores are tied where an example was learned: in the second pass.
            let passes = if name.starts_with("sfd") { 1.0 } else { 20.0 };
            let with = (name, &changes);
            let linear = |pair_maps: &SparseRows| matrix(Kernel::Linear, pair_maps);
            learned += usize::from(two.check_weights(with, seed, lambda, linear(two.maps), 20.0));
            two.check_weights(("sfd1", &json!({"accuracy": 1e-12})), seed, lambda, linear(two.maps), 20.0);
            learned += usize::from(four.check_weights(with, seed, lambda, linear(four.maps), passes));
        }
    }
    assert!(learned > 42, "{learned} of 84 runs came to anything better than w = 0");
}

/// `(x.y + 1)^2` is the inner product of `1, sqrt 2 x_i, x_i^2, sqrt 2 x_i x_j`.
#[test]
fn polynomial_kernels_are_their_features() {
    let polynomial = json!({"name": "polynomial", "degree": 2, "gamma": 1.0, "coef0": 1.0});
    let polynomial: Kernel = serde_json::from_value(polynomial).unwrap();
    for seed in 0..4 {
        let (x, labels) = rows(seed, 3);
        let width = x.columns();
        let mut maps = SparseRows::new(1 + 2 * width + width * (width - 1) / 2);
        for i in 0..x.len() {
            let mut dense = vec![0.0; width];
            x.row(i).iter().for_each(|(k, value)| dense[k as usize] = value);
            let root = 2.0f64.sqrt();
            let mut values = vec![1.0];
            values.extend(dense.iter().map(|value| root * value));
            values.extend(dense.iter().map(|value| value * value));
            for a in 0..width {
                values.extend((a + 1..width).map(|b| root * dense[a] * dense[b]));
            }
            maps.push(&(0..values.len() as u32).collect::<Vec<_>>(), &values);
        }
        let [on_features, on_numbers] = multiclass(&maps, 3);
        let pair = Pair { on_features, on_numbers, maps: &maps, labels: &labels, tables: 3 };
        for name in SOLVERS {
            pair.check_optimum((name, &json!({})), seed, 0.1, matrix(polynomial, &x), Evaluate::Pass);
        }
        for name in MASTERS {
            pair.check_optimum((name, &json!({})), seed, 0.1, matrix(polynomial, &x), Evaluate::Auto);
        }
    }
}
