//! What is wrong with a tree, and where in its line.

use std::fmt;

/// The part of a tree that is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreePlace {
    /// The tree as a whole.
    Tree,
    /// A node, counted from 0.
    Node(usize),
    /// An edge of the list of edges, counted from 0.
    Edge(usize),
}

/// What is wrong with a tree: `node 3: found X, expected Y`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFault {
    /// Where it is.
    pub place: TreePlace,
    /// What was found and what the rule is.
    pub message: String,
}

impl TreeFault {
    /// Makes the fault of a node.
    pub fn node(node: usize, message: impl Into<String>) -> Self {
        TreeFault { place: TreePlace::Node(node), message: message.into() }
    }

    /// Makes the fault of an edge.
    pub fn edge(edge: usize, message: impl Into<String>) -> Self {
        TreeFault { place: TreePlace::Edge(edge), message: message.into() }
    }

    /// Makes the fault of a whole tree.
    pub fn tree(message: impl Into<String>) -> Self {
        TreeFault { place: TreePlace::Tree, message: message.into() }
    }

    /// Makes the fault of a tree with several roots.
    pub fn second_root(first: usize, second: usize) -> Self {
        TreeFault::node(second, format!("found a second root after node {first}, expected one node without a parent"))
    }
}

impl fmt::Display for TreeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            TreePlace::Tree => f.write_str(&self.message),
            TreePlace::Node(node) => write!(f, "node {node}: {}", self.message),
            TreePlace::Edge(edge) => write!(f, "edge {edge}: {}", self.message),
        }
    }
}

impl std::error::Error for TreeFault {}

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
