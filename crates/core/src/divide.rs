//! Work divided among threads: every result lands in the slot of its index, so no bit depends on their number.
//!
//! Workers claim short chunks of the slots in order, whoever is free next. A division costs the start of its threads
//! (some 15 microseconds each) and a lock per chunk.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Most threads that make sense to ask for.
pub const MAX_THREADS: usize = 256;

/// Returns how many threads run at the same time on this machine, as far as it says.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

/// Chunks that each worker would get if all took equally long; more of them even out what does not.
const CHUNKS_PER_WORKER: usize = 8;

/// Slots of a chunk at most.
const LARGEST_CHUNK: usize = 64;

/// A slot that could not be filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfilled {
    /// Its index.
    pub slot: usize,
    /// Why.
    pub reason: String,
}

/// Fills every slot by `fill(worker, index, slot)`, each worker on a thread of its own, the first on this one.
///
/// Fails with the first slot, in their order, that cannot be filled; a panic of `fill` is such a failure. Slots
/// before that one are filled, slots after it may be. There must be a worker.
///
/// # Errors
///
/// The first slot, in their order, that could not be filled, and why: a failure of `fill` or its panic.
pub fn divide<S: Send, T: Send>(
    workers: &mut [S],
    slots: &mut [T],
    fill: impl Fn(&mut S, usize, &mut T) -> Result<(), String> + Sync,
) -> Result<(), Unfilled> {
    let chunk = (slots.len() / (CHUNKS_PER_WORKER * workers.len().max(1))).clamp(1, LARGEST_CHUNK);
    let needed = slots.len().div_ceil(chunk);
    let Some((own, others)) = workers.split_first_mut() else {
        return Err(Unfilled { slot: 0, reason: "there is no worker".into() });
    };
    if others.is_empty() || needed < 2 {
        return fill_chunk(own, 0, slots, &fill);
    }
    // Chunks are claimed in order, and a claimed one is worked through: whatever stands before the first failure
    // gets filled, however the threads are scheduled.
    let chunks = Mutex::new(slots.chunks_mut(chunk).enumerate());
    let failure: Mutex<Option<Unfilled>> = Mutex::new(None);
    let stopped = AtomicBool::new(false);
    let work = |worker: &mut S| {
        while !stopped.load(Ordering::Relaxed) {
            let Some((number, slots)) = lock(&chunks).next() else { return };
            if let Err(unfilled) = fill_chunk(worker, number * chunk, slots, &fill) {
                stopped.store(true, Ordering::Relaxed);
                let mut failure = lock(&failure);
                if failure.as_ref().is_none_or(|other| unfilled.slot < other.slot) {
                    *failure = Some(unfilled);
                }
            }
        }
    };
    let work = &work;
    let others = others.iter_mut().take(needed - 1).map(|worker| Box::new(move || work(worker)) as Box<Work>).collect();
    at_once(Box::new(move || work(own)), others);
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

type Work<'a> = dyn FnOnce() + Send + 'a;

/// Does the work of several at once, `own` on this thread. Boxed, so that the compiler makes threads once and not for
/// every kind of work.
fn at_once<'a>(own: Box<Work<'a>>, others: Vec<Box<Work<'a>>>) {
    thread::scope(|scope| {
        for other in others {
            // Where the system has no thread left, those there are do all the work.
            if thread::Builder::new().spawn_scoped(scope, other).is_err() {
                break;
            }
        }
        own();
    });
}

fn fill_chunk<S, T>(
    worker: &mut S,
    first: usize,
    slots: &mut [T],
    fill: &impl Fn(&mut S, usize, &mut T) -> Result<(), String>,
) -> Result<(), Unfilled> {
    for (slot, content) in (first..).zip(slots) {
        // After a panic a worker's scratch may be in any state; nobody uses it again, as the whole work has failed.
        let filled = catch_unwind(AssertUnwindSafe(|| fill(worker, slot, content)));
        filled.unwrap_or_else(|panic| Err(message(&*panic))).map_err(|reason| Unfilled { slot, reason })?;
    }
    Ok(())
}

/// Returns what a panic said.
pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", text.unwrap_or("no message"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: [usize; 6] = [0, 1, 2, 7, 64, 1000];

    /// Every slot is filled once, by its index, for any number of workers and slots.
    #[test]
    fn every_slot_is_filled_once() {
        for (workers, slots) in [1, 2, 3, 7, 40].into_iter().flat_map(|k| COUNTS.map(|n| (k, n))) {
            let mut calls = vec![0; workers];
            let mut filled = vec![0; slots];
            let fill = |calls: &mut usize, slot: usize, content: &mut usize| {
                *calls += 1;
                *content += slot * slot + 1;
                Ok(())
            };
            assert_eq!(divide(&mut calls, &mut filled, fill), Ok(()));
            assert!(filled.iter().enumerate().all(|(slot, found)| *found == slot * slot + 1), "{workers}, {slots}");
            assert_eq!(calls.iter().sum::<usize>(), slots, "{workers} workers");
        }
    }

    /// The first failure in the order of the slots is reported, be it an error or a panic, and everything before it
    /// is filled.
    #[test]
    fn the_first_failure_counts() {
        for (workers, round) in [1, 2, 3, 7].into_iter().flat_map(|k| (0..20).map(move |round| (k, round))) {
            let bad = [37 + round, 38 + round, 300];
            let mut filled = vec![false; 400];
            let fill = |_: &mut (), slot: usize, content: &mut bool| {
                if slot == bad[round % 2] {
                    std::thread::yield_now(); // let later failures come first
                }
                assert!(slot != bad[0] || round % 2 == 0, "slot {slot}");
                *content = !bad.contains(&slot);
                if *content { Ok(()) } else { Err(format!("slot {slot}")) }
            };
            let unfilled = divide(&mut vec![(); workers], &mut filled, fill).unwrap_err();
            assert_eq!(unfilled.slot, bad[0], "{workers} workers, round {round}");
            assert!(unfilled.reason.ends_with(&format!("slot {}", bad[0])), "{}", unfilled.reason);
            assert!(filled[..bad[0]].iter().all(|filled| *filled), "{workers} workers, round {round}");
        }
    }

    /// Without a worker there is an error, not a panic.
    #[test]
    fn nobody_is_an_error() {
        assert!(divide(&mut [(); 0], &mut [1], |_, _, _| Ok(())).is_err());
    }
}
