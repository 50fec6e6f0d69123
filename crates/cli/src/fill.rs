//! Text on terminals that are narrower than it: lines are broken at spaces, and tables divided into blocks of columns.
//! Text to a file or a pipe stays as it is.

use std::io::{self, IsTerminal};

use crate::status_line;

/// Columns that text is broken to at least: on less nothing can be read anyway.
const LEAST: usize = 20;

/// Lines that are taken for a list of names with their descriptions have these between the two.
const GUTTER: &str = "  ";

/// The columns that standard output has, where it is a terminal that does not have more than enough.
pub(crate) fn columns() -> Option<usize> {
    io::stdout().is_terminal().then(|| status_line::columns().max(LEAST))
}

/// Text whose lines have at most so many columns, where their words allow that.
pub(crate) fn filled(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.to_owned() };
    let mut filled = String::with_capacity(text.len() + text.len() / 8);
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        push_broken(&mut filled, line, columns);
        filled += end;
    }
    filled
}

/// Appends a line, broken where it is too long.
fn push_broken(text: &mut String, line: &str, columns: usize) {
    if line.chars().count() <= columns {
        text.push_str(line);
        return;
    }
    let indent = " ".repeat(hanging(line).min(columns / 2));
    let start = line.len() - line.trim_start_matches(' ').len();
    let (mut length, mut rest) = (start.min(columns / 2), &line[start..]);
    text.extend(std::iter::repeat_n(' ', length));
    let mut fresh = true; // nothing but the indentation stands on the line
    while !rest.is_empty() {
        let space = rest.len() - rest.trim_start_matches(' ').len();
        let word = rest[space..].split(' ').next().unwrap_or_default();
        rest = &rest[space + word.len()..];
        let needed = space + word.chars().count();
        if !fresh && !word.is_empty() && length + needed > columns {
            text.push('\n');
            text.push_str(&indent);
            (length, fresh) = (indent.len(), true);
        }
        if !fresh {
            text.extend(std::iter::repeat_n(' ', space));
            length += space;
        }
        text.push_str(word);
        length += word.chars().count();
        fresh = false;
    }
}

/// Returns the indentation of the lines that follow a broken one: under its description in a list of names, after its
/// name in `name: what it is`, else under its first word.
fn hanging(line: &str) -> usize {
    let start = line.len() - line.trim_start_matches(' ').len();
    let content = &line[start..];
    if let Some(at) = content.find(GUTTER) {
        let after = content[at..].len() - content[at..].trim_start_matches(' ').len();
        return line[..start + at + after].chars().count();
    }
    let is_named = content.split(' ').next().is_some_and(|word| word.ends_with(':'));
    start + if is_named { 4 } else { 0 }
}

/// A table of short cells, set to the right.
pub(crate) struct TextTable {
    /// Heads of the columns, and the width of each where there is room.
    heads: Vec<(&'static str, usize)>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Begins with the heads of the columns, and how wide these are where there is room.
    pub(crate) fn new(heads: &[(&'static str, usize)]) -> Self {
        TextTable { heads: heads.to_vec(), rows: Vec::new() }
    }

    /// Appends a row of as many cells.
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Appends a line of words between the rows.
    pub(crate) fn note(&mut self, words: String) {
        self.rows.push(vec![words]);
    }

    /// The lines of the table. On few columns it is set as narrow as its cells, and where that does not do, in blocks
    /// of which each begins with the first column.
    pub(crate) fn text(&self, columns: Option<usize>) -> String {
        let length = |text: &str| text.chars().count();
        let wide: Vec<usize> = self.heads.iter().map(|&(_, width)| width).collect();
        let needed = |widths: &[usize]| 1 + widths.iter().map(|width| width + 1).sum::<usize>();
        let all: Vec<usize> = (0..wide.len()).collect();
        let Some(columns) = columns.filter(|&columns| needed(&wide) > columns) else { return self.block(&all, &wide) };
        let rows = || self.rows.iter().filter(|row| row.len() == self.heads.len());
        let cells = |column: usize| rows().map(move |row| length(&row[column]));
        let narrow: Vec<usize> =
            all.iter().map(|&column| cells(column).max().unwrap_or(0).max(length(self.heads[column].0))).collect();
        let (mut blocks, mut block) = (Vec::new(), vec![0]);
        for column in 1..narrow.len() {
            let with: Vec<usize> = block.iter().chain([&column]).map(|&column| narrow[column]).collect();
            if block.len() > 1 && needed(&with) > columns {
                blocks.push(std::mem::replace(&mut block, vec![0]));
            }
            block.push(column);
        }
        blocks.push(block);
        blocks.iter().map(|block| self.block(block, &narrow)).collect::<Vec<_>>().join("\n")
    }

    fn block(&self, columns: &[usize], widths: &[usize]) -> String {
        let line = |cell: &dyn Fn(usize) -> String| {
            let cells = columns.iter().map(|&column| format!(" {:>1$}", cell(column), widths[column]));
            format!(" {}\n", cells.collect::<String>())
        };
        let head = line(&|column| self.heads[column].0.to_owned());
        let rows = self.rows.iter().map(|row| match row.len() == self.heads.len() {
            true => line(&|column| row[column].clone()),
            false => format!("  {}\n", row.concat()),
        });
        std::iter::once(head).chain(rows).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines are broken at spaces, under what they belong to; what fits, and what is no terminal, stays.
    #[test]
    fn lines_are_broken() {
        let text = "solver\n  fw    steps of all examples at once\n      the first word is the place to go on\n  \
                    name: what it is and why\n";
        assert_eq!(filled(text, None), text);
        assert_eq!(filled(text, Some(80)), text);
        let expected = "solver\n  fw    steps of all\n        examples at once\n      the first word is\n      the \
                        place to \
                        go on\n  name: what it is and\n      why\n";
        assert_eq!(filled(text, Some(24)), expected);
        assert!(filled(text, Some(24)).lines().all(|line| line.chars().count() <= 24));
        // Words that are too long have lines of their own.
        assert_eq!(filled("a bbbbbbbbbbbbbbbbbbbbbbbbb c", Some(20)), "a\nbbbbbbbbbbbbbbbbbbbbbbbbb\nc");
        assert_eq!(filled("", Some(20)), "");
    }

    /// A table keeps its widths where there is room, else it is narrow, else it comes in blocks.
    #[test]
    fn tables_fit() {
        let mut table = TextTable::new(&[("lambda", 8), ("primal", 8), ("gap", 8)]);
        table.push(["0.1", "12.5", "-"].map(str::to_owned));
        table.note("... more".to_owned());
        assert_eq!(table.text(None), "    lambda   primal      gap\n       0.1     12.5        -\n  ... more\n");
        assert_eq!(table.text(Some(28)), table.text(None));
        assert_eq!(table.text(Some(27)), "  lambda primal gap\n     0.1   12.5   -\n  ... more\n");
        assert_eq!(
            table.text(Some(16)),
            "  lambda primal\n     0.1   12.5\n  ... more\n\n  lambda gap\n     0.1   -\n  ... more\n"
        );
    }
}
