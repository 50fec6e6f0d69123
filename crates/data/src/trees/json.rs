//! A line of the format `tree` as JSON: what keys there are, and what their values must be.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::fault::TreeFault;
use super::kind::{NodeFeatures, TreeParts};
use super::shape::{self, TreeEdge};

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

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Node;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a node `{\"features\": ..., ...}`")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Node, A::Error> {
                NodeLine::deserialize(MapAccessDeserializer::new(map)).map(Node)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl<'de> Deserialize<'de> for EdgeLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ends;
        impl<'de> Visitor<'de> for Ends {
            type Value = EdgeLine;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("[parent, child] or [parent, child, \"type\"]")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<EdgeLine, A::Error> {
                let parent = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
                let child = seq.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
                let name: Option<Option<String>> = seq.next_element()?;
                match seq.next_element::<serde::de::IgnoredAny>()? {
                    Some(_) => Err(A::Error::invalid_length(4, &self)),
                    None => Ok(EdgeLine((parent, child, name.flatten()))),
                }
            }
        }
        deserializer.deserialize_seq(Ends)
    }
}

impl<'de> Deserialize<'de> for NodeFeatures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = NodeFeatures;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("features as {\"name\": number} or a list of numbers")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<NodeFeatures, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = seq.next_element()? {
                    values.push(value);
                }
                Ok(NodeFeatures::Dense(values))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NodeFeatures, A::Error> {
                let mut named = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    named.push(entry);
                }
                Ok(NodeFeatures::Named(named))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
