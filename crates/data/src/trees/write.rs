//! Writes the format `tree`.

use std::io::{self, Write};

use multiplane_infer::score_tree::ROOT;

use super::kind::Trees;
use crate::json_text::{push_row, push_text};

/// Writes trees so that [`read`](crate::read) gives them back, by the parents of their nodes.
///
/// # Errors
///
/// Those of `out`.
pub fn write(data: &Trees, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::new();
    let names = (data.is_named() || data.rows.columns() == 0).then_some(&data.columns);
    for tree in 0..data.len() {
        line.clear();
        line.push_str("{\"nodes\": [");
        let range = data.range(tree);
        let several = data.has_parents(tree) && data.roots(tree).nth(1).is_some();
        for node in range.clone() {
            line.push_str(if node == range.start { "{\"features\": " } else { ", {\"features\": " });
            push_row(&mut line, names, &data.rows, node)?;
            if data.labels[node] != Trees::NO_LABEL {
                line.push_str(", \"label\": ");
                push_text(&mut line, data.names.get(data.labels[node]))?;
            }
            if data.parents[node] != ROOT {
                line.push_str(&format!(", \"parent\": {}", data.parents[node]));
            } else if several {
                line.push_str(", \"parent\": null");
            }
            let name = data.type_names.get(data.types[node]);
            if !name.is_empty() {
                line.push_str(", \"type\": ");
                push_text(&mut line, name)?;
            }
            line.push('}');
        }
        line.push_str("]}\n");
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}
