//! A page of labels that may be wrong, to look through: the words of each example with the doubtful one marked.

use crate::report::{STYLE, escape};

/// One label of the page. All texts are plain.
pub struct SuspectRow {
    /// The example and the part of it.
    pub place: String,
    /// The score, higher where the label is more suspicious.
    pub score: String,
    /// The label that is given.
    pub given: String,
    /// The label that the model would rather have.
    pub rival: String,
    /// The words of the example; none where the data is not made of words.
    pub context: Vec<String>,
    /// The word that the label belongs to.
    pub marked: usize,
}

/// Words shown on each side of the marked one.
const AROUND: usize = 8;

/// Returns the page of the most suspicious of `all` labels, which needs nothing beside itself.
pub fn page(rows: &[SuspectRow], all: usize) -> String {
    let title = "Labels that may be wrong";
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>{STYLE}mark {{ background: #ffd75e; color: #000; padding: 0 .15em; }}\n</style>\n</head>\n<body>\n\
         <main>\n<h1>{title}</h1>\n<p class=\"lead\">The {} most suspicious of {all} labels. The score of a part \
         says by how much the best labelling with the rival scores higher than the best with the given label: below 0 \
         the model agrees with what is given. That of a whole example is the loss of its prediction. Examples \
         and parts are counted from 0.</p>\n<div class=\"scroll\"><table>\n<thead><tr>\
         <th>example, part</th><th class=\"n\">score</th><th>given</th><th>rival</th><th>where</th></tr></thead>\n\
         <tbody>\n",
        rows.len()
    );
    for row in rows {
        let [place, score, given, rival] = [&row.place, &row.score, &row.given, &row.rival].map(|text| escape(text));
        out += &format!(
            "<tr><td>{place}</td><td class=\"n\">{score}</td><td>{given}</td><td>{rival}</td><td>{}</td></tr>\n",
            context(row)
        );
    }
    out += "</tbody>\n</table></div>\n</main>\n</body>\n</html>\n";
    out
}

/// The words around the marked one.
fn context(row: &SuspectRow) -> String {
    let (first, last) = (row.marked.saturating_sub(AROUND), (row.marked + AROUND + 1).min(row.context.len()));
    let word = |at: usize| match at == row.marked {
        true => format!("<mark>{}</mark>", escape(&row.context[at])),
        false => escape(&row.context[at]),
    };
    let words: Vec<String> = (first..last).map(word).collect();
    let (before, after) = (if first > 0 { "… " } else { "" }, if last < row.context.len() { " …" } else { "" });
    format!("{before}{}{after}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The doubtful word is marked among its neighbours, and no text becomes markup.
    #[test]
    fn words_are_marked_and_escaped() {
        let words = (0..30).map(|k| format!("w{k}")).chain(["<b>".to_owned()]).collect();
        let row = |marked| SuspectRow {
            place: "3, 4".into(),
            score: "1.5".into(),
            given: "<i>".into(),
            rival: "B&B".into(),
            context: Vec::clone(&words),
            marked,
        };
        let text = page(&[row(12), row(30)], 99);
        assert!(text.contains("… w4 w5 w6 w7 w8 w9 w10 w11 <mark>w12</mark> w13") && text.contains("w20 …</td>"));
        assert!(text.contains("… w22 w23") && text.contains("<mark>&lt;b&gt;</mark></td>"), "{text}");
        assert!(text.contains("<td>&lt;i&gt;</td><td>B&amp;B</td>") && text.contains("2 most suspicious of 99"));
        let alone = SuspectRow { context: Vec::new(), ..row(0) };
        assert_eq!(context(&alone), "");
    }
}
