//! The 26 lower-case glyphs of the synthetic letters.
//!
//! A glyph is 16 rows of 8 columns, `#` for ink. Ascenders start in row 1, the body of a letter spans rows 5 to
//! [`BASELINE`] and descenders end in row 14: one row stays free above and below, so that a letter can be shifted
//! by a row without losing ink. Upright strokes are two columns wide, so that a thin pen still leaves one of them.

/// Rows of a glyph, and of the image of a letter.
pub(super) const ROWS: usize = 16;

/// Columns of a glyph, and of the image of a letter.
pub(super) const COLUMNS: usize = 8;

/// The row on which the letters stand.
pub(super) const BASELINE: usize = 11;

/// A clean drawing: [`ROWS`] strings of [`COLUMNS`] characters, `#` for ink and `.` for paper.
pub(super) type Glyph = [&'static str; ROWS];

/// Returns the clean drawing of `letter` (0 is `a`, 25 is `z`); `None` from 26 on.
fn glyph(letter: u8) -> Option<Glyph> {
    let letter = usize::from(letter);
    let start = letter % PER_BAND * (COLUMNS + 1);
    let cut = |line: &'static str| line.get(start..start + COLUMNS);
    let band = BANDS.get(letter / PER_BAND)?;
    cut(band[0])?; // the last band is shorter
    Some(band.map(|line| cut(line).unwrap_or("........")))
}

/// Returns the drawings of `letter` and of its look-alike, which may be the letter itself; `None` from 26 on.
pub(super) fn forms(letter: u8) -> Option<[Glyph; 2]> {
    let other = *LOOK_ALIKES.get(usize::from(letter))?;
    Some([glyph(letter)?, glyph(other - b'a')?])
}

/// For `a` to `z`, the letter that it is mistaken for when the strokes that tell the two apart are left out. Most
/// pairs have a vowel and a consonant, or else letters with different neighbours: there the spelling helps.
const LOOK_ALIKES: &[u8; 26] = b"nkoqslyutjbfwacrdpeihvmxgz";

/// Returns true if `glyph` has ink at (`row`, `column`); everything outside of its frame is paper.
pub(super) fn is_ink(glyph: &Glyph, row: i32, column: i32) -> bool {
    let (Ok(row), Ok(column)) = (usize::try_from(row), usize::try_from(column)) else {
        return false;
    };
    glyph.get(row).and_then(|line| line.as_bytes().get(column)) == Some(&b'#')
}

/// Drawings that share a band of [`BANDS`].
const PER_BAND: usize = 7;

/// The alphabet, drawn in four bands of seven letters (the last has five), a blank between neighbours.
const BANDS: [Glyph; 4] = [
    [
        "........ ........ ........ ........ ........ ........ ........",
        "........ .##..... ........ .....##. ........ ...###.. ........",
        "........ .##..... ........ .....##. ........ ..##.##. ........",
        "........ .##..... ........ .....##. ........ ..##.... ........",
        "........ .##..... ........ .....##. ........ ..##.... ........",
        "..####.. .#####.. ..####.. ..#####. ..####.. .#####.. ..#####.",
        ".#...##. .##..##. .##..##. .##..##. .##..##. ..##.... .##..##.",
        ".....##. .##..##. .##..... .##..##. .##..##. ..##.... .##..##.",
        "..#####. .##..##. .##..... .##..##. .######. ..##.... .##..##.",
        ".##..##. .##..##. .##..... .##..##. .##..... ..##.... .##..##.",
        ".##..##. .##..##. .##..##. .##..##. .##..... ..##.... ..#####.",
        "..###.## .#####.. ..####.. ..###### ..#####. ..##.... .....##.",
        "........ ........ ........ ........ ........ ........ .....##.",
        "........ ........ ........ ........ ........ ........ .##..##.",
        "........ ........ ........ ........ ........ ........ ..####..",
        "........ ........ ........ ........ ........ ........ ........",
    ],
    [
        "........ ........ ........ ........ ........ ........ ........",
        ".##..... ........ ........ .##..... ..##.... ........ ........",
        ".##..... ...##... ....##.. .##..... ..##.... ........ ........",
        ".##..... ........ ....##.. .##..... ..##.... ........ ........",
        ".##..... ........ ........ .##..... ..##.... ........ ........",
        ".#####.. ..###... ...###.. .##..##. ..##.... #######. .#####..",
        ".##..##. ...##... ....##.. .##.##.. ..##.... ##.##.## .##..##.",
        ".##..##. ...##... ....##.. .####... ..##.... ##.##.## .##..##.",
        ".##..##. ...##... ....##.. .###.... ..##.... ##.##.## .##..##.",
        ".##..##. ...##... ....##.. .####... ..##.... ##.##.## .##..##.",
        ".##..##. ...##... ....##.. .##.##.. ..##.... ##.##.## .##..##.",
        ".##..##. ...###.. ....##.. .##..##. ...###.. ##.##.## .##..##.",
        "........ ........ ....##.. ........ ........ ........ ........",
        "........ ........ .##.##.. ........ ........ ........ ........",
        "........ ........ ..###... ........ ........ ........ ........",
        "........ ........ ........ ........ ........ ........ ........",
    ],
    [
        "........ ........ ........ ........ ........ ........ ........",
        "........ ........ ........ ........ ........ ........ ........",
        "........ ........ ........ ........ ........ ........ ........",
        "........ ........ ........ ........ ........ ...##... ........",
        "........ ........ ........ ........ ........ ...##... ........",
        "..####.. .#####.. ..#####. .##.###. ..#####. .######. .##..##.",
        ".##..##. .##..##. .##..##. .###..#. .##..... ...##... .##..##.",
        ".##..##. .##..##. .##..##. .##..... .##..... ...##... .##..##.",
        ".##..##. .##..##. .##..##. .##..... ..####.. ...##... .##..##.",
        ".##..##. .##..##. .##..##. .##..... .....##. ...##... .##..##.",
        ".##..##. .#####.. ..#####. .##..... .....##. ...##.#. .##..##.",
        "..####.. .##..... .....##. .##..... .#####.. ....##.. ..###.##",
        "........ .##..... .....##. ........ ........ ........ ........",
        "........ .##..... .....##. ........ ........ ........ ........",
        "........ .##..... .....### ........ ........ ........ ........",
        "........ ........ ........ ........ ........ ........ ........",
    ],
    [
        "........ ........ ........ ........ ........",
        "........ ........ ........ ........ ........",
        "........ ........ ........ ........ ........",
        "........ ........ ........ ........ ........",
        "........ ........ ........ ........ ........",
        "##...##. ##....## .##..##. .##..##. .######.",
        "##...##. ##.##.## .##..##. .##..##. .....##.",
        "##...##. ##.##.## ..####.. .##..##. ....##..",
        ".##.##.. ##.##.## ...##... .##..##. ...##...",
        ".##.##.. ##.##.## ..####.. .##..##. ..##....",
        "..###... .######. .##..##. ..#####. .##.....",
        "...#.... .##..##. .##..##. .....##. .######.",
        "........ ........ ........ ....##.. ........",
        "........ ........ ........ ...##... ........",
        "........ ........ ........ .###.... ........",
        "........ ........ ........ ........ ........",
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Every letter has a drawing of 16 x 8 characters, all ink or paper, and nothing after `z` has one.
    #[test]
    fn glyphs_are_16_by_8() {
        for letter in 0..26 {
            let drawing = glyph(letter).expect("a letter of the alphabet");
            for line in drawing {
                assert_eq!(line.len(), COLUMNS, "letter {letter}: {line:?}");
                assert!(line.bytes().all(|c| c == b'#' || c == b'.'), "letter {letter}: {line:?}");
            }
        }
        assert_eq!(glyph(26), None);
        assert_eq!(glyph(255), None);
    }

    /// No two letters share a drawing, and the first and last rows are free for a shift.
    #[test]
    fn glyphs_differ_and_leave_a_margin() {
        let all: Vec<Glyph> = (0..26).filter_map(glyph).collect();
        for (i, drawing) in all.iter().enumerate() {
            assert!(!all[..i].contains(drawing), "letter {i} repeats an earlier one");
            assert!(!drawing[0].contains('#') && !drawing[ROWS - 1].contains('#'), "letter {i}");
        }
    }

    /// Looking alike goes both ways, and what two look-alikes share is still a good part of either.
    #[test]
    fn look_alikes_come_in_pairs() {
        let shared = |[one, other]: &[Glyph; 2], row: usize| {
            (0..COLUMNS as i32).filter(|&c| is_ink(one, row as i32, c) && is_ink(other, row as i32, c)).count()
        };
        for letter in 0..26 {
            let other = LOOK_ALIKES[usize::from(letter)];
            assert_eq!(LOOK_ALIKES[usize::from(other - b'a')], b'a' + letter);
            let pair = forms(letter).expect("a letter of the alphabet");
            let pixels: usize = (0..ROWS).map(|row| shared(&pair, row)).sum();
            assert!(pixels >= 10, "letter {letter} shares {pixels} pixels with its look-alike");
        }
        assert_eq!(forms(26), None);
    }

    /// Outside of the frame there is paper, inside the drawing decides.
    #[test]
    fn ink_ends_at_the_frame() {
        let l = glyph(11).expect("the letter l");
        assert!(is_ink(&l, 5, 3) && !is_ink(&l, 5, 0));
        assert!(!is_ink(&l, -1, 3) && !is_ink(&l, 16, 3) && !is_ink(&l, 5, -1) && !is_ink(&l, 5, 8));
    }
}
