//! The container of model files: safetensors with our JSON in its metadata and a checksum over all of it.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use multiplane_tasks::data::Strings;
use multiplane_tasks::problem::{MAX_DICTIONARY_BYTES, MAX_DIM};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::dictionary::Parts;
use crate::error::Error;

/// Version of the file format that this program writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// Key of our JSON in the container's metadata.
pub(crate) const METADATA_KEY: &str = "multiplane";

/// Largest header accepted: a model's header is a few kilobytes.
pub(crate) const MAX_HEADER: u64 = 1 << 20;

/// A tensor to be written: its name, shape and numbers.
pub(crate) type Tensor<'a> = (&'a str, Vec<usize>, &'a [f64]);

/// What stands in the place of the checksum while it is taken.
pub(crate) fn zero_checksum() -> String {
    "0".repeat(64)
}

/// That the file is not what it should be.
pub(crate) fn broken(error: &dyn std::fmt::Display) -> String {
    format!("it is not a sound safetensors file: {error}")
}

/// Bytes as text.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// sha256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// The bytes of a file with these tensors and the names of features, where they have any; `info` has a field `checksum`, zeroed.
pub(crate) fn pack(tensors: &[Tensor<'_>], names: Option<&Strings>, info: &impl Serialize) -> Result<Vec<u8>, Error> {
    let broken = |error: &dyn std::fmt::Display| Error::failed(format!("the model cannot be written: {error}"));
    let payloads: Vec<Vec<u8>> =
        tensors.iter().map(|(_, _, values)| values.iter().flat_map(|w| w.to_le_bytes()).collect()).collect();
    let mut views = Vec::new();
    for ((name, shape, _), payload) in tensors.iter().zip(&payloads) {
        let view = TensorView::new(Dtype::F64, shape.clone(), payload).map_err(|error| broken(&error))?;
        views.push((*name, view));
    }
    let names = names.map(Parts::of);
    for view in names.iter().flat_map(Parts::tensors) {
        views.push(view.map_err(|error| broken(&error))?);
    }
    let json = serde_json::to_string(info).map_err(|error| broken(&error))?;
    let metadata = HashMap::from([(METADATA_KEY.to_string(), json)]);
    let mut bytes = safetensors::serialize(views, Some(metadata)).map_err(|error| broken(&error))?;
    let checksum = sha256(&bytes);
    let place = checksum_place(&bytes, &zero_checksum()).ok_or_else(|| broken(&"no place for the checksum"))?;
    bytes[place..place + 64].copy_from_slice(checksum.as_bytes());
    Ok(bytes)
}

/// Our JSON and the tensors of a file's bytes. Any change to any byte is refused.
pub(crate) fn unpack(bytes: &[u8]) -> Result<(Value, SafeTensors<'_>), String> {
    let header = bytes.first_chunk().map(|head| u64::from_le_bytes(*head));
    match header {
        Some(len) if len <= MAX_HEADER && len + 8 <= bytes.len() as u64 => {}
        _ => return Err("it is not a model file, or it was cut short".into()),
    }
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| broken(&error))?;
    let json = metadata.metadata().as_ref().and_then(|map| map.get(METADATA_KEY));
    let json = json.ok_or("it is a safetensors file, but not one of multiplane's")?;
    let value: Value = serde_json::from_str(json).map_err(|error| broken(&error))?;
    let checksum = value["checksum"].as_str().unwrap_or_default();
    if checksum_of(bytes, checksum).as_deref() != Some(checksum) {
        return Err("its checksum does not match: the file is damaged".into());
    }
    if value["kind"] == "checkpoint" {
        return Err("it is a checkpoint, not a model".into());
    }
    if value["format"] != FORMAT_VERSION {
        let found = &value["format"];
        return Err(format!("its format is version {found}, this program reads version {FORMAT_VERSION}"));
    }
    Ok((value, SafeTensors::deserialize(bytes).map_err(|error| broken(&error))?))
}

/// Shape and numbers of the tensor of this name, which must be of 64-bit numbers.
pub(crate) fn numbers(tensors: &SafeTensors<'_>, name: &str) -> Result<(Vec<usize>, Vec<f64>), String> {
    let tensor = tensors.tensor(name).map_err(|error| broken(&error))?;
    if tensor.dtype() != Dtype::F64 {
        return Err(format!("its tensor {name} is {:?}, expected F64", tensor.dtype()));
    }
    let values = tensor.data().as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect();
    Ok((tensor.shape().to_vec(), values))
}

/// The bytes of the file at `path`, if it is no larger than a model can be.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let refuse = |reason: &dyn std::fmt::Display| Error::input(format!("{}: {reason}", path.display()));
    let mut bytes = Vec::new();
    let limit = (MAX_DIM * 8 + MAX_DICTIONARY_BYTES) as u64 + MAX_HEADER + 8;
    fs::File::open(path)
        .and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
        .map_err(|error| refuse(&format!("the model could not be read: {error}")))?;
    if bytes.len() as u64 > limit {
        return Err(refuse(&"it is larger than any model"));
    }
    Ok(bytes)
}

/// The checksum of a file that carries `checksum`; `None` if that cannot be one.
fn checksum_of(bytes: &[u8], checksum: &str) -> Option<String> {
    if checksum.len() != 64 {
        return None;
    }
    let place = checksum_place(bytes, checksum)?;
    let mut blank = bytes.to_vec();
    blank[place..place + 64].fill(b'0');
    Some(sha256(&blank))
}

/// Where in the header the checksum stands.
pub(crate) fn checksum_place(bytes: &[u8], checksum: &str) -> Option<usize> {
    let header = &bytes[..bytes.len().min(MAX_HEADER as usize + 8)];
    header.windows(64).position(|window| window == checksum.as_bytes())
}
