//! Tensors of files: made of numbers, looked up, and read.

use std::borrow::Cow;
use std::fmt::Display;

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

/// Says that the file is not what it should be.
pub(super) fn broken(error: &dyn Display) -> String {
    format!("it is not a sound safetensors file: {error}")
}

/// A tensor to be written: its name, the kind of its numbers, its shape and its bytes.
pub(super) type RawTensor<'a> = (Cow<'a, str>, Dtype, Vec<usize>, Cow<'a, [u8]>);

/// Shape and numbers of a tensor that was read.
pub(super) type ShapedNumbers = (Vec<usize>, Vec<f64>);

/// A tensor of numbers to be written: its name, shape and content.
pub(super) type TensorParts<'a> = (&'a str, Vec<usize>, &'a [f64]);

/// The size of a number in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// 8 bytes.
    Double,
    /// 4 bytes.
    Single,
}

impl Width {
    /// The number of bytes.
    pub(super) fn bytes(self) -> usize {
        if self == Width::Double { 8 } else { 4 }
    }

    /// The kind of a tensor of such numbers.
    pub(super) fn kind(self) -> Dtype {
        if self == Width::Double { Dtype::F64 } else { Dtype::F32 }
    }

    /// Appends a number's bytes.
    pub(super) fn push(self, number: f64, bytes: &mut Vec<u8>) {
        match self {
            Width::Double => bytes.extend(number.to_le_bytes()),
            Width::Single => bytes.extend((number as f32).to_le_bytes()),
        }
    }

    /// Reads numbers.
    pub(super) fn read(self, bytes: &[u8]) -> Vec<f64> {
        match self {
            Width::Double => words(bytes, f64::from_le_bytes),
            Width::Single => bytes.as_chunks::<4>().0.iter().map(|&chunk| f32::from_le_bytes(chunk).into()).collect(),
        }
    }
}

/// Makes the tensor of a list of numbers of 8 bytes.
pub(super) fn listed<'a>(
    name: impl Into<Cow<'a, str>>,
    kind: Dtype,
    numbers: impl Iterator<Item = [u8; 8]>,
) -> RawTensor<'a> {
    let bytes: Vec<u8> = numbers.flatten().collect();
    (name.into(), kind, vec![bytes.len() / 8], bytes.into())
}

/// Looks up the tensor of this name, which must be of this type.
pub(super) fn tensor<'a>(tensors: &SafeTensors<'a>, name: &str, dtype: Dtype) -> Result<TensorView<'a>, String> {
    let tensor = tensors.tensor(name).map_err(|error| broken(&error))?;
    if tensor.dtype() != dtype {
        return Err(format!("its tensor {name} is {:?}, expected {dtype:?}", tensor.dtype()));
    }
    Ok(tensor)
}

/// Returns the bytes of a list of numbers of one kind.
pub(super) fn data<'a>(name: &str, tensor: &TensorView<'a>, kind: Dtype, length: &str) -> Result<&'a [u8], String> {
    if tensor.dtype() != kind || tensor.shape().len() != 1 {
        let (found, shape) = (tensor.dtype(), tensor.shape());
        return Err(format!("its tensor {name} is {found:?} {shape:?}, expected {kind:?} [{length}]"));
    }
    Ok(tensor.data())
}

/// Reads numbers of 8 bytes.
pub(super) fn words<T>(bytes: &[u8], number: fn([u8; 8]) -> T) -> Vec<T> {
    bytes.as_chunks::<8>().0.iter().map(|chunk| number(*chunk)).collect()
}
