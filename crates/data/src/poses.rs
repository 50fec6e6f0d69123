//! Images as grids of cells with feature channels, with the joints of a body. The content of a container of the format
//! `pose`, a safetensors file, and of arrays that programs hand over.

use std::path::Path;
use std::sync::Arc;

use multiplane_infer::file::DataError;
use sha2::{Digest, Sha256};

use super::container::{Container, FEATURES_ID, Matrix, Reals};
use super::format::FormatEntry;
use super::pairwise::{TensorList, matrix};
use super::rules::ReadRules;
use crate::dataset::{Data, Dataset};

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    tensor: Some("grid_sizes"),
    ..FormatEntry::new("pose", "grids of feature channels with joints in a safetensors file", read)
};

/// Most rows or columns of a grid.
const MOST: i64 = 4096;

/// Images as arrays, one after the other.
#[derive(Clone, Debug)]
pub struct PoseArrays {
    /// Rows and columns of each image.
    pub grid_sizes: Vec<[i64; 2]>,
    /// `[cell][channel]`: image by image, row by row.
    pub channels: Matrix,
    /// The number of joints of an image; 0 if none is known.
    pub parts: usize,
    /// x and y of each joint, image by image, in cells: it is in the cell of column floor(x) and row floor(y). NaN
    /// twice if it is not marked.
    pub joints: Vec<[f64; 2]>,
}

impl PoseArrays {
    /// Returns the bytes of a container of these arrays, in the format `pose`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut tensors = TensorList::default();
        tensors.table("grid_sizes", &self.grid_sizes);
        if self.parts > 0 {
            let joints = Reals::from(self.joints.as_flattened().to_vec());
            tensors.reals("joints", vec![self.grid_sizes.len(), self.parts, 2], joints);
        }
        tensors.matrix("channels", &self.channels);
        tensors.pack()
    }
}

/// An image with its joints.
#[derive(Clone, Debug)]
pub struct PoseImage {
    /// The number of rows of cells.
    pub rows: u32,
    /// The number of columns of cells.
    pub columns: u32,
    /// `[row][column][channel]`.
    pub channels: Vec<f32>,
    /// Column and row of each joint; `None` if it is not marked. Empty if no joint is known.
    pub joints: Vec<Option<[u32; 2]>>,
    digest: [u8; 32],
}

/// Images with joints.
#[derive(Clone, Debug)]
pub struct Poses {
    images: Vec<Arc<PoseImage>>,
    channels: usize,
    parts: usize,
    features_id: Option<Arc<str>>,
}

impl Poses {
    /// Takes arrays, checked.
    ///
    /// # Errors
    ///
    /// The first fault: which array, image and index, the value and the rule.
    pub fn new(arrays: &PoseArrays) -> Result<Poses, String> {
        let PoseArrays { grid_sizes, channels, parts, joints } = arrays;
        let (n, depth) = (grid_sizes.len(), channels.columns());
        if n == 0 || depth == 0 {
            return Err(format!("found {n} images of {depth} channels, expected at least one of each"));
        }
        if Some(joints.len()) != parts.checked_mul(n) {
            let found = joints.len();
            return Err(format!("joints: found {found} of {n} images, expected {parts} of each"));
        }
        let (mut images, mut start) = (Vec::with_capacity(n), 0);
        for (k, &[rows, columns]) in grid_sizes.iter().enumerate() {
            if ![rows, columns].iter().all(|length| (1..=MOST).contains(length)) {
                return Err(format!("grid_sizes: found {rows} x {columns} at image {k}, expected 1 to {MOST} cells"));
            }
            let (rows, columns) = (rows as usize, columns as usize);
            let end = start + rows * columns;
            if end > channels.rows() {
                return Err(format!("channels: found {} cells, image {k} ends at {end}", channels.rows()));
            }
            let own: Vec<f32> = channels.block(start..end).iter().map(|value| value as f32).collect();
            if let Some(at) = own.iter().position(|value| !value.is_finite()) {
                let (cell, value) = (at / depth, own[at]);
                let place = format!("row {}, column {}, channel {}", cell / columns, cell % columns, at % depth);
                return Err(format!("channels: found {value} in {place} of image {k}, expected finite numbers"));
            }
            start = end;
            let joint = |(part, joint): (usize, &[f64; 2])| {
                joint_cell(*joint, [columns, rows])
                    .map_err(|fault| format!("joints: {fault} as joint {part} of image {k}"))
            };
            let own_joints = joints[k * parts..(k + 1) * parts].iter().enumerate();
            let own_joints = own_joints.map(joint).collect::<Result<_, String>>()?;
            images.push(Arc::new(PoseImage::new([rows, columns], own, own_joints)));
        }
        if start != channels.rows() {
            return Err(format!("channels: found {} cells, expected those of all images: {start}", channels.rows()));
        }
        Ok(Poses { images, channels: depth, parts: *parts, features_id: None })
    }

    /// Returns the bytes of a container of this data, in the format `pose`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers: Vec<f32> = self.images.iter().flat_map(|image| image.channels.iter().copied()).collect();
        let cells = numbers.len() / self.channels;
        let joint = |joint: &Option<[u32; 2]>| joint.map_or([f64::NAN; 2], |place| place.map(f64::from));
        let arrays = PoseArrays {
            grid_sizes: self.images.iter().map(|image| [image.rows.into(), image.columns.into()]).collect(),
            channels: Matrix::new(numbers, cells, self.channels),
            parts: self.parts,
            joints: self.images.iter().flat_map(|image| image.joints.iter().map(joint)).collect(),
        };
        arrays.to_bytes()
    }

    /// Returns the images.
    pub fn images(&self) -> &[Arc<PoseImage>] {
        &self.images
    }

    /// Returns the number of channels of a cell.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns how the channels were made, if their container says so: those made otherwise do not fit the same model.
    pub fn features_id(&self) -> Option<&str> {
        self.features_id.as_deref()
    }

    /// Returns the number of joints of an image; 0 if none is known.
    pub fn parts(&self) -> usize {
        self.parts
    }
}

impl PoseImage {
    fn new([rows, columns]: [usize; 2], channels: Vec<f32>, joints: Vec<Option<[u32; 2]>>) -> Self {
        let (rows, columns) = (rows as u32, columns as u32);
        let mut sha = Sha256::new();
        [rows, columns].iter().for_each(|length| sha.update(length.to_le_bytes()));
        channels.iter().for_each(|value| sha.update(value.to_le_bytes()));
        PoseImage { rows, columns, channels, joints, digest: sha.finalize().into() }
    }
}

/// Returns column and row of a joint, `None` if it is not marked.
fn joint_cell([x, y]: [f64; 2], [columns, rows]: [usize; 2]) -> Result<Option<[u32; 2]>, String> {
    let is_inside = |place: f64, length: usize| (0.0..length as f64).contains(&place);
    match (x.is_nan() && y.is_nan(), is_inside(x, columns) && is_inside(y, rows)) {
        (true, _) => Ok(None),
        (_, true) => Ok(Some([x as u32, y as u32])),
        _ => Err(format!("found ({x}, {y}), expected 0 <= x < {columns} and 0 <= y < {rows}, or NaN twice,")),
    }
}

impl Data for Poses {
    fn len(&self) -> usize {
        self.images.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        let images = examples.iter().map(|&example| self.images[example].clone()).collect();
        Dataset::new(Poses { images, ..self.clone() })
    }
    fn describe(&self) -> &'static str {
        "grids of channels with joints (pose)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        sha.update(b"poses");
        [self.channels, self.parts].iter().for_each(|&count| sha.update((count as u64).to_le_bytes()));
        for image in &self.images {
            sha.update(image.digest);
            let places = image.joints.iter().flat_map(|joint| joint.unwrap_or([u32::MAX; 2]));
            places.for_each(|place| sha.update(place.to_le_bytes()));
        }
    }
}

/// Reads a container: `grid_sizes [n, 2]` (rows, columns), `channels [cells, channels]`, and `joints [n, parts, 2]`,
/// which is optional; see [`PoseArrays`].
///
/// # Errors
///
/// A tensor is missing, of another type or shape, or holds what images must not hold.
fn read(path: &Path, _: &ReadRules) -> Result<Dataset, DataError> {
    let container = Container::open(path)?;
    let pairs = |name: &str, dimensions: usize| {
        let tensor = container.get(name)?;
        tensor.rows(dimensions)?;
        match tensor.shape().last() {
            Some(2) => Ok(()),
            _ => Err(tensor.fault(format_args!("found the shape {:?}, expected pairs", tensor.shape()))),
        }
    };
    pairs("grid_sizes", 2)?;
    let grid_sizes = container.get("grid_sizes")?.integers()?.as_chunks().0.to_vec();
    let (parts, joints) = match container.find("joints") {
        Some(tensor) => {
            pairs("joints", 3)?;
            (tensor.shape()[1], tensor.reals()?.to_vec().as_chunks().0.to_vec())
        }
        None => (0, Vec::new()),
    };
    let channels = matrix(&container.get("channels")?)?;
    let arrays = PoseArrays { grid_sizes, channels, parts, joints };
    let poses = Poses::new(&arrays).map_err(|fault| container.fault(fault))?;
    Ok(Dataset::new(Poses { features_id: container.text(FEATURES_ID).map(Arc::from), ..poses }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> PoseArrays {
        PoseArrays {
            grid_sizes: vec![[1, 2], [2, 1]],
            channels: Matrix::new((0..12).map(|k| k as f32).collect::<Vec<f32>>(), 4, 3),
            parts: 2,
            joints: vec![[1.9, 0.0], [f64::NAN, f64::NAN], [0.0, 1.0], [0.5, 0.5]],
        }
    }

    /// Joints are in cells, unmarked ones in none, and the bytes of a container hold the same data.
    #[test]
    fn joints_are_in_cells() {
        let data = Poses::new(&two()).unwrap();
        let images = data.images();
        assert_eq!((data.channels(), data.parts(), images[1].channels[0]), (3, 2, 6.0));
        assert_eq!(images[0].joints, [Some([1, 0]), None]);
        assert_eq!(images[1].joints, [Some([0, 1]), Some([0, 0])]);
        let path = std::env::temp_dir().join(format!("multiplane-poses-{}.safetensors", std::process::id()));
        std::fs::write(&path, two().to_bytes()).unwrap();
        let again = read(&path, &ReadRules::default());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(again.unwrap().fingerprint(), Dataset::new(data).fingerprint());
    }

    /// Arrays at fault are refused with array, image, value and rule.
    #[test]
    fn faults_are_named() {
        let fault = |change: &dyn Fn(&mut PoseArrays)| {
            let mut arrays = two();
            change(&mut arrays);
            Poses::new(&arrays).unwrap_err()
        };
        let cells = |count: usize, value: f32| Matrix::new(vec![value; 3 * count], count, 3);
        type Change<'a> = &'a dyn Fn(&mut PoseArrays);
        let cases: [(Change<'_>, &str); 9] = [
            (
                &|a| a.joints[2] = [1.0, 0.0],
                "joints: found (1, 0), expected 0 <= x < 1 and 0 <= y < 2, or NaN twice, as joint 0 of image 1",
            ),
            (&|a| a.joints[0] = [-0.1, 0.0], "joints: found (-0.1, 0)"),
            (&|a| a.joints[1] = [0.0, f64::NAN], "joints: found (0, NaN)"),
            (&|a| a.parts = 3, "joints: found 4 of 2 images, expected 3 of each"),
            (&|a| a.channels = cells(4, f32::NAN), "channels: found NaN in row 0, column 0, channel 0 of image 0"),
            (&|a| a.channels = cells(3, 0.0), "channels: found 3 cells, image 1 ends at 4"),
            (&|a| a.channels = cells(5, 0.0), "channels: found 5 cells, expected those of all images: 4"),
            (&|a| a.grid_sizes[0] = [0, 2], "grid_sizes: found 0 x 2 at image 0, expected 1 to 4096 cells"),
            (&|a| a.grid_sizes.clear(), "found 0 images of 3 channels"),
        ];
        for (change, expected) in cases {
            let found = fault(change);
            assert!(found.contains(expected), "{found}, expected {expected}");
        }
    }
}
