//! Charts of methods over seeds: a line at the median, and a band from the lowest to the highest.

use super::records::{Curve, median, value_at};
use crate::chart::{Chart, Series};

/// Labels and scales of a chart.
#[derive(Clone, Copy)]
pub(crate) struct Axes {
    /// The name of x, with its unit.
    pub(crate) x: &'static str,
    /// The name of y, with its unit.
    pub(crate) y: &'static str,
    /// True if x is logarithmic.
    pub(crate) x_log: bool,
    /// True if y is logarithmic.
    pub(crate) y_log: bool,
}

impl Axes {
    /// Returns a chart of these series.
    pub(crate) fn chart(self, title: String, series: Vec<Series>) -> Chart {
        let (x_label, y_label) = (self.x.to_owned(), self.y.to_owned());
        Chart { title, x_label, y_label, x_log: self.x_log, y_log: self.y_log, target: None, series }
    }
}

/// Returns the series of a method: of several curves the median, as far as all of them go, with the band around it.
pub(crate) fn banded(name: &str, color: usize, dashed: bool, curves: &[Curve]) -> Series {
    let mut series = Series { name: name.into(), points: Vec::new(), band: Vec::new(), dashed, color };
    if let [only] = curves {
        series.points.clone_from(only);
        return series;
    }
    let last = curves.iter().filter_map(|curve| Some(curve.last()?.0)).fold(f64::INFINITY, f64::min);
    let mut places: Vec<f64> = curves.iter().flatten().map(|point| point.0).filter(|x| *x <= last).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    for x in places {
        let Some(values) = curves.iter().map(|curve| value_at(curve, x)).collect::<Option<Vec<f64>>>() else {
            continue;
        };
        let (low, high) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| (low.min(y), high.max(y)));
        series.points.push((x, median(values)));
        series.band.push((x, low, high));
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line is the median and the band reaches from the lowest to the highest, as far as the shortest curve goes.
    #[test]
    fn bands_are_of_all_seeds() {
        let curves =
            [vec![(1.0, 4.0), (2.0, 2.0)], vec![(1.0, 6.0), (3.0, 1.0)], vec![(1.0, 5.0), (2.0, 3.0), (4.0, 0.5)]];
        let series = banded("a", 0, false, &curves);
        assert_eq!(series.points, [(1.0, 5.0), (2.0, 3.0)]);
        assert_eq!(series.band, [(1.0, 4.0, 6.0), (2.0, 2.0, 6.0)]);
        let alone = banded("a", 0, false, &curves[..1]);
        assert_eq!((alone.points, alone.band.len()), (curves[0].clone(), 0));
        assert!(banded("a", 0, false, &[]).points.is_empty());
    }
}
