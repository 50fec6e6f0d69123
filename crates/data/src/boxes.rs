//! Images as maps of visual words, with boxes. The content of a container of the format `box`, a safetensors file, and
//! of arrays that programs hand over.

use std::path::Path;
use std::sync::Arc;

use multiplane_infer::boxes::{Rect, WordMap, WordPoint};
use multiplane_infer::file::DataError;
use sha2::{Digest, Sha256};

use super::container::{Container, FEATURES_ID};
use super::format::FormatEntry;
use super::pairwise::{TensorList, check_offsets, offsets};
use super::rules::ReadRules;
use crate::dataset::{Data, Dataset};

/// The format as users name it.
pub const FORMAT: FormatEntry = FormatEntry {
    tensor: Some("map_sizes"),
    ..FormatEntry::new("box", "maps of visual words with boxes in a safetensors file", read)
};

/// Stands for the word of a pixel that has none.
pub const NO_WORD: i64 = -1;

/// Images as arrays, one after the other.
#[derive(Clone, Debug, Default)]
pub struct BoxArrays {
    /// Height and width of each image.
    pub map_sizes: Vec<[i64; 2]>,
    /// The word of each pixel, from 0, or [`NO_WORD`]: image by image, vocabulary by vocabulary, row by row.
    pub words: Vec<i64>,
    /// The number of words in each vocabulary.
    pub word_counts: Vec<usize>,
    /// The first box of each image, and the number of boxes.
    pub box_offsets: Vec<usize>,
    /// Left, top, right, bottom in pixels; right and bottom are exclusive.
    pub boxes: Vec<[i64; 4]>,
}

impl BoxArrays {
    /// Returns the bytes of a container of these arrays, in the format `box`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut tensors = TensorList::default();
        tensors.table("map_sizes", &self.map_sizes);
        tensors.integers("words", self.words.clone());
        tensors.offsets("word_counts", &self.word_counts);
        tensors.offsets("box_offsets", &self.box_offsets);
        tensors.table("boxes", &self.boxes);
        tensors.pack()
    }
}

/// An image with its boxes.
#[derive(Clone, Debug)]
pub struct BoxImage {
    /// The words, numbered through all vocabularies.
    pub map: WordMap,
    /// The boxes, ascending, each once; none if none is known.
    pub boxes: Vec<Rect>,
    digest: [u8; 32],
}

/// Images with boxes.
#[derive(Clone, Debug)]
pub struct Boxes {
    images: Vec<Arc<BoxImage>>,
    word_counts: Vec<usize>,
    features_id: Option<Arc<str>>,
}

impl Boxes {
    /// Takes arrays, checked.
    ///
    /// # Errors
    ///
    /// The first fault: which array, image and index, the value and the rule.
    pub fn new(arrays: &BoxArrays) -> Result<Boxes, String> {
        let BoxArrays { map_sizes, words, word_counts, box_offsets, boxes } = arrays;
        check_offsets("box_offsets", box_offsets, boxes.len(), "rows of boxes")?;
        if box_offsets.len() != map_sizes.len() + 1 {
            let (found, expected) = (box_offsets.len(), map_sizes.len() + 1);
            return Err(format!("box_offsets: found {found} numbers, expected one more than images: {expected}"));
        }
        if word_counts.is_empty() || word_counts.contains(&0) {
            return Err(format!("word_counts: found {word_counts:?}, expected a number of words for each vocabulary"));
        }
        let all = word_counts.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count));
        if all.is_none_or(|all| all > u32::MAX as usize) {
            return Err(format!("word_counts: found {word_counts:?}, expected at most {} words in all", u32::MAX));
        }
        let (mut images, mut start) = (Vec::with_capacity(map_sizes.len()), 0_usize);
        for (k, &[height, width]) in map_sizes.iter().enumerate() {
            let length = |length: i64| u32::try_from(length).ok().filter(|length| (1..=WordMap::MOST).contains(length));
            let (Some(height), Some(width)) = (length(height), length(width)) else {
                let most = WordMap::MOST;
                return Err(format!("map_sizes: found {height} x {width} at image {k}, expected 1 to {most} pixels"));
            };
            let pixels = height as usize * width as usize;
            let end = start.saturating_add(pixels.saturating_mul(word_counts.len()));
            let Some(own) = words.get(start..end) else {
                return Err(format!("words: found {} numbers, image {k} ends at {end}", words.len()));
            };
            start = end;
            let own_boxes = &boxes[box_offsets[k]..box_offsets[k + 1]];
            images.push(Arc::new(image(own, (height, width), word_counts, own_boxes).map_err(|fault| fault.at(k))?));
        }
        if start != words.len() {
            return Err(format!("words: found {} numbers, expected one for each pixel: {start}", words.len()));
        }
        Ok(Boxes { images, word_counts: word_counts.clone(), features_id: None })
    }

    /// Returns how the words were made, if their container says so: data of other words do not fit the same model.
    pub fn features_id(&self) -> Option<&str> {
        self.features_id.as_deref()
    }

    /// Returns the bytes of a container of this data, in the format `box`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut arrays = BoxArrays { word_counts: self.word_counts.clone(), ..BoxArrays::default() };
        arrays.box_offsets.push(0);
        for BoxImage { map, boxes, .. } in self.images.iter().map(|image| &**image) {
            let (width, height) = (map.width(), map.height());
            arrays.map_sizes.push([height.into(), width.into()]);
            let mut first = 0;
            for count in &self.word_counts {
                let own = first..first + *count as u32;
                for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                    let word = map.words_in(Rect::new(x, y, x + 1, y + 1)).find(|word| own.contains(word));
                    arrays.words.push(word.map_or(NO_WORD, |word| i64::from(word - own.start)));
                }
                first = own.end;
            }
            arrays.boxes.extend(boxes.iter().map(|rect| [rect.left, rect.top, rect.right, rect.bottom].map(i64::from)));
            arrays.box_offsets.push(arrays.boxes.len());
        }
        arrays.to_bytes()
    }

    /// Returns the images.
    pub fn images(&self) -> &[Arc<BoxImage>] {
        &self.images
    }

    /// Returns the number of words in each vocabulary.
    pub fn word_counts(&self) -> &[usize] {
        &self.word_counts
    }
}

/// A fault in one image: the array, the value with its place, and the rule.
struct ImageFault(&'static str, String, String);

impl ImageFault {
    fn at(self, image: usize) -> String {
        format!("{}: found {} of image {image}, expected {}", self.0, self.1, self.2)
    }
}

/// Makes an image of its words and boxes.
fn image(
    words: &[i64],
    (height, width): (u32, u32),
    counts: &[usize],
    boxes: &[[i64; 4]],
) -> Result<BoxImage, ImageFault> {
    let pixels = height as usize * width as usize;
    let (mut points, mut first) = (Vec::new(), 0);
    for (vocabulary, (&count, words)) in counts.iter().zip(words.chunks_exact(pixels)).enumerate() {
        for (pixel, &word) in words.iter().enumerate().filter(|(_, word)| **word != NO_WORD) {
            let (x, y) = (pixel as u32 % width, pixel as u32 / width);
            let Some(word) = usize::try_from(word).ok().filter(|word| *word < count) else {
                let found = format!("{word} in vocabulary {vocabulary}, row {y}, column {x}");
                return Err(ImageFault("words", found, format!("-1 for none, or 0 to {}", count - 1)));
            };
            points.push(WordPoint { x, y, word: (first + word) as u32 });
        }
        first += count;
    }
    let rect = |(k, sides): (usize, &[i64; 4])| {
        let &[left, top, right, bottom] = sides;
        let is_inside = 0 <= left && left < right && right <= width.into();
        if !(is_inside && 0 <= top && top < bottom && bottom <= height.into()) {
            let rule = format!("0 <= left < right <= {width} and 0 <= top < bottom <= {height}");
            return Err(ImageFault("boxes", format!("({left}, {top}, {right}, {bottom}) as box {k}"), rule));
        }
        let [left, top, right, bottom] = sides.map(|side| side as u32); // at most the size of the image
        Ok(Rect::new(left, top, right, bottom))
    };
    let mut boxes = boxes.iter().enumerate().map(rect).collect::<Result<Vec<Rect>, _>>()?;
    boxes.sort_unstable();
    boxes.dedup();
    let mut sha = Sha256::new();
    [height, width].iter().for_each(|length| sha.update(length.to_le_bytes()));
    points.iter().for_each(|point| [point.x, point.y, point.word].iter().for_each(|n| sha.update(n.to_le_bytes())));
    Ok(BoxImage { map: WordMap::new(width, height, points), boxes, digest: sha.finalize().into() })
}

impl Data for Boxes {
    fn len(&self) -> usize {
        self.images.len()
    }
    fn subset(&self, examples: &[usize]) -> Dataset {
        let images = examples.iter().map(|&example| self.images[example].clone()).collect();
        Dataset::new(Boxes { images, ..self.clone() })
    }
    fn describe(&self) -> &'static str {
        "maps of words with boxes (box)"
    }
    fn hash_into(&self, sha: &mut Sha256) {
        sha.update(b"boxes");
        sha.update((self.word_counts.len() as u64).to_le_bytes());
        self.word_counts.iter().for_each(|&count| sha.update((count as u64).to_le_bytes()));
        for image in &self.images {
            sha.update(image.digest);
            sha.update((image.boxes.len() as u64).to_le_bytes());
            let sides = image.boxes.iter().flat_map(|rect| [rect.left, rect.top, rect.right, rect.bottom]);
            sides.for_each(|side| sha.update(side.to_le_bytes()));
        }
    }
}

/// Reads a container: `map_sizes [n, 2]` (height, width), `words` and `word_counts [vocabularies]` (see [`BoxArrays`]),
/// `box_offsets [n+1]` and `boxes [B, 4]`, both optional: no box is known. Of the metadata, `multiplane.features` says
/// how the words were made.
///
/// # Errors
///
/// A tensor is missing, of another type or shape, or holds what images must not hold.
fn read(path: &Path, _: &ReadRules) -> Result<Dataset, DataError> {
    let container = Container::open(path)?;
    let rows = |name: &str, columns: usize| {
        let tensor = container.get(name)?;
        let rows = tensor.rows(2)?;
        match tensor.shape()[1] == columns {
            true => Ok((rows, tensor.integers()?)),
            false => Err(tensor.fault(format_args!("found {} columns, expected {columns}", tensor.shape()[1]))),
        }
    };
    let (images, sizes) = rows("map_sizes", 2)?;
    let words = container.get("words")?;
    words.rows(1)?;
    let (box_offsets, boxes) = match container.find("boxes") {
        Some(_) => (offsets(&container.get("box_offsets")?)?, rows("boxes", 4)?.1),
        None => (vec![0; images + 1], Vec::new()),
    };
    let arrays = BoxArrays {
        map_sizes: sizes.as_chunks().0.to_vec(),
        words: words.integers()?,
        word_counts: offsets(&container.get("word_counts")?)?,
        box_offsets,
        boxes: boxes.as_chunks().0.to_vec(),
    };
    let boxes = Boxes::new(&arrays).map_err(|fault| container.fault(fault))?;
    Ok(Dataset::new(Boxes { features_id: container.text(FEATURES_ID).map(Arc::from), ..boxes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> BoxArrays {
        BoxArrays {
            map_sizes: vec![[1, 2], [2, 2]],
            words: vec![0, -1, 1, 0, -1, -1, 2, 0, 0, 1, -1, 1],
            word_counts: vec![3, 2],
            box_offsets: vec![0, 1, 3],
            boxes: vec![[0, 0, 1, 1], [1, 0, 2, 2], [0, 0, 1, 1]],
        }
    }

    /// Words of the second vocabulary follow those of the first, and pixels without a word have no point.
    #[test]
    fn words_are_numbered_through() {
        let data = Boxes::new(&two()).unwrap();
        let images = data.images();
        assert_eq!(data.word_counts(), [3, 2]);
        let all: Vec<Vec<u32>> = images.iter().map(|image| image.map.words_in(image.map.whole()).collect()).collect();
        assert_eq!(all, [vec![0, 4, 3], vec![3, 4, 2, 0, 4]]);
        assert_eq!(images[1].boxes, [Rect::new(0, 0, 1, 1), Rect::new(1, 0, 2, 2)]);
        assert_eq!(images[0].map.words_in(Rect::new(1, 0, 2, 1)).collect::<Vec<_>>(), [3]);
    }

    /// Arrays at fault are refused with array, image, value and rule.
    #[test]
    fn faults_are_named() {
        let fault = |change: &dyn Fn(&mut BoxArrays)| {
            let mut arrays = two();
            change(&mut arrays);
            Boxes::new(&arrays).unwrap_err()
        };
        type Change<'a> = &'a dyn Fn(&mut BoxArrays);
        let cases: [(Change<'_>, &str); 8] = [
            (
                &|a| a.words[4] = 3,
                "words: found 3 in vocabulary 0, row 0, column 0 of image 1, expected -1 for none, or 0 to 2",
            ),
            (&|a| a.words[10] = -2, "words: found -2 in vocabulary 1, row 1, column 0 of image 1"),
            (
                &|a| a.boxes[1] = [1, 0, 1, 2],
                "boxes: found (1, 0, 1, 2) as box 0 of image 1, expected 0 <= left < right",
            ),
            (&|a| a.boxes[0] = [0, 0, 3, 1], "boxes: found (0, 0, 3, 1) as box 0 of image 0"),
            (&|a| a.map_sizes[0] = [0, 2], "map_sizes: found 0 x 2 at image 0, expected 1 to 65535 pixels"),
            (&|a| a.words.truncate(11), "words: found 11 numbers, image 1 ends at 12"),
            (&|a| a.words.push(0), "words: found 13 numbers, expected one for each pixel: 12"),
            (&|a| a.box_offsets = vec![0, 3], "box_offsets: found 2 numbers, expected one more than images: 3"),
        ];
        for (change, expected) in cases {
            let found = fault(change);
            assert!(found.contains(expected), "{found}, expected {expected}");
        }
    }
}
