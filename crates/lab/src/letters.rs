//! Words of the OCR data as text: letters of 16 x 8 pixels drawn with half blocks, two pixels a character.

/// Columns of a letter; each is followed by one blank.
const COLUMNS: usize = 8;

/// The letters of a word side by side, and below each its truth, its prediction, and `^` where they differ.
///
/// `pixels` holds one letter per entry, row-major from the top left, true for ink. Eight lines of half blocks, a
/// line "truth", a line "chain" and, if any letter is wrong, a line of marks; every line ends in a line break and
/// none in blanks. Where the lengths differ, what is missing stays blank and counts as wrong.
pub(crate) fn draw_word(pixels: &[[bool; 128]], truth: &str, predicted: &str) -> String {
    let truth: Vec<char> = truth.chars().collect();
    let predicted: Vec<char> = predicted.chars().collect();
    let letters = truth.len().max(predicted.len());
    let marks: Vec<char> = (0..letters).map(|i| if truth.get(i) == predicted.get(i) { ' ' } else { '^' }).collect();

    let mut out = String::new();
    for row in (0..16).step_by(2) {
        let letters = pixels.iter().map(|letter| half_blocks(letter, row));
        push_line(&mut out, "", &letters.collect::<Vec<_>>());
    }
    push_line(&mut out, "truth", &centred(&truth));
    push_line(&mut out, "chain", &centred(&predicted));
    if marks.contains(&'^') {
        push_line(&mut out, "", &centred(&marks));
    }
    out
}

/// Pixel rows `row` and `row + 1` of a letter as one line.
fn half_blocks(letter: &[bool; 128], row: usize) -> String {
    let upper = &letter[row * COLUMNS..][..COLUMNS];
    let lower = &letter[(row + 1) * COLUMNS..][..COLUMNS];
    let block = |(upper, lower)| match (upper, lower) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    };
    upper.iter().copied().zip(lower.iter().copied()).map(block).collect()
}

/// One character per letter, in the middle of its columns.
fn centred(characters: &[char]) -> Vec<String> {
    characters.iter().map(|c| format!("{c:^COLUMNS$}")).collect()
}

/// Appends a line: its name in the margin, then the cells with a blank between them.
fn push_line(out: &mut String, name: &str, cells: &[String]) {
    let line = format!("{name:<5}  {}", cells.join(" "));
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A letter with ink in one pixel.
    fn dot(row: usize, column: usize) -> [bool; 128] {
        let mut letter = [false; 128];
        letter[row * COLUMNS + column] = true;
        letter
    }

    /// Pixels land at their place: rows 0 and 1 share the first line, columns count from the left of each letter.
    #[test]
    fn pixels_land_at_their_place() {
        let drawn = draw_word(&[dot(0, 0), dot(15, 7)], "ab", "ab");
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines.len(), 10, "eight lines of blocks, truth and chain; no marks without an error");
        assert_eq!(lines[0], format!("{:7}▀", ""));
        assert_eq!(lines[7], format!("{:23}▄", ""));
        assert!(lines[1..7].iter().all(|line| line.is_empty()));
        let full = draw_word(&[[true; 128]], "a", "a");
        assert_eq!(full.lines().next(), Some("       ████████"));
    }

    /// Truth, prediction and mark of a letter stand in one column of text, nine columns from the next letter's.
    #[test]
    fn wrong_letters_are_marked_below() {
        let drawn = draw_word(&[[false; 128]; 3], "cat", "cut");
        let lines: Vec<&str> = drawn.lines().skip(8).collect();
        assert_eq!(lines[0], "truth     c        a        t");
        assert_eq!(lines[1], "chain     c        u        t");
        assert_eq!(lines[2], "                   ^");
    }

    /// Words of different lengths and empty words are drawn as far as they go; what is missing counts as wrong.
    #[test]
    fn lengths_may_differ() {
        assert!(draw_word(&[], "", "").ends_with("truth\nchain\n"));
        let drawn = draw_word(&[dot(0, 0)], "ab", "a");
        assert!(drawn.ends_with(&format!("{:19}^\n", "")));
        assert!(drawn.lines().all(|line| !line.ends_with(' ')));
    }
}
