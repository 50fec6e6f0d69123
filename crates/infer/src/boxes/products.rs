//! Inner products of a histogram with those of rectangles: sums of its counts over the points in them.

use super::map::WordMap;
use super::rect::{Rect, cells};
use super::sums::{BoxSums, Norm, Scores};

/// Working memory for inner products of histograms.
#[derive(Debug, Default)]
pub struct BoxProducts(BoxSums);

impl BoxProducts {
    /// Writes the inner product of `histogram` (`[cell][word]`, whole numbers) with the histogram of each rectangle of
    /// a map. Products are exact below 2^53, however many are asked for together.
    pub fn of(&mut self, map: &WordMap, histogram: &[f64], levels: usize, rects: &[Rect], out: &mut [f64]) {
        if let [rect] = rects {
            out[0] = product(map, histogram, levels, *rect);
        } else {
            self.0.prepare(Scores { map, of: histogram, levels, norm: Norm::None }, None);
            out.iter_mut().zip(rects).for_each(|(out, &rect)| *out = self.0.sum(levels, rect));
        }
    }
}

fn product(map: &WordMap, histogram: &[f64], levels: usize, rect: Rect) -> f64 {
    let words = histogram.len() / cells(levels);
    let of_cell = |(cell, counts): (Rect, &[f64])| map.words_in(cell).map(|word| counts[word as usize]).sum::<f64>();
    rect.pyramid(levels).zip(histogram.chunks_exact(words)).map(of_cell).sum()
}
