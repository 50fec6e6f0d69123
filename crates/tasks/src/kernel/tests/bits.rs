//! What changes no bit: the order of two rows, the way of asking, the cache, threads. And what is counted.

use multiplane_core::kernel::{KernelCounts, KernelMatrix, RowMove};

use super::*;

/// `K[a, b]` has the bits of `K[b, a]`, as part of rows and alone, computed or read again.
#[test]
fn symmetric_bits() {
    fn check<T: Stored>(name: &str, kernel: Kernel, rows: &SparseRows) {
        let (mut held, mut fresh) = (matrix::<T>(kernel, rows, ENOUGH, 1), matrix::<T>(kernel, rows, ENOUGH, 1));
        let all: Vec<Vec<f64>> = (0..rows.len()).map(|row| row_of(&mut held, row)).collect();
        for (a, row) in all.iter().enumerate() {
            for (b, value) in row.iter().enumerate() {
                let found = [all[b][a], held.entry(a, b), fresh.entry(a, b), fresh.entry(b, a)];
                let same = found.iter().all(|found| found.to_bits() == value.to_bits());
                assert!(same, "{name} {kernel:?} {a} {b}: {value}, {found:?}");
            }
        }
    }
    for (name, rows) in layouts(70) {
        for kernel in kernels() {
            check::<f32>(name, kernel, &rows);
            check::<f64>(name, kernel, &rows);
        }
    }
}

/// What a matrix is asked.
enum Ask {
    Entry(usize, usize),
    Rows(Vec<usize>),
}

/// Questions at random: single values, and up to 12 rows with repetitions, of which some are asked for again and again.
fn questions(count: usize, seed: u64) -> Vec<Ask> {
    let mut rng = Rng::new(seed, 1);
    let row = |rng: &mut Rng| {
        let most = if rng.below(2) == 0 { 9 } else { count as u64 };
        rng.below(most) as usize
    };
    let ask = |_| match rng.below(3) {
        0 => Ask::Entry(row(&mut rng), row(&mut rng)),
        _ => {
            let mut rows: Vec<usize> = (0..rng.below(13)).map(|_| row(&mut rng)).collect();
            rows.dedup(); // of one row after itself one reading is counted
            Ask::Rows(rows)
        }
    };
    (0..300).map(ask).collect()
}

/// Asks, rows one after the other or together, and returns the vector and the values.
fn answers(matrix: &mut dyn KernelMatrix, asked: &[Ask], together: bool) -> (Vec<f64>, Vec<f64>) {
    let (mut out, mut values) = (vec![0.0; matrix.len()], Vec::new());
    for ask in asked {
        match ask {
            Ask::Entry(a, b) => values.push(matrix.entry(*a, *b)),
            Ask::Rows(rows) => {
                let alphas: Vec<f64> = (0..rows.len()).map(|k| 0.3 - 0.1 * k as f64).collect();
                if together {
                    let to = |(&row, &factor)| RowMove { row, factor, start: 0 };
                    matrix.add_rows(&rows.iter().zip(&alphas).map(to).collect::<Vec<_>>(), &mut out);
                } else {
                    rows.iter().zip(&alphas).for_each(|(&row, &alpha)| matrix.add_row(row, alpha, &mut out));
                }
            }
        }
    }
    (out, values)
}

/// Counts by a list of rows in the order of their use.
fn counted(asked: &[Ask], count: usize, most: usize) -> KernelCounts {
    let (mut counts, mut held) = (KernelCounts::default(), Vec::new());
    for ask in asked {
        match ask {
            Ask::Entry(a, b) if held.contains(a) || held.contains(b) => counts.reread += 1,
            Ask::Entry(..) => counts.evaluations += 1,
            Ask::Rows(rows) => {
                for &row in rows {
                    if let Some(at) = held.iter().position(|&held| held == row) {
                        held.remove(at);
                        counts.reread += count as u64;
                    } else {
                        counts.evaluations += count as u64;
                        if held.len() == most {
                            held.remove(0);
                        }
                    }
                    held.push(row);
                }
            }
        }
    }
    counts
}

/// Sums and values have the same bits for any cache and any way of asking, and what is counted follows the order of use.
#[test]
fn the_cache_changes_no_bit() {
    const COUNT: usize = 90;
    for (seed, (name, rows)) in layouts(COUNT).into_iter().enumerate() {
        let asked = questions(COUNT, seed as u64);
        for kernel in kernels() {
            let expected = answers(&mut matrix::<f32>(kernel, &rows, ENOUGH, 1), &asked, false);
            for most in [1, 2, 7, 8, 30, COUNT] {
                for together in [false, true] {
                    let mut found = matrix::<f32>(kernel, &rows, most * COUNT * 4, 1);
                    let answer = answers(&mut found, &asked, together);
                    assert!(answer == expected, "{name} {kernel:?} with room for {most}, together: {together}");
                    assert_eq!(found.counts(), counted(&asked, COUNT, most), "room for {most}, together: {together}");
                }
            }
        }
    }
}

/// Any number of threads gives the same bits; what becomes of sums alone is work enough that they are used.
#[test]
fn threads_change_no_bit() {
    let to = |row: usize| RowMove { row, factor: 0.1, start: 0 };
    let (lines, group) = (20_000, [19_999, 17, 2, 2048, 300, 4000, 1023, 1024, 77]);
    let function = || -> RowKernel { Box::new(|x, y| (1 + x.indices.len() * y.indices.len()) as f64) };
    let mut functions = Vec::new();
    for (name, rows) in layouts(lines) {
        for kernel in [Kernel::Rbf(Rbf::default()), Kernel::Intersection] {
            let sums = |threads: usize| {
                let mut out = vec![0.0; lines];
                matrix::<f64>(kernel, &rows, ENOUGH, threads).add_rows(&group.map(to), &mut out);
                out
            };
            let expected = sums(1);
            [2, 3, 7].into_iter().for_each(|threads| assert!(sums(threads) == expected, "{name} {kernel:?}"));
        }
        if functions.is_empty() {
            for threads in [1, 2, 3] {
                let mut found = KernelRows::<f32>::of_function(function(), rows.clone(), ENOUGH, threads).unwrap();
                functions.push(row_of(&mut found, 1234));
            }
        }
    }
    assert!(functions[1] == functions[0] && functions[2] == functions[0]);
}
