//! Lines that are JSON: values of several types, the places of the elements of lists, and errors in the words of the
//! other formats.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;

use multiplane_infer::file::{DataError, push_number};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};

use super::rows::SparseRows;
use super::strings::Strings;
use super::text::Line;

/// A value that may be of several types of JSON, and refuses the others.
pub(super) trait JsonValue: Sized {
    /// The types that are accepted, for messages.
    const EXPECTED: &'static str;

    /// Takes true, false, a number or a text; `None` refuses it.
    fn scalar(_: Unexpected<'_>) -> Option<Self> {
        None
    }

    /// Takes a list.
    fn list<'de, A: SeqAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Seq, &JsonVisitor::<Self>(PhantomData)))
    }

    /// Takes an object.
    fn object<'de, A: MapAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::invalid_type(Unexpected::Map, &JsonVisitor::<Self>(PhantomData)))
    }
}

/// Implements [`Deserialize`](serde::Deserialize) for types that are a [`JsonValue`], by a method of the deserializer.
macro_rules! deserialize_by {
    ($method:ident: $($type:ty),+) => {$(
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.$method($crate::json_text::JsonVisitor(std::marker::PhantomData))
            }
        }
    )+};
}
pub(super) use deserialize_by;

/// Visits a [`JsonValue`].
pub(super) struct JsonVisitor<T>(pub(super) PhantomData<T>);

impl<T: JsonValue> JsonVisitor<T> {
    fn scalar<E: Error>(self, value: Unexpected<'_>) -> Result<T, E> {
        T::scalar(value).ok_or_else(|| E::invalid_type(value, &self))
    }
}

impl<'de, T: JsonValue> Visitor<'de> for JsonVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        self.scalar(Unexpected::Bool(value))
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        self.scalar(Unexpected::Signed(value))
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        self.scalar(Unexpected::Unsigned(value))
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        self.scalar(Unexpected::Float(value))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        self.scalar(Unexpected::Str(text))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::object(object)
    }
}

/// Returns the number that a scalar is.
pub(super) fn number(value: Unexpected<'_>) -> Option<f64> {
    match value {
        Unexpected::Signed(value) => Some(value as f64),
        Unexpected::Unsigned(value) => Some(value as f64),
        Unexpected::Float(value) => Some(value),
        _ => None,
    }
}

/// Reads all entries of an object, in their order.
pub(super) fn entries<'de, T: serde::Deserialize<'de>, A: MapAccess<'de>>(
    mut object: A,
) -> Result<Vec<(String, T)>, A::Error> {
    let mut found = Vec::new();
    while let Some(entry) = object.next_entry()? {
        found.push(entry);
    }
    Ok(found)
}

/// An error of the parser at its place in the line, in the words of the other formats.
pub(super) fn complaint(line: &Line<'_>, error: &serde_json::Error) -> DataError {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    let at = error.column().saturating_sub(1).min(line.text.len());
    let found = |text: &str| text.split_once(": ").map_or(text.to_owned(), |(_, rest)| format!("found {rest}"));
    let text = &text.replace("expected i64", "expected a whole number").replace("expected f64", "expected a number");
    let message = match text.as_str() {
        _ if error.is_eof() => format!("found the end of the line within JSON, expected all of an object: {text}"),
        _ if error.is_syntax() => match word_at(line.text, at) {
            "" => format!("found no JSON: {text}"),
            word => format!("found no JSON at `{word}`: {text}"),
        },
        _ if text.starts_with("invalid length") => text.replacen("invalid", "found", 1),
        _ if text.starts_with("invalid ") => found(text),
        _ if text.starts_with("missing field") => text.replacen("missing field", "found no key", 1) + ", expected it",
        _ if text.starts_with("unknown field") => text.replacen("unknown field", "found the key", 1),
        _ if text.starts_with("duplicate field") => text.replacen("duplicate field", "found the key", 1) + " twice",
        _ => format!("found {text}"),
    };
    line.error(at, message)
}

/// The number or name that stands at a byte of a text; empty where none does.
fn word_at(text: &str, at: usize) -> &str {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let bytes = text.as_bytes();
    let start = at - bytes[..at].iter().rev().take_while(|byte| is_part(byte)).count();
    let end = at + bytes[at..].iter().take_while(|byte| is_part(byte)).count();
    text.get(start..end).unwrap_or_default()
}

/// Returns where the elements of the list `key` of a JSON object begin, in bytes; none where there is no such list.
pub(super) fn elements(object: &str, key: &str) -> Vec<usize> {
    let bytes = object.as_bytes();
    let (mut starts, mut name) = (Vec::new(), "");
    let (mut depth, mut inside, mut begins, mut at) = (0, false, false, 0);
    while let Some(&byte) = bytes.get(at) {
        if begins && !byte.is_ascii_whitespace() && byte != b']' {
            starts.push(at);
            begins = false;
        }
        match byte {
            b'"' => {
                let end = end_of_string(bytes, at);
                name = if depth == 1 { object.get(at + 1..end).unwrap_or_default() } else { name };
                at = end;
            }
            b'{' | b'[' => {
                depth += 1;
                inside |= depth == 2 && byte == b'[' && name == key;
                begins = inside && depth == 2;
            }
            b'}' | b']' => {
                depth -= 1;
                if inside && depth == 1 {
                    break;
                }
            }
            b',' => begins = inside && depth == 2,
            _ => {}
        }
        at += 1;
    }
    starts
}

/// Returns where the string that begins at a quote ends: at its other quote, or with the text.
fn end_of_string(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// Appends a row: an object of names and numbers, or a list of numbers.
pub(super) fn push_row(line: &mut String, names: Option<&Strings>, rows: &SparseRows, row: usize) -> io::Result<()> {
    let mut entries = rows.row(row).iter().peekable();
    let Some(names) = names else {
        return push_list(line, 0..rows.columns(), |line, column| {
            push_number(line, entries.next_if(|&(at, _)| at as usize == column).map_or(0.0, |(_, value)| value));
            Ok(())
        });
    };
    line.push('{');
    entries.try_fold("", |comma, (column, value)| {
        line.push_str(comma);
        push_text(line, names.get(column))?;
        line.push_str(": ");
        push_number(line, value);
        Ok::<_, io::Error>(", ")
    })?;
    line.push('}');
    Ok(())
}

/// Appends a list of what `push` makes of numbers.
pub(super) fn push_list(
    line: &mut String,
    mut numbers: Range<usize>,
    mut push: impl FnMut(&mut String, usize) -> io::Result<()>,
) -> io::Result<()> {
    line.push('[');
    numbers.try_fold("", |comma, number| {
        line.push_str(comma);
        push(line, number).map(|()| ", ")
    })?;
    line.push(']');
    Ok(())
}

/// Appends a text in quotation marks.
pub(super) fn push_text(line: &mut String, text: &str) -> io::Result<()> {
    line.push_str(&serde_json::to_string(text)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements are found among nested lists, strings with brackets and quotes, and blanks.
    #[test]
    fn elements_of_lists() {
        let text =
            r#" {"a": [[1], {"nodes": [2]}], "e,[\"": 3, "nodes" : [ {"x": "],\"{"} ,{"y":[4,5]}, 7], "edges": []}"#;
        let found: Vec<&str> = elements(text, "nodes").into_iter().map(|at| &text[at..at + 4]).collect();
        assert_eq!(found, [r#"{"x""#, r#"{"y""#, "7], "]);
        assert!(
            elements(text, "edges").is_empty() && elements(text, "none").is_empty() && elements("{\"", "").is_empty()
        );
    }
}
