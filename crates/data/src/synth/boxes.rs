//! Small pictures as maps of words, each with one object in a box.

use super::dice::Dice;
use crate::boxes::{BoxArrays, NO_WORD};

/// Pixels in a row and in a column of a picture.
const SIZE: [i64; 2] = [24, 32];

/// Words of the background, then of the upper and the lower half of the object.
const WORDS: [u32; 3] = [4, 2, 2];

/// Returns `n` pictures of 24 x 32 pixels, with a word on every second column and row. An object of 8 to 16 pixels each
/// way has other words than the background, in its upper half others than in its lower one; a quarter of the words is
/// noise.
pub fn synthetic_boxes(n: usize, seed: u64) -> BoxArrays {
    let all: u32 = WORDS.iter().sum();
    let mut arrays = BoxArrays { word_counts: vec![all as usize], box_offsets: vec![0], ..BoxArrays::default() };
    let [height, width] = SIZE;
    for picture in 0..n {
        let mut dice = Dice::new(seed, picture as u64);
        let (w, h) = (8 + i64::from(dice.below(9)), 8 + i64::from(dice.below(9)));
        let (left, top) =
            (i64::from(dice.below((width - w + 1) as u32)), i64::from(dice.below((height - h + 1) as u32)));
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let is_inside = (left..left + w).contains(&x) && (top..top + h).contains(&y);
            let part = if is_inside { 1 + usize::from(2 * (y - top) >= h) } else { 0 };
            let first: u32 = WORDS[..part].iter().sum();
            let word = if dice.chance(250) { dice.below(all) } else { first + dice.below(WORDS[part]) };
            arrays.words.push(if x % 2 == 0 && y % 2 == 0 { i64::from(word) } else { NO_WORD });
        }
        arrays.map_sizes.push(SIZE);
        arrays.boxes.push([left, top, left + w, top + h]);
        arrays.box_offsets.push(arrays.boxes.len());
    }
    arrays
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boxes::Boxes;

    /// The same seed gives the same pictures, a longer set begins with the shorter one, and all are sound.
    #[test]
    fn pictures_are_sound() {
        super::super::assert_repeatable(|n, seed| {
            let arrays = synthetic_boxes(n, seed);
            let pixels = (SIZE[0] * SIZE[1]) as usize;
            arrays.words.chunks(pixels).map(<[i64]>::to_vec).zip(arrays.boxes.clone()).collect()
        });
        assert_eq!(Boxes::new(&synthetic_boxes(20, 1)).unwrap().images().len(), 20);
    }
}
