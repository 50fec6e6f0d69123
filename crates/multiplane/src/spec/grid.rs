//! A grid over lambda: as a user asks for it, and with all that it depends on filled in.

use std::fmt;

use multiplane_core::parameter::{ParameterError, require};
use multiplane_core::run::GapTarget;
use multiplane_core::solver::WarmStart;
use schemars::JsonSchema;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::lambda::Lambda;
use super::path::PathSpec;
use super::text;

/// A grid as a user asks for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GridOptions {
    /// Which lambdas: a list, in this order, or how many, evenly in log(lambda) from `grid.lambda_max` down to
    /// `path.lambda_min`. Without them there is no grid, but a path.
    #[schemars(with = "Value")]
    pub points: Option<Points>,
    /// Where an even grid begins: a number, `1/n` or `c:X`; where not given `path.lambda_max`, or else where a path
    /// would begin.
    pub lambda_max: Option<Lambda>,
    /// The gap to which each point is trained; where not given `stop.gap`, or else `path.eps`.
    #[serde(with = "text::gap")]
    #[schemars(with = "Value")]
    pub gap: Option<GapTarget>,
    /// The gap, absolute, that the point has where an even grid begins; where not given `path.kappa` times `path.eps`
    /// (of 1, where that is a share).
    pub start_gap: Option<f64>,
    /// What of a point's state the next one starts from.
    pub warm_start: GridStart,
}

/// The points of a grid as a user gives them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Points {
    /// So many.
    Count(usize),
    /// These lambdas.
    List(Vec<f64>),
}

/// What of a point's state the next one of a grid starts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GridStart {
    /// Its weights, as a path does; the lambdas must fall.
    #[default]
    KeepPrimal,
    /// Its planes with their masses.
    KeepDual,
    /// Nothing: each starts anew.
    None,
}

impl GridOptions {
    /// Fills in what a grid takes from the path's parameters, from the run's gap and from the number of examples.
    /// Returns nothing where no grid is asked for.
    ///
    /// # Errors
    ///
    /// The first parameter that breaks a rule.
    pub(super) fn spec(
        &self,
        path: &PathSpec,
        gap: Option<GapTarget>,
        n: f64,
    ) -> Result<Option<GridSpec>, ParameterError> {
        let points = match &self.points {
            None => return Ok(None),
            Some(Points::List(list)) => GridPoints::List(list.clone()),
            Some(Points::Count(count)) => {
                // That of the path is known to be a number.
                let from = self.lambda_max.or(path.lambda_max);
                let from = from.map(|lambda| lambda.number(n, "lambda_max")).transpose()?;
                GridPoints::Even { count: *count, from, to: path.lambda_min }
            }
        };
        let spec = GridSpec {
            points,
            gap: self.gap.or(gap).unwrap_or(path.eps),
            warm_start: match self.warm_start {
                GridStart::KeepPrimal => Some(WarmStart::KeepPrimal),
                GridStart::KeepDual => Some(WarmStart::KeepDual),
                GridStart::None => None,
            },
            start_gap: self.start_gap.unwrap_or(path.target().at(1.0)),
        };
        spec.validate()?;
        Ok(Some(spec))
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(PointsVisitor)
    }
}

/// A number of a list, also one that is written as text.
#[derive(Deserialize)]
struct Number(#[serde(deserialize_with = "text::number")] f64);

struct PointsVisitor;

impl<'de> Visitor<'de> for PointsVisitor {
    type Value = Points;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lambdas, or how many")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Points, E> {
        usize::try_from(count).map(Points::Count).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, lambda: f64) -> Result<Points, E> {
        Ok(Points::List(vec![lambda]))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Points, E> {
        if let Ok(count) = text.trim().parse() {
            return Ok(Points::Count(count));
        }
        let list: Result<Vec<f64>, _> = text.split(',').map(|item| item.trim().parse()).collect();
        list.map(Points::List).map_err(|_| E::custom("must be a number, or numbers as in 1,0.1"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Points, A::Error> {
        let mut list = Vec::new();
        while let Some(Number(lambda)) = items.next_element()? {
            list.push(lambda);
        }
        Ok(Points::List(list))
    }
}

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
    /// Returns how many there are.
    pub(crate) fn count(&self) -> usize {
        match self {
            GridPoints::List(list) => list.len(),
            GridPoints::Even { count, .. } => *count,
        }
    }
}

/// A grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridSpec {
    /// Which lambdas.
    pub points: GridPoints,
    /// The gap to which each is trained.
    pub gap: GapTarget,
    /// The part of a point's state that the next one starts from; `None` starts each from nothing.
    pub warm_start: Option<WarmStart>,
    /// The gap, absolute, to which w(phi) at the oracle's first answers is good where an even grid begins, as that of
    /// a path's first breakpoint.
    pub start_gap: f64,
}

impl GridSpec {
    /// Checks the points, and that the next can start from each.
    ///
    /// # Errors
    ///
    /// The first parameter that breaks a rule.
    pub fn validate(&self) -> Result<(), ParameterError> {
        let points = match &self.points {
            GridPoints::List(list) => {
                require(!list.is_empty(), "points", "[]", "must be at least one lambda")?;
                list
            }
            GridPoints::Even { count, from, to } => {
                let rule = format!("a grid of {count} points: expected at least 2, or their lambdas");
                require(*count >= 2, "points", count, &rule)?;
                &from.iter().chain([to]).copied().collect()
            }
        };
        for lambda in points {
            require(lambda.is_finite() && *lambda > 0.0, "lambda", lambda, "must be a finite number > 0")?;
        }
        let mut falling = points.clone();
        falling.sort_by(|a, b| b.total_cmp(a));
        let given = || points.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        require(falling.windows(2).all(|pair| pair[0] != pair[1]), "points", given(), "two points are the same")?;
        let falls = falling == *points;
        let even = matches!(self.points, GridPoints::Even { .. });
        require(falls || !even, "lambda_max", points[0], "an even grid would rise to path.lambda_min")?;
        require(
            falls || self.warm_start != Some(WarmStart::KeepPrimal),
            "points",
            given(),
            "lambdas must fall where a point starts from the one before (keep-primal); order them, or use keep-dual",
        )
    }
}
