//! Reads the format `tree`: an object a line, such as
//! `{"nodes": [{"features": {"red": 1}, "label": "a"}, {"features": {}, "label": "b", "parent": 0}]}`.

use multiplane_infer::file::DataError;

use super::fault::{TreeFault, TreePlace};
use super::json::TreeLine;
use super::kind::{TreeParts, Trees};
use crate::dataset::Dataset;
use crate::format::{FirstLine, FormatEntry};
use crate::json_text::{complaint, elements};
use crate::text::{Line, Lines};

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    names: &["jsonl", "tree"],
    known_by: Some((5, is_tree)),
    ..FormatEntry::new(
        "tree",
        "jsonl: a line `{\"nodes\": [{\"features\", \"label\", \"parent\", \"type\"}, ...]}` a tree",
        |path, _| parse(Lines::open(path)?).map(Dataset::new),
    )
};

/// An object with a key, which no other format begins with.
fn is_tree(line: &FirstLine<'_>) -> bool {
    let rest = line.text.trim_start().strip_prefix('{').map(str::trim_start);
    rest.is_some_and(|rest| rest.starts_with("\"nodes\"") || rest.starts_with("\"edges\"") || line.is_named)
}

/// Reads lines; blank ones are skipped. Errors tell the place, and the number of a node that is wrong.
pub(crate) fn parse(mut lines: Lines) -> Result<Trees, DataError> {
    let mut data = Trees::new(Some(lines.path().to_path_buf()));
    while let Some(line) = lines.next_line()? {
        if line.text.trim_ascii().is_empty() {
            continue;
        }
        if !line.text.trim_ascii_start().starts_with('{') {
            return Err(line.bad(0, line.text, "tree", "an object `{\"nodes\": [...]}`"));
        }
        let tree: TreeLine = serde_json::from_str(line.text).map_err(|error| complaint(&line, &error))?;
        let columns = columns(line.text, &elements(line.text, "nodes"));
        let parts = tree.parts().map(|parts| TreeParts { columns, ..parts });
        parts
            .and_then(|parts| data.push(parts, line.number))
            .map_err(|fault| line.error(place(&line, &fault), fault.to_string()))?;
    }
    if data.is_empty() { Err(lines.nothing("a line `{\"nodes\": [...]}` for each tree")) } else { Ok(data) }
}

/// The columns, in characters from 1, of bytes of a line in ascending order.
fn columns(text: &str, bytes: &[usize]) -> Vec<u32> {
    let (mut before, mut column) = (0, 1);
    let next = |&at: &usize| {
        column += text[before..at].chars().count() as u32;
        before = at;
        column
    };
    bytes.iter().map(next).collect()
}

/// The byte at which what is wrong with a tree begins.
fn place(line: &Line<'_>, fault: &TreeFault) -> usize {
    let (key, number) = match fault.place {
        TreePlace::Tree => return 0,
        TreePlace::Node(node) => ("nodes", node),
        TreePlace::Edge(edge) => ("edges", edge),
    };
    elements(line.text, key).get(number).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::write;
    use super::*;
    use crate::dataset::Data;
    use crate::text::assert_errors;
    use multiplane_infer::score_tree::ROOT;
    use std::path::Path;

    fn parsed(bytes: &[u8]) -> Trees {
        parse(Lines::from_bytes("f", bytes).unwrap()).unwrap()
    }

    /// Parents and edges say the same, whatever the order of keys; what is written is read back.
    #[test]
    fn two_ways_to_say_a_tree() {
        let one = parsed(
            br#"
{"nodes": [{"features": {"b": 2, "a": 1.5}, "label": "x", "parent": 1, "type": "t"}, {"label": "y", "parent": null}, {"parent": 1}]}

{"nodes": [{"features": {"c": 0}}]}
"#,
        );
        let other = parsed(
            br#"{"edges": [[1, 0, "t"], [1, 2]], "nodes": [{"label": "x", "features": {"a": 1.5, "b": 2}}, {"features": {}, "label": "y"}, {"label": null}]}
{"nodes": [{"features": {"c": 0}}]}"#,
        );
        let hash = |data: &Trees| Dataset::new(data.clone()).fingerprint();
        assert_eq!(hash(&one), hash(&other));
        assert_eq!((one.len(), one.range(1)), (2, 3..4));
        assert_eq!(
            (&one.parents[..], &one.labels[..]),
            (&[1, ROOT, 1, ROOT][..], &[0, 1, Trees::NO_LABEL, u32::MAX][..])
        );
        assert_eq!(one.type_names.get(one.types[0]), "t");
        assert_eq!([0, 1].map(|tree| one.origin(tree, 0).unwrap()), [(Path::new("f"), 2, 12), (Path::new("f"), 4, 12)]);
        assert_eq!(other.origin(0, 1).unwrap(), (Path::new("f"), 1, 92));
        let dense = parsed(br#"{"nodes": [{"features": [1, 0, -2.5e-3], "label": "\"\u00e9"}]}"#);
        for data in [one, dense] {
            let mut file = Vec::new();
            write(&data, &mut file).unwrap();
            assert_eq!(hash(&parsed(&file)), hash(&data), "{}", String::from_utf8_lossy(&file));
        }
    }

    /// Trees without parents are known as such; one node is a tree.
    #[test]
    fn parents_may_be_missing() {
        let data = parsed(b"{\"nodes\": [{}, {}]}\n{\"nodes\": [{}]}\n{\"nodes\": [{}, {\"parent\": 0}]}\n");
        assert_eq!([0, 1, 2].map(|tree| data.has_parents(tree)), [false, true, true]);
        assert_eq!(Data::len(&data), 3);
    }

    /// Several roots are read where every one of them says so; what is written is read back, and is not the same as
    /// nothing known.
    #[test]
    fn several_roots_say_so() {
        let data = parsed(b"{\"nodes\": [{\"parent\": null}, {\"parent\": null}]}");
        assert!(data.has_parents(0) && data.roots(0).eq([0, 1]));
        let hash = |data: &Trees| Dataset::new(data.clone()).fingerprint();
        assert_ne!(hash(&data), hash(&parsed(b"{\"nodes\": [{}, {}]}")));
        let mut file = Vec::new();
        write(&data, &mut file).unwrap();
        assert_eq!(hash(&parsed(&file)), hash(&data));
        assert_eq!(Dataset::new(data.clone()).subset(&[0]).fingerprint(), hash(&data));
    }

    /// Each fault is told with its place and the rule that it breaks.
    #[test]
    fn faults_are_named() {
        assert_errors(
            parse,
            &[
                (b"", "f: found an empty file, expected a line `{\"nodes\": [...]}` for each tree"),
                (b"\n \n", "f: found only blank lines or comments, expected a line `{\"nodes\": [...]}` for each tree"),
                (
                    b"{\"nodes\": [",
                    "f:1:11: found the end of the line within JSON, expected all of an object: EOF while parsing a \
                     list",
                ),
                (b"\n{\"nodes\": [{]}", "f:2:13: found no JSON: key must be a string"),
                (b"{\"nodes\": []} x", "f:1:15: found no JSON at `x`: trailing characters"),
                (b"{\"nodes\": []}", "f:1:1: found a tree without nodes, expected at least one"),
                (b"{\"edges\": []}", "f:1:13: found no key `nodes`, expected it"),
                (b"[1]", "f:1:1: found `[1]` as tree, expected an object `{\"nodes\": [...]}`"),
                (b"{\"nodes\": [{}], \"x\": 1}", "f:1:19: found the key `x`, expected `nodes` or `edges`"),
                (
                    b"{\"nodes\": [{\"lable\": \"a\"}]}",
                    "f:1:19: found the key `lable`, expected one of `features`, `label`, `parent`, `type`",
                ),
                (b"{\"nodes\": [{\"label\": 3}]}", "f:1:22: found integer `3`, expected a string"),
                (b"{\"nodes\": [{\"label\": \"a\", \"label\": \"b\"}]}", "f:1:33: found the key `label` twice"),
                (b"{\"nodes\": [{\"features\": {\"a\": NaN}}]}", "f:1:31: found no JSON at `NaN`: expected value"),
                (b"{\"nodes\": [{\"features\": [1e999]}]}", "f:1:30: found no JSON at `1e999`: number out of range"),
                (b"{\"nodes\": [{\"features\": {\"a\": \"1\"}}]}", "f:1:33: found string \"1\", expected a number"),
                (
                    b"{\"nodes\": [{\"features\": 3}]}",
                    "f:1:25: found integer `3`, expected features as {\"name\": number} or a list of numbers",
                ),
                (
                    b"{\"nodes\": [{\"features\": {\"a\": 1, \"a\": 2}}]}",
                    "f:1:12: node 0: found feature `a` twice, expected it once",
                ),
                (
                    b"{\"nodes\": [{\"features\": [1, 2]}]}\n{\"nodes\": [{\"features\": [1]}]}",
                    "f:2:12: node 0: found a list of 1 features, expected 2 as before",
                ),
                (
                    b"{\"nodes\": [{\"features\": [1]}, {\"features\": {\"a\": 1}, \"parent\": 0}]}",
                    "f:1:31: node 1: found features by name, expected a list of numbers as before",
                ),
                (
                    b"{\"nodes\": [{\"features\": {\"a\": 1}}, {\"features\": [1], \"parent\": 0}]}",
                    "f:1:36: node 1: found a list of features, expected names with numbers as before",
                ),
                (
                    b"{\"nodes\": [{\"parent\": 1}, {\"parent\": 2}, {\"parent\": 1}]}",
                    "f:1:27: node 1: found the cycle 1 -> 2 -> 1 of parents, expected a tree",
                ),
                (
                    b"{\"nodes\": [{\"parent\": null}, {}]}",
                    "f:1:30: node 1: found a second root after node 0, expected one node without a parent",
                ),
                (
                    b"{\"nodes\": [{}, {\"parent\": 2}]}",
                    "f:1:16: node 1: found parent 2, expected one of the 2 nodes, numbered from 0",
                ),
                (
                    b"{\"nodes\": [{}, {\"parent\": -1}]}",
                    "f:1:16: node 1: found parent -1, expected one of the 2 nodes, numbered from 0",
                ),
                (
                    b"{\"nodes\": [{}, {\"parent\": 0.5}]}",
                    "f:1:29: found floating point `0.5`, expected a whole number",
                ),
                (
                    b"{\"nodes\": [{\"parent\": 0}]}",
                    "f:1:12: node 0: found itself as parent, expected another node, or null at the root",
                ),
                (
                    b"{\"nodes\": [{}, {}], \"edges\": [[0, 2]]}",
                    "f:1:31: edge 0: found node 2, expected one of the 2 nodes, numbered from 0",
                ),
                (
                    b"{\"nodes\": [{}, {}], \"edges\": [[1, 1]]}",
                    "f:1:31: edge 0: found node 1 at both ends, expected two nodes",
                ),
                (
                    b"{\"nodes\": [{}, {}, {}], \"edges\": [[0, 1], [2, 1]]}",
                    "f:1:43: edge 1: found a second parent 2 of node 1 after 0, expected at most one",
                ),
                (
                    b"{\"nodes\": [{}, {}], \"edges\": []}",
                    "f:1:16: node 1: found a second root after node 0, expected one node without a parent",
                ),
                (
                    b"{\"nodes\": [{}, {}], \"edges\": [[0]]}",
                    "f:1:33: found length 1, expected [parent, child] or [parent, child, \"type\"]",
                ),
                (
                    b"{\"nodes\": [{}, {\"parent\": 0}], \"edges\": [[0, 1]]}",
                    "f:1:16: node 1: found a parent or type beside the list `edges`, expected one of the two",
                ),
                (
                    b"{\"nodes\": [[{\"a\": 1}, \"label\", 0, \"t\"]]}",
                    "f:1:11: found sequence, expected a node `{\"features\": ..., ...}`",
                ),
                (b"{\"nodes\": [{}]}\n\xff\n", "f:2:1: found byte 0xff, expected UTF-8 text"),
            ],
        );
    }
}
