//! Seeded data that ships inside of the program: handwriting-like words, and sentences with chunk tags.
//!
//! [`sentences`] come from a small grammar. For words, the shapes are those of the letter data set of Taskar, Guestrin and Koller (2003): words whose letters are images
//! of 16 x 8 binary pixels. [`words`] draws spelling from a letter-pair model, gives each word a writer, and lets the
//! writer distort the [`glyph`]s. All of it is integer arithmetic on ChaCha8, so that the same arguments give the
//! same bits on every machine.

mod chunks;
mod glyphs;
mod language;
mod words;

pub use chunks::{SynthToken, sentences};
pub use glyphs::{COLUMNS, Glyph, ROWS, glyph};
pub use words::{PIXELS, SynthWord, words};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The chance of one word: integer draws from its own stream of the seed's generator.
struct Dice(ChaCha8Rng);

impl Dice {
    /// The draws of stream `stream`; streams of one seed do not overlap.
    fn new(seed: u64, stream: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes()); // not `seed_from_u64`: its mixing is not ours to pin
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(stream);
        Self(rng)
    }

    /// Uniform in `0..bound`, up to a bias of `bound / 2^32`; 0 for an empty range.
    fn below(&mut self, bound: u32) -> u32 {
        let high = self.0.next_u64() >> 32;
        ((high * u64::from(bound)) >> 32) as u32
    }

    /// Uniform in `-reach..=reach`.
    fn around(&mut self, reach: u8) -> i32 {
        self.below(2 * u32::from(reach) + 1) as i32 - i32::from(reach)
    }

    /// -1 or 1, as likely, together `permille` times in a thousand; else 0.
    fn step(&mut self, permille: u32) -> i32 {
        if !self.chance(permille) {
            return 0;
        }
        if self.chance(500) { 1 } else { -1 }
    }

    /// True `permille` times in a thousand; always from 1000 on.
    fn chance(&mut self, permille: u32) -> bool {
        self.below(1000) < permille
    }
}
