//! A report as one HTML page that needs nothing beside itself: styles and figures inline, no script, no fetch.

use std::fmt::Write;

/// Light and dark by the reader's preference; on paper always light, with figures kept whole. The line height of
/// `pre` is that of block characters in common fonts, so that drawings made of them have no seams.
pub(crate) const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --rule: #d5dae0; --tint: #f4f6f8; --ground: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e6ea; --soft: #9aa4af; --rule: #3a424b; --tint: #1d2228; --ground: #14181c; }
}
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; }
main { max-width: 50rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.5rem 0 .75rem; }
p { margin: 0 0 .9rem; max-width: 42rem; }
.lead { font-size: 1.1rem; color: var(--soft); }
figure { margin: 0; }
figcaption { margin-top: .6rem; font-size: .875rem; color: var(--soft); max-width: 42rem; }
svg { display: block; width: 100%; height: auto; }
.scroll { overflow-x: auto; }
a { color: inherit; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; border-top: 2px solid var(--ink); border-bottom: 2px solid var(--ink); }
th, td { padding: .35rem 1.4rem .35rem 0; text-align: left; vertical-align: baseline; }
td:first-child { white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
th { font-weight: 600; border-bottom: 1px solid var(--ink); vertical-align: bottom; }
tbody tr + tr td { border-top: 1px solid var(--rule); }
.n { text-align: right; white-space: nowrap; }
@media screen and (max-width: 40rem) {
  .scroll svg, .scroll table { min-width: 34rem; }
  .scroll table.long { min-width: 0; width: 100%; }
  .long thead, .long td:empty { display: none; }
  .long tr { display: block; padding: .6rem 0; }
  .long tr + tr { border-top: 1px solid var(--rule); }
  .long td, .long tr + tr td { display: block; padding: 0; border: 0; text-align: left; white-space: normal; }
  .long td::before { content: attr(data-name) ': '; color: var(--soft); }
}
pre { margin: 0; padding: .9rem 1rem; overflow-x: auto; background: var(--tint); border: 1px solid var(--rule); border-radius: 6px; font: .8rem/1.16 ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --rule: #bbb; --tint: #fff; --ground: #fff; }
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  figure, tr, pre { break-inside: avoid; }
  h2 { break-after: avoid; }
  svg { max-width: 15cm; }
  .scroll { overflow: visible; }
  pre { white-space: pre-wrap; font-size: 7pt; }
}
";

/// A report: a title, a lead and sections in the order given.
pub(crate) struct ReportPage {
    /// Heading and `<title>`, plain text.
    pub title: String,
    /// One paragraph below the title, plain text.
    pub lead: String,
    /// The sections, in order.
    pub sections: Vec<ReportSection>,
}

/// One section under its own heading. All strings are plain text except `svg`; an empty note or caption leaves
/// no trace.
pub(crate) enum ReportSection {
    /// Paragraphs, divided by empty lines.
    Text { heading: String, body: String },
    /// A table. Columns in which most filled cells are numbers, with or without units, are set to the right as a
    /// whole: single numbers flung right in a column of words read badly. On narrow screens the cells of a table with
    /// sentences are set one below the other, each with the name of its column.
    Table { heading: String, columns: Vec<String>, rows: Vec<Vec<String>>, note: String },
    /// A picture; `svg` goes into the page as it is, so it must be trusted markup.
    Figure { heading: String, svg: String, caption: String },
    /// A table whose rows begin with a link: its relative address, its text, and the other cells.
    Links { heading: String, columns: Vec<String>, rows: Vec<(String, String, Vec<String>)> },
    /// Text whose spaces and line breaks matter.
    Pre { heading: String, body: String },
}

impl ReportPage {
    /// The page; the same report gives the same bytes.
    pub(crate) fn html(&self) -> String {
        let (title, lead) = (escape(&self.title), escape(&self.lead));
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <h1>{title}</h1>\n<p class=\"lead\">{lead}</p>\n"
        );
        for section in &self.sections {
            section.write(&mut out);
        }
        out += "</main>\n</body>\n</html>\n";
        out
    }
}

impl ReportSection {
    /// Appends the section.
    fn write(&self, out: &mut String) {
        let (ReportSection::Text { heading, .. }
        | ReportSection::Table { heading, .. }
        | ReportSection::Figure { heading, .. }
        | ReportSection::Links { heading, .. }
        | ReportSection::Pre { heading, .. }) = self;
        let _ = writeln!(out, "<section>\n<h2>{}</h2>", escape(heading));
        match self {
            ReportSection::Text { body, .. } => {
                for paragraph in paragraphs(body) {
                    let _ = writeln!(out, "<p>{}</p>", escape(&paragraph));
                }
            }
            ReportSection::Table { columns, rows, note, .. } => {
                *out += "<figure>\n<div class=\"scroll\">\n";
                write_table(columns, rows, out);
                *out += "</div>\n";
                write_caption(note, out);
            }
            ReportSection::Figure { svg, caption, .. } => {
                let _ = writeln!(out, "<figure>\n<div class=\"scroll\">\n{}\n</div>", svg.trim_end());
                write_caption(caption, out);
            }
            ReportSection::Links { columns, rows, .. } => {
                let cells =
                    |(_, text, more): &(String, String, Vec<String>)| [std::slice::from_ref(text), more].concat();
                let mut table = String::new();
                write_table(columns, &rows.iter().map(cells).collect::<Vec<_>>(), &mut table);
                for (address, text, _) in rows {
                    let (address, text) = (escape(address), escape(text));
                    table =
                        table.replacen(&format!(">{text}</td>"), &format!("><a href=\"{address}\">{text}</a></td>"), 1);
                }
                let _ = writeln!(out, "<div class=\"scroll\">\n{table}</div>");
            }
            // A browser drops one line break after the tag: give it one, so that none of the text's is lost.
            ReportSection::Pre { body, .. } => {
                let _ = writeln!(out, "<pre>\n{}</pre>", escape(body.trim_end()));
            }
        }
        *out += "</section>\n";
    }
}

/// The paragraphs of a text, each on one line.
fn paragraphs(body: &str) -> Vec<String> {
    let lines: Vec<&str> = body.lines().map(str::trim).collect();
    let blocks = lines.split(|line| line.is_empty()).filter(|block| !block.is_empty());
    blocks.map(|block| block.join(" ")).collect()
}

/// Appends the caption, if there is any, and closes the figure.
fn write_caption(caption: &str, out: &mut String) {
    if !caption.is_empty() {
        let _ = writeln!(out, "<figcaption>{}</figcaption>", escape(caption));
    }
    *out += "</figure>\n";
}

/// Cells with more letters than this are sentences.
const SENTENCE: usize = 60;

/// Appends the table element.
fn write_table(columns: &[String], rows: &[Vec<String>], out: &mut String) {
    let numeric: Vec<bool> = (0..columns.len()).map(|i| is_numeric_column(rows, i)).collect();
    let is_long = rows.iter().flatten().any(|cell| cell.chars().count() > SENTENCE);
    let cell = |tag: &str, attributes: &str, text: &str, right: bool| {
        let class = if right { " class=\"n\"" } else { "" };
        format!("<{tag}{class}{attributes}>{}</{tag}>", escape(text))
    };
    let class = if is_long { " class=\"long\"" } else { "" };
    let _ = write!(out, "<table{class}>\n<thead>\n<tr>");
    for (name, &right) in columns.iter().zip(&numeric) {
        *out += &cell("th", "", name, right);
    }
    *out += "</tr>\n</thead>\n<tbody>\n";
    for row in rows {
        *out += "<tr>";
        for (i, text) in row.iter().enumerate() {
            let name = columns.get(i).filter(|_| is_long);
            let name = name.map_or(String::new(), |name| format!(" data-name=\"{}\"", escape(name)));
            *out += &cell("td", &name, text, numeric.get(i) == Some(&true));
        }
        *out += "</tr>\n";
    }
    *out += "</tbody>\n</table>\n";
}

/// Returns true if most of the column's filled cells are numbers.
fn is_numeric_column(rows: &[Vec<String>], column: usize) -> bool {
    let cells = rows.iter().filter_map(|row| row.get(column));
    let filled = cells.filter(|cell| !matches!(cell.trim(), "" | "-" | "–" | "—"));
    let (numbers, others): (Vec<&String>, _) = filled.partition(|cell| is_number(cell));
    numbers.len() > others.len()
}

/// Returns true if a cell reads as a number, with or without a sign, a relation, thousands marks and a unit:
/// "1e-3", "<= 12,000", "3.5 ms", "10k", "1.2 ± 0.1".
fn is_number(cell: &str) -> bool {
    if let Some((value, deviation)) = cell.split_once('±') {
        return is_number(value) && is_number(deviation);
    }
    let cell = cell.trim().trim_start_matches(['<', '>', '=', '≤', '≥', '≈', '~']).trim_start();
    let cell = cell.replace(',', "").replace('−', "-");
    let end = cell.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-' | 'e' | 'E')).unwrap_or(cell.len());
    let unit = cell[end..].trim_start();
    let is_unit = unit.chars().count() <= 12 && !unit.contains(|c: char| c.is_whitespace() || c.is_ascii_digit());
    cell[..end].parse::<f64>().is_ok() && is_unit
}

/// Text as content or attribute of XML or HTML; control characters, which XML forbids, become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' | '\n' | '\r' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    /// A report with one section of each kind and hostile text in every field that is plain text.
    fn hostile() -> ReportPage {
        let text = || "<b>&\"'".to_owned();
        let svg = "<svg></svg>\n".to_owned();
        let sections = vec![
            ReportSection::Text { heading: text(), body: text() },
            ReportSection::Table { heading: text(), columns: vec![text()], rows: vec![vec![text()]], note: text() },
            ReportSection::Figure { heading: text(), svg, caption: text() },
            ReportSection::Pre { heading: text(), body: text() },
        ];
        ReportPage { title: text(), lead: text(), sections }
    }

    /// Every text is escaped wherever it stands, and only the figure's markup passes as it is.
    #[test]
    fn texts_are_escaped() {
        let page = hostile().html();
        assert!(!page.contains("<b>"));
        assert_eq!(page.matches("&lt;b&gt;&amp;&quot;&#39;").count(), 13);
        assert!(page.contains("<svg></svg>\n"));
    }

    /// Characters that XML forbids do not get through, line breaks and tabs do.
    #[test]
    fn forbidden_characters_are_replaced() {
        assert_eq!(escape("a\0b\u{1b}c\t\nµ"), "a\u{fffd}b\u{fffd}c\t\nµ");
    }

    /// The page is self-contained: no script, no address to fetch from; and the same report gives the same bytes.
    #[test]
    fn page_stands_alone() {
        let page = hostile().html();
        for reference in ["<script", "http", "url(", "@import", "src=", "href="] {
            assert!(!page.contains(reference), "the page contains {reference}");
        }
        assert_eq!(page, hostile().html());
    }

    /// Numbers count as such with signs, relations, thousands marks, deviations and units; words and dates do not.
    #[test]
    fn numbers_are_recognised() {
        for cell in ["0", "-1.5", "−2", "1e-3", "<= 12,000", "3.5 ms", "10k", "1 %", "100 µs", "1.2 ± 0.1"] {
            assert!(is_number(cell), "{cell}");
        }
        for cell in ["", "gap", "mp-bcfw", "2024-01-31", "16x8", "3 of 7", "nan", "e", "±"] {
            assert!(!is_number(cell), "{cell}");
        }
    }

    /// A column of numbers is set to the right with its head and its missing cells, one of words is not; rows that
    /// are too short or too long do no harm.
    #[test]
    fn columns_of_numbers_go_right() {
        let rows = vec![strings(&["bcfw", "3 s"]), strings(&["ssg", "—"]), strings(&["7"]), strings(&["a", "2", "x"])];
        let mut table = String::new();
        write_table(&strings(&["solver", "time"]), &rows, &mut table);
        assert!(table.contains("<th>solver</th><th class=\"n\">time</th>"));
        assert!(table.contains("<td>ssg</td><td class=\"n\">—</td>"));
        assert!(table.contains("<tr><td>7</td></tr>"));
        assert!(table.contains("<td class=\"n\">2</td><td>x</td>"));
    }

    /// The cells of a table with sentences carry the names of their columns, those of other tables do not.
    #[test]
    fn sentences_carry_names() {
        let table = |cell: &str| {
            let mut out = String::new();
            write_table(&strings(&["claim", "ours"]), &[strings(&["A72", cell])], &mut out);
            out
        };
        assert!(table(&"word ".repeat(13)).contains("<table class=\"long\">") && !table("word").contains("data-name"));
        assert!(table(&"word ".repeat(13)).contains("<td data-name=\"claim\">A72</td><td data-name=\"ours\">word "));
    }

    /// Empty lines divide paragraphs, single line breaks do not; empty captions leave no element.
    #[test]
    fn paragraphs_and_captions() {
        assert_eq!(paragraphs("\na\n b\n\n\nc\n"), ["a b", "c"]);
        let mut out = String::new();
        write_caption("", &mut out);
        assert_eq!(out, "</figure>\n");
    }

    /// A row of links begins with its address; texts are escaped, and numbers go to the right as in other tables.
    #[test]
    fn links_are_written() {
        let rows = vec![("a/index.html".to_owned(), "<a>".to_owned(), strings(&["1"]))];
        let section = ReportSection::Links { heading: "All".into(), columns: strings(&["name", "claims"]), rows };
        let mut out = String::new();
        section.write(&mut out);
        assert!(out.contains("<td><a href=\"a/index.html\">&lt;a&gt;</a></td><td class=\"n\">1</td>"), "{out}");
    }
}
