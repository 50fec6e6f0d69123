//! Packs large tensors of model files: names, and weights of which most equal the one before, as zeros do.
//!
//! Packed numbers `NAME` are three tensors. `NAME.shape` is the shape. `NAME.changes` has a bit for each number, the
//! lowest first, that is set where it differs from the one before (the first from 0). `NAME.values` are the numbers
//! that do, each of 8 bytes, or of 4 in files of 32 bits, deflated. Packed names are one tensor, deflated: for each name
//! its length in bytes and its bytes. A length has 7 bits a byte, the lowest first, with the highest bit set where more
//! follow. What comes out has at most [`MOST_TIMES`] times the bytes of what went in, so that a small file asks for
//! little memory. Files with packed tensors have version 2.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use multiplane_tasks::data::Strings;
use safetensors::SafeTensors;
use safetensors::tensor::Dtype;

use super::tensors::{RawTensor, ShapedNumbers, TensorParts, Width, data, listed, tensor, words};

/// Fewest bytes of a tensor that is packed: smaller ones are left to any reader of safetensors.
const FEWEST: usize = 1 << 20;

/// How many times as long as the packed bytes the content may be.
const MOST_TIMES: usize = 64;

/// How many names there may be for each packed byte: a name takes some 40 bytes of memory beside its own.
const MOST_NAMES: usize = 2;

/// The ends of the names of packed numbers' tensors.
const SHAPE: &str = ".shape";
const CHANGES: &str = ".changes";
const VALUES: &str = ".values";

/// Returns true for the name of a tensor that only a packed one has.
pub(super) fn is_packed(name: &str) -> bool {
    name.ends_with(CHANGES) || name.ends_with(".packed")
}

fn deflated(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).ok()?; // into memory: nothing can fail
    encoder.finish().ok().filter(|packed| bytes.len() <= MOST_TIMES * packed.len())
}

fn inflated(name: &str, packed: &[u8]) -> Result<Vec<u8>, String> {
    let most = MOST_TIMES * packed.len();
    let mut bytes = Vec::new();
    let read = ZlibDecoder::new(packed).take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("its tensor {name} is not sound: {error}"))?;
    match bytes.len() <= most {
        true => Ok(bytes),
        false => Err(format!("its tensor {name} holds more than {MOST_TIMES} times its bytes")),
    }
}

/// Returns the tensors of packed numbers; `None` where they would take more than half the room.
pub(super) fn numbers((name, shape, numbers): &TensorParts<'_>, width: Width) -> Option<Vec<RawTensor<'static>>> {
    let room = width.bytes() * numbers.len();
    let (mut changes, mut values, mut before) = (vec![0u8; numbers.len().div_ceil(8)], Vec::new(), 0);
    for (at, number) in numbers.iter().enumerate().filter(|_| room >= FEWEST) {
        if number.to_bits() != before {
            before = number.to_bits();
            changes[at / 8] |= 1 << (at % 8);
            width.push(*number, &mut values);
            if 2 * values.len() > room {
                return None;
            }
        }
    }
    let values = deflated(&values).filter(|values| room >= FEWEST && 2 * (values.len() + changes.len()) <= room)?;
    let bytes = |end: &str, bytes: Vec<u8>| (format!("{name}{end}").into(), Dtype::U8, vec![bytes.len()], bytes.into());
    let shape = listed(format!("{name}{SHAPE}"), Dtype::I64, shape.iter().map(|&size| (size as u64).to_le_bytes()));
    Some(vec![shape, bytes(CHANGES, changes), bytes(VALUES, values)])
}

/// Reads shape and numbers that [`numbers`] has packed; `None` where the file has none of this name.
pub(super) fn read_numbers(
    tensors: &SafeTensors<'_>,
    name: &str,
    width: Width,
) -> Result<Option<ShapedNumbers>, String> {
    let changes = format!("{name}{CHANGES}");
    if tensors.tensor(&changes).is_err() {
        return Ok(None);
    }
    let part = |name: &str, kind: Dtype| data(name, &tensor(tensors, name, kind)?, kind, "length");
    let unsound = |what: &str| format!("its packed tensor {name} is not sound: {what}");
    let changes = part(&changes, Dtype::U8)?;
    let shape = words(part(&format!("{name}{SHAPE}"), Dtype::I64)?, u64::from_le_bytes);
    let size = shape.iter().try_fold(1, |size: u64, &axis| size.checked_mul(axis));
    let Some(size) = size.filter(|size| size.div_ceil(8) == changes.len() as u64) else {
        return Err(unsound(&format!("{} bits for the shape {shape:?}", 8 * changes.len())));
    };
    let spare = 8 * changes.len() as u64 - size;
    if changes.last().is_some_and(|bits| u64::from(bits.leading_zeros()) < spare) {
        return Err(unsound("bits beyond its shape"));
    }
    let values = inflated(name, part(&format!("{name}{VALUES}"), Dtype::U8)?)?;
    let set: usize = changes.iter().map(|bits| bits.count_ones() as usize).sum();
    if values.len() != width.bytes() * set {
        return Err(unsound(&format!("{} bytes for {set} numbers", values.len())));
    }
    let (mut values, mut before) = (width.read(&values).into_iter(), 0.0);
    let mut numbers = Vec::with_capacity(8 * changes.len());
    for (k, &bits) in changes.iter().enumerate() {
        let mut rest = bits;
        while rest != 0 {
            numbers.resize(8 * k + rest.trailing_zeros() as usize, before);
            before = values.next().unwrap_or(before);
            rest &= rest - 1;
        }
    }
    numbers.resize(size as usize, before);
    Ok(Some((shape.iter().map(|&axis| axis as usize).collect(), numbers)))
}

/// Returns the tensor of packed names; `None` where it would take more than half the room.
pub(super) fn names(name: &'static str, names: &Strings) -> Option<RawTensor<'static>> {
    let room = names.bytes().len() + 8 * names.len();
    let mut bytes = Vec::with_capacity(room);
    for one in names.iter().filter(|_| room >= FEWEST) {
        let mut length = one.len();
        while length >= 0x80 {
            bytes.push(length as u8 | 0x80);
            length >>= 7;
        }
        bytes.push(length as u8);
        bytes.extend(one.as_bytes());
    }
    let fits = |packed: &Vec<u8>| 2 * packed.len() <= room && names.len() <= MOST_NAMES * packed.len();
    let packed = deflated(&bytes).filter(|packed| room >= FEWEST && fits(packed))?;
    Some((name.into(), Dtype::U8, vec![packed.len()], packed.into()))
}

/// Reads the content of a tensor of packed names: their bytes, and where each ends.
pub(super) fn read_names(name: &str, packed: &[u8]) -> Result<(Vec<u8>, Vec<u64>), String> {
    let bytes = inflated(name, packed)?;
    let (mut names, mut ends, mut rest) = (Vec::with_capacity(bytes.len()), Vec::new(), bytes.as_slice());
    while !rest.is_empty() {
        let (mut length, mut shift) = (0, 0);
        loop {
            let (&byte, after) = rest.split_first().filter(|_| shift < 32).ok_or("its dictionary is cut short")?;
            (length, rest) = (length | ((byte & 0x7f) as usize) << shift, after);
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        let (one, after) = rest.split_at_checked(length).ok_or("its dictionary is cut short")?;
        if ends.len() == MOST_NAMES * packed.len() {
            return Err(format!("its tensor {name} holds more than {MOST_NAMES} names for each of its bytes"));
        }
        names.extend_from_slice(one);
        ends.push(names.len() as u64);
        rest = after;
    }
    Ok((names, ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(tensors: &[RawTensor<'_>]) -> Vec<u8> {
        let views = tensors.iter().map(|(name, kind, shape, bytes)| {
            (name, safetensors::tensor::TensorView::new(*kind, shape.clone(), bytes).unwrap())
        });
        safetensors::serialize(views, None).unwrap()
    }

    fn read(bytes: &[u8], width: Width) -> Result<ShapedNumbers, String> {
        read_numbers(&SafeTensors::deserialize(bytes).unwrap(), "w", width).map(Option::unwrap)
    }

    /// Numbers of 4 bytes come back as they are, in less room, and not as others.
    #[test]
    fn single_numbers_come_back() {
        let sparse: Vec<f64> = (0..1 << 19).map(|k| if k % 8 == 0 { f64::from(k).sqrt() } else { 0.0 }).collect();
        let parts = ("w", vec![sparse.len()], &sparse[..]);
        let [double, single] = [Width::Double, Width::Single].map(|width| file(&numbers(&parts, width).unwrap()));
        assert!(3 * single.len() < 2 * double.len(), "{} of {}", single.len(), double.len());
        let rounded: Vec<f64> = sparse.iter().map(|&number| f64::from(number as f32)).collect();
        assert_eq!(read(&single, Width::Single).unwrap().1, rounded);
        assert!(read(&single, Width::Double).unwrap_err().contains("numbers"));
    }

    /// Zeros of both signs, runs and the last number come back to the bit, in a fraction of the room.
    #[test]
    fn numbers_come_back() {
        let mut sparse = vec![0.0; 2 * FEWEST / 8 + 1];
        let own = [(0, -0.0), (1, 0.5), (2, 0.5), (3, 5e-324), (500, f64::MAX), (sparse.len() - 1, 1.0)];
        own.into_iter().for_each(|(at, value)| sparse[at] = value);
        for shape in [vec![sparse.len()], vec![1, sparse.len()]] {
            let packed = numbers(&("w", shape.clone(), &sparse), Width::Double).unwrap();
            let bytes = file(&packed);
            assert!(bytes.len() < sparse.len() / 7, "{}", bytes.len());
            let (found, read) = read(&bytes, Width::Double).unwrap();
            assert_eq!(found, shape);
            assert!(read.iter().map(|w| w.to_bits()).eq(sparse.iter().map(|w| w.to_bits())));
        }
        let dense: Vec<f64> = (0..sparse.len()).map(|k| (k as f64).sqrt()).collect();
        for plain in [&dense[..], &[0.0; 9]] {
            assert!(numbers(&("w", vec![plain.len()], plain), Width::Double).is_none());
        }
    }

    /// Parts that do not fit together, or hold more than they may, are refused with a reason.
    #[test]
    fn unsound_numbers_are_refused() {
        let good = numbers(&("w", vec![1 << 18], &vec![0.25; 1 << 18]), Width::Double).unwrap();
        let refused = |part: usize, bytes: Vec<u8>| {
            let mut bad = good.clone();
            let size = bytes.len() / if part == 0 { 8 } else { 1 };
            (bad[part].2, bad[part].3) = (vec![size], bytes.into());
            read(&file(&bad), Width::Double).unwrap_err()
        };
        let shape = |axes: &[u64]| axes.iter().flat_map(|axis| axis.to_le_bytes()).collect::<Vec<u8>>();
        for axes in [&[1 << 19][..], &[u64::MAX, u64::MAX], &[]] {
            assert!(refused(0, shape(axes)).contains("bits for the shape"), "{axes:?}");
        }
        let beyond = (0..1 << 15).map(|k| u8::from(k == 0) | u8::from(k + 1 == 1 << 15) << 7).collect();
        assert!(refused(1, beyond).contains("8 bytes for 2 numbers"));
        assert!(refused(1, vec![1; 9]).contains("bits for the shape"));
        assert!(refused(2, deflated(&[0; 16]).unwrap()).contains("16 bytes for 1 numbers"));
        assert!(refused(2, vec![7; 20]).contains("its tensor w is not sound"));
        let mut bomb = ZlibEncoder::new(Vec::new(), Compression::best());
        bomb.write_all(&vec![0; 1 << 20]).unwrap();
        let bomb = bomb.finish().unwrap();
        assert!(refused(2, bomb.clone()).contains("more than 64 times"));
        assert!(read_names("n", &bomb).unwrap_err().contains("more than 64 times"));
        let empty = deflated(&[0; 50]).unwrap();
        assert!(read_names("n", &empty).unwrap_err().contains("more than 2 names for each"));
        assert!(deflated(&vec![0; 1 << 20]).is_none());
        let last = [shape(&[(1 << 18) - 1]), vec![]].concat();
        let mut bits = vec![0; 1 << 15];
        bits[(1 << 15) - 1] = 0x80;
        let mut bad = good.clone();
        (bad[0].3, bad[1].3) = (last.into(), bits.into());
        let error = read(&file(&bad), Width::Double).unwrap_err();
        assert!(error.contains("bits beyond its shape"), "{error}");
    }

    /// Names of any length come back; a list that ends within one is refused.
    #[test]
    fn names_come_back() {
        let mut strings = Strings::new();
        let short = (0..100_000).map(|k| format!("w[0]\té{k}"));
        for one in short.chain([String::new(), "x".repeat(127), "y".repeat(128), "z".repeat(70_000)]) {
            strings.intern(&one);
        }
        let packed = names("n", &strings).unwrap();
        assert!(3 * packed.3.len() < strings.bytes().len());
        let (bytes, ends) = read_names("n", &packed.3).unwrap();
        assert_eq!(Strings::from_parts(bytes, &ends).unwrap(), strings);
        for cut in [&[5, b'a'][..], &[0x80], &[0xff; 9]] {
            assert!(read_names("n", &deflated(cut).unwrap()).unwrap_err().contains("cut short"), "{cut:?}");
        }
    }
}
