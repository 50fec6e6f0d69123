//! Writes the format `jsonl`.

use std::io::{self, Write};

use crate::columns::Columns;
use crate::dataset::Dataset;
use crate::json_text::{push_list, push_row, push_text};
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
        push_list(&mut line, data.range(sentence), |line, token| {
            push_list(line, 0..width, |line, column| push_text(line, data.text(token, column)))
        })?;
        if labelled {
            line.push_str(", \"labels\": ");
            let label = |token| Some(data.text(token, width)).filter(|label| !label.is_empty());
            push_list(&mut line, data.range(sentence), |line, token| push_label(line, label(token)))?;
        }
        line.push_str("}\n");
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn write_tagged(data: &Tagged, out: &mut dyn Write) -> io::Result<()> {
    let labelled = (0..data.len()).flat_map(|sequence| data.range(sequence)).any(|token| data.tag(token).is_some());
    for sequence in 0..data.len() {
        let mut line = "{\"tokens\": ".to_owned();
        push_list(&mut line, data.range(sequence), |line, token| {
            push_row(line, data.attributes.as_ref(), &data.rows, token)
        })?;
        if labelled {
            line.push_str(", \"labels\": ");
            push_list(&mut line, data.range(sequence), |line, token| push_label(line, data.tag(token)))?;
        }
        line.push_str("}\n");
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn push_label(line: &mut String, label: Option<&str>) -> io::Result<()> {
    match label {
        Some(label) => push_text(line, label),
        None => {
            line.push_str("null");
            Ok(())
        }
    }
}
