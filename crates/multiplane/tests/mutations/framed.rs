//! Crafted containers: a header, the JSON in it and the tensors changed, and the checksum, where there is one, made right.

use multiplane_core::rng::Rng;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::bytes::{self, below, one_of};
use crate::json;

/// Where our JSON stands in the header.
const OWN: &str = "multiplane";

/// Numbers that stand in tensors.
const REALS: [f64; 14] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    -1.0,
    1e308,
    -1e308,
    1e200,
    5e-324,
    1.0,
    1e-300,
    4294967296.0,
    1e16,
];

/// Whole numbers that stand in tensors.
const WHOLE: [i64; 12] = [0, 1, -1, 2, 7, 255, 1 << 31, 1 << 32, 1 << 62, i64::MAX, i64::MIN, (1 << 53) + 1];

/// One of `corpus`, changed; where it cannot be taken apart, as bytes.
pub(crate) fn crafted(rng: &mut Rng, corpus: &[Vec<u8>]) -> Vec<u8> {
    let good = one_of(rng, corpus);
    let Some((mut header, mut own, mut data)) = taken_apart(good) else { return bytes::mutated(rng, corpus) };
    for _ in 0..1 + rng.below(2) * rng.below(3) {
        match (rng.below(8), &mut own) {
            (0..=2, Some(own)) => json::change(rng, own),
            (3, _) => json::change(rng, &mut header),
            (4, _) => shapes(rng, &mut header),
            (5, _) => bytes::change(rng, &mut data),
            _ => numbers(rng, &header, &mut data),
        }
    }
    put_together(header, own, &data)
}

/// Header, our JSON in it, and all tensors' bytes.
fn taken_apart(bytes: &[u8]) -> Option<(Value, Option<Value>, Vec<u8>)> {
    let length = u64::from_le_bytes(*bytes.first_chunk()?) as usize;
    let header: Value = serde_json::from_slice(bytes.get(8..8 + length)?).ok()?;
    let own = header["__metadata__"][OWN].as_str().and_then(|text| serde_json::from_str(text).ok());
    Some((header, own, bytes[8 + length..].to_vec()))
}

/// The file of these parts; where our JSON has a field for it, with the right checksum.
fn put_together(mut header: Value, own: Option<Value>, data: &[u8]) -> Vec<u8> {
    if let Some(mut own) = own {
        if own.is_object() && !own["checksum"].is_null() {
            own["checksum"] = "0".repeat(64).into();
        }
        if header["__metadata__"].is_object() {
            header["__metadata__"][OWN] = own.to_string().into();
        }
    }
    let header = header.to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    let zeros = "0".repeat(64);
    if let Some(place) = bytes[..8 + header.len()].windows(64).position(|window| window == zeros.as_bytes()) {
        let checksum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        bytes[place..place + 64].copy_from_slice(checksum.as_bytes());
    }
    bytes
}

/// Names of the tensors.
fn names(header: &Value) -> Vec<String> {
    let entries = header.as_object().into_iter().flatten();
    let tensors = entries.filter(|(name, own)| *name != "__metadata__" && own.is_object());
    tensors.map(|(name, _)| name.clone()).collect()
}

/// Another type, another shape of as many numbers, another name, or two tensors in each other's place.
fn shapes(rng: &mut Rng, header: &mut Value) {
    let names = names(header);
    if names.is_empty() {
        return;
    }
    let (one, other) = (one_of(rng, &names).clone(), one_of(rng, &names).clone());
    match rng.below(5) {
        0 => header[&one]["dtype"] = (*one_of(rng, &["F64", "F32", "I64", "I32", "U8", "BOOL", "BF16", "X"])).into(),
        1 => {
            let own: Vec<u64> =
                header[&one]["shape"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
            let all: u64 = own.iter().product();
            let split = 1 + rng.below(6);
            let shape = [
                vec![all],
                vec![1, all],
                vec![all, 1],
                vec![all, 1, 1],
                vec![all / split, split],
                vec![split, all / split],
            ];
            header[&one]["shape"] = one_of(rng, &shape).clone().into();
        }
        2 => {
            let taken = header[&one].take();
            header[&one] = std::mem::replace(&mut header[&other], taken);
        }
        3 => {
            if let Some(table) = header.as_object_mut() {
                let own = table.remove(&one).unwrap_or_default();
                table.insert(format!("{one}x"), own);
            }
        }
        _ => {
            let k = below(rng, 2);
            let by = *one_of(rng, &[8, 1, 1 << 40]);
            let place = header[&one]["data_offsets"][k].as_u64().unwrap_or(0);
            if let Some(offset) = header[&one]["data_offsets"].get_mut(k) {
                *offset = place.wrapping_add(by).into();
            }
        }
    }
}

/// Numbers of one tensor become others.
fn numbers(rng: &mut Rng, header: &Value, data: &mut [u8]) {
    let names = names(header);
    if names.is_empty() {
        return;
    }
    let own = &header[one_of(rng, &names)];
    let offset = |k: usize| own["data_offsets"][k].as_u64().map_or(0, |place| place as usize);
    let Some(part) = data.get_mut(offset(0)..offset(1)) else { return };
    let kind = own["dtype"].as_str().unwrap_or_default();
    for _ in 0..1 + rng.below(3) {
        let (real, whole) = (*one_of(rng, &REALS), *one_of(rng, &WHOLE));
        let new = match kind {
            "F64" => real.to_le_bytes().to_vec(),
            "F32" => (real as f32).to_le_bytes().to_vec(),
            "I64" => whole.to_le_bytes().to_vec(),
            "I32" | "U32" => (whole as i32).to_le_bytes().to_vec(),
            // States are bytes that hold numbers anywhere.
            _ if rng.below(3) == 0 => real.to_le_bytes().to_vec(),
            _ => vec![rng.next_u64() as u8],
        };
        let step = if matches!(kind, "U8" | "BOOL") { 1 } else { new.len() };
        let k = below(rng, part.len() / step) * step;
        if let Some(place) = part.get_mut(k..k + new.len()) {
            place.copy_from_slice(&new);
        }
    }
}

/// As [`crafted`]; every third time as bytes alone.
pub(crate) fn crafted_or_damaged(rng: &mut Rng, corpus: &[Vec<u8>]) -> Vec<u8> {
    if rng.below(3) == 0 { bytes::mutated(rng, corpus) } else { crafted(rng, corpus) }
}
