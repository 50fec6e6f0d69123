//! Seeded data that ships inside of the program: handwriting-like words, sentences with chunk tags, small pictures,
//! scenes with any of six labels, folded chains of rotamers, sentences as trees of words, pictures with an object, and
//! stick figures.
//!
//! Sentences come from a small grammar. For words, the shapes are those of the letter data set of Taskar, Guestrin
//! and Koller (2003): words whose letters are images of 16 x 8 binary pixels. [`synthetic_words`] draws spelling
//! from a letter-pair model, gives each word a writer, and lets the writer distort the glyphs. All of it is integer
//! arithmetic on ChaCha8, so that the same arguments give the same bits on every machine.

mod boxes;
mod chunks;
mod dice;
mod glyphs;
mod graphs;
mod language;
mod parses;
mod poses;
mod rotamers;
mod scenes;
mod words;

pub use boxes::synthetic_boxes;
pub use chunks::synthetic_chunks;
pub use graphs::synthetic_graphs;
pub use parses::synthetic_trees;
pub use poses::synthetic_poses;
pub use rotamers::synthetic_rotamers;
pub use scenes::synthetic_scenes;
pub use words::{single_letters, synthetic_words};

/// Asserts that the same seed gives the same data, and that a longer set begins with the shorter one.
#[cfg(test)]
fn assert_repeatable<T: PartialEq + std::fmt::Debug>(make: impl Fn(usize, u64) -> Vec<T>) {
    let long = make(50, 3);
    assert_eq!(make(20, 3), long[..20]);
    assert_ne!(make(50, 4), long);
}
