//! The histograms of windows as rows of a kernel (the restriction kernel, functional-descent thesis 5.2.1). They are
//! made when they are asked for, as an image has hundreds.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use multiplane_infer::boxes::{BoxProducts, Rect, cells};

use crate::data::boxes::BoxImage;
use crate::data::{Row, SparseRows};
use crate::kernel::MadeRows;

/// An image with the windows that may be answers.
#[derive(Clone, Debug)]
pub(super) struct WindowedImage {
    /// The image.
    pub(super) image: Arc<BoxImage>,
    /// Its boxes, then its windows.
    pub(super) rects: Vec<Rect>,
    /// The row of the first of these.
    pub(super) first: usize,
}

impl WindowedImage {
    /// Returns the windows with their rows.
    pub(super) fn windows(&self) -> impl Iterator<Item = (usize, Rect)> + '_ {
        let boxes = self.image.boxes.len();
        self.rects[boxes..].iter().enumerate().map(move |(k, &rect)| (self.first + boxes + k, rect))
    }

    /// Returns the row of a box or window.
    pub(super) fn row_of(&self, rect: Rect) -> Option<usize> {
        let windows = &self.rects[self.image.boxes.len()..];
        let own = || self.rects.iter().position(|&own| own == rect);
        let place = windows.binary_search(&rect).map(|place| self.image.boxes.len() + place).ok().or_else(own);
        place.map(|place| self.first + place)
    }
}

/// The windows of all images as rows of counts.
pub(super) struct WindowRows {
    images: Vec<Arc<WindowedImage>>,
    levels: usize,
    words: usize,
    /// If counts are divided by their Euclidean length, else by their sum.
    by_length: bool,
    rows: usize,
    /// The scale of each row.
    scales: Vec<f64>,
    products: Mutex<BoxProducts>,
}

impl WindowRows {
    /// Takes images whose rows follow one another; `words` is the number in all vocabularies.
    pub(super) fn new(images: Vec<Arc<WindowedImage>>, levels: usize, words: usize, by_length: bool) -> Self {
        let rows = images.last().map_or(0, |last| last.first + last.rects.len());
        let (scales, products) = (Vec::new(), Mutex::default());
        let mut made = WindowRows { images, levels, words, by_length, rows, scales, products };
        made.scales = (0..rows).map(|row| made.scale(made.make(row).row(0))).collect();
        made
    }

    /// Returns the rows of each image.
    pub(super) fn examples(&self) -> Vec<Range<usize>> {
        self.images.iter().map(|image| image.first..image.first + image.rects.len()).collect()
    }

    /// Returns the scaled rows of all boxes.
    pub(super) fn of_boxes(&self) -> SparseRows {
        let mut scaled = SparseRows::new(self.columns());
        for image in &self.images {
            for row in image.first..image.first + image.image.boxes.len() {
                let made = self.make(row);
                let (indices, values): (Vec<u32>, Vec<f64>) =
                    made.row(0).iter().map(|(k, count)| (k, count * self.scales[row])).unzip();
                scaled.push(&indices, &values);
            }
        }
        scaled
    }

    fn image_of(&self, row: usize) -> &WindowedImage {
        &self.images[self.images.partition_point(|image| image.first <= row) - 1]
    }
}

impl MadeRows for WindowRows {
    fn len(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        cells(self.levels) * self.words
    }

    fn make(&self, row: usize) -> SparseRows {
        let image = self.image_of(row);
        let mut counts = vec![0.0; self.columns()];
        let rect = image.rects[row - image.first];
        for (cell, own) in rect.pyramid(self.levels).zip(counts.chunks_exact_mut(self.words)) {
            image.image.map.words_in(cell).for_each(|word| own[word as usize] += 1.0);
        }
        let (indices, values): (Vec<u32>, Vec<f64>) = (0..).zip(counts).filter(|(_, count)| *count > 0.0).unzip();
        let mut made = SparseRows::new(self.columns());
        made.push(&indices, &values);
        made
    }

    fn scale(&self, row: Row<'_>) -> f64 {
        let norm = match self.by_length {
            true => row.iter().map(|(_, count)| count * count).sum::<f64>().sqrt(),
            false => row.iter().map(|(_, count)| count).sum(),
        };
        if norm > 0.0 { norm.recip() } else { 0.0 }
    }

    fn products(&self, row: Row<'_>, with: Range<usize>, out: &mut [f64]) {
        let (mut histogram, scale) = (vec![0.0; self.columns()], self.scale(row));
        row.iter().for_each(|(column, count)| histogram[column as usize] = count);
        let mut products = self.products.lock().unwrap_or_else(PoisonError::into_inner); // written before it is read
        let mut first = with.start;
        while first < with.end {
            let image = self.image_of(first);
            let last = with.end.min(image.first + image.rects.len());
            let rects = &image.rects[first - image.first..last - image.first];
            let out = &mut out[first - with.start..last - with.start];
            products.of(&image.image.map, &histogram, self.levels, rects, out);
            out.iter_mut().zip(&self.scales[first..last]).for_each(|(out, own)| *out *= scale * own);
            first = last;
        }
    }

    fn of_input(&self, row: usize) -> Range<usize> {
        let image = self.image_of(row);
        image.first..image.first + image.rects.len()
    }
}
