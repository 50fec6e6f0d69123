//! What a grid over lambda is to be.

use multiplane_core::rescale::WarmStart;
use multiplane_core::run::GapTarget;
use serde::{Deserialize, Serialize};

/// Which lambdas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GridPoints {
    /// These, in this order.
    List(Vec<f64>),
    /// So many, evenly in log(lambda), from `from` (where not given: from where a path would begin) down to `to`.
    Even {
        /// How many, at least 2.
        count: usize,
        /// The largest.
        from: Option<f64>,
        /// The smallest.
        to: f64,
    },
}

impl GridPoints {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        match self {
            GridPoints::List(list) => list.len(),
            GridPoints::Even { count, .. } => *count,
        }
    }
}

/// What a grid is to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridSpec {
    /// Which lambdas.
    pub points: GridPoints,
    /// The gap to which each is trained.
    pub gap: GapTarget,
    /// What of a point's state the next one starts from; `None` starts each from nothing.
    pub warm_start: Option<WarmStart>,
    /// The gap, absolute, to which w(phi) at the oracle's first answers is good where an even grid begins, as that of
    /// a path's first breakpoint.
    pub start_gap: f64,
}

impl GridSpec {
    /// The rule that these parameters break, if any.
    pub fn fault(&self) -> Option<String> {
        let unsound = |lambda: &f64| !(lambda.is_finite() && *lambda > 0.0);
        let sorted = match &self.points {
            GridPoints::List(list) if list.is_empty() => return Some("the grid has no points".into()),
            GridPoints::List(list) => list,
            GridPoints::Even { count, .. } if *count < 2 => {
                return Some(format!("a grid of {count} points: expected at least 2, or their lambdas"));
            }
            GridPoints::Even { from, to, .. } => &from.iter().chain([to]).copied().collect(),
        };
        if let Some(lambda) = sorted.iter().find(|lambda| unsound(lambda)) {
            return Some(format!("grid: lambda = {lambda}: must be a finite number > 0"));
        }
        let mut falling = sorted.clone();
        falling.sort_by(|a, b| b.total_cmp(a));
        if falling.windows(2).any(|pair| pair[0] == pair[1]) {
            return Some("grid: two points are the same".into());
        }
        let rises = falling != *sorted;
        if rises && matches!(self.points, GridPoints::Even { .. }) {
            return Some(format!("an even grid from {} down to {}: it would rise", sorted[0], sorted[1]));
        }
        (rises && self.warm_start == Some(WarmStart::KeepPrimal)).then(|| {
            "keep-primal: it needs a grid whose lambdas fall (masses would become negative); order them, or use \
             keep-dual"
                .into()
        })
    }
}
