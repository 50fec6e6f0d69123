//! A line of the format `tree` as JSON: its keys, and the types of their values.

use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};

use super::fault::TreeFault;
use super::kind::{NodeFeatures, TreeParts};
use super::shape::{self, TreeEdge};
use crate::json_text::{JsonValue, JsonVisitor, deserialize_by, entries};

/// A tree.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TreeLine {
    nodes: Vec<Node>,
    edges: Option<Vec<EdgeLine>>,
}

/// A node: an object, and not the list of values that would do for a struct.
struct Node(NodeLine);

/// The keys of a node.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeLine {
    features: Option<NodeFeatures>,
    label: Option<String>,
    /// `Some(None)` for `null`, which says that this is the root.
    #[serde(default, deserialize_with = "present")]
    parent: Option<Option<i64>>,
    r#type: Option<String>,
}

struct EdgeLine(TreeEdge);

impl TreeLine {
    /// Returns what the line says of the tree.
    ///
    /// # Errors
    ///
    /// Edges that make no tree, or stand beside parents; several nodes without a parent, unless all of them say `null`.
    pub(super) fn parts(self) -> Result<TreeParts, TreeFault> {
        let TreeLine { nodes, edges } = self;
        let nodes: Vec<NodeLine> = nodes.into_iter().map(|Node(node)| node).collect();
        let has_parents = nodes.iter().position(|node| node.parent.is_some());
        let has_types = nodes.iter().position(|node| node.r#type.is_some());
        if let (Some(node), Some(_)) = (has_parents.or(has_types), &edges) {
            let message = "found a parent or type beside the list `edges`, expected one of the two";
            return Err(TreeFault::node(node, message));
        }
        let roots = || (0..nodes.len()).filter(|&node| nodes[node].parent.flatten().is_none());
        let all_say_so = roots().all(|node| nodes[node].parent.is_some());
        if let (Some(_), false, Some(first), Some(second)) = (has_parents, all_say_so, roots().next(), roots().nth(1)) {
            return Err(TreeFault::second_root(first, second));
        }
        let mut parts = TreeParts::default();
        let count = nodes.len();
        let mut parents = Vec::with_capacity(count);
        for node in nodes {
            parts.features.push(node.features);
            parts.labels.push(node.label);
            parts.types.push(node.r#type);
            parents.push(node.parent.flatten());
        }
        match edges {
            Some(edges) => {
                let edges = edges.into_iter().map(|EdgeLine(edge)| edge).collect();
                let (parents, types) = shape::of_edges(count, edges)?;
                (parts.parents, parts.types) = (Some(parents), types);
            }
            None => parts.parents = has_parents.map(|_| parents),
        }
        Ok(parts)
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<i64>>, D::Error> {
    Option::<i64>::deserialize(deserializer).map(Some)
}

impl JsonValue for Node {
    const EXPECTED: &'static str = "a node `{\"features\": ..., ...}`";

    fn object<'de, A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        NodeLine::deserialize(MapAccessDeserializer::new(object)).map(Node)
    }
}

impl JsonValue for EdgeLine {
    const EXPECTED: &'static str = "[parent, child] or [parent, child, \"type\"]";

    fn list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let wrong_length = |found| A::Error::invalid_length(found, &JsonVisitor::<Self>(PhantomData));
        let parent = list.next_element()?.ok_or_else(|| wrong_length(0))?;
        let child = list.next_element()?.ok_or_else(|| wrong_length(1))?;
        let name: Option<Option<String>> = list.next_element()?;
        match list.next_element::<IgnoredAny>()? {
            Some(_) => Err(wrong_length(4)),
            None => Ok(EdgeLine((parent, child, name.flatten()))),
        }
    }
}

impl JsonValue for NodeFeatures {
    const EXPECTED: &'static str = "features as {\"name\": number} or a list of numbers";

    fn list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(NodeFeatures::Dense)
    }
    fn object<'de, A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        entries(object).map(NodeFeatures::Named)
    }
}

deserialize_by!(deserialize_map: Node);
deserialize_by!(deserialize_seq: EdgeLine);
deserialize_by!(deserialize_any: NodeFeatures);
