//! Poses as labellings.

use std::sync::Arc;

use multiplane_core::task::{TaskLabel, UNLABELLED};

/// The number of bits of a column; those above them are the type.
const COLUMN_BITS: u32 = 16;

/// A cell and a type for each joint. Two poses are equal if their cells and types are.
#[derive(Clone, Debug, Default)]
pub struct Pose {
    /// Column and row of each joint, the type in the upper half of the column; [`UNLABELLED`] twice if it is left out
    /// or not known.
    places: Vec<u32>,
    /// The marks of the image, if this is a truth.
    pub(super) marks: Option<Arc<Marks>>,
}

/// The joints that are marked in an image, by which poses are judged.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    /// Column and row of each joint; `None` if it is not marked.
    pub(super) joints: Vec<Option<[u32; 2]>>,
    /// The length of the torso, in cells.
    pub(super) torso: f64,
}

/// Column and row of each joint, one after the other, the type in the upper half of the column.
impl TaskLabel for Pose {
    fn numbers(&self) -> Option<&[u32]> {
        Some(&self.places)
    }

    fn from_numbers(places: Vec<u32>) -> Option<Self> {
        Some(Pose { places, marks: None })
    }
}

impl PartialEq for Pose {
    fn eq(&self, other: &Self) -> bool {
        self.places == other.places
    }
}

impl Pose {
    /// Takes column and row of each joint, of type 0; `None` if it is left out or not known.
    pub fn new(joints: impl IntoIterator<Item = Option<[u32; 2]>>) -> Self {
        let places = joints.into_iter().flat_map(|joint| joint.unwrap_or([UNLABELLED; 2])).collect();
        Pose { places, marks: None }
    }

    /// Makes a truth of the joints that are marked, with the length of the torso in cells.
    pub(super) fn marked(joints: &[Option<[u32; 2]>], torso: f64) -> Self {
        let marks = Marks { joints: joints.to_vec(), torso };
        Pose { marks: Some(Arc::new(marks)), ..Pose::new(joints.iter().copied()) }
    }

    /// Gives each placed joint its type.
    #[must_use]
    pub fn with_types(mut self, of_joint: impl Fn(usize) -> u8) -> Self {
        for (joint, [column, _]) in self.places.as_chunks_mut().0.iter_mut().enumerate() {
            if *column != UNLABELLED {
                *column = (*column & ((1 << COLUMN_BITS) - 1)) | u32::from(of_joint(joint)) << COLUMN_BITS;
            }
        }
        self
    }

    /// Leaves a joint out; its mark stays.
    pub(super) fn leave_out(&mut self, joint: usize) {
        self.places[2 * joint..][..2].fill(UNLABELLED);
    }

    /// Returns column and row of each joint; `None` if it is left out or not known.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = Option<[u32; 2]>> + '_ {
        let of = |&[column, row]: &[u32; 2]| (column != UNLABELLED).then_some([column & ((1 << COLUMN_BITS) - 1), row]);
        self.places.as_chunks().0.iter().map(of)
    }

    /// Returns the type of a joint; 0 if it is left out.
    pub fn kind(&self, joint: usize) -> u8 {
        let column = self.places[2 * joint];
        if column == UNLABELLED { 0 } else { (column >> COLUMN_BITS) as u8 }
    }

    /// Returns column and row of a joint.
    pub(super) fn joint(&self, joint: usize) -> Option<[u32; 2]> {
        self.joints().nth(joint)?
    }

    /// Returns true if all joints have a cell.
    pub(super) fn is_whole(&self) -> bool {
        !self.places.contains(&UNLABELLED)
    }

    /// Returns the joints that are placed.
    pub(super) fn placed(&self) -> impl Iterator<Item = (usize, [u32; 2])> + '_ {
        self.joints().enumerate().filter_map(|(joint, place)| Some((joint, place?)))
    }

    /// Returns the distances of the marked joints of this truth from those of `y`, in cells.
    pub(super) fn distances(&self, y: &Pose) -> impl Iterator<Item = f64> {
        let marks = self.marks.iter().flat_map(|marks| &marks.joints);
        marks.zip(y.joints()).filter_map(|(mark, place)| Some(distance((*mark)?, place?)))
    }
}

/// Returns the distance of two cells.
pub(super) fn distance(a: [u32; 2], b: [u32; 2]) -> f64 {
    f64::from(a[0].abs_diff(b[0])).hypot(f64::from(a[1].abs_diff(b[1])))
}
