//! Small data sets for the end-to-end tests, the same at every run.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};

use super::Scratch;

/// A linear congruential generator (Knuth's constants): what the samples need of chance.
struct Chance(u64);

impl Chance {
    /// A whole number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

const WORDS: [&str; 12] =
    ["plane", "block", "gap", "lambda", "oracle", "exact", "bound", "word", "dual", "primal", "cache", "quiz"];

/// Words in the format of letter.data, word i in fold i mod 10. Each letter has a picture of its own, of which
/// one pixel in sixteen is wrong each time it is written.
pub(crate) fn letters(words: usize, pixels: u64) -> String {
    let mut chance = Chance(words as u64);
    let mut text = String::new();
    let mut id = 1;
    for number in 0..words {
        let word = WORDS[number % WORDS.len()];
        for (i, letter) in word.bytes().enumerate() {
            let next = if i + 1 == word.len() { -1 } else { id + 1 };
            let (letter_name, word_id, position) = (char::from(letter), number + 1, i + 1);
            write!(text, "{id}\t{letter_name}\t{next}\t{word_id}\t{position}\t{}", number % 10).unwrap();
            let mut picture = Chance(u64::from(letter));
            for _ in 0..pixels {
                let wrong = chance.below(16) == 0;
                let ink = (picture.below(2) == 1) != wrong;
                write!(text, "\t{}", u8::from(ink)).unwrap();
            }
            text.push('\n');
            id += 1;
        }
    }
    text
}

/// Rows of `features` numbers in the format of LIBSVM; the label is drawn from `labels` and shifts one feature, so
/// that the classes overlap without being the same.
pub(crate) fn rows(n: usize, labels: &[i64], features: usize) -> String {
    let mut chance = Chance(n as u64);
    let mut text = String::new();
    for _ in 0..n {
        let class = chance.below(labels.len() as u64) as usize;
        write!(text, "{}", labels[class]).unwrap();
        for feature in 0..features {
            let shift = if feature == class % features { 900 } else { 0 };
            let value = (chance.below(2001) + shift) as f64 / 1000.0 - 1.0;
            write!(text, " {}:{value}", feature + 1).unwrap();
        }
        text.push('\n');
    }
    text
}

/// The bytes compressed.
pub(crate) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// Two rings, which no linear model tells apart, and three sectors of the plane; rows by chance, but always the same ones.
pub(crate) fn rings() -> Scratch {
    let scratch = Scratch::new();
    let mut state = 1u64;
    let mut unit = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for (name, count) in [("train", 120), ("test", 80)] {
        let (mut two, mut three) = (String::new(), String::new());
        for i in 0..count {
            let (angle, radius) = (std::f64::consts::TAU * unit(), (i % 2) as f64 + 0.2 + 0.6 * unit());
            let (x, y) = (radius * angle.cos(), radius * angle.sin());
            two += &format!("{} 1:{x} 2:{y}\n", 2 * (i % 2) - 1);
            three += &format!("{} 1:{x} 2:{y}\n", (3.0 * angle / std::f64::consts::TAU) as u32);
        }
        scratch.write(&format!("{name}.two"), two);
        scratch.write(&format!("{name}.three"), three);
    }
    scratch
}
