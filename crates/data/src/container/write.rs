//! Writing containers: the bytes of a safetensors file, tensors in the order given, each aligned to 8 bytes.

use std::fmt::Write;

use super::numbers::Reals;

/// Bytes that tensors begin at multiples of.
const ALIGNMENT: usize = 8;

/// A tensor to be written.
#[derive(Clone, Debug)]
pub enum TensorToWrite<'a> {
    /// Whole numbers.
    Integers(Vec<usize>, &'a [i64]),
    /// Real numbers.
    Reals(Vec<usize>, &'a Reals),
}

impl TensorToWrite<'_> {
    fn head(&self) -> (&'static str, &[usize], usize) {
        match self {
            TensorToWrite::Integers(shape, numbers) => ("I64", shape, 8 * numbers.len()),
            TensorToWrite::Reals(shape, numbers @ Reals::F32(_)) => ("F32", shape, 4 * numbers.len()),
            TensorToWrite::Reals(shape, numbers @ Reals::F64(_)) => ("F64", shape, 8 * numbers.len()),
        }
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            TensorToWrite::Integers(_, numbers) => bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes())),
            TensorToWrite::Reals(_, Reals::F32(numbers)) => {
                bytes.extend(numbers.as_slice().iter().flat_map(|number| number.to_le_bytes()));
            }
            TensorToWrite::Reals(_, Reals::F64(numbers)) => {
                bytes.extend(numbers.as_slice().iter().flat_map(|number| number.to_le_bytes()));
            }
        }
    }
}

/// Returns the bytes of a container of these tensors. Those of 8 bytes a number must come before those of 4, so that
/// all are aligned; names hold nothing that JSON would have to escape.
pub fn pack(tensors: &[(&str, TensorToWrite<'_>)]) -> Vec<u8> {
    let (mut header, mut end) = (String::from("{"), 0);
    for (place, (name, tensor)) in tensors.iter().enumerate() {
        let (dtype, shape, length) = tensor.head();
        let comma = if place == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(
            header,
            r#"{comma}"{name}":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[{end},{}]}}"#,
            end + length
        );
        end += length;
    }
    header.push('}');
    while !header.len().is_multiple_of(ALIGNMENT) {
        header.push(' ');
    }
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    tensors.iter().for_each(|(_, tensor)| tensor.write(&mut bytes));
    bytes
}
