//! Rows of indicator features from columns of text.
//!
//! A feature's name is its template and the values found, divided by tabs:
//! `w[-1]|w[0]` TAB `the` TAB `dog`. Before the first token of a sentence stand `_B-1`, `_B-2`, ..., after the last
//! `_B+1`, `_B+2`, ..., as in CRF++, for functions of them too; text that looks like one of them has a `\` before it.
//!
//! Values have numbers. Templates that differ in their place alone, as `w[-1]|w[0]` and `w[0]|w[1]`, are one pattern,
//! which costs a token one look-up for each value after the first. A name is written once for each distinct feature,
//! and a function computed once for each distinct text.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::template::Template;
use super::value::{TemplateFunction, Value, write_made};
use crate::strings::folded;
use crate::{Columns, SparseRows, Strings};

/// The features that the tokens of some data have.
#[derive(Clone, Debug)]
pub struct Features {
    /// Names of the distinct ones, in the order of first appearance.
    names: Arc<Strings>,
    /// `[token][template]`: numbers in `names`.
    numbers: Vec<u32>,
    /// The number of templates.
    width: usize,
}

impl Features {
    /// Names every feature of every token, in order.
    pub fn new(template: &Template, data: &Columns) -> Self {
        let mut values = TemplateValues::new(template, data);
        let mut patterns: Vec<ValuePattern> = Vec::new();
        let mut places: Vec<(usize, i32)> = Vec::new(); // of each template: its pattern, and the offset of that
        for item in &template.items {
            let first = item.values[0].offset;
            let parts =
                item.values.iter().map(|value| (value.offset - first, value.column, values.made_by(value))).collect();
            let same = patterns.iter().position(|pattern| pattern.parts == parts);
            let pattern = same.unwrap_or_else(|| {
                patterns.push(ValuePattern::new(parts, first));
                patterns.len() - 1
            });
            let range = &mut patterns[pattern].offsets;
            *range = range.start.min(first)..range.end.max(first + 1);
            places.push((pattern, first));
        }
        let width = template.items.len();
        let (mut names, mut ends) = (String::new(), Vec::new());
        let mut numbers = Vec::with_capacity(width * data.tokens());
        // Of each template: the number of the feature that it makes of each node of its pattern.
        let mut named: Vec<Vec<u32>> = vec![Vec::new(); width];
        for sentence in 0..data.len() {
            let tokens = data.range(sentence);
            patterns.iter_mut().for_each(|pattern| pattern.read(&mut values, &tokens));
            for token in 0..tokens.len() {
                for (item, (&(pattern, first), named)) in template.items.iter().zip(places.iter().zip(&mut named)) {
                    let pattern = &patterns[pattern];
                    let node = pattern.nodes[token + (first - pattern.offsets.start) as usize] as usize;
                    if node >= named.len() {
                        named.resize(node + 1, UNKNOWN);
                    }
                    if named[node] == UNKNOWN {
                        names.push_str(&item.name);
                        for &(offset, column, made) in &pattern.parts {
                            let place = token as i64 + i64::from(first + offset);
                            let value = values.number(place, column, made, &tokens);
                            names.push('\t');
                            names.push_str(values.texts.get(value));
                        }
                        named[node] = ends.len() as u32;
                        ends.push(names.len());
                    }
                    numbers.push(named[node]);
                }
            }
        }
        // Only values with tabs can make one name of two features.
        let (names, same) = Strings::numbered(&names, &ends);
        if names.len() < ends.len() {
            numbers.iter_mut().for_each(|number| *number = same[*number as usize]);
        }
        Features { names: Arc::new(names), numbers, width }
    }

    /// Returns the names of those that at least `min_count` tokens have, in order.
    pub fn frequent(&self, min_count: u32) -> Arc<Strings> {
        if min_count <= 1 {
            return self.names.clone();
        }
        let mut counts = vec![0u32; self.names.len()];
        for &number in &self.numbers {
            counts[number as usize] = counts[number as usize].saturating_add(1);
        }
        let mut frequent = Strings::new();
        for (name, _) in self.names.iter().zip(&counts).filter(|(_, count)| **count >= min_count) {
            frequent.intern(name);
        }
        Arc::new(frequent)
    }

    /// Returns the rows of the tokens of `data`, which these features are of, sentence by sentence, and the number of
    /// distinct features that `dictionary` lacks. All values are 1; with `bias`, one more feature after all others.
    pub fn rows(self, data: &Columns, dictionary: &Arc<Strings>, bias: bool) -> (Vec<SparseRows>, usize) {
        let is_known = Arc::ptr_eq(&self.names, dictionary);
        let find = |name| dictionary.find(name).unwrap_or(UNKNOWN);
        let places: Vec<u32> = if is_known { Vec::new() } else { self.names.iter().map(find).collect() };
        let bias = bias.then_some(dictionary.len() as u32);
        let (columns, width) = (dictionary.len() + bias.iter().len(), self.width + bias.iter().len());
        let mut row = Vec::with_capacity(width);
        let sentence = |sentence| {
            let tokens = data.range(sentence);
            let mut rows = SparseRows::with_capacity(columns, tokens.len(), tokens.len() * width);
            for numbers in self.numbers[tokens.start * self.width..tokens.end * self.width].chunks_exact(self.width) {
                row.clear();
                row.extend_from_slice(numbers);
                if !is_known {
                    row.iter_mut().for_each(|number| *number = places[*number as usize]);
                    row.retain(|place| *place != UNKNOWN);
                }
                row.sort_unstable();
                row.extend(bias);
                rows.push_ones(&row);
            }
            rows
        };
        let sentences = (0..data.len()).map(sentence).collect();
        (sentences, places.iter().filter(|&&place| place == UNKNOWN).count())
    }
}

/// Stands for the number of what has none.
const UNKNOWN: u32 = u32::MAX;

/// Values at fixed distances, wherever the first of them is.
struct ValuePattern {
    /// Of each value: its distance from the first, its column, and its list of functions.
    parts: Vec<(i32, usize, usize)>,
    /// The offsets of the first value in the templates of this pattern.
    offsets: Range<i32>,
    /// For each value after the first: the node for the values so far, by the node before it and the value.
    steps: Vec<HashMap<u64, u32, BuildHasherDefault<PairHasher>>>,
    /// The node of each place of the sentence under way, from the first offset on. That of one value is its number.
    nodes: Vec<u32>,
}

impl ValuePattern {
    /// Begins with a template whose first value is at `offset`.
    fn new(parts: Vec<(i32, usize, usize)>, offset: i32) -> Self {
        let steps = parts.iter().skip(1).map(|_| HashMap::default()).collect();
        ValuePattern { parts, offsets: offset..offset + 1, steps, nodes: Vec::new() }
    }

    /// Finds the nodes of a sentence.
    fn read(&mut self, values: &mut TemplateValues<'_>, tokens: &Range<usize>) {
        self.nodes.clear();
        for place in i64::from(self.offsets.start)..tokens.len() as i64 + i64::from(self.offsets.end) - 1 {
            let mut value = |&(offset, column, made): &(i32, usize, usize)| {
                values.number(place + i64::from(offset), column, made, tokens)
            };
            let mut node = value(&self.parts[0]);
            for (part, steps) in self.parts[1..].iter().zip(&mut self.steps) {
                let fresh = steps.len() as u32;
                node = *steps.entry(u64::from(node) << 32 | u64::from(value(part))).or_insert(fresh);
            }
            self.nodes.push(node);
        }
    }
}

/// Hashes two numbers in one.
#[derive(Default)]
struct PairHasher(u64);

impl Hasher for PairHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 << 8 | u64::from(byte)));
    }
    fn write_u64(&mut self, pair: u64) {
        self.0 = folded(pair);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

/// The values that templates make of some data, by number.
struct TemplateValues<'a> {
    data: &'a Columns,
    texts: Strings,
    /// Each distinct list of functions with the number of the value that it makes of each text of the data.
    made: Vec<(Vec<TemplateFunction>, Vec<u32>)>,
    /// The numbers of `_B-1`, `_B-2`, ...
    before: Vec<u32>,
    /// The numbers of `_B+1`, `_B+2`, ...
    after: Vec<u32>,
    /// The text under way.
    text: String,
}

impl<'a> TemplateValues<'a> {
    fn new(template: &Template, data: &'a Columns) -> Self {
        let offsets = template.items.iter().flat_map(|item| &item.values).map(|value| value.offset.abs());
        let farthest = offsets.max().unwrap_or(0);
        let mut texts = Strings::new();
        let mut end = |sign| (1..=farthest).map(|place| texts.intern(&format!("_B{sign}{place}"))).collect();
        let (before, after) = (end('-'), end('+'));
        TemplateValues { data, texts, made: Vec::new(), before, after, text: String::new() }
    }

    /// Returns the place of the functions of a value in `made`.
    fn made_by(&mut self, value: &Value) -> usize {
        self.made.iter().position(|(functions, _)| *functions == value.functions).unwrap_or_else(|| {
            self.made.push((value.functions.clone(), vec![UNKNOWN; self.data.strings().len()]));
            self.made.len() - 1
        })
    }

    /// Returns the number of what functions make of a column at a place of the sentence `tokens`, counted from its
    /// first token.
    fn number(&mut self, place: i64, column: usize, made: usize, tokens: &Range<usize>) -> u32 {
        if place < 0 {
            return self.before[(-place - 1) as usize];
        }
        let place = place as usize;
        if place >= tokens.len() {
            return self.after[place - tokens.len()];
        }
        let cell = self.data.cell(tokens.start + place, column);
        let (functions, numbers) = &mut self.made[made];
        let number = &mut numbers[cell as usize];
        if *number == UNKNOWN {
            self.text.clear();
            write_made(functions, self.data.strings().get(cell), &mut self.text);
            let unescaped = self.text.trim_start_matches('\\');
            if unescaped.starts_with("_B+") || unescaped.starts_with("_B-") {
                self.text.insert(0, '\\');
            }
            *number = self.texts.intern(&self.text);
        }
        *number
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
        let features = Features::new(&template, &data);
        let dictionary = features.frequent(1);
        let names: Vec<&str> = dictionary.iter().collect();
        let expected =
            ["w[0]\ta", "w[-2]|w[1]\t_B-2\tb", "w[0]\tb", "w[-2]|w[1]\t_B-1\t_B+1", "w[-2]|w[1]\t_B-2\t_B+1"];
        assert_eq!(names, expected);
        let (rows, unknown) = features.rows(&data, &dictionary, true);
        let row = |sentence: usize, token| rows[sentence].row(token).indices.to_vec();
        assert_eq!((row(0, 0), row(0, 1), row(1, 0)), (vec![0, 1, 5], vec![2, 3, 5], vec![2, 4, 5]));
        assert_eq!((unknown, rows[0].columns()), (0, 6));
        assert!(rows[0].row(0).values.is_none(), "ones take no memory");
    }

    /// Functions are of the column's text, and what stands beyond the ends is left as it is.
    #[test]
    fn functions_by_hand() {
        let data = columns(&["Paris 1990s"]);
        let template = Template::of(&["suffix(w[0],2)|shape(w[1])".into()], 2).unwrap();
        let dictionary = Features::new(&template, &data).frequent(1);
        let name = "suffix(w[0],2)|shape(w[1])";
        let expected = [format!("{name}\tis\tdx"), format!("{name}\t0s\t_B+1")];
        assert_eq!(dictionary.iter().collect::<Vec<_>>(), expected);
    }

    /// A value with a tab can make the name of another feature: both are one.
    #[test]
    fn equal_names_are_one_feature() {
        let mut data = Columns::new(3);
        [["a\tb", "c", "O"], ["a", "b\tc", "O"], ["d", "e", "O"]].into_iter().for_each(|token| data.push_token(token));
        data.end_sentence();
        let features = Features::new(&Template::of(&["w[0]|p[0]".into()], 3).unwrap(), &data);
        let dictionary = features.frequent(1);
        let names = ["w[0]|p[0]\ta\tb\tc", "w[0]|p[0]\td\te"];
        assert_eq!(dictionary.iter().collect::<Vec<_>>(), names);
        let rows = &features.rows(&data, &dictionary, false).0[0];
        assert_eq!([0, 1, 2].map(|token| rows.row(token).indices[0]), [0, 0, 1]);
    }

    /// Words that look like what stands beyond the ends, or like words that do, have features of their own.
    #[test]
    fn words_that_look_like_ends() {
        let words = ["_B-1", "\\_B-1", "\\\\_B-1", "_B+1", "_B", "\\"];
        let data = columns(&[&words.join(" ")]);
        let template = Template::of(&["w[0]".into(), "w[-1]".into(), "w[1]".into()], 2).unwrap();
        let features = Features::new(&template, &data);
        let dictionary = features.frequent(1);
        assert_eq!(dictionary.len(), words.len() + 2 * words.len(), "every word and both ends differ");
        let ends = ["w[-1]\t_B-1", "w[1]\t_B+1"];
        let rows = &features.rows(&data, &dictionary, false).0[0];
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
        let dictionary = Features::new(&template, &data).frequent(2);
        assert_eq!(dictionary.iter().collect::<Vec<_>>(), ["w[0]\ta", "w[0]\tb"]);
        let other = columns(&["x c x a"]);
        let (rows, unknown) = Features::new(&template, &other).rows(&other, &dictionary, false);
        assert_eq!((unknown, rows[0].len(), rows[0].nonzeros()), (2, 4, 1));
    }
}
