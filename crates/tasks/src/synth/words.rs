//! Words in the hands of many writers.
//!
//! One word costs about a thousand draws. A word has one writer (slant, pen, size, care); each of its letters
//! varies a little around the writer's habits and is then damaged by noise. Constants named `*_PERMILLE` are chances
//! in a thousand. They are tuned so that single letters are hard and words are not: with 600 words to learn from, a
//! linear classifier of single letters errs on about @U@ % of the letters of new words, a linear chain on about @C@ %.

use super::glyphs::{BASELINE, COLUMNS, Glyph, ROWS, forms, is_ink};
use super::{Dice, language};

/// Pixels of a letter's image.
pub const PIXELS: usize = ROWS * COLUMNS;

/// A letter's image, row-major, true for ink.
type Image = [bool; PIXELS];

/// What the generator makes: a word and its pictures, one per letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SynthWord {
    /// The letters, 0 (`a`) to 25 (`z`).
    pub letters: Vec<u8>,
    /// The image of each letter: 16 rows of 8 pixels, row-major, true for ink.
    pub pixels: Vec<[bool; PIXELS]>,
}

/// `n` handwritten-like words of 3 to 14 letters.
///
/// The same `seed` gives the same words on every machine, and the first words of a longer set are those of a shorter
/// one. No two writers are the same, so words are independent.
pub fn words(n: usize, seed: u64) -> Vec<SynthWord> {
    (0..n as u64).map(|index| word(&mut Dice::new(seed, index))).collect()
}

fn word(dice: &mut Dice) -> SynthWord {
    let letters = language::draw(dice);
    let writer = Writer::draw(dice);
    let pixels = letters.iter().map(|&letter| writer.write(letter, dice)).collect();
    SynthWord { letters, pixels }
}

/// How far writers slant: columns between the top and the bottom row, to either side.
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
struct Writer {
    /// Columns by which the top row leans to the right of the bottom row.
    slant: i32,
    /// -1 thin, 0 as drawn, 1 broad.
    pen: i32,
    /// Rows by which eight rows above the baseline grow, -1 to 1.
    size: i32,
    /// Flipped pixels in a thousand.
    flips: u32,
}

impl Writer {
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
        let mut image = [false; PIXELS];
        for (at, pixel) in (0..).zip(&mut image) {
            let (row, column) = (at / columns, at % columns);
            let height = baseline + down - row; // above the shifted baseline; the sums below round to nearest
            let source_row = baseline - (8 * height + 4).div_euclid(8 + self.size);
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
