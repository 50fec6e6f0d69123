//! Containers of tensors (safetensors), opened for reading: header checked, numbers used where they were read, not copied.
//!
//! All errors name the file, the tensor, and the rule.

mod numbers;
mod write;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use safetensors::SafeTensors;
use safetensors::tensor::Dtype;

pub use numbers::{Matrix, Real, Reals, RowOf};
pub use write::{TensorToWrite, pack};

use multiplane_infer::file::DataError;

/// Bytes before the header: its length.
const PREFIX: usize = 8;

/// Longest header that is looked at to guess a format.
const MAX_HEADER: u64 = 64 << 20;

/// The key of the metadata under which a container says how its features were made.
pub(super) const FEATURES_ID: &str = "multiplane.features";

/// The first bytes of gzip files. No header is that long.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Says that a container must be unpacked.
fn compressed(path: &Path) -> DataError {
    DataError::file(path, "safetensors files must not be compressed: unpack it first (gunzip)")
}

/// Refuses a file that by its name is a compressed container.
pub(super) fn refuse_compressed(path: &Path) -> Result<(), DataError> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
    if path.is_file() && name.ends_with(".safetensors.gz") { Err(compressed(path)) } else { Ok(()) }
}

/// A container with what its header says.
#[derive(Debug)]
pub struct Container {
    path: PathBuf,
    /// The file, read once: what becomes of it later changes nothing.
    bytes: Arc<Vec<u8>>,
    tensors: BTreeMap<String, TensorPlace>,
    metadata: HashMap<String, String>,
}

/// The place of a tensor.
#[derive(Clone, Debug)]
struct TensorPlace {
    dtype: Dtype,
    shape: Vec<usize>,
    /// In the file.
    start: usize,
    end: usize,
}

/// A tensor of a container.
#[derive(Clone, Debug)]
pub struct Tensor<'a> {
    container: &'a Container,
    name: &'a str,
    place: &'a TensorPlace,
}

/// Returns the names of the tensors of a file that may be a container, without reading more than its header; `None`
/// where it is none.
pub(super) fn tensor_names(path: &Path) -> Option<Vec<String>> {
    use std::io::Read;
    let mut file = std::fs::File::open(path).ok()?;
    let mut prefix = [0; PREFIX];
    file.read_exact(&mut prefix).ok()?;
    let length = u64::from_le_bytes(prefix);
    if !(2..=MAX_HEADER).contains(&length) {
        return None;
    }
    let mut header = Vec::new();
    file.take(length).read_to_end(&mut header).ok()?;
    if header.first() != Some(&b'{') {
        return None;
    }
    let header: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&header).unwrap_or_default();
    Some(header.into_iter().map(|(name, _)| name).filter(|name| name != "__metadata__").collect())
}

impl Container {
    /// Opens a container.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a sound safetensors file: cut short, with a header that is not what it should
    /// be, or with numbers that overlap or leave gaps.
    pub fn open(path: &Path) -> Result<Container, DataError> {
        let fault = |error: std::io::Error| DataError::file(path, error.to_string());
        if !std::fs::metadata(path).map_err(fault)?.is_file() {
            return Err(DataError::file(path, "a container must be a regular file"));
        }
        let bytes = Arc::new(std::fs::read(path).map_err(fault)?);
        if bytes.starts_with(&GZIP) {
            return Err(compressed(path));
        }
        let unsound = |error: &dyn std::fmt::Display| {
            DataError::file(path, format!("it is not a sound safetensors file, or cut short: {error}"))
        };
        let (header, found) = SafeTensors::read_metadata(&bytes).map_err(|error| unsound(&error))?;
        let begin = PREFIX + header;
        let place = |name: String| {
            let info = found.info(&name)?;
            let (start, end) = (begin + info.data_offsets.0, begin + info.data_offsets.1);
            Some((name, TensorPlace { dtype: info.dtype, shape: info.shape.clone(), start, end }))
        };
        let tensors = found.tensors().into_keys().filter_map(place).collect();
        let metadata = found.metadata().clone().unwrap_or_default();
        Ok(Container { path: path.into(), bytes, tensors, metadata })
    }

    /// Returns the file that it was opened from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the text that the header holds under this key.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// Returns the tensor of this name, where there is one.
    pub fn find<'a>(&'a self, name: &'a str) -> Option<Tensor<'a>> {
        Some(Tensor { container: self, name, place: self.tensors.get(name)? })
    }

    /// Returns the tensor of this name.
    ///
    /// # Errors
    ///
    /// There is none; the text says which there are.
    pub fn get<'a>(&'a self, name: &'a str) -> Result<Tensor<'a>, DataError> {
        self.find(name).ok_or_else(|| {
            let names: Vec<&str> = self.tensors.keys().map(String::as_str).collect();
            self.fault(format!("it has no tensor `{name}`, only: {}", names.join(", ")))
        })
    }

    /// Says what is wrong with the file as a whole.
    pub fn fault(&self, message: impl Into<String>) -> DataError {
        DataError::file(&self.path, message)
    }
}

impl Tensor<'_> {
    /// Returns its shape.
    pub fn shape(&self) -> &[usize] {
        &self.place.shape
    }

    /// Says what is wrong with it.
    pub fn fault(&self, message: impl std::fmt::Display) -> DataError {
        self.container.fault(format!("tensor `{}`: {message}", self.name))
    }

    fn raw(&self) -> &[u8] {
        &self.container.bytes[self.place.start..self.place.end]
    }

    /// Returns the number of rows of a tensor of so many dimensions.
    ///
    /// # Errors
    ///
    /// It has another number of dimensions.
    pub fn rows(&self, dimensions: usize) -> Result<usize, DataError> {
        if self.shape().len() == dimensions {
            return Ok(self.shape().first().copied().unwrap_or(1));
        }
        Err(self.fault(format_args!("found the shape {:?}, expected {dimensions} dimensions", self.shape())))
    }

    /// Returns whole numbers, copied.
    ///
    /// # Errors
    ///
    /// Its numbers are not of a signed integer type or of 8 bits.
    pub fn integers(&self) -> Result<Vec<i64>, DataError> {
        let raw = self.raw();
        Ok(match self.place.dtype {
            Dtype::I64 => raw.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect(),
            Dtype::I32 => raw.as_chunks::<4>().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect(),
            Dtype::I16 => raw.as_chunks::<2>().0.iter().map(|bytes| i16::from_le_bytes(*bytes).into()).collect(),
            Dtype::I8 => raw.iter().map(|byte| i64::from(*byte as i8)).collect(),
            Dtype::U8 => raw.iter().map(|byte| i64::from(*byte)).collect(),
            other => return Err(self.fault(format_args!("found numbers of type {other:?}, expected I64"))),
        })
    }

    /// Returns real numbers, not copied where the file has them aligned.
    ///
    /// # Errors
    ///
    /// Its numbers are neither F32 nor F64.
    pub fn reals(&self) -> Result<Reals, DataError> {
        let (bytes, range) = (&self.container.bytes, self.place.start..self.place.end);
        match self.place.dtype {
            Dtype::F32 => Ok(Reals::F32(numbers::Buffer::of_bytes(bytes, range))),
            Dtype::F64 => Ok(Reals::F64(numbers::Buffer::of_bytes(bytes, range))),
            other => Err(self.fault(format_args!("found numbers of type {other:?}, expected F32 or F64"))),
        }
    }

    /// Returns a matrix of real numbers, none of them infinite or NaN.
    ///
    /// # Errors
    ///
    /// It has not two dimensions, its numbers are neither F32 nor F64, or one is not finite: the text says which.
    pub fn matrix(&self) -> Result<Matrix, DataError> {
        let rows = self.rows(2)?;
        let matrix = Matrix::new(self.reals()?, rows, self.shape()[1]);
        match matrix.first_unbounded() {
            None => Ok(matrix),
            Some((row, column, value)) => {
                Err(self.fault(format_args!("found {value} in row {row}, column {column}, expected finite numbers")))
            }
        }
    }
}
