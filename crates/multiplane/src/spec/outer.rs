//! A loop around runs: as a user asks for it, in the sections `path` and `grid` of a tree, and with all that
//! it depends on filled in.

use multiplane_core::parameter;
use multiplane_core::run::GapTarget;
use multiplane_core::solver::WarmStart;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::grid::{GridOptions, GridPoints, GridSpec, GridStart, Points};
use super::lambda::Lambda;
use super::params::{overlay, params_of};
use super::path::PathSpec;
use crate::error::Error;

/// A path or grid as a user asks for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OuterOptions {
    /// The regularisation path, and what a grid has in common with it.
    pub path: PathSpec,
    /// The grid, where there is to be one instead.
    pub grid: GridOptions,
}

impl OuterOptions {
    /// Takes the sections `path` and `grid` out of a tree, of which what a single run is to be remains.
    ///
    /// # Errors
    ///
    /// An unknown name, or a parameter with its value and the rule that it breaks.
    pub fn take(tree: &mut Map<String, Value>) -> Result<OuterOptions, Error> {
        let sections = ["path", "grid"].into_iter().filter_map(|key| Some((key.to_string(), tree.remove(key)?)));
        let mut base = Map::new();
        overlay(&mut base, &Value::Object(sections.collect()), &params_of::<OuterOptions>(), "")
            .map_err(Error::Input)?;
        let options: OuterOptions = parameter::read(&Value::Object(base))?;
        options.path.validate().map_err(|error| error.under("path"))?;
        Ok(options)
    }

    /// Fills in what depends on the run: its gap, and its number of examples.
    ///
    /// # Errors
    ///
    /// A parameter of the grid with the rule that it breaks.
    pub fn outer(&self, gap: Option<GapTarget>, n: f64) -> Result<Outer, Error> {
        let grid = self.grid.spec(&self.path, gap, n).map_err(|error| error.under("grid"))?;
        Ok(grid.map_or(Outer::Path(self.path), Outer::Grid))
    }
}

/// A loop around a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outer {
    /// A regularisation path.
    Path(PathSpec),
    /// A grid.
    Grid(GridSpec),
}

impl Outer {
    /// Names it.
    pub fn name(&self) -> &'static str {
        match self {
            Outer::Path(_) => "path",
            Outer::Grid(_) => "grid",
        }
    }

    /// Writes the sections of a tree that ask for this loop.
    pub fn to_tree(&self) -> Map<String, Value> {
        let mut tree = Map::new();
        let grid = match self {
            Outer::Path(path) => {
                tree.insert("path".into(), json!(path));
                return tree;
            }
            Outer::Grid(grid) => grid,
        };
        let (points, lambda_max) = match &grid.points {
            GridPoints::List(list) => (Points::List(list.clone()), None),
            GridPoints::Even { count, from, to } => {
                tree.insert("path".into(), json!({ "lambda_min": to }));
                (Points::Count(*count), from.map(Lambda::Value))
            }
        };
        let options = GridOptions {
            points: Some(points),
            lambda_max,
            gap: Some(grid.gap),
            start_gap: Some(grid.start_gap),
            warm_start: match grid.warm_start {
                Some(WarmStart::KeepPrimal) => GridStart::KeepPrimal,
                Some(WarmStart::KeepDual) => GridStart::KeepDual,
                None => GridStart::None,
            },
        };
        tree.insert("grid".into(), json!(options));
        tree
    }
}
