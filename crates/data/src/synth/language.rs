//! Frequencies of pairs of letters: words that look like English without being any.
//!
//! A word is a Markov chain over letters with a stop rule, so a linear-chain model has the right form for it. The
//! tables hold digits that rank, from general knowledge, how common a start, a pair or an end is in English spelling;
//! the chance of a draw is proportional to the digit squared. That is sharper than English, on purpose, so that
//! neighbours help: a letter carries about 4.2 bits alone, and about 2.1 once the letter before it is known.

use super::dice::Dice;

/// The fewest letters of a word.
const SHORTEST: usize = 3;

/// The most letters of a word.
const LONGEST: usize = 14;

/// One digit per letter, `a` to `z`.
type Ranks = [u8; 26];

/// Weights of letters at the start of a word.
const START: &Ranks = b"56754545422563371696224012";

/// Weights of the end of a word after a letter.
const END: &Ranks = b"21289254003546230697002291";

/// Row: a letter; digit: how common the letter of that column is right after it.
#[rustfmt::skip] // each row with its letter
const PAIRS: [&Ranks; 26] = [
//    abcdefghijklmnopqrstuvwxyz
    b"01310010101619010426011020", // a
    b"10004000100700200300600000", // b
    b"20001007005100800102000000", // c
    b"10007000700000200010000010", // d
    b"20150100000215010872020200", // e
    b"10000300300300800400000000", // f
    b"20003005000201000610000000", // g
    b"60008000300000200000100000", // h
    b"00310020000219501053020001", // i
    b"00000000000000500000800000", // j
    b"00008000400002000000000010", // k
    b"20024000600400100000100050", // l
    b"63002000000000360000000010", // m
    b"00272080012000000015000000", // n
    b"01000200000245110500825100", // o
    b"40001002000600200700000000", // p
    b"00000000000000000000900000", // q
    b"50008000300010500011000020", // r
    b"00202005001000141028302000", // s
    b"10003009600000300400001010", // t
    b"02010010000536030654000000", // u
    b"10009000300000000000000000", // v
    b"70000004600001200000000000", // w
    b"00200000100000060004000000", // x
    b"00000000000110310040000000", // y
    b"10007000100000000000000004", // z
];

/// Weights of the end of a word of 3, 4 ... 13 letters: the chance is this times the weight of its last letter in
/// [`END`], in units of 1/1000. Chosen for words of about 7.6 letters in the mean.
const URGE: [u32; LONGEST - SHORTEST] = [2, 2, 3, 4, 6, 8, 10, 11, 12, 12, 12];

/// Returns the letters of one word, each 0 (`a`) to 25 (`z`), between [`SHORTEST`] and [`LONGEST`] of them.
pub(super) fn draw(dice: &mut Dice) -> Vec<u8> {
    let mut last = pick(START, dice);
    let mut letters = vec![last];
    while !ends(letters.len(), last, dice) {
        last = pick(PAIRS[usize::from(last)], dice);
        letters.push(last);
    }
    letters
}

/// Returns true if a word of `length` letters ends after the letter `last`.
fn ends(length: usize, last: u8, dice: &mut Dice) -> bool {
    if length < SHORTEST {
        return false;
    }
    match URGE.get(length - SHORTEST) {
        Some(urge) => dice.chance(urge * weight(END[usize::from(last)])),
        None => true,
    }
}

/// One letter, in proportion to the squared ranks.
fn pick(ranks: &Ranks, dice: &mut Dice) -> u8 {
    let total = ranks.iter().map(|&rank| weight(rank)).sum();
    let mut left = dice.below(total);
    for (letter, &rank) in (0u8..).zip(ranks) {
        if left < weight(rank) {
            return letter;
        }
        left -= weight(rank);
    }
    unreachable!("below(total) is less than the sum of the weights")
}

/// A digit's weight: its square.
fn weight(rank: u8) -> u32 {
    u32::from(rank - b'0').pow(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every table entry is a digit and every letter has a successor, so a draw can neither fail nor get stuck.
    #[test]
    fn tables_hold_digits_and_no_dead_end() {
        for ranks in PAIRS.into_iter().chain([START, END]) {
            assert!(ranks.iter().all(u8::is_ascii_digit));
            assert!(ranks.iter().any(|&rank| rank > b'0'));
        }
    }

    /// Pairs of weight 0 are never drawn: `q` is followed by `u` alone, and `x` starts no word.
    #[test]
    fn forbidden_pairs_do_not_occur() {
        for stream in 0..2000 {
            let word = draw(&mut Dice::new(1, stream));
            assert_ne!(word[0], b'x' - b'a', "stream {stream}");
            for pair in word.windows(2).filter(|pair| pair[0] == b'q' - b'a') {
                assert_eq!(pair[1], b'u' - b'a', "stream {stream}");
            }
        }
    }
}
