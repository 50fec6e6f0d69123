//! Rows of indicator features from columns of text.
//!
//! A feature's name is its template and the values found, divided by tabs, which no value can hold:
//! `w[-1]|w[0]` TAB `the` TAB `dog`. Before the first token of a sentence stand `_B-1`, `_B-2`, ..., after the last
//! `_B+1`, `_B+2`, ..., as in CRF++, for functions of them too; text that looks like one of them has a `\` before it.
//! One hash of a name per feature of a token.

use super::template::Template;
use crate::{Columns, SparseRows, Strings};

/// Features of sentences, one set of rows for each.
#[derive(Clone, Debug)]
pub struct Features {
    /// Rows of the tokens, sentence by sentence; all values are 1.
    pub sentences: Vec<SparseRows>,
    /// Distinct features that the dictionary lacks.
    pub unknown: usize,
}

/// Numbers the features of `data` that at least `min_count` of its tokens have, in the order of first appearance.
/// Rows come from [`look_up`].
pub fn build(template: &Template, data: &Columns, min_count: u32) -> Strings {
    let mut all = Strings::new();
    let mut counts: Vec<u32> = Vec::new();
    for sentence in 0..data.len() {
        each_feature(template, data, sentence, |_, name| {
            let number = all.intern(name) as usize;
            counts.resize(all.len(), 0);
            counts[number] = counts[number].saturating_add(1);
        });
    }
    if min_count <= 1 {
        return all;
    }
    let mut frequent = Strings::new();
    for (name, _) in all.iter().zip(&counts).filter(|(_, count)| **count >= min_count) {
        frequent.intern(name);
    }
    frequent
}

/// Returns the features of `data` that `dictionary` has; with `bias`, one more feature after all others.
pub fn look_up(template: &Template, data: &Columns, dictionary: &Strings, bias: bool) -> Features {
    let mut unknown = Strings::new();
    let mut sentences = Vec::with_capacity(data.len());
    let mut row = Vec::new();
    for sentence in 0..data.len() {
        let (tokens, width) = (data.range(sentence).len(), template.items.len() + usize::from(bias));
        let mut rows = SparseRows::with_capacity(dictionary.len() + usize::from(bias), tokens, tokens * width);
        let mut finish = |row: &mut Vec<u32>| {
            row.sort_unstable();
            row.extend(bias.then_some(dictionary.len() as u32));
            rows.push_ones(row);
            row.clear();
        };
        let mut now = 0;
        each_feature(template, data, sentence, |token, name| {
            if token != now {
                finish(&mut row);
                now = token;
            }
            match dictionary.find(name) {
                Some(number) => row.push(number),
                None => {
                    unknown.intern(name);
                }
            }
        });
        if tokens > 0 {
            finish(&mut row);
        }
        sentences.push(rows);
    }
    Features { sentences, unknown: unknown.len() }
}

/// Names every feature of every token (counted within its sentence), in order.
fn each_feature(template: &Template, data: &Columns, sentence: usize, mut each: impl FnMut(usize, &str)) {
    let range = data.range(sentence);
    let mut name = String::new();
    for token in 0..range.len() {
        for item in &template.items {
            name.clear();
            name.push_str(&item.name);
            for value in &item.values {
                name.push('\t');
                let place = token as i64 + i64::from(value.offset);
                if place < 0 {
                    name.push_str(&format!("_B{place}"));
                } else if place >= range.len() as i64 {
                    name.push_str(&format!("_B+{}", place - range.len() as i64 + 1));
                } else {
                    let start = name.len();
                    value.write(data.text(range.start + place as usize, value.column), &mut name);
                    let unescaped = name[start..].trim_start_matches('\\');
                    if unescaped.starts_with("_B+") || unescaped.starts_with("_B-") {
                        name.insert(start, '\\');
                    }
                }
            }
            each(token, &name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(sentences: &[&str]) -> Columns {
        let mut data = Columns::new(2);
        for sentence in sentences {
            sentence.split(' ').for_each(|word| data.push_token([word, "O"]));
            data.end_sentence();
        }
        data
    }

    /// Names, order and neighbours by hand; equal features of a row would be equal names, which templates exclude.
    #[test]
    fn features_by_hand() {
        let data = columns(&["a b", "b"]);
        let template = Template::of(&["w[0]".into(), "w[-2]|w[1]".into()], 2).unwrap();
        let dictionary = build(&template, &data, 1);
        let names: Vec<&str> = dictionary.iter().collect();
        let expected =
            ["w[0]\ta", "w[-2]|w[1]\t_B-2\tb", "w[0]\tb", "w[-2]|w[1]\t_B-1\t_B+1", "w[-2]|w[1]\t_B-2\t_B+1"];
        assert_eq!(names, expected);
        let found = look_up(&template, &data, &dictionary, true);
        let row = |sentence: usize, token| found.sentences[sentence].row(token).indices.to_vec();
        assert_eq!((row(0, 0), row(0, 1), row(1, 0)), (vec![0, 1, 5], vec![2, 3, 5], vec![2, 4, 5]));
        assert_eq!((found.unknown, found.sentences[0].columns()), (0, 6));
        assert!(found.sentences[0].row(0).values.is_none(), "ones take no memory");
    }

    /// Functions are of the column's text, and what stands beyond the ends is left as it is.
    #[test]
    fn functions_by_hand() {
        let data = columns(&["Paris 1990s"]);
        let template = Template::of(&["suffix(w[0],2)|shape(w[1])".into()], 2).unwrap();
        let dictionary = build(&template, &data, 1);
        let name = "suffix(w[0],2)|shape(w[1])";
        let expected = [format!("{name}\tis\tdx"), format!("{name}\t0s\t_B+1")];
        assert_eq!(dictionary.iter().collect::<Vec<_>>(), expected);
    }

    /// Words that look like what stands beyond the ends, or like words that do, have features of their own.
    #[test]
    fn words_that_look_like_ends() {
        let words = ["_B-1", "\\_B-1", "\\\\_B-1", "_B+1", "_B", "\\"];
        let data = columns(&[&words.join(" ")]);
        let template = Template::of(&["w[0]".into(), "w[-1]".into(), "w[1]".into()], 2).unwrap();
        let dictionary = build(&template, &data, 1);
        assert_eq!(dictionary.len(), words.len() + 2 * words.len(), "every word and both ends differ");
        let ends = ["w[-1]\t_B-1", "w[1]\t_B+1"];
        let rows = &look_up(&template, &data, &dictionary, false).sentences[0];
        for (end, at) in ends.into_iter().zip([0, words.len() - 1]) {
            let number = dictionary.find(end).unwrap();
            let having = (0..rows.len()).filter(|&token| rows.row(token).indices.contains(&number));
            assert_eq!(having.collect::<Vec<_>>(), [at], "{end}");
        }
    }

    /// The cut-off counts tokens; what it drops, and what is new, is counted once and ignored.
    #[test]
    fn rare_and_new_features_are_left_out() {
        let data = columns(&["a b b", "a c"]);
        let template = Template::of(&["w[0]".into()], 2).unwrap();
        let dictionary = build(&template, &data, 2);
        assert_eq!(dictionary.iter().collect::<Vec<_>>(), ["w[0]\ta", "w[0]\tb"]);
        let found = look_up(&template, &columns(&["x c x a"]), &dictionary, false);
        assert_eq!((found.unknown, found.sentences[0].len(), found.sentences[0].nonzeros()), (2, 4, 1));
    }
}
