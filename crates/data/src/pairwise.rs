//! Common parts of graphs and of pairwise models: nodes with labels and weights, and edges, example after example;
//! their checks, and their tensors in containers.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use multiplane_infer::file::DataError;

use super::container::{Container, Matrix, Reals, Tensor, TensorToWrite, pack};

/// The label of a node that has none.
pub const NO_LABEL: i64 = -1;

/// Nodes and edges of all examples one after the other, with offsets by example, whatever features they have.
#[derive(Clone, Debug)]
pub struct NodesAndEdges {
    /// The first node of each example, and the number of nodes: n + 1 numbers from 0.
    pub node_offsets: Vec<usize>,
    /// One per node: a whole number from 0, or [`NO_LABEL`].
    pub labels: Vec<i64>,
    /// One number >= 0 per node, such as its size, where there are any.
    pub node_weights: Option<Vec<f64>>,
    /// The first edge of each example, and the number of edges: n + 1 numbers from 0.
    pub edge_offsets: Vec<usize>,
    /// Nodes at both ends, numbered within their example from 0.
    pub edges: Vec<[u32; 2]>,
}

impl NodesAndEdges {
    /// Returns the number of examples.
    pub fn len(&self) -> usize {
        self.node_offsets.len().saturating_sub(1)
    }

    /// Returns true if there is no example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the nodes of an example.
    pub fn nodes(&self, example: usize) -> Range<usize> {
        self.node_offsets[example]..self.node_offsets[example + 1]
    }

    /// Returns the edges of an example.
    pub fn edges_of(&self, example: usize) -> Range<usize> {
        self.edge_offsets[example]..self.edge_offsets[example + 1]
    }

    /// Returns how many edges of some examples join two nodes that an earlier edge joins already.
    pub(crate) fn repeated_edges(&self, chosen: &[usize]) -> usize {
        let mut seen = HashSet::new();
        let of_example = |&example: &usize| {
            seen.clear();
            let edges = &self.edges[self.edges_of(example)];
            edges.iter().filter(|[tail, head]| !seen.insert((tail.min(head), tail.max(head)))).count()
        };
        chosen.iter().map(of_example).sum()
    }

    /// Reads `node_offsets [n+1]`, `labels [N]` and `node_weights [N]` (both optional), `edge_offsets [n+1]`, `edges
    /// [E, 2]`.
    ///
    /// # Errors
    ///
    /// A tensor is missing, or of another type or shape.
    pub(crate) fn read(container: &Container) -> Result<Self, DataError> {
        let labels = container.find("labels").map(|tensor| tensor.rows(1).and_then(|_| tensor.integers()));
        let weights = container.find("node_weights").map(|tensor| tensor.rows(1).and_then(|_| tensor.reals()));
        Ok(NodesAndEdges {
            node_offsets: offsets(&container.get("node_offsets")?)?,
            labels: labels.transpose()?.unwrap_or_default(),
            node_weights: weights.transpose()?.map(|weights| weights.to_vec()),
            edge_offsets: offsets(&container.get("edge_offsets")?)?,
            edges: edges(&container.get("edges")?)?,
        })
    }

    /// Gives so many nodes of a container without labels none.
    pub(crate) fn without_labels(mut self, container: &Container, nodes: usize) -> Self {
        if container.find("labels").is_none() {
            self.labels = vec![NO_LABEL; nodes];
        }
        self
    }

    /// Checks where examples begin; `nodes` are the rows of what has one for each node, `what` says of what.
    ///
    /// # Errors
    ///
    /// The first fault: array, index, value and rule.
    pub(crate) fn check_examples(&self, nodes: usize, what: &str) -> Result<(), String> {
        check_offsets("node_offsets", &self.node_offsets, nodes, what)?;
        check_offsets("edge_offsets", &self.edge_offsets, self.edges.len(), "rows of edges")?;
        if self.edge_offsets.len() != self.node_offsets.len() {
            let (edges, nodes) = (self.edge_offsets.len(), self.node_offsets.len());
            return Err(format!("edge_offsets: found {edges} numbers, expected as many as node_offsets has: {nodes}"));
        }
        Ok(())
    }

    /// Checks the weights of nodes, of which there are so many, and the ends of edges.
    ///
    /// # Errors
    ///
    /// The first fault: array, example, index, value and rule.
    pub(crate) fn check(&self, nodes: usize) -> Result<(), String> {
        if let Some(weights) = &self.node_weights {
            check_length("node_weights", weights.len(), nodes, "node")?;
            if let Some(node) = weights.iter().position(|&weight| !(weight.is_finite() && weight >= 0.0)) {
                let (weight, place) = (weights[node], place(&self.node_offsets, node));
                return Err(format!("node_weights: found {weight} at {place}, expected finite numbers >= 0"));
            }
        }
        for example in 0..self.len() {
            let nodes = self.nodes(example).len();
            for edge in self.edges_of(example) {
                let [tail, head] = self.edges[edge];
                let fault = |found: String| Err(format!("edges: found {found} at {}", place(&self.edge_offsets, edge)));
                if let Some(missing) = [tail, head].into_iter().find(|&end| end as usize >= nodes) {
                    return fault(format!("node {missing} of an example with {nodes} nodes, numbered from 0,"));
                }
                if tail == head {
                    return fault(format!("an edge from node {tail} to itself"));
                }
            }
        }
        Ok(())
    }
}

/// Checks that an array has a row for each node or edge.
pub(crate) fn check_length(name: &str, found: usize, expected: usize, of: &str) -> Result<(), String> {
    if found != expected {
        return Err(format!("{name}: found {found} rows, expected one for each {of}: {expected}"));
    }
    Ok(())
}

/// Checks numbers that say where examples begin, and where the last one ends.
pub(crate) fn check_offsets(name: &str, offsets: &[usize], rows: usize, what: &str) -> Result<(), String> {
    if offsets.len() < 2 {
        return Err(format!(
            "{name}: found {} numbers, expected one more than examples, and an example",
            offsets.len()
        ));
    }
    if offsets[0] != 0 {
        return Err(format!("{name}[0]: found {}, expected 0", offsets[0]));
    }
    if let Some(at) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        let (before, after) = (offsets[at], offsets[at + 1]);
        return Err(format!("{name}[{}]: found {after} after {before}, expected numbers that do not fall", at + 1));
    }
    let last = offsets[offsets.len() - 1];
    if last != rows {
        return Err(format!("{name}[{}]: found {last}, expected the number of {what}: {rows}", offsets.len() - 1));
    }
    Ok(())
}

/// Returns the place of a row of all examples, for messages.
pub(crate) fn place(offsets: &[usize], row: usize) -> String {
    let example = offsets.partition_point(|&offset| offset <= row).saturating_sub(1);
    format!("row {row} (example {example}, its row {})", row - offsets[example])
}

/// Reads offsets: whole numbers that are not negative.
pub(crate) fn offsets(tensor: &Tensor<'_>) -> Result<Vec<usize>, DataError> {
    tensor.rows(1)?;
    let numbers = tensor.integers()?;
    let offset = |(at, &number): (usize, &i64)| {
        usize::try_from(number).map_err(|_| tensor.fault(format_args!("found {number} at {at}, expected numbers >= 0")))
    };
    numbers.iter().enumerate().map(offset).collect()
}

/// Reads a matrix, whose numbers are checked with all else.
pub(crate) fn matrix(tensor: &Tensor<'_>) -> Result<Matrix, DataError> {
    let rows = tensor.rows(2)?;
    let matrix = Matrix::new(tensor.reals()?, rows, tensor.shape()[1]);
    matrix.check_empty_rows().map_err(|fault| tensor.fault(fault))?;
    Ok(matrix)
}

/// Reads pairs of nodes.
fn edges(tensor: &Tensor<'_>) -> Result<Vec<[u32; 2]>, DataError> {
    tensor.rows(2)?;
    if tensor.shape()[1] != 2 {
        return Err(tensor.fault(format_args!("found the shape {:?}, expected [edges, 2]", tensor.shape())));
    }
    let numbers = tensor.integers()?;
    let node = |at: usize, number: i64| {
        let fault = || {
            let (row, column) = (at / 2, at % 2);
            tensor.fault(format_args!("found {number} in row {row}, column {column}, expected a node's number from 0"))
        };
        u32::try_from(number).map_err(|_| fault())
    };
    let pairs = numbers.as_chunks::<2>().0.iter().enumerate();
    pairs.map(|(row, &[tail, head])| Ok([node(2 * row, tail)?, node(2 * row + 1, head)?])).collect()
}

/// The tensors of a container, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct TensorList<'a> {
    tensors: Vec<(&'static str, Vec<usize>, TensorNumbers<'a>)>,
}

#[derive(Debug)]
enum TensorNumbers<'a> {
    Integers(Vec<i64>),
    Reals(Cow<'a, Reals>),
}

impl<'a> TensorList<'a> {
    /// Adds whole numbers.
    pub(crate) fn integers(&mut self, name: &'static str, numbers: Vec<i64>) {
        self.tensors.push((name, vec![numbers.len()], TensorNumbers::Integers(numbers)));
    }

    /// Adds numbers that say where something begins.
    pub(crate) fn offsets(&mut self, name: &'static str, offsets: &[usize]) {
        self.integers(name, offsets.iter().map(|&offset| offset as i64).collect());
    }

    /// Adds rows of whole numbers.
    pub(crate) fn table<T: Copy + Into<i64>, const N: usize>(&mut self, name: &'static str, rows: &[[T; N]]) {
        let numbers = rows.iter().flatten().map(|&number| number.into()).collect();
        self.tensors.push((name, vec![rows.len(), N], TensorNumbers::Integers(numbers)));
    }

    /// Adds the weights of nodes, where they have any.
    pub(crate) fn node_weights(&mut self, weights: Option<&Vec<f64>>) {
        if let Some(weights) = weights {
            self.reals("node_weights", vec![weights.len()], weights.clone().into());
        }
    }

    /// Adds real numbers of a shape.
    pub(crate) fn reals(&mut self, name: &'static str, shape: Vec<usize>, numbers: Reals) {
        self.tensors.push((name, shape, TensorNumbers::Reals(Cow::Owned(numbers))));
    }

    /// Adds a matrix.
    pub(crate) fn matrix(&mut self, name: &'static str, matrix: &'a Matrix) {
        let numbers = TensorNumbers::Reals(Cow::Borrowed(matrix.numbers()));
        self.tensors.push((name, vec![matrix.rows(), matrix.columns()], numbers));
    }

    /// Returns the bytes of the container.
    pub(crate) fn pack(&self) -> Vec<u8> {
        let tensors = self.tensors.iter().map(|(name, shape, numbers)| match numbers {
            TensorNumbers::Integers(numbers) => (*name, TensorToWrite::Integers(shape.clone(), numbers)),
            TensorNumbers::Reals(numbers) => (*name, TensorToWrite::Reals(shape.clone(), numbers)),
        });
        pack(&tensors.collect::<Vec<_>>())
    }
}
