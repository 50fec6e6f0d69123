//! Writes the format `jsonl`.

use std::io::{self, Write};

use multiplane_infer::file::push_number;

use crate::columns::Columns;
use crate::dataset::Dataset;
use crate::tagged::Tagged;

/// Writes sequences so that [`read`](crate::read) gives them back; attributes that no token has are not written.
///
/// # Errors
///
/// Those of `out`, and `InvalidInput` for data that are neither columns of text nor tagged rows.
pub fn write(data: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    if let Some(columns) = data.get::<Columns>() {
        return write_columns(columns, out);
    }
    match data.get::<Tagged>() {
        Some(tagged) => write_tagged(tagged, out),
        None => {
            let message = format!("found {}, expected columns of text or tagged rows", data.describe());
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
    }
}

fn write_columns(data: &Columns, out: &mut dyn Write) -> io::Result<()> {
    let labelled = data.labelled() != Some(false);
    let width = data.width() - usize::from(labelled);
    for sentence in 0..data.len() {
        let mut line = "{\"columns\": ".to_owned();
        list(&mut line, data.range(sentence), |line, token| {
            list(line, 0..width, |line, column| text(line, data.text(token, column)))
        })?;
        if labelled {
            line.push_str(", \"labels\": ");
            list(&mut line, data.range(sentence), |line, token| text(line, data.text(token, width)))?;
        }
        line.push_str("}\n");
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn write_tagged(data: &Tagged, out: &mut dyn Write) -> io::Result<()> {
    for sequence in 0..data.len() {
        let mut line = "{\"tokens\": ".to_owned();
        list(&mut line, data.range(sequence), |line, token| push_row(line, data, token))?;
        if data.range(sequence).all(|token| data.tag(token).is_some()) {
            line.push_str(", \"labels\": ");
            let label = |line: &mut String, token| text(line, data.tag(token).unwrap_or_default());
            list(&mut line, data.range(sequence), label)?;
        }
        line.push_str("}\n");
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// An object of names and weights, or a list of numbers.
fn push_row(line: &mut String, data: &Tagged, token: usize) -> io::Result<()> {
    let mut row = data.rows.row(token).iter();
    let Some(names) = &data.attributes else {
        let mut row = row.peekable();
        return list(line, 0..data.rows.columns(), |line, column| {
            push_number(line, row.next_if(|&(at, _)| at as usize == column).map_or(0.0, |(_, value)| value));
            Ok(())
        });
    };
    line.push('{');
    row.try_fold("", |comma, (attribute, weight)| {
        line.push_str(comma);
        text(line, names.get(attribute))?;
        line.push_str(": ");
        push_number(line, weight);
        Ok::<_, io::Error>(", ")
    })?;
    line.push('}');
    Ok(())
}

fn list(
    line: &mut String,
    mut numbers: std::ops::Range<usize>,
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

fn text(line: &mut String, text: &str) -> io::Result<()> {
    line.push_str(&serde_json::to_string(text)?);
    Ok(())
}
