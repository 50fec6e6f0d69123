//! Files whose checksum is right and whose content is not: refused when they are loaded or put to use, with a reason and
//! without a panic. Every row of the tables edits a valid file and computes its checksum anew.

use std::path::Path;

use multiplane::data;
use multiplane::dataset::Dataset;
use multiplane::{Checkpoint, Checkpointer, Model, ModelFile, Outputs, PathSpec, RunOptions, RunSpec, Session};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

type Edit = Box<dyn Fn(&mut Value, &mut Vec<Tensor>)>;

/// A tensor of numbers or bytes: name, type, shape, content.
struct Tensor {
    name: String,
    kind: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// The file `bytes` with an edit, and the right checksum.
fn edited(bytes: &[u8], edit: &Edit) -> Vec<u8> {
    let (_, header) = SafeTensors::read_metadata(bytes).unwrap();
    let read = SafeTensors::deserialize(bytes).unwrap();
    let mut info: Value = serde_json::from_str(&header.metadata().as_ref().unwrap()["multiplane"]).unwrap();
    let own = |(name, view): (String, TensorView<'_>)| Tensor {
        name,
        kind: view.dtype(),
        shape: view.shape().to_vec(),
        bytes: view.data().to_vec(),
    };
    let mut tensors: Vec<Tensor> = read.tensors().into_iter().map(own).collect();
    edit(&mut info, &mut tensors);
    info["checksum"] = "0".repeat(64).into();
    let views = tensors
        .iter()
        .map(|tensor| (&tensor.name, TensorView::new(tensor.kind, tensor.shape.clone(), &tensor.bytes).unwrap()));
    let metadata = [("multiplane".to_owned(), info.to_string())].into();
    let mut bytes = safetensors::serialize(views, Some(metadata)).unwrap();
    let place = bytes.windows(64).position(|window| window == "0".repeat(64).as_bytes()).unwrap();
    let checksum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    bytes[place..place + 64].copy_from_slice(checksum.as_bytes());
    bytes
}

/// Sets a field, by the names on the way to it.
fn field(path: &'static [&'static str], value: Value) -> Edit {
    Box::new(move |info, _| *path.iter().fold(&mut *info, |at, name| &mut at[*name]) = value.clone())
}

/// Sets a number of a tensor.
fn number(name: &'static str, k: usize, value: f64) -> Edit {
    Box::new(move |_, tensors| {
        let tensor = tensors.iter_mut().find(|tensor| tensor.name == name).unwrap();
        tensor.bytes[8 * k..8 * k + 8].copy_from_slice(&value.to_le_bytes());
    })
}

/// Sets a whole number of a tensor.
fn whole(name: &'static str, k: usize, value: i64) -> Edit {
    number(name, k, f64::from_bits(value as u64))
}

fn spec(tree: Value) -> RunSpec {
    RunSpec::from_tree(tree.as_object().unwrap()).unwrap()
}

/// Loads a model file and predicts, evaluates and verifies with it.
fn used(bytes: &[u8], data: impl Fn() -> Dataset) -> Result<(), String> {
    let model = match ModelFile::from_bytes(bytes)? {
        ModelFile::Model(model) => model,
        ModelFile::Path(path) => path.at(path.lambdas[0]).map_err(|error| error.to_string())?,
    };
    let problem = model.open(data()).map_err(|error| error.to_string())?;
    let failed = |error: multiplane::oracle::OracleError| error.reason;
    problem.predictor().predict(&model.w, 1, &mut |_| {}).map_err(failed)?;
    problem.predictor().evaluate(&model.w, 1).map_err(failed)?;
    problem.reference().primal(None, &model.w, model.info.lambda, 1).map(drop).map_err(failed)
}

fn rows(folder: &Path) -> impl Fn() -> Dataset + use<> {
    let path = folder.join("rows");
    std::fs::write(&path, "1 1:1 2:-1\n2 1:2\n3 3:0.5\n2 2:1 3:1\n1 1:1\n").unwrap();
    move || data::read(&path, None).unwrap()
}

fn check(name: &str, good: &[u8], data: impl Fn() -> Dataset, table: Vec<(&str, Edit)>) {
    let nothing: Edit = Box::new(|_, _| {});
    used(&edited(good, &nothing), &data).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (message, edit) in table {
        let error = used(&edited(good, &edit), &data).expect_err(&format!("{name}: {message}"));
        assert!(error.contains(message), "{name}: expected `{message}`: {error}");
    }
}

/// Weights, lambda and vocabulary of models of rows.
#[test]
fn models_of_rows() {
    let folder = tempfile::tempdir().unwrap();
    let data = rows(folder.path());
    let tree = json!({"task": {"name": "multiclass", "bias": true}, "stop": {"passes": 3}, "clock": "work"});
    let (model, _) = Session::on(spec(tree), data(), None).unwrap().run(RunOptions::default()).unwrap();
    let good = model.to_bytes().unwrap();
    let huge = (1u64 << 62) + 4;
    let table: Vec<(&str, Edit)> = vec![
        ("its tensor w has NaN at 3", number("w", 3, f64::NAN)),
        ("its tensor w has inf at 0", number("w", 0, f64::INFINITY)),
        ("its lambda is 0", field(&["lambda"], json!(0.0))),
        ("its lambda is -1", field(&["lambda"], json!(-1))),
        ("need weights of", field(&["features"], json!(huge))),
        ("no feature", field(&["features"], json!(0))),
        ("weights, its task on this data needs 15", field(&["features"], json!(5))),
        ("weights, its task on this data needs 8", field(&["labels"], json!(["1", "2"]))),
        ("ascending", field(&["labels"], json!(["2", "1", "3"]))),
        ("comes twice", field(&["labels"], json!(["1", "1", "3"]))),
        ("ascending", field(&["labels"], json!(["1", "01", "3"]))),
        ("invalid type", field(&["labels"], json!([1, 2, 3]))),
        ("invalid type", field(&["labels"], json!("123"))),
        ("invalid value", field(&["features"], json!(-4))),
        ("spec.task is no object", field(&["spec", "task"], json!([]))),
        ("task.bias", field(&["spec", "task", "bias"], json!(3))),
        ("unknown task", field(&["task"], json!("multiclas"))),
        ("shape", Box::new(|_, tensors| tensors[0].shape = vec![3, 4])),
    ];
    check("multiclass", &good, &data, table);
    let scaled = json!({"task": {"name": "multiclass", "scale": "standard"}, "stop": {"passes": 3}, "clock": "work"});
    let (model, _) = Session::on(spec(scaled), data(), None).unwrap().run(RunOptions::default()).unwrap();
    let tiny = vec![("after division by the scale", number("features.scale", 0, 5e-324))];
    check("scaled", &model.to_bytes().unwrap(), &data, tiny);
    // Fewer labels, with features such that the weights are as many: a truth is not among them.
    let fewer: Edit = Box::new(|info, _| {
        info["labels"] = json!(["1", "2"]);
        info["features"] = json!(6);
    });
    let error = used(&edited(&good, &fewer), &data).unwrap_err();
    assert!(error.contains("label"), "{error}");
}

/// Rows of support and coefficients of kernel models.
#[test]
fn models_of_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let data = rows(folder.path());
    let task = json!({"name": "multiclass", "kernel": "rbf"});
    let tree = json!({"task": task, "solver": "bcfw", "stop": {"passes": 3}, "clock": "work"});
    let (model, _) = Session::on(spec(tree), data(), None).unwrap().run(RunOptions::default()).unwrap();
    let table: Vec<(&str, Edit)> = vec![
        ("its tensor w has NaN", number("w", 1, f64::NAN)),
        ("rows of support are not sound", number("support.values", 0, f64::INFINITY)),
        ("rows of support are not sound", whole("support.columns", 0, 9)),
        ("rows of support are not sound", whole("support.ends", 1, -1)),
        ("rows of support are not sound", whole("support.ends", 0, i64::MAX)),
        ("expected 3", whole("support.ends", 0, 4)),
        ("need weights of", field(&["features"], json!((1u64 << 63) + 3))),
        ("ascending", field(&["labels"], json!(["3", "2", "1"]))),
    ];
    check("kernel", &model.to_bytes().unwrap(), &data, table);
}

/// Labels, features and weights of sequences.
#[test]
fn models_of_sequences() {
    let data = || Dataset::new(multiplane::synth::synthetic_words(6, 0));
    let tree = json!({"task": "chain", "stop": {"passes": 2}, "clock": "work"});
    let (model, _) = Session::on(spec(tree), data(), None).unwrap().run(RunOptions::default()).unwrap();
    let mut labels = model.info.provenance.vocabulary.labels.clone();
    labels.swap(0, 1);
    let table: Vec<(&str, Edit)> = vec![
        ("its tensor w has NaN", number("w", 7, f64::NAN)),
        ("do not fit together", field(&["labels"], json!(labels))),
        ("do not fit together", field(&["labels"], json!([]))),
        ("need weights of", field(&["features"], json!(1u64 << 61))),
    ];
    check("chain", &model.to_bytes().unwrap(), data, table);
}

/// Lambdas, values and weights of paths.
#[test]
fn path_models() {
    let folder = tempfile::tempdir().unwrap();
    let data = rows(folder.path());
    let tree = json!({"task": "multiclass", "stop": {"passes": 40}, "clock": "work"});
    let path = PathSpec { lambda_min: 1e-2, ..PathSpec::default() };
    let (model, _) = Session::on(spec(tree), data(), None).unwrap().path(&path, RunOptions::default()).unwrap();
    assert!(model.lambdas.len() > 1);
    let last = model.lambdas.len() - 1;
    let table: Vec<(&str, Edit)> = vec![
        ("its tensor w has -inf", number("w", 2, f64::NEG_INFINITY)),
        ("its tensor lambdas is -1", number("lambdas", last, -1.0)),
        ("falling lambdas", number("lambdas", 0, f64::NAN)),
        ("its tensor lambdas is inf", number("lambdas", 0, f64::INFINITY)),
        ("its tensor primal has NaN", number("primal", 0, f64::NAN)),
        ("its tensor dual has inf", number("dual", 0, f64::INFINITY)),
        ("lambda_end is 0", field(&["lambda_end"], json!(0))),
        ("expected at most its last lambda", field(&["lambda_end"], json!(1e6))),
        ("lambda_min is -1", field(&["lambda_min"], json!(-1))),
        ("chosen is 0", field(&["chosen"], json!(0.0))),
        ("its eps is", field(&["eps"], json!(-0.1))),
        ("its eps is None", field(&["eps"], Value::Null)),
        ("none, as it is a grid", field(&["kind"], json!("grid"))),
        ("gap_at_zero is -1", field(&["gap_at_zero"], json!(-1.0))),
        ("comes twice", field(&["labels"], json!(["1", "2", "2"]))),
        ("need weights of", field(&["features"], json!(1u64 << 62))),
    ];
    check("path", &model.to_bytes().unwrap(), &data, table);
}

/// Checkpoints: what they say of their run is held against the session, and their states hold finite numbers alone.
#[test]
fn checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let data = rows(folder.path());
    let tree = json!({"task": "multiclass", "solver": "bcfw", "stop": {"passes": 3}, "clock": "work", "lambda": 0.5});
    let session = || Session::on(spec(tree.clone()), data(), None).unwrap();
    let path = folder.path().join("c");
    let checkpointer = Checkpointer::open(&path, None, Box::new(Outputs::default), Box::new(|_| {})).unwrap();
    let (model, _) = session().run(RunOptions { checkpointer: Some(checkpointer), ..RunOptions::default() }).unwrap();
    let good = std::fs::read(&path).unwrap();
    let resumed = |edit: &Edit| -> Result<(), String> {
        let checkpoint = Checkpoint::from_bytes(&edited(&good, edit))?;
        let resume = RunOptions { resume: Some(checkpoint), ..RunOptions::default() };
        session().run(resume).map(drop).map_err(|error| error.to_string())
    };
    let nothing: Edit = Box::new(|_, _| {});
    resumed(&nothing).unwrap();
    let cut: Edit = Box::new(|_, tensors| {
        let state = tensors.iter_mut().find(|tensor| tensor.name == "state").unwrap();
        state.bytes.truncate(40);
        state.shape = vec![40];
    });
    let table: Vec<(&str, Edit)> = vec![
        ("lambda", field(&["spec", "lambda"], json!(0.0))),
        ("lambda", field(&["spec", "lambda"], json!(-0.5))),
        ("training data", field(&["fingerprint"], json!("ab"))),
        ("invalid type", field(&["n"], json!("3"))),
        ("state", cut),
    ];
    for (message, edit) in table {
        let error = resumed(&edit).expect_err(message);
        assert!(error.contains(message), "expected `{message}`: {error}");
    }
    // Each weight of the state made a NaN is refused. (Its bytes may stand elsewhere too, for a number that is no weight.)
    let state = SafeTensors::deserialize(&good).unwrap().tensor("state").unwrap().data().to_vec();
    for weight in model.w.iter().filter(|weight| **weight != 0.0) {
        let places = (0..state.len() - 7).filter(|&place| state[place..place + 8] == weight.to_le_bytes());
        let refused = places.filter_map(|place| {
            let edit: Edit = Box::new(move |_, tensors| {
                let state = tensors.iter_mut().find(|tensor| tensor.name == "state").unwrap();
                state.bytes[place..place + 8].copy_from_slice(&f64::NAN.to_le_bytes());
            });
            resumed(&edit).err()
        });
        let of_weights = refused.filter(|error| error.contains("the weights") && error.contains("does not fit"));
        assert!(of_weights.count() > 0, "{weight}");
    }
}

/// Long fields come back, from models and checkpoints: none is written that is not read.
#[test]
fn long_fields_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let classes = 200;
    let path = folder.path().join("rows");
    std::fs::write(&path, (0..classes).map(|k| format!("{k} {}:1\n", k % 7 + 1)).collect::<String>()).unwrap();
    let cost = |truth: usize, k: usize| if truth == k { 0.0 } else { 1.0 + 1.0 / (3.0 + (truth * classes + k) as f64) };
    let matrix: Vec<Vec<f64>> = (0..classes).map(|truth| (0..classes).map(|k| cost(truth, k)).collect()).collect();
    let task = json!({"name": "multiclass", "loss": {"name": "cost-matrix", "matrix": matrix}});
    assert!(task.to_string().len() > 1 << 19);
    let tree = json!({"task": task, "stop": {"passes": 1}, "clock": "work"});
    let session = Session::on(spec(tree.clone()), data::read(&path, None).unwrap(), None).unwrap();
    let (file, saved) = (folder.path().join("c"), folder.path().join("m"));
    let checkpointer = Checkpointer::open(&file, None, Box::new(Outputs::default), Box::new(|_| {})).unwrap();
    let (model, _) = session.run(RunOptions { checkpointer: Some(checkpointer), ..RunOptions::default() }).unwrap();
    model.save(&saved).unwrap();
    let read = Model::load(&saved).unwrap();
    assert_eq!((&read.w, &read.info.provenance), (&model.w, &model.info.provenance));
    let bytes = std::fs::read(&saved).unwrap();
    let header = u64::from_le_bytes(*bytes.first_chunk().unwrap());
    assert!(header < 1 << 16, "a header of {header} bytes");
    let checkpoint = Checkpoint::load(&file).unwrap();
    session.run(RunOptions { resume: Some(checkpoint), ..RunOptions::default() }).unwrap();
    // A field cannot stand at both places, nor be anything but JSON.
    let twice: Edit = Box::new(|info, _| info["spec"] = json!({}));
    assert!(Model::from_bytes(&edited(&bytes, &twice)).unwrap_err().contains("as well"));
    let torn: Edit = Box::new(|_, tensors| {
        tensors.iter_mut().find(|tensor| tensor.name == "info.spec").unwrap().bytes[0] = b'?';
    });
    assert!(Model::from_bytes(&edited(&bytes, &torn)).unwrap_err().contains("info.spec is not sound"));
}

/// Weights that would be too long are refused before they are allocated, with what all their copies would take.
#[test]
fn copies_of_the_weights_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    let rows: String = (1..=1 << 14).map(|i| format!("{i} {i}:1\n")).collect();
    std::fs::write(&path, rows).unwrap();
    for solver in ["auto", "bcfw-avg", "ssg-avg", "one-slack", "fw"] {
        let tree = json!({"task": "multiclass", "solver": solver, "stop": {"passes": 1}, "clock": "work"});
        let Err(error) = Session::on(spec(tree), data::read(&path, None).unwrap(), None) else {
            panic!("{solver} takes it")
        };
        assert!(matches!(error, multiplane::Error::Input(_)), "{solver}: {error}");
        let error = error.to_string();
        assert!(error.contains("268435456 weights in the up to") && error.contains("at most 8 GiB"), "{error}");
    }
}
