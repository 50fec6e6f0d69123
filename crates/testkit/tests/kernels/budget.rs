//! Budgets of rows: points within them, of a matrix written down; and solvers that train within them.

use multiplane_core::linalg;
use multiplane_core::metric::{BudgetRows, KernelTable, Metric, SupportBudget};
use multiplane_core::rng::Rng;
use multiplane_core::run::{Evaluate, Stop};
use multiplane_tasks::kernel::Kernel;
use serde_json::{Value, json};

use crate::metric::{Written, table, written};
use crate::problems::{Pair, binary, matrix, multiclass, rows, run};

/// Rows that carry coefficients.
fn support(table: &KernelTable, coefficients: &[f64]) -> Vec<usize> {
    let carries = |row: &usize| (0..table.labels).any(|label| coefficients[place(table, *row, label)] != 0.0);
    (0..table.rows()).filter(carries).collect()
}

fn place(table: &KernelTable, row: usize, label: usize) -> usize {
    use multiplane_core::layout::Layout;
    match table.layout {
        Layout::LabelMajor => table.start + label * table.columns + row,
        Layout::ColumnMajor => table.start + row * table.labels + label,
    }
}

/// A point within a budget has no more rows, the image of its coefficients and its linear coordinates; removal takes
/// one row after the other that moves it least, projection leaves no direction of its rows along what was lost, and loses no more than removal of
/// the same rows does; a point that is within the budget keeps every bit.
#[test]
fn points_within_a_budget() {
    use multiplane_core::layout::Layout;
    use multiplane_core::metric::KernelMetric;
    for seed in 0..80 {
        let mut rng = Rng::new(seed, 11);
        let table = table(&mut rng, if seed % 2 == 0 { Layout::LabelMajor } else { Layout::ColumnMajor });
        let (dim, count) = (table.dim, table.rows());
        let factor: Vec<f64> = (0..count * (count + 1)).map(|_| rng.unit() - 0.5).collect();
        let of = |a: usize| &factor[a * (count + 1)..][..count + 1];
        let k: Vec<f64> = (0..count * count).map(|at| linalg::dot(of(at / count), of(at % count))).collect();
        let m = written(&table, &k);
        let metric = Metric::of_kernel(KernelMetric::new(table.clone(), Box::new(Written(count, k.clone()))));
        let mut point = vec![0.0; 2 * dim];
        let carrying: Vec<usize> = (0..count).filter(|_| rng.below(4) > 0).collect();
        for at in 0..dim {
            let is_row = |row: &usize| (0..table.labels).any(|label| place(&table, *row, label) == at);
            let free = !(0..count).any(|row| is_row(&row)) || carrying.iter().any(is_row);
            point[dim + at] = if free { rng.unit() - 0.5 } else { 0.0 };
        }
        metric.renew(&mut point);
        let before = support(&table, metric.coefficients(&point));
        let lost = |reduced: &[f64]| -> Vec<f64> {
            let u: Vec<f64> = point[dim..].iter().zip(&reduced[dim..]).map(|(a, b)| a - b).collect();
            m.chunks_exact(dim).map(|row| linalg::dot(row, &u)).collect()
        };
        let length = |reduced: &[f64]| metric.norm(&point.iter().zip(reduced).map(|(a, b)| a - b).collect::<Vec<_>>());
        for size in 1..=before.len() + 1 {
            let rows = BudgetRows { rows: size as u32 };
            for budget in [SupportBudget::Removal(rows), SupportBudget::Projection(rows)] {
                let what = format!("seed {seed}, {budget:?} of {}", before.len());
                let (mut reduced, mut additions) = (point.clone(), 5.0);
                metric.keep_within(budget, &mut reduced, &mut additions);
                let after = support(&table, metric.coefficients(&reduced));
                if size >= before.len() {
                    assert!(reduced == point && additions == 5.0, "{what}: bits have changed");
                    continue;
                }
                assert!(after.len() <= size && after.iter().all(|row| before.contains(row)), "{what}: {after:?}");
                let mut renewed = reduced.clone();
                metric.renew(&mut renewed);
                let off = reduced.iter().zip(&renewed).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-12, "{what}: the image is off by {off}");
                let of_row = |at: usize| (0..count).any(|row| (0..table.labels).any(|l| place(&table, row, l) == at));
                assert!((0..dim).all(|at| of_row(at) || reduced[dim + at] == point[dim + at]), "{what}: linear ones");
                let along = lost(&reduced);
                if let SupportBudget::Projection(_) = budget {
                    for &row in &after {
                        let most = (0..table.labels).map(|l| along[place(&table, row, l)].abs()).fold(0.0, f64::max);
                        assert!(most < 1e-8, "{what}: {most} is left along row {row}");
                    }
                    let mut removed = point.clone();
                    for row in before.iter().filter(|row| !after.contains(row)) {
                        (0..table.labels).for_each(|l| removed[dim + place(&table, *row, l)] = 0.0);
                    }
                    metric.renew(&mut removed);
                    assert!(length(&reduced) <= length(&removed) + 1e-10, "{what}: farther than removal");
                } else {
                    // Greedy: one more row stays with one more, and what went with it was the least there was.
                    let (mut larger, next) = (point.clone(), BudgetRows { rows: size as u32 + 1 });
                    metric.keep_within(SupportBudget::Removal(next), &mut larger, &mut 0.0);
                    let stayed = support(&table, metric.coefficients(&larger));
                    assert!(after.len() == size && after.iter().all(|row| stayed.contains(row)), "{what}: {after:?}");
                    for &row in &stayed {
                        let mut without = larger.clone();
                        (0..table.labels).for_each(|l| without[dim + place(&table, row, l)] = 0.0);
                        metric.renew(&mut without);
                        assert!(length(&reduced) <= length(&without) + 1e-10, "{what}: row {row} moves less");
                    }
                    let kept = after.iter().all(|&row| {
                        (0..table.labels).all(|l| {
                            let at = dim + place(&table, row, l);
                            reduced[at] == point[at]
                        })
                    });
                    assert!(kept, "{what}: coefficients of rows that stay have changed");
                }
            }
        }
    }
}

/// Solvers that train within a budget, each with what is changed of its preset.
fn solvers() -> [(&'static str, Value); 7] {
    [
        ("ssg", json!({})),
        ("ssg-avg", json!({})),
        ("pegasos", json!({"size": 3.0})),
        ("pegasos-avg", json!({"size": 0.2})),
        ("sfd1", json!({"size": 4.0})),
        ("sfd2", json!({"size": 0.3})),
        ("sfd2", json!({"size": 0.3, "inner": {"name": "one-slack"}})),
    ]
}

/// No answer has more rows than the budget, whatever it is; one that is large enough changes no bit, and a small one changes
/// something.
#[test]
fn solvers_keep_within_budgets() {
    let mut changed = 0;
    for seed in 0..6 {
        let (x, labels) = rows(seed, 3);
        let [on_features, on_numbers] = multiclass(&x, 3);
        let pair = Pair { on_features, on_numbers, maps: &x, labels: &labels, tables: 3 };
        let stop = || (Stop { passes: Some(6.0), ..Stop::default() }, Evaluate::Pass);
        let rbf: Kernel = serde_json::from_value(json!({"name": "rbf", "gamma": 0.5})).unwrap();
        for (name, changes) in solvers() {
            let train = |budget: Value| {
                let mut changes = changes.clone();
                changes["budget"] = budget;
                let regularizer = pair.regularizer(0.05, matrix(rbf, &x));
                run((name, &changes), pair.oracles(), regularizer, seed, stop()).0
            };
            let whole = train(json!({"name": "none"}));
            let count = |w: &[f64]| {
                let u = &w[w.len() / 2..];
                (0..x.len()).filter(|row| (0..3).any(|label| u[label * x.len() + row] != 0.0)).count()
            };
            for method in ["removal", "projection"] {
                let enough = train(json!({"name": method, "rows": x.len()}));
                assert_eq!((&enough.w, enough.certificate), (&whole.w, whole.certificate), "{name}, {method}");
                for size in [1, 2, 5] {
                    let found = train(json!({"name": method, "rows": size}));
                    assert!(count(&found.w) <= size, "{name}, {method}, {size}: {}", count(&found.w));
                    changed += usize::from(found.w != whole.w);
                }
            }
        }
    }
    assert!(changed > 180, "{changed} of 216 differ");
}

/// Budgets are for kernels, and of one row at least.
#[test]
fn budgets_without_a_kernel_are_refused() {
    let (x, _) = rows(1, 2);
    let [on_features, _] = binary(&x);
    let dim = multiplane_core::task::Task::dim(&*on_features);
    for name in ["ssg", "sfd1"] {
        let entry = multiplane_solvers::find(name).unwrap();
        let refused = |budget: Value| {
            let mut parameters = (entry.preset)();
            parameters["budget"] = budget;
            entry.build(&parameters, 5, dim, 0.1.into()).err().map(|error| error.to_string())
        };
        assert!(refused(json!({"name": "none"})).is_none(), "{name}");
        let without = refused(json!({"name": "removal", "rows": 3})).unwrap();
        assert!(without.contains("budget = removal: needs a kernel"), "{without}");
        let nothing = refused(json!({"name": "projection", "rows": 0})).unwrap();
        assert_eq!(nothing, "budget.rows = 0: must be at least 1");
        let merging = refused(json!({"name": "merging", "rows": 3})).unwrap();
        assert!(merging.contains("merging") && merging.contains("projection"), "{merging}");
    }
}
