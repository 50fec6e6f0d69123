//! Runs that are killed or meet a fault of the system, over all solvers, tasks, paths, grids and streams, on one thread and on
//! three: they go on to the bytes of a run that was never disturbed, or end with one error, and no file is lost.
//!
//! A handful are part of every test. `MULTIPLANE_KILLS=1000 MULTIPLANE_FAULTS=400 cargo test -p multiplane-cli --test campaign`
//! tries so many; `MULTIPLANE_SEED` begins elsewhere.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod experiments;
mod field;
mod injections;
mod kills;
mod runs;

use std::panic::{self, AssertUnwindSafe};

/// A number that the environment may set.
fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} = {text}: a number")))
}

/// A linear congruential generator (Knuth's constants): what a campaign needs of chance.
struct Chance(u64);

impl Chance {
    /// The chance of a trial: the same whatever trials came before.
    fn of(trial: u64) -> Chance {
        let mut chance = Chance(setting("MULTIPLANE_SEED", 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ trial);
        for _ in 0..3 {
            chance.share();
        }
        chance
    }

    /// A number in [0, 1).
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    /// One of the items.
    fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[(self.share() * items.len() as f64) as usize]
    }
}

/// The job of the visit `number`, of which there are so many: all in turn from a place by chance, or a few from everywhere.
fn spread(number: usize, visits: usize, jobs: usize) -> usize {
    let first = (Chance::of(0).share() * jobs as f64) as usize;
    let place = if visits < jobs { number * jobs / visits.max(1) } else { number };
    (first + place) % jobs
}

/// Counts trials that fail and goes on: a campaign is to tell of all that it finds. The panic says what it was.
#[derive(Default)]
struct Failures(usize);

impl Failures {
    /// What a trial came to, if it did not fail.
    fn of<T>(&mut self, trial: impl FnOnce() -> T) -> Option<T> {
        let result = panic::catch_unwind(AssertUnwindSafe(trial)).ok();
        self.0 += usize::from(result.is_none());
        result
    }
}
