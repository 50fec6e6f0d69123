//! Writes the format `tree`.

use std::io::{self, Write};

use multiplane_infer::file::push_number;
use multiplane_infer::score_tree::ROOT;

use super::kind::Trees;

/// Writes trees so that [`read`](crate::read) gives them back, by the parents of their nodes.
///
/// # Errors
///
/// Those of `out`.
pub fn write(data: &Trees, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    for tree in 0..data.len() {
        line.clear();
        line.push_str("{\"nodes\": [");
        let range = data.range(tree);
        let several = data.has_parents(tree) && data.roots(tree).nth(1).is_some();
        for node in range.clone() {
            line.push_str(if node == range.start { "{\"features\": " } else { ", {\"features\": " });
            push_features(data, node, &mut line)?;
            if data.labels[node] != Trees::NO_LABEL {
                line.push_str(", \"label\": ");
                push_text(data.names.get(data.labels[node]), &mut line)?;
            }
            if data.parents[node] != ROOT {
                line.push_str(&format!(", \"parent\": {}", data.parents[node]));
            } else if several {
                line.push_str(", \"parent\": null");
            }
            let name = data.type_names.get(data.types[node]);
            if !name.is_empty() {
                line.push_str(", \"type\": ");
                push_text(name, &mut line)?;
            }
            line.push('}');
        }
        line.push_str("]}\n");
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn push_features(data: &Trees, node: usize, line: &mut String) -> io::Result<()> {
    let row = data.rows.row(node);
    if data.is_named() || data.rows.columns() == 0 {
        line.push('{');
        for (k, (column, value)) in row.iter().enumerate() {
            line.push_str(if k == 0 { "" } else { ", " });
            push_text(data.columns.get(column), line)?;
            line.push_str(": ");
            push_number(line, value);
        }
        line.push('}');
        return Ok(());
    }
    let mut entries = row.iter().peekable();
    for column in 0..data.rows.columns() as u32 {
        line.push_str(if column == 0 { "[" } else { ", " });
        let value = entries.next_if(|&(at, _)| at == column).map_or(0.0, |(_, value)| value);
        push_number(line, value);
    }
    line.push(']');
    Ok(())
}

fn push_text(text: &str, line: &mut String) -> io::Result<()> {
    line.push_str(&serde_json::to_string(text)?);
    Ok(())
}
