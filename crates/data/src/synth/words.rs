//! Words in the hands of many writers.
//!
//! One word costs about a thousand draws. A word has one writer (slant, pen, size, care); each of its letters varies
//! a little around the writer's habits, may lose the strokes that set it apart, and is damaged by noise.
//!
//! The constants, most of them chances in a thousand, are tuned so that letters alone are hard and words are not: a
//! linear support vector machine on single letters, taught 600 words, errs on about 28 % of the letters of 300 new
//! ones, and a linear chain on about 14 %. What haste leaves out the neighbours can tell; the rest is harder on both.

use super::dice::Dice;
use super::glyphs::{BASELINE, COLUMNS, Glyph, ROWS, forms, is_ink};
use super::language;
use crate::{Classified, SparseRows, Words};

/// Pixels of a letter's image.
const PIXELS: usize = ROWS * COLUMNS;

/// A letter's image, row-major, true for ink.
type Image = [bool; PIXELS];

/// A word of the generator: a word and its pictures, one per letter.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SynthWord {
    /// The letters, 0 (`a`) to 25 (`z`).
    letters: Vec<u8>,
    /// The image of each letter.
    pixels: Vec<Image>,
}

/// Returns `n` handwritten-like words of 3 to 14 letters.
///
/// The same `seed` gives the same words on every machine, and the first words of a longer set are those of a shorter
/// one. Each word has a writer of its own, so words are independent.
fn words(n: usize, seed: u64) -> Vec<SynthWord> {
    (0..n as u64).map(|index| word(&mut Dice::new(seed, index))).collect()
}

fn word(dice: &mut Dice) -> SynthWord {
    let letters = language::draw(dice);
    let writer = WordWriter::draw(dice);
    let pixels = letters.iter().map(|&letter| writer.write(letter, dice)).collect();
    SynthWord { letters, pixels }
}

/// The slant of writers: columns between the top and the bottom row, to either side.
const SLANT_REACH: u8 = 2;

/// A writer whose strokes are thinner or broader than the drawing's.
const PEN_PERMILLE: u32 = 350;

/// A writer whose letters are larger or smaller than the drawings.
const SIZE_PERMILLE: u32 = 270;

/// Flipped pixels in a thousand: of the most careful writer, and the most that is added for another.
const FLIPS_PERMILLE: (u32, u32) = (10, 25);

/// A letter that departs from its writer's slant, pen or size; asked for each of them.
const WHIM_PERMILLE: u32 = 170;

/// A letter that stands a row too high or low; likewise a column too far left or right.
const SHIFT_PERMILLE: u32 = 250;

/// A letter in haste: the strokes that tell it from its look-alike are left out.
const HASTE_PERMILLE: u32 = 220;

/// A letter with a kink: below some row it goes on a column aside.
const KINK_PERMILLE: u32 = 150;

/// A letter with a patch that took no ink.
const GAP_PERMILLE: u32 = 100;

/// A letter with a blot.
const BLOT_PERMILLE: u32 = 80;

/// The habits that the letters of a word share.
#[derive(Debug, Clone, Copy)]
struct WordWriter {
    /// Columns by which the top row leans to the right of the bottom row.
    slant: i32,
    /// -1 thin, 0 as drawn, 1 broad.
    pen: i32,
    /// Rows by which eight rows above the baseline grow, -1 to 1.
    size: i32,
    /// Flipped pixels in a thousand.
    flips: u32,
}

impl WordWriter {
    fn draw(dice: &mut Dice) -> Self {
        Self {
            slant: dice.around(SLANT_REACH),
            pen: dice.step(PEN_PERMILLE),
            size: dice.step(SIZE_PERMILLE),
            flips: FLIPS_PERMILLE.0 + dice.below(FLIPS_PERMILLE.1 + 1),
        }
    }

    /// The same writer in the mood of one letter.
    fn vary(self, dice: &mut Dice) -> Self {
        let mut whim = |habit: i32, reach: i32| (habit + dice.step(WHIM_PERMILLE)).clamp(-reach, reach);
        Self {
            slant: whim(self.slant, i32::from(SLANT_REACH)),
            pen: whim(self.pen, 1),
            size: whim(self.size, 1),
            flips: self.flips,
        }
    }

    /// One letter as this writer puts it on paper.
    fn write(self, letter: u8, dice: &mut Dice) -> Image {
        let mood = self.vary(dice);
        let forms = forms(letter).unwrap_or_default();
        let strokes = if dice.chance(HASTE_PERMILLE) { &forms[..] } else { &forms[..1] };
        let mut image = mood.trace(strokes, dice);
        match mood.pen {
            -1 => thin(&mut image),
            1 => broaden(&mut image),
            _ => {}
        }
        if dice.chance(GAP_PERMILLE) {
            patch(&mut image, false, dice);
        }
        if dice.chance(BLOT_PERMILLE) {
            patch(&mut image, true, dice);
        }
        for pixel in &mut image {
            *pixel ^= dice.chance(mood.flips);
        }
        image
    }

    /// The strokes that all `drawings` share, leaned, sized, shifted and perhaps kinked: every pixel looks up where
    /// its ink comes from.
    fn trace(self, drawings: &[Glyph], dice: &mut Dice) -> Image {
        let (down, right) = (dice.step(SHIFT_PERMILLE), dice.step(SHIFT_PERMILLE));
        let (kink, kink_row) = (dice.step(KINK_PERMILLE), 4 + dice.below(8) as i32);
        let (rows, columns, baseline) = (ROWS as i32, COLUMNS as i32, BASELINE as i32);
        let stretched = 8 + self.size;
        let mut image = [false; PIXELS];
        for (at, pixel) in (0..).zip(&mut image) {
            let (row, column) = (at / columns, at % columns);
            let height = baseline + down - row; // above the shifted baseline; the sums below round to nearest
            let source_row = baseline - (8 * height + stretched / 2).div_euclid(stretched);
            let lean = (self.slant * (rows - 1 - 2 * row) + (rows - 1)).div_euclid(2 * (rows - 1));
            let aside = if row >= kink_row { kink } else { 0 };
            let source_column = column - right - lean - aside;
            *pixel = drawings.iter().all(|drawing| is_ink(drawing, source_row, source_column));
        }
        image
    }
}

/// Takes the left end off every run of ink in a row, except of single pixels: strokes get thinner, none vanishes.
fn thin(image: &mut Image) {
    for row in image.chunks_exact_mut(COLUMNS) {
        for column in (1..COLUMNS - 1).rev() {
            let starts = row[column] && !row[column - 1];
            if starts && row[column + 1] {
                row[column] = false;
            }
        }
        if row[0] && row[1] {
            row[0] = false;
        }
    }
}

/// Adds a pixel to the right of every run of ink that keeps its distance from the next one.
fn broaden(image: &mut Image) {
    for row in image.chunks_exact_mut(COLUMNS) {
        for column in (1..COLUMNS).rev() {
            let next = row.get(column + 1).is_some_and(|&ink| ink);
            row[column] |= row[column - 1] && !next;
        }
    }
}

/// Sets a patch of two or three rows and columns to `ink`, somewhere on the letter's body.
fn patch(image: &mut Image, ink: bool, dice: &mut Dice) {
    let (height, width) = (2 + dice.below(2) as usize, 2 + dice.below(2) as usize);
    let top = 2 + dice.below(11) as usize;
    let left = dice.below((COLUMNS - width) as u32 + 1) as usize;
    for row in image.chunks_exact_mut(COLUMNS).skip(top).take(height) {
        row[left..left + width].fill(ink);
    }
}

/// Returns `n` handwritten-like words (see [`synth`](crate::synth)), spread over ten folds in turn.
pub fn synthetic_words(n: usize, seed: u64) -> Words {
    let mut data = Words { offsets: vec![0], letters: Vec::new(), pixels: SparseRows::new(PIXELS), folds: Vec::new() };
    for (number, word) in words(n, seed).into_iter().enumerate() {
        data.letters.extend(&word.letters);
        data.offsets.push(data.letters.len());
        data.folds.push((number % 10) as u32);
        for pixels in &word.pixels {
            let ink: Vec<u32> = (0..PIXELS as u32).filter(|&pixel| pixels[pixel as usize]).collect();
            data.pixels.push(&ink, &vec![1.0; ink.len()]);
        }
    }
    data
}

/// Returns the letters of words one by one, as a multi-class problem with labels 1 to 26.
pub fn single_letters(words: &Words) -> Classified {
    let labels = words.letters.iter().map(|&letter| i64::from(letter) + 1).collect();
    Classified { rows: words.pixels.clone(), labels, ..Classified::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FNV-1a over the letters and the pixels, a byte each.
    fn fingerprint(words: &[SynthWord]) -> u64 {
        let bytes = words.iter().flat_map(|word| {
            let pixels = word.pixels.iter().flatten().map(|&ink| u8::from(ink));
            word.letters.iter().copied().chain(pixels)
        });
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    /// The data set is pinned: a change of any bit, on any machine, is a change of the data and shows here.
    #[test]
    fn words_are_the_same_everywhere() {
        assert_eq!(fingerprint(&words(50, 0)), 7_338_921_213_717_787_491);
    }

    /// A longer set begins with the shorter one, and another seed gives other words.
    #[test]
    fn shorter_sets_are_prefixes() {
        let long = words(40, 3);
        for n in [0, 1, 7, 40] {
            assert_eq!(words(n, 3), long[..n], "n = {n}");
        }
        assert_ne!(words(40, 4), long);
    }

    /// Words have 3 to 14 letters, about 7.6 in the mean, one image for each, and use the whole alphabet.
    #[test]
    fn lengths_and_letters_are_as_promised() {
        let set = words(2000, 0);
        let mut seen = [0; 26];
        for (index, word) in set.iter().enumerate() {
            assert!((3..=14).contains(&word.letters.len()), "word {index}: {:?}", word.letters);
            assert_eq!(word.letters.len(), word.pixels.len(), "word {index}");
            word.letters.iter().for_each(|&letter| seen[usize::from(letter)] += 1);
        }
        let mean = f64::from(seen.iter().sum::<u32>()) / set.len() as f64;
        assert!((6.5..=8.5).contains(&mean), "mean length {mean}");
        assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
    }

    /// Every letter leaves ink, and never a frame full of it.
    #[test]
    fn images_are_drawings() {
        for (index, word) in words(500, 1).iter().enumerate() {
            for image in &word.pixels {
                let ink = image.iter().filter(|&&pixel| pixel).count();
                assert!((3..PIXELS * 3 / 4).contains(&ink), "seed 1, word {index}: {ink} pixels");
            }
        }
    }

    /// A thin pen keeps a column of every stroke; a broad one adds a column but closes no gap.
    #[test]
    fn pens_keep_strokes_apart() {
        let row = |text: &str| {
            let mut image = [false; PIXELS];
            image.iter_mut().zip(text.bytes()).for_each(|(pixel, c)| *pixel = c == b'#');
            image
        };
        let (mut image, mut broad) = (row("##.#.###"), row("##.#..#."));
        thin(&mut image);
        assert_eq!(image, row(".#.#..##"));
        broaden(&mut broad);
        assert_eq!(broad, row("##.##.##"));
    }
}
