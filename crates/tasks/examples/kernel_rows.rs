//! Median times of rows of kernel matrices: `cargo run --release -p multiplane-tasks --example kernel_rows -- FILE [THREADS]`, FILE
//! being LIBSVM text, plain or gzip.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use multiplane_core::kernel::{KernelMatrix, RowMove};
use multiplane_tasks::data::{Classified, SparseRows, libsvm, read};
use multiplane_tasks::kernel::{ChiSquare, Kernel, KernelRows, Polynomial, Rbf, Stored};

/// Rows computed, and rows read again.
const COMPUTED: usize = 400;
const READ: usize = 2000;

fn main() {
    let mut given = std::env::args().skip(1);
    let file = given.next().expect("a file");
    let threads = given.next().map_or(1, |text| text.parse().expect("a number of threads"));
    let data = read(Path::new(&file), Some(&libsvm::FORMAT)).expect("LIBSVM text");
    let rows = data.get::<Classified>().expect("rows with labels").rows.clone();
    let share = rows.nonzeros() as f64 / (rows.len() * rows.columns()) as f64;
    let is_histogram = (0..rows.len()).all(|i| rows.row(i).iter().all(|(_, value)| value >= 0.0));
    println!("{} rows of {} columns, {:.1} % stored, {threads} threads", rows.len(), rows.columns(), 100.0 * share);
    println!(
        "{:14}{:>8}{:>14}{:>14}{:>12}{:>12}",
        "kernel", "bits", "computed us", "8 rows, each", "cached us", "entry ns"
    );
    let signed = [Kernel::Linear, Kernel::Rbf(Rbf::default()), Kernel::Polynomial(Polynomial::default())];
    let histograms = [Kernel::Intersection, Kernel::ChiSquare(ChiSquare::default())];
    for kernel in signed.into_iter().chain(histograms.into_iter().filter(|_| is_histogram)) {
        time::<f32>(kernel, 32, &rows, threads);
        time::<f64>(kernel, 64, &rows, threads);
    }
}

fn time<T: Stored>(kernel: Kernel, bits: usize, rows: &SparseRows, threads: usize) {
    let few = 64 * rows.len() * size_of::<T>();
    let mut matrix = KernelRows::<T>::new(kernel, rows.clone(), few, threads).expect("a kernel");
    let count = rows.len();
    let mut out = vec![0.0; count];
    let place = |k: usize| (k * 7919) % count;
    // Places of the cache are filled once before anything is timed.
    (0..64).for_each(|k| matrix.add_row(place(k), 1e-3, &mut out));
    let computed = micros(COMPUTED, |k| matrix.add_row(place(k + 64), 1e-3, &mut out));
    let to = |row: usize| RowMove { row, factor: 1e-3, start: 0 };
    let group = |g: usize| (0..8).map(|k| to(place(500 + 8 * g + k))).collect();
    let eight: Vec<Vec<RowMove>> = (0..COMPUTED / 8).map(group).collect();
    let grouped = micros(COMPUTED / 8, |g| matrix.add_rows(&eight[g], &mut out)) / 8.0;
    let before = matrix.counts();
    let held = |k: usize| eight[eight.len() - 1 - k % 4][k % 8].row;
    let cached = micros(READ, |k| matrix.add_row(held(k), 1e-3, &mut out));
    assert_eq!(matrix.counts().evaluations, before.evaluations, "rows that are read are held");
    let mut fresh = KernelRows::<T>::new(kernel, rows.clone(), few, 1).expect("a kernel");
    let entry = micros(READ, |k| {
        black_box(fresh.entry(place(k), place(3 * k + 1)));
    });
    let name = kernel.name();
    println!("{name:14}{bits:>8}{computed:>14.1}{grouped:>14.1}{cached:>12.1}{:>12.0}", 1e3 * entry);
}

/// The median time of some calls, in microseconds: others may be using the machine.
fn micros(calls: usize, mut call: impl FnMut(usize)) -> f64 {
    let mut time = |k: usize| {
        let start = Instant::now();
        call(k);
        1e6 * start.elapsed().as_secs_f64()
    };
    let mut times: Vec<f64> = (0..calls).map(&mut time).collect();
    times.sort_by(f64::total_cmp);
    times[calls / 2]
}
