//! Trees with features, labels and types of edges, as a kind of data.

use std::ops::Range;
use std::path::{Path, PathBuf};

use multiplane_infer::score_tree::ROOT;
use sha2::{Digest, Sha256};

use super::fault::TreeFault;
use super::shape;
use crate::dataset::{Data, Dataset};
use crate::{MAX_FEATURES, SparseRows, Strings};

/// The features of a node, as they are given.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeFeatures {
    /// Numbers by column.
    Dense(Vec<f64>),
    /// Numbers by column, zeros left out: how many columns there are, then ascending columns and their numbers.
    Sparse(usize, Vec<u32>, Vec<f64>),
    /// Numbers by name.
    Named(Vec<(String, f64)>),
}

/// One tree as it is given, before it is checked: a list for each thing that nodes have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeParts {
    /// The features; nothing where a node has none.
    pub features: Vec<Option<NodeFeatures>>,
    /// The labels, where they are known.
    pub labels: Vec<Option<String>>,
    /// The parent of every node, none at the root; nothing where the tree is not known.
    pub parents: Option<Vec<Option<i64>>>,
    /// The types of the edges to the parents; no type is the type without a name.
    pub types: Vec<Option<String>>,
    /// The columns at which the nodes stand in their line, from 1, where they come from a file; else empty.
    pub columns: Vec<u32>,
}

/// Trees, checked; there may be several roots in one.
#[derive(Clone, Debug, Default)]
pub struct Trees {
    /// The end of each tree, in nodes; it begins where the one before ends.
    ends: Vec<usize>,
    /// The features of each node.
    pub rows: SparseRows,
    /// The names of the columns, where features come by name.
    pub columns: Strings,
    /// The parent of each node, numbered within its tree; [`ROOT`] of roots, and of all where the tree is not known.
    pub parents: Vec<u32>,
    /// True if the parents of each tree's nodes are known.
    known: Vec<bool>,
    /// The label of each node: its number in `names`, or [`Trees::NO_LABEL`].
    pub labels: Vec<u32>,
    /// The distinct labels, in the order of first appearance.
    pub names: Strings,
    /// The type of each node's edge to its parent: its number in `type_names`.
    pub types: Vec<u32>,
    /// The distinct types, in the order of first appearance.
    pub type_names: Strings,
    /// The places of the trees in their file, if they come from one.
    origin: Option<TreeOrigin>,
}

/// Places of trees in a file.
#[derive(Clone, Debug)]
struct TreeOrigin {
    file: PathBuf,
    /// By tree.
    lines: Vec<u64>,
    /// By node.
    columns: Vec<u32>,
}

impl TreeOrigin {
    fn new(file: PathBuf) -> Self {
        TreeOrigin { file, lines: Vec::new(), columns: Vec::new() }
    }
}

impl Trees {
    /// The label of a node whose label is not known.
    pub const NO_LABEL: u32 = u32::MAX;

    /// Begins with no trees yet; `file` is where they come from, if it is a file.
    pub fn new(file: Option<PathBuf>) -> Self {
        Trees { origin: file.map(TreeOrigin::new), ..Trees::default() }
    }

    /// Adds a tree, which stands on that line of the file.
    ///
    /// # Errors
    ///
    /// No node, parents that are no nodes or make a cycle, features that are not finite, twice there, or not like those
    /// before; the node is named.
    pub fn push(&mut self, tree: TreeParts, line: u64) -> Result<(), TreeFault> {
        let nodes = tree.features.len();
        if nodes == 0 {
            return Err(TreeFault::tree("found a tree without nodes, expected at least one"));
        }
        let parents = match &tree.parents {
            Some(parents) => shape::of_parents(parents)?,
            None => vec![ROOT; nodes],
        };
        let mut rows = Vec::with_capacity(nodes);
        for (node, features) in tree.features.into_iter().enumerate() {
            rows.push(self.row(features).map_err(|fault| TreeFault::node(node, fault))?);
        }
        rows.into_iter().for_each(|(indices, values)| self.rows.push(&indices, &values));
        self.parents.extend(parents);
        for label in &tree.labels {
            self.labels.push(label.as_ref().map_or(Trees::NO_LABEL, |label| self.names.intern(label)));
        }
        for name in &tree.types {
            self.types.push(self.type_names.intern(name.as_deref().unwrap_or_default()));
        }
        self.ends.push(self.parents.len());
        self.known.push(tree.parents.is_some() || nodes == 1);
        if let Some(origin) = &mut self.origin {
            origin.lines.push(line);
            origin.columns.extend((0..nodes).map(|node| tree.columns.get(node).copied().unwrap_or(1)));
        }
        Ok(())
    }

    /// Columns and values of a node's features.
    fn row(&mut self, features: Option<NodeFeatures>) -> Result<(Vec<u32>, Vec<f64>), String> {
        let finite = |value: f64, of: String| match value.is_finite() {
            true => Ok(value),
            false => Err(format!("found {value} as {of}, expected a finite number")),
        };
        match features {
            None => Ok(Default::default()),
            Some(NodeFeatures::Dense(values)) => {
                self.take_width(values.len())?;
                for (column, &value) in values.iter().enumerate() {
                    finite(value, format!("feature {column}"))?;
                }
                Ok(((0..values.len() as u32).collect(), values))
            }
            Some(NodeFeatures::Sparse(width, columns, values)) => {
                self.take_width(width)?;
                for (column, &value) in columns.iter().zip(&values) {
                    finite(value, format!("feature {column}"))?;
                }
                Ok((columns, values))
            }
            Some(NodeFeatures::Named(named)) => {
                if self.columns.is_empty() && self.rows.columns() > 0 && !named.is_empty() {
                    return Err("found features by name, expected a list of numbers as before".into());
                }
                let mut entries = Vec::with_capacity(named.len());
                for (name, value) in named {
                    let value = finite(value, format!("feature `{name}`"))?;
                    entries.push((self.columns.intern(&name), value));
                }
                if self.columns.len() > MAX_FEATURES as usize {
                    return Err(format!("found more than {MAX_FEATURES} names of features, expected fewer"));
                }
                entries.sort_unstable_by_key(|&(column, _)| column);
                if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                    return Err(format!("found feature `{}` twice, expected it once", self.columns.get(pair[0].0)));
                }
                Ok(entries.into_iter().unzip())
            }
        }
    }

    /// Refuses another number of columns than before.
    fn take_width(&mut self, width: usize) -> Result<(), String> {
        if !self.columns.is_empty() {
            return Err("found a list of features, expected names with numbers as before".into());
        }
        if self.rows.columns() == 0 {
            self.rows.widen(width);
        }
        match self.rows.columns() {
            _ if width > MAX_FEATURES as usize => {
                Err(format!("found {width} features, expected at most {MAX_FEATURES}"))
            }
            expected if expected != width => {
                Err(format!("found a list of {width} features, expected {expected} as before"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of trees.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there is no tree.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the nodes of a tree.
    ///
    /// # Panics
    /// If there is no such tree.
    pub fn range(&self, tree: usize) -> Range<usize> {
        let start = tree.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[tree]
    }

    /// Returns true if the parents of a tree's nodes are known; those of a single node are.
    pub fn has_parents(&self, tree: usize) -> bool {
        self.known[tree]
    }

    /// Returns the roots of a tree, numbered within it; all nodes where the tree is not known.
    pub fn roots(&self, tree: usize) -> impl Iterator<Item = usize> {
        self.parents[self.range(tree)].iter().enumerate().filter(|(_, parent)| **parent == ROOT).map(|(node, _)| node)
    }

    /// Returns the file and the line of a tree, where it comes from a file, and the column at which `node` begins.
    pub fn origin(&self, tree: usize, node: usize) -> Option<(&Path, u64, u64)> {
        let column = |origin: &TreeOrigin| u64::from(origin.columns[self.range(tree).start + node]);
        self.origin.as_ref().map(|origin| (origin.file.as_path(), origin.lines[tree], column(origin)))
    }

    /// Returns true if features come by name.
    pub fn is_named(&self) -> bool {
        !self.columns.is_empty()
    }
}

impl Data for Trees {
    fn len(&self) -> usize {
        self.len()
    }

    fn subset(&self, examples: &[usize]) -> Dataset {
        let mut chosen = Trees {
            columns: self.columns.clone(),
            names: self.names.clone(),
            type_names: self.type_names.clone(),
            rows: SparseRows::new(self.rows.columns()),
            origin: self.origin.as_ref().map(|origin| TreeOrigin::new(origin.file.clone())),
            ..Trees::default()
        };
        for &tree in examples {
            let range = self.range(tree);
            chosen.rows.append(&self.rows, range.clone());
            chosen.parents.extend_from_slice(&self.parents[range.clone()]);
            chosen.labels.extend_from_slice(&self.labels[range.clone()]);
            chosen.types.extend_from_slice(&self.types[range.clone()]);
            chosen.ends.push(chosen.parents.len());
            chosen.known.push(self.known[tree]);
            if let (Some(origin), Some(all)) = (&mut chosen.origin, &self.origin) {
                origin.lines.push(all.lines[tree]);
                origin.columns.extend_from_slice(&all.columns[range]);
            }
        }
        Dataset::new(chosen)
    }

    fn describe(&self) -> &'static str {
        "trees (tree)"
    }

    /// Names and not their numbers, so that the order of a node's features says nothing.
    fn hash_into(&self, sha: &mut Sha256) {
        let word = |sha: &mut Sha256, text: &str| {
            sha.update((text.len() as u64).to_le_bytes());
            sha.update(text);
        };
        sha.update(b"trees");
        sha.update((self.ends.len() as u64).to_le_bytes());
        self.ends.iter().for_each(|&end| sha.update((end as u64).to_le_bytes()));
        self.parents.iter().for_each(|parent| sha.update(parent.to_le_bytes()));
        // That all nodes are roots is something else than that nothing is known.
        let all_roots = |tree: &usize| self.known[*tree] && self.range(*tree).len() == self.roots(*tree).count();
        for tree in (0..self.len()).filter(|&tree| self.range(tree).len() > 1).filter(all_roots) {
            sha.update(b"roots");
            sha.update((tree as u64).to_le_bytes());
        }
        for &label in &self.labels {
            sha.update([u8::from(label == Trees::NO_LABEL)]);
            word(sha, if label == Trees::NO_LABEL { "" } else { self.names.get(label) });
        }
        self.types.iter().for_each(|&name| word(sha, self.type_names.get(name)));
        if !self.is_named() {
            return self.rows.hash_into(sha);
        }
        for node in 0..self.rows.len() {
            let row = self.rows.row(node).iter();
            let mut row: Vec<(&str, f64)> = row.map(|(column, value)| (self.columns.get(column), value)).collect();
            row.sort_unstable_by_key(|&(name, _)| name);
            sha.update((row.len() as u64).to_le_bytes());
            for (name, value) in row {
                word(sha, name);
                sha.update(value.to_le_bytes());
            }
        }
    }
}
