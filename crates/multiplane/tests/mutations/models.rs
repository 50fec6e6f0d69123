//! Model files of single runs, paths and grids.
//!
//! Damaged: any file that is not one of the corpus is refused. Crafted, with the right checksum: accepted rightly where all
//! weights are finite, lambda is above 0, the file is written again to the same weights, and all that a model is used for goes
//! through on data that it opens: predictions, losses, its primal value, at breakpoints, between and beyond them. Weights so
//! large that scores overflow may give losses and values that are not finite, but nothing panics.

use std::path::Path;

use multiplane::dataset::Dataset;
use multiplane::{Model, ModelFile, PathModel};

use crate::campaign::{Reader, Verdict};
use crate::trained::{loops, single_runs};
use crate::{Row, framed};

/// Weights up to which scores are finite.
const MODEST: f64 = 1e100;

/// Damaged and crafted files.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        ("model-damaged", 4, Box::new(|| Reader::damaged(models(), |path| ModelFile::load(path).map(drop)))),
        ("path-model-damaged", 2, Box::new(|| Reader::damaged(paths(), |path| ModelFile::load(path).map(drop)))),
        ("model-crafted", 6, Box::new(|| crafted(models()))),
        ("path-model-crafted", 6, Box::new(|| crafted(paths()))),
    ]
}

fn models() -> Vec<Vec<u8>> {
    single_runs().iter().map(|training| training.trained().model).collect()
}

fn paths() -> Vec<Vec<u8>> {
    loops().iter().map(|training| training.trained().model).collect()
}

fn crafted(corpus: Vec<Vec<u8>>) -> Reader {
    let data: Vec<Dataset> = single_runs().iter().skip(2).map(|training| (training.data)()).collect();
    let read = move |path: &Path, _: &[u8]| {
        let file = match ModelFile::load(path) {
            Ok(file) => file,
            Err(error) => return Verdict::refused(error),
        };
        Verdict::of(match file {
            ModelFile::Model(model) => of_model(&model, &data, true),
            ModelFile::Path(model) => of_path(&model, &data),
        })
    };
    Reader { corpus, mutate: framed::crafted, read: Box::new(read), names_file: true }
}

/// Whether a model that was read can be used.
fn of_model(model: &Model, data: &[Dataset], is_file: bool) -> Result<(), String> {
    let lambda = model.info.lambda;
    if !(lambda.is_finite() && lambda > 0.0) || model.w.iter().any(|w| !w.is_finite()) {
        return Err(format!("lambda {lambda}, or weights that are not finite"));
    }
    if is_file {
        let again = model.to_bytes().map_err(|error| format!("it cannot be written: {error}"))?;
        let again = Model::from_bytes(&again).map_err(|error| format!("what was written is refused: {error}"))?;
        if again.w != model.w {
            return Err("what was written reads back as something else".into());
        }
    }
    let is_modest = model.w.iter().all(|w| w.abs() < MODEST);
    model.unscaled();
    for data in data {
        let Ok(problem) = model.open(data.clone()) else { continue };
        let Ok(w) = problem.weights_of_model(&model.w, &model.info.provenance.vocabulary) else { continue };
        // An error is an answer, as for labels that the model does not know; a number must be one.
        let mut finite = true;
        let _ = problem.predictor().predict(&w, 1, &mut |found| finite &= found.loss.is_none_or(f64::is_finite));
        let loss = problem.predictor().evaluate(&w, 1).map_or(None, |found| found.loss).unwrap_or(0.0);
        let primal = problem.reference().primal(None, &w, lambda.clamp(1e-9, 1e9), 1).unwrap_or(0.0);
        if is_modest && !(finite && loss.is_finite() && primal.is_finite()) {
            return Err(format!("used on {}: a loss of {loss}, a primal value of {primal}", data.describe()));
        }
    }
    Ok(())
}

/// Whether a path that was read answers wherever it says so.
fn of_path(path: &PathModel, data: &[Dataset]) -> Result<(), String> {
    let again = path.to_bytes().map_err(|error| format!("it cannot be written: {error}"))?;
    PathModel::from_bytes(&again).map_err(|error| format!("what was written is refused: {error}"))?;
    path.loose_row();
    let last = *path.lambdas.last().ok_or("it has no row")?;
    let lambdas = path.lambdas.iter().copied();
    for lambda in
        lambdas.chain([path.info.lambda_end, 0.5 * (path.lambdas[0] + last), 1e3 * path.lambdas[0], 1e-3 * last])
    {
        if let Ok(model) = path.at(lambda) {
            of_model(&model, data, false).map_err(|fault| format!("at lambda {lambda}: {fault}"))?;
        }
    }
    Ok(())
}
