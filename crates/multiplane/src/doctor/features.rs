//! Feature vectors as they come, checked and put in order.

use multiplane_tasks::probe::RawFeatures;

use super::finding::Kind;

/// Entries in the order of their indices, none twice, all finite and within the dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CheckedFeatures(Vec<(u32, f64)>);

impl CheckedFeatures {
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        self.0.iter().map(|&(index, value)| (index as usize, value))
    }

    /// Returns the entry at an index.
    pub(super) fn at(&self, index: usize) -> f64 {
        self.0.binary_search_by_key(&index, |entry| entry.0 as usize).map_or(0.0, |place| self.0[place].1)
    }

    /// Returns `<w, phi>`.
    pub(super) fn score(&self, w: &[f64]) -> f64 {
        self.iter().map(|(index, value)| value * w[index]).sum()
    }

    /// Returns `sum |w_k phi_k|`: how large rounding errors of a score can be, in units of the last place.
    pub(super) fn magnitude(&self, w: &[f64]) -> f64 {
        self.iter().map(|(index, value)| (value * w[index]).abs()).sum()
    }

    /// Returns the score if features stood `by` places further on.
    pub(super) fn shifted_score(&self, w: &[f64], by: isize) -> f64 {
        let entry = |(index, value): (usize, f64)| {
            index.checked_add_signed(by).and_then(|k| w.get(k)).map_or(0.0, |w| w * value)
        };
        self.iter().map(entry).sum()
    }

    /// Returns the number of coordinates in which two vectors differ, and the square of their distance.
    pub(super) fn difference(&self, other: &CheckedFeatures) -> (usize, f64) {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let (mut count, mut square) = (0, 0.0);
        loop {
            let change = match (a.peek(), b.peek()) {
                (None, None) => return (count, square),
                (Some(x), Some(y)) if x.0 == y.0 => a.next().map_or(0.0, |x| x.1) - b.next().map_or(0.0, |y| y.1),
                (Some(x), Some(y)) if x.0 > y.0 => b.next().map_or(0.0, |y| -y.1),
                (None, Some(_)) => b.next().map_or(0.0, |y| -y.1),
                _ => a.next().map_or(0.0, |x| x.1),
            };
            count += usize::from(change != 0.0);
            square += change * change;
        }
    }
}

/// A fault of a feature vector.
pub(super) enum Fault {
    Length(usize),
    Index { index: i64, smallest: i64 },
    NotFinite { index: i64, value: f64 },
}

impl Fault {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Fault::Length(_) => Kind::FeatureLength,
            Fault::Index { .. } => Kind::IndexOutOfRange,
            Fault::NotFinite { .. } => Kind::FeatureNotFinite,
        }
    }

    /// Says what was found with the rule, and the cause probably.
    pub(super) fn text(&self, dim: usize) -> (String, String) {
        match *self {
            Fault::Length(length) => {
                let cause = "the vector is laid out for another dimension than dim says";
                (format!("a dense vector of length {length}, expected dim = {dim}"), cause.into())
            }
            Fault::Index { index, smallest } => {
                let cause = if index == dim as i64 && smallest > 0 {
                    "off by one: indices seem to count from 1, they must count from 0"
                } else if index == dim as i64 {
                    "off by one: the largest index is dim - 1"
                } else if index == -1 {
                    "off by one: 1 is subtracted once too often"
                } else {
                    "features are laid out for another dimension than dim says"
                };
                let last = dim.saturating_sub(1);
                (format!("index {index}, expected 0 to {last} (dim is {dim})"), cause.into())
            }
            Fault::NotFinite { index, value } => {
                let cause = "a division by 0, a logarithm of 0, or a missing value in the data";
                (format!("the value at index {index} is {value}, expected a finite number"), cause.into())
            }
        }
    }
}

/// Checks a vector of length `dim`.
pub(super) fn check(raw: &RawFeatures, dim: usize) -> Result<CheckedFeatures, Fault> {
    let mut entries: Vec<(u32, f64)> = match raw {
        RawFeatures::Dense(values) if values.len() != dim => return Err(Fault::Length(values.len())),
        RawFeatures::Dense(values) => values.iter().enumerate().map(|(index, &value)| (index as u32, value)).collect(),
        RawFeatures::Pairs(pairs) => {
            let outside = |&&(index, _): &&(i64, f64)| index < 0 || index as u64 >= dim as u64;
            if let Some(&(index, _)) = pairs.iter().find(outside) {
                let smallest = pairs.iter().map(|pair| pair.0).min().unwrap_or(0);
                return Err(Fault::Index { index, smallest });
            }
            pairs.iter().map(|&(index, value)| (index as u32, value)).collect()
        }
    };
    if let Some(&(index, value)) = entries.iter().find(|entry| !entry.1.is_finite()) {
        return Err(Fault::NotFinite { index: i64::from(index), value });
    }
    entries.sort_by_key(|entry| entry.0); // stable: repeated indices add up in the order given
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    entries.retain(|entry| entry.1 != 0.0);
    Ok(CheckedFeatures(entries))
}
