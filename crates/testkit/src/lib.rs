//! How multiplane is judged: random problems small enough to enumerate, brute force, an independent QP solver, and
//! contract suites that every registered solver and task has to pass.

pub mod contract;
mod dense;
pub mod engines;
pub mod marginals;
pub mod reference;
pub mod several;
pub mod small;

use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `f` with each item, on all cores, and returns the answers in the order of the items.
///
/// # Panics
///
/// `f` panics.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mine = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        mine.map_while(|item| Some((item, f(items.get(item)?)))).collect::<Vec<_>>()
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let mut answers: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker panicked")).collect()
    });
    answers.sort_by_key(|(item, _)| *item);
    answers.into_iter().map(|(_, answer)| answer).collect()
}
