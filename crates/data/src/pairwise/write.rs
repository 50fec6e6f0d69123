//! Writing what the containers of both kinds hold.

use std::borrow::Cow;

use super::frame::Frame;
use crate::container::{Matrix, Reals, TensorToWrite, pack};

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

    /// Adds pairs of nodes.
    pub(crate) fn edges(&mut self, edges: &[[u32; 2]]) {
        let ends = edges.iter().flatten().map(|&end| i64::from(end)).collect();
        self.tensors.push(("edges", vec![edges.len(), 2], TensorNumbers::Integers(ends)));
    }

    /// Adds the weights of nodes, where they have any.
    pub(crate) fn node_weights(&mut self, frame: Frame<'_>) {
        if let Some(weights) = frame.node_weights {
            let numbers = TensorNumbers::Reals(Cow::Owned(weights.to_vec().into()));
            self.tensors.push(("node_weights", vec![weights.len()], numbers));
        }
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
