//! Integer programmes against the contracts of oracles and solvers.

use multiplane_core::rng::Rng;
use multiplane_infer::programme::{Programme, SparseMatrix};
use multiplane_tasks::builtin::ilp::{IlpSpec, Solution, examples};
use multiplane_tasks::data::programmes::{ProgrammeExample, Programmes};
use multiplane_tasks::dataset::Dataset;
use multiplane_testkit::contract::{check_certificates, check_oracle, solvers_on};
use multiplane_testkit::small::{Small, of_task};

/// A row: columns with coefficients, and its largest value.
type Row = (Vec<(u32, f64)>, f64);

/// Detections at two times, edges between them that need both ends, and a limit; two to four examples that differ in
/// features, fixed costs and truth.
fn small(seed: u64) -> Small {
    let mut rng = Rng::new(seed, 11);
    let edges: Vec<[u32; 2]> = vec![[0, 2], [0, 3], [1, 2], [1, 3]];
    let mut rows: Vec<Row> = Vec::new();
    for (e, ends) in (4..).zip(&edges) {
        rows.push((vec![(e, 2.0), (ends[0], -1.0), (ends[1], -1.0)], 0.0));
    }
    for node in 0..4 {
        let around = (4..).zip(&edges).filter(|(_, ends)| ends.contains(&node)).map(|(e, _)| (e, 1.0));
        rows.push((around.collect(), 1.0));
    }
    if seed.is_multiple_of(3) {
        rows.push(((0..4).map(|node| (node, 1.0 + f64::from(node % 2))).collect(), 4.0)); // fractional relaxations
    }
    let entries = || rows.iter().flat_map(|row| &row.0);
    let starts = rows.iter().scan(0, |end, row| {
        *end += row.0.len();
        Some(*end)
    });
    let (columns, values) = (entries().map(|entry| entry.0).collect(), entries().map(|entry| entry.1).collect());
    let matrix = SparseMatrix::new([0].into_iter().chain(starts).collect(), columns, values, 8).unwrap();
    let programme = Programme {
        matrix,
        row_lower: vec![f64::NEG_INFINITY; rows.len()],
        row_upper: rows.iter().map(|row| row.1).collect(),
        lower: vec![0.0; 8],
        upper: vec![1.0; 8],
        integral: vec![true; 8],
    };
    let vector = |bits: u32| (0..8).map(|v| f64::from(bits >> v & 1)).collect::<Vec<f64>>();
    let all: Vec<Vec<f64>> = (0..256).map(vector).filter(|y| programme.fault(y).is_none()).collect();
    let count = 2 + rng.below(3);
    let of = |rng: &mut Rng, count: usize| (0..count).map(|_| 2.0 * rng.unit() - 1.0).collect::<Vec<f64>>();
    let made = (0..count).map(|_| ProgrammeExample {
        programme: programme.clone(),
        features: {
            let columns = (0..16).map(|k| k % 2 + if k < 8 { 0 } else { 1 }).collect();
            SparseMatrix::new((0..9).map(|v| 2 * v).collect(), columns, of(&mut rng, 16), 3).unwrap()
        },
        costs: of(&mut rng, 8),
        truth: all[rng.below(all.len() as u64) as usize].clone(),
        weights: Vec::new(),
    });
    let data = Programmes::new(made.collect(), Vec::new()).unwrap();
    let (task, examples) = examples(&IlpSpec::default(), &Dataset::new(data)).unwrap();
    let all: Vec<Solution> = all.into_iter().map(Solution::new).collect();
    of_task(format!("programmes {seed}"), task, examples, move |_| all.clone())
}

/// Answers are the best of all vectors, and the same for a worker that was asked nothing before.
#[test]
fn answers_equal_enumeration() {
    (0..60).for_each(|seed| check_oracle(&small(seed), seed));
}

/// Whenever a solver that can run on such an oracle stops, its certificate is that of an independent judge.
#[test]
fn certificates_are_true() {
    let able = solvers_on(small(1).oracle());
    assert!(able.len() > 10, "{}", able.len());
    for entry in able {
        (0..4).for_each(|seed| {
            check_certificates(entry, &small(seed), [1.0, 0.1][(seed % 2) as usize], &[1.0, 3.5, 40.0])
        });
    }
}
