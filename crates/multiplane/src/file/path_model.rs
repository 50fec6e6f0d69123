//! The model file of a path or grid: one row of weights per breakpoint, and which of them answers for a lambda.

use std::path::Path;

use multiplane_core::linalg;
use multiplane_core::observe::Certificate;
use multiplane_core::run::GapTarget;
use multiplane_tasks::problem::MAX_DIM;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::breakpoint::{Breakpoint, least_test_loss};
use super::container::{self, FORMAT_VERSION, Width};
use super::model::{self, Model, ModelInfo, ModelParts};
use super::provenance::{Provenance, read_info};
use crate::error::Error;
use crate::spec::{PathEnd, PathSpec, gap};

/// The largest relative distance at which a lambda means one of a grid's.
const SAME_LAMBDA: f64 = 1e-6;

/// By how much a gap may exceed eps by rounding, relative to the values in it.
const ROUNDING: f64 = 1e-12;

/// The kind of the rows of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathKind {
    /// Breakpoints of a path: every lambda of the range has its row.
    Path,
    /// Points of a grid: only its own lambdas have one.
    Grid,
}

/// The JSON of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathInfo {
    checksum: String,
    /// Version of the file format.
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// Path or grid.
    pub kind: PathKind,
    /// The run that made the weights.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The largest gap anywhere on a path; `None` if that is relative.
    pub eps: Option<f64>,
    /// The same as a share of P.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_eps: Option<f64>,
    /// Share of eps to which breakpoints were optimised.
    pub kappa: Option<f64>,
    /// The smallest lambda asked for.
    pub lambda_min: f64,
    /// The smallest lambda that the last row answers for.
    pub lambda_end: f64,
    /// The gap that is proven of the first row's masses as lambda grows without end: 0 where the oracle was exact at w
    /// = 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gap_at_zero: f64,
    /// Why it ended.
    pub stop_reason: PathEnd,
    /// True if every gap is proven.
    pub certified: bool,
    /// The lambda that cross-validation chose; without it the one whose weights have the smallest loss on test data.
    pub chosen: Option<f64>,
}

/// Weights at several lambdas, with their provenance.
#[derive(Clone, Debug, PartialEq)]
pub struct PathModel {
    /// Breakpoints, falling: `[B]`.
    pub lambdas: Vec<f64>,
    /// Their weights in the layout of files, row after row: `[B, d]`.
    pub w: Vec<f64>,
    /// P of each row at its lambda.
    pub primal: Vec<f64>,
    /// The dual value that goes with it; NaN where there is none.
    pub dual: Vec<f64>,
    /// The squared length of the weights of each row of a path, where it is not the sum of their squares: with a
    /// kernel, and rounded down there. Empty elsewhere, and for grids, which answer for their own points alone.
    pub squares: Vec<f64>,
    /// The JSON of the file.
    pub info: PathInfo,
}

impl PathInfo {
    /// Refuses figures that no path or grid has whose last row stands at `last`.
    fn check(&self, last: f64) -> Result<(), String> {
        container::check_lambda("lambda_min", self.lambda_min)?;
        container::check_lambda("lambda_end", self.lambda_end)?;
        self.chosen.map_or(Ok(()), |chosen| container::check_lambda("chosen", chosen))?;
        if self.lambda_end > last {
            let end = self.lambda_end;
            return Err(format!("its lambda_end is {end}, expected at most its last lambda {last}"));
        }
        let is_path = self.kind == PathKind::Path;
        let sound = match (self.eps, self.relative_eps) {
            (Some(eps), None) => is_path && eps.is_finite() && eps > 0.0,
            (None, Some(share)) => is_path && share > 0.0 && share < 1.0,
            (None, None) => !is_path,
            (Some(_), Some(_)) => false,
        };
        if !sound {
            let rule = if is_path { "one finite number > 0, a share < 1" } else { "none, as it is a grid" };
            return Err(format!("its eps is {:?}, relative {:?}, expected {rule}", self.eps, self.relative_eps));
        }
        if !is_path && self.lambda_end < last {
            let end = self.lambda_end;
            return Err(format!("its lambda_end is {end}, expected {last}, the last lambda of the grid"));
        }
        match self.gap_at_zero.is_finite() && self.gap_at_zero >= 0.0 {
            true => Ok(()),
            false => Err(format!("its gap_at_zero is {}, expected a finite number >= 0", self.gap_at_zero)),
        }
    }
}

impl PathInfo {
    /// Returns how far P may be from its optimum anywhere on a path; `None` of a grid.
    pub fn eps(&self) -> Option<GapTarget> {
        let share = self.relative_eps.map(|share| GapTarget::Percent(100.0 * share));
        self.eps.map(GapTarget::Absolute).or(share)
    }
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl PathModel {
    /// Puts a path together.
    pub(crate) fn of_path(
        provenance: Provenance,
        spec: &PathSpec,
        lambda_end: f64,
        stop_reason: PathEnd,
        points: &[Breakpoint],
        w: Vec<f64>,
    ) -> Self {
        let mut model = PathModel::new(provenance, PathKind::Path, json!(spec), stop_reason, points, w);
        match spec.eps {
            GapTarget::Absolute(eps) => model.info.eps = Some(eps),
            GapTarget::Percent(share) => model.info.relative_eps = Some(share / 100.0),
        }
        model.info.kappa = Some(spec.kappa);
        (model.info.lambda_min, model.info.lambda_end) = (spec.lambda_min, lambda_end);
        model
    }

    /// Puts rows together; `outer` is what defined the outer loop.
    pub(crate) fn new(
        mut provenance: Provenance,
        kind: PathKind,
        outer: Value,
        stop_reason: PathEnd,
        points: &[Breakpoint],
        w: Vec<f64>,
    ) -> Self {
        if let Some(table) = provenance.spec.as_object_mut() {
            table.remove("lambda");
            table.insert(if kind == PathKind::Path { "path" } else { "grid" }.into(), outer);
        }
        let last = points.last().map_or(0.0, |point| point.lambda);
        let info = PathInfo {
            checksum: container::zero_checksum(),
            format: FORMAT_VERSION,
            version: env!("CARGO_PKG_VERSION").into(),
            kind,
            provenance,
            eps: None,
            relative_eps: None,
            kappa: None,
            lambda_min: last,
            lambda_end: last,
            gap_at_zero: 0.0,
            stop_reason,
            certified: points.iter().all(|point| point.certified),
            chosen: least_test_loss(points).map(|point| point.lambda),
        };
        PathModel {
            lambdas: points.iter().map(|point| point.lambda).collect(),
            w,
            primal: points.iter().map(|point| point.primal).collect(),
            dual: points.iter().map(|point| point.dual.unwrap_or(f64::NAN)).collect(),
            squares: Vec::new(),
            info,
        }
    }

    /// Length d of a row.
    pub fn dim(&self) -> usize {
        self.w.len() / self.lambdas.len().max(1)
    }

    /// The weights of row `k`.
    pub fn row(&self, k: usize) -> &[f64] {
        &self.w[k * self.dim()..][..self.dim()]
    }

    /// Returns `|w|^2 / 2` of row `k` of a path.
    pub fn half_square(&self, k: usize) -> f64 {
        0.5 * self.squares.get(k).copied().unwrap_or_else(|| linalg::sum_squares(self.row(k)))
    }

    /// Finds the row that answers for `lambda`. On a path: row k where `lambdas[k] >= lambda > lambdas[k+1]`, the last
    /// one down to the end of the path, the first one (to be scaled by `lambdas[0] / lambda`) above it.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] where nothing answers for `lambda`.
    pub fn row_at(&self, lambda: f64) -> Result<usize, Error> {
        let last = self.lambdas.len() - 1;
        if !(lambda.is_finite() && lambda > 0.0) {
            return Err(Error::input(format!("lambda = {lambda}: must be a finite number > 0")));
        }
        if self.info.kind == PathKind::Grid {
            let near = self.lambdas.iter().position(|own| (own - lambda).abs() <= SAME_LAMBDA * own);
            return near.ok_or_else(|| {
                let own: Vec<String> = self.lambdas.iter().map(f64::to_string).collect();
                Error::input(format!("lambda = {lambda}: the grid has no such point, expected {}", own.join(", ")))
            });
        }
        if lambda < self.info.lambda_end {
            let end = self.info.lambda_end;
            return Err(Error::input(format!("lambda = {lambda}: the path ends at {end}, expected no less than that")));
        }
        Ok(self.lambdas.partition_point(|own| *own >= lambda).saturating_sub(1).min(last))
    }

    /// Returns the model at `lambda`, with its primal value and what is known of the dual there. On a path both follow
    /// from the row's: `P' = P + (lambda' - lambda)/2 |w|^2` and `F' = (lambda'/lambda) F`. Above the first breakpoint
    /// phi stays and w shrinks; the primal is then an upper bound, as the gap is convex in 1/lambda and known at 0.
    ///
    /// # Errors
    ///
    /// As [`row_at`](PathModel::row_at).
    pub fn at(&self, lambda: f64) -> Result<Model, Error> {
        let k = self.row_at(lambda)?;
        let (own, mut w) = (self.lambdas[k], self.row(k).to_vec());
        let half_square = self.half_square(k);
        let (mut primal, mut dual) = (self.primal[k], Some(self.dual[k]).filter(|dual| !dual.is_nan()));
        let mut at = own;
        if self.info.kind == PathKind::Path {
            at = lambda;
            if lambda > own {
                let shrink = own / lambda;
                let bound = dual.map(|dual| dual + half_square * own * (1.0 - shrink));
                let gap = (1.0 - shrink) * self.info.gap_at_zero + shrink * (primal - dual.unwrap_or(f64::NAN));
                primal = bound.unwrap_or(f64::NAN) + gap;
                dual = bound;
                linalg::scale(shrink, &mut w);
            } else {
                primal += (lambda - own) * half_square;
                dual = dual.map(|dual| dual * (lambda / own));
            }
        }
        let (format, version) = (self.info.format, self.info.version.clone());
        let certificate = Certificate::new(primal, dual, self.info.certified);
        let info = ModelInfo::new(self.info.provenance.clone(), at, certificate);
        Ok(Model { w, info: ModelInfo { format, version, ..info } })
    }

    /// Returns a warning about the row that answers for `lambda`: the point of a grid that was cut short, by budget or
    /// signal, before it came to the gap that the grid asks for.
    pub fn warning_at(&self, lambda: f64) -> Option<String> {
        let k = self.row_at(lambda).ok()?;
        let wanted = gap::deserialize(self.info.provenance.spec.get("grid")?.get("gap")?).ok()??;
        let (primal, gap) = (self.primal[k], self.primal[k] - self.dual[k]);
        let falls_short = gap > wanted.at(primal) + ROUNDING * (primal.abs() + self.dual[k].abs());
        falls_short.then(|| {
            let wanted = wanted.at(primal);
            format!(
                "lambda = {lambda}: the grid was cut short at this point, its gap is {gap:.6}, asked for was {wanted:.6}"
            )
        })
    }

    /// Finds the first row of a path that is not good to eps at the end of what it answers for, the next row's lambda
    /// or the end of the path: that lambda, and the gap there. By the values in the file, whatever they are worth.
    pub fn loose_row(&self) -> Option<(f64, f64)> {
        let eps = self.info.eps().filter(|_| self.info.kind == PathKind::Path)?;
        let ends = self.lambdas.iter().skip(1).copied().chain([self.info.lambda_end]);
        let rows = self.lambdas.iter().zip(ends).enumerate().map(|(k, (own, end))| {
            let half_square = self.half_square(k);
            let (primal, dual) = (self.primal[k] + (end - own) * half_square, self.dual[k] * (end / own));
            let size = self.primal[k].abs() + self.dual[k].abs();
            (end, primal - dual, eps.at(primal), size)
        });
        // Not so for NaN.
        let holds = |(_, gap, eps, size): &(f64, f64, f64, f64)| *gap <= eps + ROUNDING * (eps + size);
        let loose = rows.into_iter().find(|row| !holds(row));
        loose.map(|(end, gap, ..)| (end, gap))
    }

    /// Packs the file's bytes: a safetensors container with `lambdas` and, row by row, `w`, `primal` and `dual`, of
    /// paths with a kernel `squares` as well.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] where the parts do not make a sound file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let info = |format| PathInfo { checksum: container::zero_checksum(), format, ..self.info.clone() };
        let rows = self.lambdas.len();
        let mut tensors: Vec<container::TensorParts<'_>> = vec![
            ("lambdas", vec![rows], &self.lambdas),
            ("w", vec![rows, self.dim()], &self.w),
            ("primal", vec![rows], &self.primal),
            ("dual", vec![rows], &self.dual),
        ];
        if !self.squares.is_empty() {
            tensors.push(("squares", vec![rows], &self.squares));
        }
        container::pack(Width::Double, &tensors, &self.info.provenance.vocabulary, info)
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// The first fault. Any change to any byte is refused.
    pub fn from_bytes(bytes: &[u8]) -> Result<PathModel, String> {
        model::unpack(bytes).and_then(PathModel::from_parts)
    }

    /// Reads what a container held.
    pub(super) fn from_parts((info, tensors, features): ModelParts<'_>) -> Result<PathModel, String> {
        let info = read_info(info, features, |info: &mut PathInfo| &mut info.provenance)?;
        let numbers = |name: &str| container::numbers(&tensors, name, Width::Double);
        let (_, lambdas) = numbers("lambdas")?;
        let (shape, w) = numbers("w")?;
        let (_, primal) = numbers("primal")?;
        let (_, dual) = numbers("dual")?;
        let rows = lambdas.len();
        let has_squares = info.kind == PathKind::Path && info.provenance.vocabulary.support.is_some();
        let squares = if has_squares { numbers("squares")?.1 } else { Vec::new() };
        let fits = rows > 0 && shape.len() == 2 && [shape[0], primal.len(), dual.len()] == [rows; 3];
        if has_squares && !(squares.len() == rows && squares.iter().all(|square| *square >= 0.0)) {
            return Err(format!("its tensor squares has {} numbers, expected {rows} numbers >= 0", squares.len()));
        }
        if !fits || !lambdas.is_sorted_by(|a, b| a > b) {
            return Err(format!("its tensor w has shape {shape:?} for {rows} falling lambdas, expected [B, d]"));
        }
        lambdas.iter().try_for_each(|&lambda| container::check_lambda("tensor lambdas", lambda))?;
        info.check(lambdas[rows - 1])?;
        if shape[1] > MAX_DIM {
            return Err(format!("its tensor w has shape {shape:?}, expected at most {MAX_DIM} weights in a row"));
        }
        for (name, numbers) in [("w", &w), ("primal", &primal), ("squares", &squares)] {
            container::check_finite(name, numbers)?;
        }
        if let Some(k) = dual.iter().position(|dual| dual.is_infinite()) {
            return Err(format!("its tensor dual has {} at {k}, expected a finite number or none", dual[k]));
        }
        Ok(PathModel { lambdas, w, primal, dual, squares, info })
    }

    /// Writes the file; see [`durable_write`](crate::durable_write) for what that promises.
    ///
    /// # Errors
    ///
    /// [`Error::Unwritten`] where it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        model::save(path, &self.to_bytes()?, PathModel::from_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use multiplane_tasks::problem::Vocabulary;

    fn path(kind: PathKind) -> PathModel {
        let provenance = Provenance {
            task: "binary".into(),
            vocabulary: Vocabulary::default(),
            spec: json!({}),
            fingerprint: "ab".repeat(32),
            n: 2,
        };
        let info = PathInfo {
            checksum: container::zero_checksum(),
            format: FORMAT_VERSION,
            version: "0.1.0".into(),
            kind,
            provenance,
            eps: Some(0.1),
            relative_eps: None,
            kappa: Some(0.9),
            lambda_min: 0.1,
            lambda_end: 0.1,
            gap_at_zero: 0.0,
            stop_reason: PathEnd::LambdaMin,
            certified: true,
            chosen: None,
        };
        let (primal, dual) = (vec![1.0, 0.9, 0.8], vec![0.95, 0.85, f64::NAN]);
        PathModel {
            lambdas: vec![4.0, 2.0, 0.5],
            w: vec![1.0, 0.0, 2.0, 0.0, 0.0, 3.0],
            primal,
            dual,
            squares: Vec::new(),
            info,
        }
    }

    /// Row k where lambdas[k] >= lambda > lambdas[k+1]; the ends belong to the first and the last.
    #[test]
    fn rows_of_lambdas() {
        let path = path(PathKind::Path);
        for (lambda, row) in [(1e9, 0), (4.0, 0), (2.1, 0), (2.0, 1), (0.6, 1), (0.5, 2), (0.1, 2)] {
            assert_eq!(path.row_at(lambda).unwrap(), row, "lambda {lambda}");
        }
        for lambda in [0.0999, 0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(path.row_at(lambda).is_err(), "lambda {lambda}");
        }
        let between = path.at(1.0).unwrap();
        assert_eq!(
            (between.w, between.info.certificate.primal, between.info.certificate.dual),
            (vec![2.0, 0.0], -1.1, Some(0.425))
        );
        let above = path.at(8.0).unwrap();
        assert_eq!(above.w, [0.5, 0.0]);
        let circ = 0.95 + 0.5 * 4.0; // F = circ - lambda/2 |w|^2
        assert!((above.info.certificate.dual.unwrap() - (circ - 0.5 * 8.0 * 0.25)).abs() < 1e-12);
        assert!((above.info.certificate.gap.unwrap() - 0.025).abs() < 1e-12, "half of the gap, at most");
    }

    /// A path whose rows reach each other is sound; one that lacks a row, or whose dual is not true, is not.
    #[test]
    fn thinned_paths_are_noticed() {
        let exact = |lambdas: Vec<f64>| {
            let rows = lambdas.len();
            let base = path(PathKind::Path);
            let (w, primal) = (vec![1.0; rows], lambdas.iter().map(|lambda| 0.5 + 0.5 * lambda).collect());
            let dual = lambdas.iter().map(|lambda| 0.49 + 0.5 * lambda).collect();
            PathModel { w, primal, dual, lambdas, ..base }
        };
        let lambdas = vec![1.0, 0.9, 0.81, 0.73];
        let mut whole = exact(lambdas.clone());
        whole.info.lambda_end = 0.66;
        assert_eq!(whole.loose_row(), None);
        let mut thinned = exact(vec![1.0, 0.73]);
        thinned.info.lambda_end = 0.66;
        assert_eq!(thinned.loose_row().map(|(lambda, _)| lambda), Some(0.73));
        whole.info.lambda_end = 0.3;
        assert_eq!(whole.loose_row().map(|(lambda, _)| lambda), Some(0.3));
        let mut grid = exact(lambdas);
        grid.info.kind = PathKind::Grid;
        assert_eq!(grid.loose_row(), None, "a grid answers for its points alone");
    }

    /// Of a grid only its own lambdas, however they were rounded.
    #[test]
    fn grids_know_their_points() {
        let grid = path(PathKind::Grid);
        assert_eq!(grid.row_at(2.0000001).unwrap(), 1);
        assert!(grid.row_at(3.0).unwrap_err().to_string().contains("expected 4, 2, 0.5"));
        assert_eq!(grid.at(0.5).unwrap().info.certificate.dual, None);
    }

    /// Files read back; any damage is refused.
    #[test]
    fn round_trip() {
        let bytes = path(PathKind::Path).to_bytes().unwrap();
        let read = PathModel::from_bytes(&bytes).unwrap();
        assert_eq!((&read.lambdas, &read.w), (&path(PathKind::Path).lambdas, &path(PathKind::Path).w));
        assert_eq!(read.to_bytes().unwrap(), bytes);
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x20;
            assert!(PathModel::from_bytes(&damaged).is_err(), "byte {place}");
        }
    }
}
