//! Sentences with parts of speech and chunk tags: phrases from a small grammar over made-up vocabulary.
//!
//! Some words belong to two parts of speech and some part-of-speech tags are wrong, so that neighbours are needed:
//! neither the word nor its tag alone tells the chunk. A sentence costs about fifty draws.

use super::dice::Dice;
use crate::Columns;

/// A token: word, part of speech, chunk tag.
type SynthToken = [&'static str; 3];

/// A kind of phrase: its chunk type, and what it is made of.
struct ChunkPhrase {
    /// Tags of the first and of the other tokens; `O` outside of chunks.
    tags: [&'static str; 2],
    /// Parts of speech, each with the chance in a thousand that it is there.
    parts: &'static [(&'static str, u32)],
}

const NOUN: ChunkPhrase =
    ChunkPhrase { tags: ["B-NP", "I-NP"], parts: &[("DT", 650), ("JJ", 350), ("JJ", 150), ("NN", 1000), ("NN", 250)] };
const PRONOUN: ChunkPhrase = ChunkPhrase { tags: ["B-NP", "I-NP"], parts: &[("PRP", 1000)] };
const VERB: ChunkPhrase =
    ChunkPhrase { tags: ["B-VP", "I-VP"], parts: &[("MD", 250), ("RB", 150), ("VB", 1000), ("TO", 120), ("VB", 120)] };
const PREPOSITION: ChunkPhrase = ChunkPhrase { tags: ["B-PP", "I-PP"], parts: &[("IN", 1000)] };
const ADVERB: ChunkPhrase = ChunkPhrase { tags: ["B-ADVP", "I-ADVP"], parts: &[("RB", 1000), ("RB", 200)] };
const MARK: ChunkPhrase = ChunkPhrase { tags: ["O", "O"], parts: &[(",", 1000)] };
const STOP: ChunkPhrase = ChunkPhrase { tags: ["O", "O"], parts: &[(".", 1000)] };

/// Words by part of speech. Some stand under two, as in English.
const WORDS: [(&str, &[&str]); 10] = [
    ("DT", &["the", "a", "this", "every", "that"]),
    ("JJ", &["small", "exact", "dual", "cold", "sharp", "early", "fast", "plain", "open", "light"]),
    (
        "NN",
        &[
            "plane", "bound", "cut", "block", "step", "gap", "oracle", "word", "plan", "run", "light", "cold", "open",
            "trade",
        ],
    ),
    ("PRP", &["it", "they", "we", "that"]),
    ("MD", &["will", "may", "can"]),
    ("RB", &["soon", "fast", "early", "never", "only"]),
    ("VB", &["cut", "step", "bound", "run", "plan", "block", "keep", "find", "open", "trade"]),
    ("TO", &["to"]),
    ("IN", &["of", "in", "by", "that", "to"]),
    (",", &[","]),
];

/// Part-of-speech tags that are wrong, in a thousand.
const WRONG_PERMILLE: u32 = 30;

/// Returns `n` sentences. The same `seed` gives the same sentences on every machine, and the first of a longer set are
/// those of a shorter one.
fn sentences(n: usize, seed: u64) -> Vec<Vec<SynthToken>> {
    (0..n as u64).map(|index| sentence(&mut Dice::new(seed, index))).collect()
}

fn sentence(dice: &mut Dice) -> Vec<SynthToken> {
    let mut tokens = Vec::new();
    for clause in 0..1 + dice.below(2) {
        if clause > 0 {
            say(&MARK, dice, &mut tokens);
        }
        if dice.chance(200) {
            say(&ADVERB, dice, &mut tokens);
        }
        noun(dice, &mut tokens);
        say(&VERB, dice, &mut tokens);
        if dice.chance(700) {
            noun(dice, &mut tokens);
        }
        for _ in 0..dice.below(3) {
            say(&PREPOSITION, dice, &mut tokens);
            noun(dice, &mut tokens);
        }
    }
    say(&STOP, dice, &mut tokens);
    tokens
}

fn noun(dice: &mut Dice, tokens: &mut Vec<SynthToken>) {
    let phrase = if dice.chance(200) { PRONOUN } else { NOUN };
    say(&phrase, dice, tokens);
}

/// Appends the words of a phrase.
fn say(phrase: &ChunkPhrase, dice: &mut Dice, tokens: &mut Vec<SynthToken>) {
    let mut first = true;
    for &(part, permille) in phrase.parts {
        if !dice.chance(permille) {
            continue;
        }
        let words = WORDS.iter().find(|(name, _)| *name == part).map_or(&["."][..], |(_, words)| words);
        let word = words[dice.below(words.len() as u32) as usize];
        let wrong = words.len() > 1 && dice.chance(WRONG_PERMILLE);
        let seen = if wrong { WORDS[dice.below(7) as usize].0 } else { part };
        tokens.push([word, seen, phrase.tags[usize::from(!first)]]);
        first = false;
    }
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

#[cfg(test)]
mod tests {
    use super::super::assert_repeatable;
    use super::*;

    /// The same seed gives the same sentences, and a longer set begins with the shorter one.
    #[test]
    fn sentences_are_repeatable() {
        assert_repeatable(sentences);
    }

    /// Every chunk begins with B and goes on in its own type; sentences end with a stop and are of moderate length.
    #[test]
    fn tags_are_well_formed() {
        for (number, sentence) in sentences(300, 0).iter().enumerate() {
            assert!((3..60).contains(&sentence.len()), "sentence {number}: {sentence:?}");
            assert_eq!(sentence.last().unwrap()[2], "O");
            let mut before = "O";
            for token in sentence {
                if let Some(chunk) = token[2].strip_prefix("I-") {
                    assert!(before.ends_with(chunk), "sentence {number}: {sentence:?}");
                }
                before = token[2];
            }
        }
    }
}
