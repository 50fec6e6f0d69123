//! Integer programmes: answers and bounds against enumeration, and files of them.

use std::sync::Arc;

use multiplane_infer::programme::*;

use crate::common::Random;

fn below(rng: &mut Random, count: usize) -> usize {
    rng.within(0, count - 1)
}

/// A programme of up to 6 whole variables with up to 5 rows, feasible at 0 or at another vector.
fn random(rng: &mut Random) -> Programme {
    let (variables, rows) = (2 + below(rng, 5), 1 + below(rng, 5));
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let upper: Vec<f64> = (0..variables).map(|_| if below(rng, 4) == 0 { 3.0 } else { 1.0 }).collect();
    let inner: Vec<f64> = upper.iter().map(|&upper| below(rng, upper as usize + 1) as f64).collect();
    let (mut row_lower, mut row_upper) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let (mut sum, first) = (0.0, columns.len());
        let is_ordered = below(rng, 3) == 0;
        for column in 0..variables as u32 {
            if below(rng, 2) == 0 {
                let value = if is_ordered { -1.0 } else { below(rng, 5) as f64 - 2.0 };
                columns.push(column);
                values.push(value);
                sum += value * inner[column as usize];
            }
        }
        if is_ordered && columns.len() > first {
            let others = (columns.len() - first - 1) as f64;
            sum += (others + 1.0) * inner[columns[first] as usize];
            values[first] = others;
        }
        let spare = below(rng, 2) as f64;
        let ends = [(f64::NEG_INFINITY, sum + spare), (sum - spare, f64::INFINITY), (sum - spare, sum + spare)];
        let (low, high) = ends[below(rng, 3)];
        row_lower.push(low);
        row_upper.push(high);
        starts.push(columns.len());
    }
    let matrix = SparseMatrix::new(starts, columns, values, variables).unwrap();
    let (lower, integral) = (vec![0.0; variables], vec![true; variables]);
    Programme { matrix, row_lower, row_upper, lower, upper, integral }.checked().unwrap()
}

/// Lists all vectors of whole numbers between the bounds of the first `count` variables.
fn all(programme: &Programme) -> Vec<Vec<f64>> {
    let mut found = vec![Vec::new()];
    for (&lower, &upper) in programme.lower.iter().zip(&programme.upper) {
        let ends = |y: Vec<f64>| {
            (lower as i64..=upper as i64).map(move |value| y.iter().copied().chain([value as f64]).collect())
        };
        found = found.into_iter().flat_map(ends).collect();
    }
    found.retain(|y| programme.fault(y).is_none());
    found
}

fn dot(costs: &[f64], y: &[f64]) -> f64 {
    costs.iter().zip(y).map(|(cost, y)| cost * y).sum()
}

/// Rows that are closer have the same whole vectors; answers are the best of all, and bounds are below, whatever was
/// asked before; so are those of the slow search, and with some variables held, or with a gap.
#[test]
fn answers_are_those_of_enumeration() {
    let (mut branched, mut changed) = (0, 0);
    for seed in 0..300 {
        let mut rng = Random(seed);
        let programme = random(&mut rng);
        let feasible = all(&programme);
        let close = closer(&programme);
        changed += u32::from(close != programme);
        assert_eq!(all(&close), feasible, "seed {seed}");
        let mut solver = ProgrammeSolver::new(Arc::new(close.clone())).unwrap();
        let start: Vec<f64> = feasible[0].iter().zip(&programme.lower).map(|(y, low)| 1.0 - 2.0 * (y - low)).collect();
        solver.begin_at(&start);
        for round in 0..4 {
            let costs: Vec<f64> = feasible[0].iter().map(|_| 2.0 * rng.real()).collect();
            let best = |y: &[Vec<f64>]| y.iter().map(|y| dot(&costs, y)).fold(f64::INFINITY, f64::min);
            let context = format!("seed {seed}, round {round}, {programme:?}, {costs:?}");
            let check = |found: &Least, best: f64, above: f64| {
                let y = found.y.as_ref().unwrap();
                assert!(feasible.contains(y) && dot(&costs, y) <= best + above + 1e-9, "{context}: {found:?}, {best}");
                assert!(
                    found.bound <= best + 1e-12 && found.bound >= best - above - 1e-6,
                    "{context}: {found:?}, {best}"
                );
            };
            let found = solver.minimise(Costs::of(&costs)).unwrap();
            check(&found, best(&feasible), 0.0);
            check(&searched(&programme, &costs).unwrap(), best(&feasible), 0.0);
            let loose = solver.minimise(Costs { gap: 0.2, known: Some(&feasible[0]), ..Costs::of(&costs) }).unwrap();
            check(&loose, best(&feasible), 0.25 * best(&feasible).abs());
            let hurried = Costs { seconds: 0.0, known: Some(&feasible[0]), ..Costs::of(&costs) };
            check(&solver.minimise(hurried).unwrap(), best(&feasible), f64::INFINITY);
            let known = &feasible[below(&mut rng, feasible.len())];
            let held = below(&mut rng, known.len());
            let end = |bounds: &[f64]| (0..known.len()).map(|v| if v == held { known[v] } else { bounds[v] }).collect();
            let (lower, upper): (Vec<f64>, Vec<f64>) = (end(&close.lower), end(&close.upper));
            let agree: Vec<Vec<f64>> = feasible.iter().filter(|y| y[held] == known[held]).cloned().collect();
            let within = solver.minimise(Costs { bounds: Some((&lower, &upper)), ..Costs::of(&costs) }).unwrap();
            check(&within, best(&agree), 0.0);
            assert_eq!(solver.minimise(Costs::of(&costs)).unwrap(), found, "{context}: another answer");
            let mut fresh = ProgrammeSolver::new(Arc::new(close.clone())).unwrap();
            fresh.begin_at(&start);
            assert_eq!(fresh.minimise(Costs::of(&costs)).unwrap(), found, "{context}: another answer of a new solver");
        }
        branched += solver.branched;
    }
    assert!(branched > 50 && changed > 50, "{branched} {changed}");
}

/// A programme of six variables that are 0 or 1, with rows `entries y <= end`.
fn binary(rows: &[(&[(u32, f64)], f64)]) -> Programme {
    let entries = || rows.iter().flat_map(|row| row.0);
    let mut starts = vec![0];
    rows.iter().for_each(|row| starts.push(starts[starts.len() - 1] + row.0.len()));
    let (columns, values) = (entries().map(|entry| entry.0).collect(), entries().map(|entry| entry.1).collect());
    let matrix = SparseMatrix::new(starts, columns, values, 6).unwrap();
    let (row_lower, row_upper) = (vec![f64::NEG_INFINITY; rows.len()], rows.iter().map(|row| row.1).collect());
    let (lower, upper, integral) = (vec![0.0; 6], vec![1.0; 6], vec![true; 6]);
    Programme { matrix, row_lower, row_upper, lower, upper, integral }.checked().unwrap()
}

/// Rows become what is said of them: see [`closer`].
#[test]
fn rows_become_closer() {
    type Rows<'a> = &'a [(&'a [(u32, f64)], f64)];
    let cases: [(Rows<'_>, Rows<'_>); 7] = [
        (&[(&[(0, 2.0), (1, -1.0), (2, -1.0)], 0.0)], &[(&[(0, 1.0), (1, -1.0)], 0.0), (&[(0, 1.0), (2, -1.0)], 0.0)]),
        (&[(&[(0, 1.0), (1, 1.0), (2, -2.0)], 0.0)], &[(&[(0, 1.0), (2, -1.0)], 0.0), (&[(1, 1.0), (2, -1.0)], 0.0)]),
        (
            &[(&[(0, 3.0), (1, -1.0), (2, -1.0), (3, -1.0)], 2.0)],
            &[(&[(0, 1.0), (1, -1.0), (2, -1.0), (3, -1.0)], 0.0)],
        ),
        (
            &[(&[(0, 1.0), (1, 1.0), (2, 1.0)], 2.0), (&[(0, 1.0), (1, 1.0), (2, 1.0), (3, -2.0)], 1.0)],
            &[(&[(0, 1.0), (1, 1.0), (2, 1.0)], 2.0), (&[(0, 1.0), (1, 1.0), (2, 1.0), (3, -1.0)], 1.0)],
        ),
        (
            &[(&[(0, 1.0), (2, -1.0)], 0.0), (&[(1, 1.0), (2, -1.0)], 0.0), (&[(0, 1.0), (1, 1.0)], 1.0)],
            &[(&[(0, 1.0), (1, 1.0), (2, -1.0)], 0.0), (&[(0, 1.0), (2, -1.0)], 0.0), (&[(1, 1.0), (2, -1.0)], 0.0)],
        ),
        (
            &[(&[(0, 1.0), (2, -1.0)], 0.0), (&[(1, 1.0), (2, -1.0)], 0.0), (&[(0, 1.0), (1, 1.0), (3, -1.0)], 1.0)],
            &[
                (&[(0, 1.0), (1, 1.0), (3, -1.0), (2, -1.0)], 0.0),
                (&[(0, 1.0), (2, -1.0)], 0.0),
                (&[(1, 1.0), (2, -1.0)], 0.0),
            ],
        ),
        (&[(&[(0, 1.5), (1, -1.5)], 0.0)], &[(&[(0, 1.5), (1, -1.5)], 0.0)]),
    ];
    for (given, expected) in cases {
        assert_eq!(closer(&binary(given)), binary(expected), "{given:?}");
    }
    let coupled: Rows<'_> = &[(&[(1, 1.0), (2, 1.0)], 1.0), (&[(0, 3.0), (1, -1.0), (2, -1.0)], 0.0)];
    assert_eq!(closer(&binary(coupled)).upper, [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(closer(&binary(&coupled[..1])).upper, [1.0; 6]);
    assert_eq!(closer(&binary(&[(&[(0, 2.0), (1, -1.0)], 0.0)])).upper, [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    for seed in 0..300 {
        let mut rng = Random(seed);
        let mut rows: Vec<(Vec<(u32, f64)>, f64)> = Vec::new();
        for _ in 0..2 + below(&mut rng, 6) {
            let mut order: Vec<u32> = (0..6).collect();
            (1..6).for_each(|k| order.swap(k, below(&mut rng, k + 1)));
            let (chosen, count) = (&order[..2 + below(&mut rng, 3)], below(&mut rng, 3) as f64);
            let rest = chosen[1..].iter().map(|&column| (column, if seed % 2 == 0 { -1.0 } else { 1.0 }));
            let first = match seed % 2 {
                0 => (chosen[0], (chosen.len() - 1) as f64 + f64::from(rng.chance(0.3))),
                _ => (chosen[0], if rng.chance(0.5) { 1.0 } else { -count }),
            };
            let mut row: Vec<(u32, f64)> = [first].into_iter().chain(rest).collect();
            if seed % 3 == 0 && rng.chance(0.4) {
                row[1].1 = 1.0; // limits next to what limits imply
            }
            rows.push((row, if rng.chance(0.5) { 0.0 } else { count }));
        }
        let parts: Vec<(&[(u32, f64)], f64)> = rows.iter().map(|row| (&row.0[..], row.1)).collect();
        let programme = binary(&parts);
        assert_eq!(all(&closer(&programme)), all(&programme), "seed {seed}: {rows:?}");
    }
}

/// Variables that are distances take at most these, and as much as is rewarded.
#[test]
fn distances_are_variables() {
    let matrix = SparseMatrix::new(vec![0, 2], vec![0, 1], vec![1.0, 1.0], 2).unwrap();
    let (row_lower, row_upper) = (vec![f64::NEG_INFINITY], vec![6.0]);
    let (lower, upper, integral) = (vec![0.0; 2], vec![5.0, 4.0], vec![true; 2]);
    let programme = Programme { matrix, row_lower, row_upper, lower, upper, integral }.checked().unwrap();
    let more = programme.with_distances(&[(0, 2.0), (1, 1.0)]);
    let mut solver = ProgrammeSolver::new(Arc::new(more.checked().unwrap())).unwrap();
    for costs in [[0.0, 0.0], [1.5, -0.25], [-0.9, 0.2], [0.9, -0.9]] {
        let value = |y: &Vec<f64>| dot(&costs, y) - (y[0] - 2.0).abs() - 0.5 * (y[1] - 1.0).abs();
        let best = all(&programme).iter().map(value).fold(f64::INFINITY, f64::min);
        let asked = [costs[0], costs[1], -1.0, -0.5, 0.0, 0.0];
        let found = solver.minimise(Costs::of(&asked)).unwrap();
        let y = found.y.unwrap();
        assert!(
            (dot(&asked, &y) - best).abs() < 1e-6 && (value(&y[..2].to_vec()) - best).abs() < 1e-6,
            "{y:?}, {best}"
        );
        assert!(found.bound <= best + 1e-12 && found.bound > best - 1e-6);
    }
}

/// Bad numbers are refused by what is wrong, and what is not feasible is told.
#[test]
fn faults_are_told() {
    let matrix = |columns: Vec<u32>, values: Vec<f64>| SparseMatrix::new(vec![0, columns.len()], columns, values, 2);
    assert_eq!(matrix(vec![0, 2], vec![1.0; 2]).unwrap_err(), "row 0: found column 2, expected 0 to 1");
    assert_eq!(matrix(vec![1, 1], vec![1.0; 2]).unwrap_err(), "row 0: found column 1 twice");
    assert!(matrix(vec![0], vec![f64::NAN]).unwrap_err().contains("found NaN in column 0"));
    assert!(matrix(vec![0], vec![]).unwrap_err().contains("1 columns and 0 values"));
    let with = |row: [f64; 2], lower: Vec<f64>, upper: Vec<f64>| {
        let matrix = matrix(vec![0, 1], vec![1.0; 2]).unwrap();
        let (row_lower, row_upper, integral) = (vec![row[0]], vec![row[1]], vec![true; 2]);
        Programme { matrix, row_lower, row_upper, lower, upper, integral }.checked()
    };
    assert_eq!(with([0.0, 1.0], vec![0.0], vec![1.0; 2]).unwrap_err(), "lower has 1 numbers, expected 2");
    assert_eq!(with([2.0, 1.0], vec![0.0; 2], vec![1.0; 2]).unwrap_err(), "row 0 is between 2 and 1: nothing is");
    assert_eq!(
        with([f64::NAN, 1.0], vec![0.0; 2], vec![1.0; 2]).unwrap_err(),
        "row 0 is between NaN and 1: nothing is"
    );
    assert_eq!(
        with([0.0, 1.0], vec![0.0, 0.2], vec![1.0, 0.8]).unwrap_err(),
        "variable 1 is between 1 and 0: nothing is"
    );
    assert!(
        with([0.0, 1.0], vec![0.0; 2], vec![1.0, f64::INFINITY]).unwrap_err().contains("variable 1 has the bound inf")
    );
    assert!(with([0.0, 1.0], vec![0.0, -1e20], vec![1.0; 2]).unwrap_err().contains("variable 1 has the bound -1e20"));
    let large = Programme {
        matrix: matrix(vec![0], vec![1e20]).unwrap(),
        ..with([0.0, 1.0], vec![0.0; 2], vec![1.0; 2]).unwrap()
    };
    assert_eq!(large.checked().unwrap_err(), "row 0 has 1e20 at variable 0: expected sizes of at most 1e14");
    let programme = with([3.0, 4.0], vec![0.0; 2], vec![1.0; 2]).unwrap();
    assert_eq!(programme.fault(&[1.0, 1.0]).unwrap(), "row 0 is 2, expected 3 to 4");
    assert_eq!(programme.fault(&[0.5, 1.0]).unwrap(), "variable 0 is 0.5, expected a whole number");
    assert_eq!(programme.fault(&[0.0, 2.0]).unwrap(), "variable 1 is 2, expected 0 to 1");
    let mut solver = ProgrammeSolver::new(Arc::new(programme)).unwrap();
    assert_eq!(solver.minimise(Costs::of(&[1.0, 1.0])).unwrap_err(), "no vector is feasible");
}

/// MPS and LP files are read with names, kinds and sense, and others are refused.
#[test]
fn files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Highs::read(&path)
    };
    let lp = "Maximize\n obj: 2 a + 3 b - c\nSubject To\n r: a + b <= 1\n s: c - a >= 0\nBounds\n 0 <= c <= 2.5\n\
              Binary\n a b\nEnd\n";
    let found = read("a.lp", lp).unwrap();
    assert_eq!((&found.names[..], &found.costs[..]), (&["a", "b", "c"].map(String::from)[..], &[-2.0, -3.0, 1.0][..]));
    assert_eq!((found.programme.integral, found.programme.upper), (vec![true, true, false], vec![1.0, 1.0, 2.5]));
    assert_eq!(found.programme.matrix.rows(), 2);
    let quadratic = lp.replace("- c", "- c + [ a * a ] / 2");
    assert_eq!(read("q.lp", &quadratic).unwrap_err(), "it has quadratic terms, expected linear costs");
    let semi = "Minimize\n obj: a\nSubject To\n r: a >= 0\nBounds\n a <= 4\nSemi-Continuous\n a\nEnd\n";
    assert!(read("s.lp", semi).unwrap_err().contains("variable a is semi-continuous"));
    let mps = "NAME t\nROWS\n N obj\n L r\nCOLUMNS\n    x obj 1 r 1\nRHS\n    rhs r 4\nBOUNDS\n UP bnd x 3\nENDATA\n";
    let found = read("a.mps", mps).unwrap();
    assert_eq!((&found.names[0][..], found.programme.row_upper[0], found.programme.integral[0]), ("x", 4.0, false));
    assert!(read("b.mps", &mps.replace(" L r", " Q r")).unwrap_err().contains("HiGHS cannot read it"));
    assert!(read("c.lp", "nonsense").unwrap_err().contains("HiGHS cannot read it"));
    assert!(read("d.mps", &mps.replace(" UP bnd x 3\n", "")).unwrap_err().contains("variable 0 has the bound inf"));
}
