//! Synthetic data as the readers would give it.

use super::chunks::sentences;
use super::glyphs::{COLUMNS, ROWS};
use super::scenes::{SCENE_LABELS, SIGNS, scenes};
use super::words::words;
use crate::{Classified, Columns, LabelSets, SparseRows, Words};

/// Returns `n` handwritten-like words (see [`synth`](crate::synth)), spread over ten folds in turn.
pub fn synthetic_words(n: usize, seed: u64) -> Words {
    let pixel_count = ROWS * COLUMNS;
    let mut data =
        Words { offsets: vec![0], letters: Vec::new(), pixels: SparseRows::new(pixel_count), folds: Vec::new() };
    for (number, word) in words(n, seed).into_iter().enumerate() {
        data.letters.extend(&word.letters);
        data.offsets.push(data.letters.len());
        data.folds.push((number % 10) as u32);
        for pixels in &word.pixels {
            let ink: Vec<u32> = (0..pixel_count as u32).filter(|&pixel| pixels[pixel as usize]).collect();
            data.pixels.push(&ink, &vec![1.0; ink.len()]);
        }
    }
    data
}

/// Returns `n` sentences (see [`synth`](crate::synth)) as columns word, part of speech and chunk tag.
pub fn synthetic_chunks(n: usize, seed: u64) -> Columns {
    let mut data = Columns::new(3);
    for sentence in sentences(n, seed) {
        sentence.into_iter().for_each(|token| data.push_token(token));
        data.end_sentence();
    }
    data
}

/// Returns `n` scenes (see [`synth`](crate::synth)) as rows of counts with sets of labels.
pub fn synthetic_scenes(n: usize, seed: u64) -> LabelSets {
    let mut data = LabelSets { rows: SparseRows::new(SIGNS), ..LabelSets::default() };
    for (labels, signs) in scenes(n, seed) {
        let mut set: Vec<u32> = labels.iter().map(|&label| data.names.intern(SCENE_LABELS[label as usize])).collect();
        set.sort_unstable();
        data.sets.push(set);
        let seen: Vec<u32> = (0..SIGNS as u32).filter(|&sign| signs[sign as usize] > 0).collect();
        let counts: Vec<f64> = seen.iter().map(|&sign| signs[sign as usize].into()).collect();
        data.rows.push(&seen, &counts);
    }
    data
}

/// Returns the letters of words one by one, as a multi-class problem with labels 1 to 26.
pub fn single_letters(words: &Words) -> Classified {
    let labels = words.letters.iter().map(|&letter| i64::from(letter) + 1).collect();
    Classified { rows: words.pixels.clone(), labels, ..Classified::default() }
}
