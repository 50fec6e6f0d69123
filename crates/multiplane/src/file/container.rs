//! The container of all our files: safetensors with our JSON in its metadata and a checksum over all of it.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs;
use std::io::Read;
use std::path::Path;

use multiplane_tasks::problem::Vocabulary;
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensorError, SafeTensors};
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

pub(super) use super::bulk::zero_checksum;
use super::bulk::{self, Bulk, CHECKSUM, DIGITS, MAX_HEADER, check_header};
use super::dictionary;
use super::packed;
use super::tensors::{RawTensor, ShapedNumbers};
pub(super) use super::tensors::{TensorParts, Width, broken, tensor};
use crate::error::Error;

/// Version of model files whose tensors any reader of safetensors understands.
pub const FORMAT_VERSION: u32 = 1;

/// Version of model files with packed tensors.
pub(super) const PACKED_VERSION: u32 = 2;

/// Key of our JSON in the container's metadata.
const METADATA_KEY: &str = "multiplane";

/// Largest file that is read or written: 64 GiB.
const MAX_BYTES: u64 = 1 << 36;

/// Writes bytes as text.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Takes the sha256 of content in several parts, in hexadecimal.
pub(crate) fn sha256(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    hexadecimal(&hash.finalize())
}

/// Packs the bytes of a file with these tensors of numbers of one width, and the names and scales of features, where
/// `vocabulary` has any; `info` is made of the version of the format and has a field `checksum`, zeroed.
pub(super) fn pack<T: Serialize>(
    width: Width,
    tensors: &[TensorParts<'_>],
    vocabulary: &Vocabulary,
    info: impl FnOnce(u32) -> T,
) -> Result<Vec<u8>, Error> {
    let broken = |error: &dyn Display| Error::failed(format!("the model cannot be written: {error}"));
    let own = tensors.iter().flat_map(|parts| -> Vec<RawTensor<'_>> {
        packed::numbers(parts, width).unwrap_or_else(|| {
            let (name, shape, values) = parts;
            let mut bytes = Vec::with_capacity(width.bytes() * values.len());
            values.iter().for_each(|&number| width.push(number, &mut bytes));
            vec![((*name).into(), width.kind(), shape.clone(), bytes.into())]
        })
    });
    let mut all: Vec<RawTensor<'_>> = own.chain(dictionary::tensors(vocabulary)).collect();
    let is_packed = all.iter().any(|(name, ..)| packed::is_packed(name));
    let info = info(if is_packed { PACKED_VERSION } else { FORMAT_VERSION });
    let Bulk { json, tensors: long } = Bulk::of(&info).map_err(|error| broken(&error))?;
    check_header(&json).map_err(|error| broken(&error))?;
    all.extend(long.iter().map(|(name, bytes)| (name.into(), Dtype::U8, vec![bytes.len()], bytes.into())));
    let views = all.iter().map(|(name, kind, shape, bytes)| Ok((name, TensorView::new(*kind, shape.clone(), bytes)?)));
    let views: Vec<_> = views.collect::<Result<_, SafeTensorError>>().map_err(|error| broken(&error))?;
    let metadata = HashMap::from([(METADATA_KEY.to_string(), json)]);
    let mut bytes = safetensors::serialize(views, Some(metadata)).map_err(|error| broken(&error))?;
    stamp(&mut bytes, &[]).map_err(|error| broken(&error))?;
    Ok(bytes)
}

/// Builds all of a file that comes before `payloads`, byte tensors with their names: the header, and what of `info` is
/// too long for it. `info` has a field `checksum`, zeroed. For what is too large to be copied.
pub(super) fn head(info: &impl Serialize, payloads: &[(&str, &[u8])]) -> Result<Vec<u8>, String> {
    let bulk = Bulk::of(info)?;
    check_header(&bulk.json)?;
    let mut header = json!({"__metadata__": {METADATA_KEY: bulk.json}});
    let mut from = 0;
    for (name, bytes) in bulk.payloads().chain(payloads.iter().copied()) {
        let to = from + bytes.len();
        header[name] = json!({"dtype": "U8", "shape": [bytes.len()], "data_offsets": [from, to]});
        from = to;
    }
    let mut text = header.to_string();
    text.extend(std::iter::repeat_n(' ', text.len().next_multiple_of(8) - text.len()));
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bulk.payloads().for_each(|(_, payload)| bytes.extend_from_slice(payload));
    stamp(&mut bytes, &payloads.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>())?;
    Ok(bytes)
}

/// Puts the checksum over `bytes` and what follows them in the place of the zeros.
fn stamp(bytes: &mut [u8], rest: &[&[u8]]) -> Result<(), String> {
    let place = checksum_place(bytes, &zero_checksum()).ok_or("no place for the checksum")?;
    let checksum = sha256(&[&[&*bytes], rest].concat());
    bytes[place..place + DIGITS].copy_from_slice(checksum.as_bytes());
    Ok(())
}

/// The header's length, where a file of `total` bytes that begins so can be `what`.
fn header_length(head: &[u8], total: u64, what: &str) -> Result<usize, String> {
    match head.first_chunk().map(|head| u64::from_le_bytes(*head)) {
        Some(len) if len <= MAX_HEADER && len + 8 <= total && total <= MAX_BYTES => Ok(len as usize),
        Some(len) if len <= MAX_HEADER && len + 8 <= total => {
            Err(format!("it has {total} bytes, expected at most {MAX_BYTES}"))
        }
        _ => Err(format!("it is not {what}, or it was cut short")),
    }
}

/// Reads our JSON, and holds the checksum in it against all of the file.
fn read_json(json: Option<&str>, parts: &[&[u8]]) -> Result<Value, String> {
    let json = json.ok_or("it is a safetensors file, but not one of multiplane's")?;
    let value: Value = serde_json::from_str(json).map_err(|error| broken(&error))?;
    let checksum = value[CHECKSUM].as_str().filter(|checksum| checksum.len() == DIGITS);
    let found = checksum.and_then(|checksum| checksum_place(parts[0], checksum)).map(|place| {
        let zeros = zero_checksum();
        sha256(&[&[&parts[0][..place], zeros.as_bytes(), &parts[0][place + DIGITS..]], &parts[1..]].concat())
    });
    if found.is_none() || found.as_deref() != checksum {
        return Err("its checksum does not match: the file is damaged".into());
    }
    Ok(value)
}

/// Takes apart the bytes of a file that should be `what` ("a model file"): our JSON, and the tensors. Any change to any
/// byte is refused.
pub(super) fn unpack<'a>(bytes: &'a [u8], what: &str) -> Result<(Value, SafeTensors<'a>), String> {
    header_length(bytes, bytes.len() as u64, what)?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| broken(&error))?;
    let json = metadata.metadata().as_ref().and_then(|map| map.get(METADATA_KEY));
    let mut value = read_json(json.map(String::as_str), &[bytes])?;
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| broken(&error))?;
    let names = tensors.names();
    let payloads = names.into_iter().map(|name| tensor(&tensors, name, Dtype::U8).map(|tensor| (name, tensor.data())));
    bulk::gather(&mut value, payloads.filter_map(Result::ok))?;
    Ok((value, tensors))
}

/// Reads what [`head`] has begun, without putting it together: our JSON. The parts are refused where the file would be.
pub(super) fn check_parts(parts: &[&[u8]], what: &str) -> Result<Value, String> {
    let total: u64 = parts.iter().map(|part| part.len() as u64).sum();
    let start = header_length(parts[0], total, what)? + 8;
    let header: Map<String, Value> = serde_json::from_slice(&parts[0][8..start]).map_err(|error| broken(&error))?;
    let mut value = read_json(header.get("__metadata__").and_then(|own| own[METADATA_KEY].as_str()), parts)?;
    let place = |tensor: &Value, k: usize| tensor["data_offsets"][k].as_u64().unwrap_or(u64::MAX);
    let tensors = header.iter().filter(|(name, _)| *name != "__metadata__");
    let mut places: Vec<_> = tensors.map(|(name, own)| (place(own, 0), place(own, 1), name.as_str())).collect();
    places.sort_unstable();
    let end = places.iter().try_fold(0, |end, &(from, to, _)| (from == end && to >= from).then_some(to));
    if end != Some(total - start as u64) {
        return Err(broken(&"its tensors do not fill it"));
    }
    let of_head =
        |(from, to, name)| parts[0].get(start + from as usize..start + to as usize).map(|bytes| (name, bytes));
    bulk::gather(&mut value, places.into_iter().filter_map(of_head))?;
    Ok(value)
}

/// Reads shape and numbers of the tensor of this name.
pub(super) fn numbers(tensors: &SafeTensors<'_>, name: &str, width: Width) -> Result<ShapedNumbers, String> {
    if let Some(packed) = packed::read_numbers(tensors, name, width)? {
        return Ok(packed);
    }
    let tensor = tensor(tensors, name, width.kind())?;
    Ok((tensor.shape().to_vec(), width.read(tensor.data())))
}

/// Refuses numbers that no weights are.
pub(super) fn check_finite(name: &str, numbers: &[f64]) -> Result<(), String> {
    match numbers.iter().position(|number| !number.is_finite()) {
        Some(k) => Err(format!("its tensor {name} has {} at {k}, expected finite numbers", numbers[k])),
        None => Ok(()),
    }
}

/// Refuses what is no strength of a regulariser.
pub(super) fn check_lambda(name: &str, lambda: f64) -> Result<(), String> {
    match lambda.is_finite() && lambda > 0.0 && (1.0 / lambda).is_finite() {
        true => Ok(()),
        false => Err(format!("its {name} is {lambda}, expected a finite number > 0")),
    }
}

/// Reads the file at `path`, a `what` ("model"), and takes it apart.
pub(super) fn load<T>(path: &Path, what: &str, parse: impl FnOnce(&[u8]) -> Result<T, String>) -> Result<T, Error> {
    let refuse = |reason: &dyn Display| Error::input(format!("{}: {reason}", path.display()));
    let unread = |error| refuse(&format!("the {what} could not be read: {error}"));
    let mut bytes = Vec::new();
    let mut file = fs::File::open(path).map_err(unread)?;
    // What is no file of ours is not read to its end.
    (&mut file).take(8).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.first_chunk().is_some_and(|head| (2..=MAX_HEADER).contains(&u64::from_le_bytes(*head))) {
        file.take(MAX_BYTES + 1 - 8).read_to_end(&mut bytes).map_err(unread)?;
    }
    parse(&bytes).map_err(|reason| refuse(&reason))
}

/// Finds where in the header the checksum stands.
fn checksum_place(bytes: &[u8], checksum: &str) -> Option<usize> {
    let header = &bytes[..bytes.len().min(MAX_HEADER as usize + 8)];
    header.windows(DIGITS).position(|window| window == checksum.as_bytes())
}

/// Panics if a file is read after any change of any byte, or cut short, or continued.
#[cfg(test)]
pub(super) fn assert_damage_refused<T>(bytes: &[u8], read: impl Fn(&[u8]) -> Result<T, String>) {
    for place in 0..bytes.len() {
        for flip in [1, 0x20, 0x80, 0xff] {
            let mut damaged = bytes.to_vec();
            damaged[place] ^= flip;
            assert!(read(&damaged).is_err(), "byte {place} changed by {flip}");
        }
        assert!(read(&bytes[..place]).is_err(), "cut to {place} bytes");
    }
    assert!(read(&[bytes, &[0]].concat()).is_err(), "continued");
}
