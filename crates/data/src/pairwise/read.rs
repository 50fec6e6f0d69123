//! Reading what the containers of both kinds hold.

use multiplane_infer::file::DataError;

use crate::container::{Container, Matrix, Tensor};

/// The arrays that do not depend on the kind of data.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) node_offsets: Vec<usize>,
    /// Without them, none is known.
    pub(crate) labels: Option<Vec<i64>>,
    pub(crate) node_weights: Option<Vec<f64>>,
    pub(crate) edge_offsets: Vec<usize>,
    pub(crate) edges: Vec<[u32; 2]>,
}

impl Common {
    /// Reads `node_offsets [n+1]`, `labels [N]` and `node_weights [N]` (both optional), `edge_offsets [n+1]`, `edges
    /// [E, 2]`.
    ///
    /// # Errors
    ///
    /// A tensor is missing, or of another type or shape.
    pub(crate) fn read(container: &Container) -> Result<Common, DataError> {
        let labels = container.find("labels").map(|tensor| tensor.rows(1).and_then(|_| tensor.integers()));
        let weights = container.find("node_weights").map(|tensor| tensor.rows(1).and_then(|_| tensor.reals()));
        Ok(Common {
            node_offsets: offsets(&container.get("node_offsets")?)?,
            labels: labels.transpose()?,
            node_weights: weights.transpose()?.map(|weights| weights.to_vec()),
            edge_offsets: offsets(&container.get("edge_offsets")?)?,
            edges: edges(&container.get("edges")?)?,
        })
    }
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
    Ok(Matrix::new(tensor.reals()?, rows, tensor.shape()[1]))
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
