//! The chance of synthetic data.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The chance of one word: integer draws from its own stream of the seed's generator.
pub(super) struct Dice(ChaCha8Rng);

impl Dice {
    /// Returns the draws of stream `stream`; streams of one seed do not overlap.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes()); // not `seed_from_u64`: its mixing is not ours to pin
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(stream);
        Self(rng)
    }

    /// Draws uniformly from `0..bound`, up to a bias of `bound / 2^32`; 0 for an empty range.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        let high = self.0.next_u64() >> 32;
        ((high * u64::from(bound)) >> 32) as u32
    }

    /// Draws uniformly from `-reach..=reach`.
    pub(super) fn around(&mut self, reach: u8) -> i32 {
        self.below(2 * u32::from(reach) + 1) as i32 - i32::from(reach)
    }

    /// Draws -1 or 1, as likely, together `permille` times in a thousand; else 0.
    pub(super) fn step(&mut self, permille: u32) -> i32 {
        if !self.chance(permille) {
            return 0;
        }
        if self.chance(500) { 1 } else { -1 }
    }

    /// Returns true `permille` times in a thousand; always from 1000 on.
    pub(super) fn chance(&mut self, permille: u32) -> bool {
        self.below(1000) < permille
    }
}
