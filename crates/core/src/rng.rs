//! The one source of chance: a seekable ChaCha8 stream with our own integer ranges and shuffle.
//!
//! Ranges and shuffles are ours because a library may change how it draws between versions, and a seed must
//! mean the same run for ever.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

/// A random number generator whose whole state is three numbers: seed, stream and position.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
#[serde(into = "RngPosition", from = "RngPosition")]
pub struct Rng {
    inner: ChaCha8Rng,
}

/// The whole state of a generator.
#[derive(serde::Serialize, serde::Deserialize)]
struct RngPosition {
    seed: [u8; 32],
    stream: u64,
    /// Words of 32 bits drawn so far.
    words: u128,
}

impl From<Rng> for RngPosition {
    fn from(rng: Rng) -> Self {
        RngPosition { seed: rng.inner.get_seed(), stream: rng.inner.get_stream(), words: rng.inner.get_word_pos() }
    }
}

impl From<RngPosition> for Rng {
    fn from(position: RngPosition) -> Self {
        let mut inner = ChaCha8Rng::from_seed(position.seed);
        inner.set_stream(position.stream);
        inner.set_word_pos(position.words);
        Rng { inner }
    }
}

impl Rng {
    /// The generator for `seed`; different `stream`s of one seed are independent.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut inner = ChaCha8Rng::seed_from_u64(seed);
        inner.set_stream(stream);
        Rng { inner }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }

    /// A number in `0..n`, every one equally likely (Lemire's multiplication with rejection). `n` must not be 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "below(0) has no answer");
        let threshold = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(n);
            if (wide as u64) >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A number in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts the items in a random order, every order equally likely (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A seed means the same numbers for ever: these were drawn once and written down.
    #[test]
    fn numbers_are_pinned() {
        let mut rng = Rng::new(7, 1);
        let drawn: Vec<u64> = (0..6).map(|_| rng.below(1000)).collect();
        assert_eq!(drawn, PINNED);
    }

    const PINNED: [u64; 6] = [992, 9, 721, 528, 58, 595];

    /// Shuffling keeps every item and reaches every order of three about equally often.
    #[test]
    fn shuffle_is_uniform() {
        let mut rng = Rng::new(1, 0);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut items = [0, 1, 2];
            rng.shuffle(&mut items);
            *seen.entry(items).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|&count| (850..1150).contains(&count)), "{seen:?}");
    }
}
