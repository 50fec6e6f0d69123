//! Every byte of a small model and of a small checkpoint, damaged once: all refused, none with a panic; and what
//! `verify` finds in dual points that are not what they say.

use std::path::Path;

use multiplane::certificate::{CertificatePart, WeightedPlane};
use multiplane::data;
use multiplane::dataset::Dataset;
use multiplane::synth::synthetic_words;
use multiplane::{Checkpoint, Checkpointer, Model, ModelFile, Outputs, PathSpec, RunOptions, RunSpec, Session, verify};
use serde_json::json;

/// A short run of `task` with a checkpoint at its end.
fn trained(task: &str, solver: &str, data: Dataset, folder: &Path) -> (Session, Model, Checkpoint) {
    let tree = json!({"task": task, "solver": solver, "stop": {"passes": 3}, "clock": "work"});
    let spec = RunSpec::from_tree(tree.as_object().unwrap()).unwrap();
    let session = Session::on(spec, data, None).unwrap();
    let path = folder.join("c");
    let checkpointer = Checkpointer::open(&path, None, Box::new(Outputs::default), Box::new(|_| {})).unwrap();
    let (model, summary) =
        session.run(RunOptions { checkpointer: Some(checkpointer), ..RunOptions::default() }).unwrap();
    assert_eq!(summary.checkpoints.unwrap().written, 1);
    let checkpoint = Checkpoint::load(&path).unwrap();
    (session, model, checkpoint)
}

fn words(folder: &Path, solver: &str) -> (Session, Model, Checkpoint) {
    trained("chain", solver, Dataset::new(synthetic_words(6, 0)), folder)
}

/// Changes every byte in two ways and cuts the file at every length.
fn assert_all_refused(name: &str, bytes: &[u8], read: impl Fn(&[u8]) -> Result<(), String>) {
    assert_eq!(read(bytes), Ok(()), "{name}");
    let mut damaged = bytes.to_vec();
    for place in 0..bytes.len() {
        for flip in [1 << (place % 8), 0xff] {
            damaged[place] ^= flip;
            assert!(read(&damaged).is_err(), "{name}: byte {place} changed by {flip}");
            damaged[place] = bytes[place];
        }
        assert!(read(&bytes[..place]).is_err(), "{name}: cut to {place} bytes");
    }
}

#[test]
fn every_damaged_byte_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows");
    std::fs::write(&rows, "1 1:1 2:-1\n-1 1:2\n1 3:0.5\n-1 2:1 3:1\n").unwrap();
    for solver in ["mp-bcfw-avg", "bcpfw-gap-cache"] {
        let data = data::read(&rows, None).unwrap();
        let (_, model, checkpoint) = trained("binary", solver, data, folder.path());
        let bytes = checkpoint.to_bytes().unwrap();
        assert!(bytes == std::fs::read(folder.path().join("c")).unwrap());
        assert_all_refused("the model", &model.to_bytes().unwrap(), |bytes| Model::from_bytes(bytes).map(drop));
        assert_all_refused("the checkpoint", &bytes, |bytes| Checkpoint::from_bytes(bytes).map(drop));
    }
}

/// A checkpoint of a path under way, with its position and the weights of its breakpoints.
#[test]
fn every_damaged_byte_of_a_path_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows");
    std::fs::write(&rows, "1 1:1 2:-1\n-1 1:2\n1 3:0.5\n-1 2:1 3:1\n").unwrap();
    let tree = json!({"task": "binary", "solver": "bcpfw-gap-cache", "stop": {"passes": 40}, "clock": "work"});
    let spec = RunSpec::from_tree(tree.as_object().unwrap()).unwrap();
    let session = Session::on(spec, data::read(&rows, None).unwrap(), None).unwrap();
    let path = folder.path().join("c");
    let checkpointer = Checkpointer::open(&path, None, Box::new(Outputs::default), Box::new(|_| {})).unwrap();
    let hooks = RunOptions { checkpointer: Some(checkpointer), ..RunOptions::default() };
    let (model, _) = session.path(&PathSpec { lambda_min: 1e-3, ..PathSpec::default() }, hooks).unwrap();
    assert!(model.lambdas.len() > 1);
    let bytes = std::fs::read(&path).unwrap();
    assert!(!Checkpoint::from_bytes(&bytes).unwrap().outer.is_empty());
    assert_all_refused("the checkpoint", &bytes, |bytes| Checkpoint::from_bytes(bytes).map(drop));
    assert_all_refused("the path", &model.to_bytes().unwrap(), |bytes| ModelFile::from_bytes(bytes).map(drop));
}

/// Sound points are verified, whatever the solver remembers of them.
#[test]
fn sound_points_are_verified() {
    for solver in ["fw", "bcfw", "mp-bcfw-avg", "bcpfw"] {
        let folder = tempfile::tempdir().unwrap();
        let (session, model, checkpoint) = words(folder.path(), solver);
        let mut run = session.restored(&checkpoint).unwrap();
        let found = verify(
            session.problem(),
            session.lambda(),
            &run.dual_points(),
            &session.problem().from_file_layout(&model.w),
        );
        assert_eq!(found.fault, None, "{solver}");
        assert!(found.relative_difference < 1e-12 && found.dual.is_some(), "{solver}: {found:?}");
        assert_eq!(found.planes_rebuilt > 0, solver == "bcpfw", "{solver}");
    }
}

/// A mass, a coefficient, a labelling or a value that is not what it says is found.
#[test]
fn faults_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for (solver, faults) in [("bcpfw", 5), ("bcfw", 2)] {
        let (session, model, checkpoint) = words(folder.path(), solver);
        let mut run = session.restored(&checkpoint).unwrap();
        let other: Vec<u32> = vec![25; 64];
        let mut plane = multiplane::plane::Plane::new();
        plane.push(0, 1e-3);
        plane.set_circ(10.0);
        for fault in 0..faults {
            let mut point = run.dual_points().remove(0);
            match (fault, &mut point.parts[2]) {
                (0, _) => point.value *= 1.0 + 1e-6,
                (1, CertificatePart::Plane(part)) => *part = plane.view(),
                (1, CertificatePart::Masses { planes, .. }) => planes[0].circ += 1e-6,
                (2, CertificatePart::Masses { truth, .. }) => *truth += 1e-3,
                (3, CertificatePart::Masses { planes, .. }) => planes[0].code = &other[..planes[0].code.len()],
                (4, CertificatePart::Masses { planes, .. }) => {
                    let extra = planes[0];
                    planes[0].mass += 1.5;
                    planes.push(WeightedPlane { mass: -1.5, ..extra });
                }
                _ => unreachable!(),
            }
            let found =
                verify(session.problem(), session.lambda(), &[point], &session.problem().from_file_layout(&model.w));
            assert!(found.fault.is_some(), "{solver}: fault {fault} was not found");
        }
    }
}

/// A session goes on from its own checkpoints alone: another solver, lambda or seed is named; new stops are not in the way.
#[test]
fn foreign_checkpoints_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_, _, checkpoint) = words(folder.path(), "fw");
    let resumed = |key: &str, value: serde_json::Value| {
        let mut tree = json!({"task": "chain", "solver": "fw", "stop": {"passes": 4}, "clock": "work"});
        tree[key] = value;
        let spec = RunSpec::from_tree(tree.as_object().unwrap()).unwrap();
        let session = Session::on(spec, Dataset::new(synthetic_words(6, 0)), None).unwrap();
        session.run(RunOptions { resume: Some(checkpoint.clone()), ..RunOptions::default() }).map(drop)
    };
    for (key, value) in [("lambda", json!(0.05)), ("seed", json!(3)), ("oracle", json!({"delay_us": 1.0}))] {
        let error = resumed(key, value).unwrap_err();
        assert!(matches!(error, multiplane::Error::Input(_)) && error.to_string().contains(key), "{key}: {error}");
    }
    resumed("threads", json!(2)).unwrap();
}

/// What planes may lie above their hinges is measured by the losses of their own examples, which are 1/n of all: many small
/// lies do not add up to a large one.
#[test]
fn small_lies_of_many_blocks_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows");
    let n = 1000;
    let row = |i: usize| format!("{} 1:{} 2:1\n", i % 2, (i % 2) as f64 + (i % 7) as f64 / 10.0);
    std::fs::write(&rows, (0..n).map(row).collect::<String>()).unwrap();
    let tree = json!({"task": "binary", "solver": "bcfw", "lambda": 100.0, "stop": {"passes": 300}, "clock": "work"});
    let spec = RunSpec::from_tree(tree.as_object().unwrap()).unwrap();
    let session = Session::on(spec, data::read(&rows, None).unwrap(), None).unwrap();
    let path = folder.path().join("c");
    let checkpointer = Checkpointer::open(&path, None, Box::new(Outputs::default), Box::new(|_| {})).unwrap();
    let hooks = RunOptions { checkpointer: Some(checkpointer), ..RunOptions::default() };
    let (model, _) = session.run(hooks).unwrap();
    let mut run = session.restored(&Checkpoint::load(&path).unwrap()).unwrap();
    let honest = run.dual_points().remove(0);
    let found = verify(
        session.problem(),
        session.lambda(),
        std::slice::from_ref(&honest),
        &session.problem().from_file_layout(&model.w),
    );
    assert_eq!(found.fault, None);
    // At lambda 100 every example is on its other label: its plane is its hinge, and may not lie higher.
    let mut point = honest;
    for part in &mut point.parts {
        let CertificatePart::Plane(plane) = part else { panic!("bcfw keeps one plane for each example") };
        plane.circ += 9e-10;
        point.value += 9e-10;
    }
    let found = verify(session.problem(), session.lambda(), &[point], &session.problem().from_file_layout(&model.w));
    assert!(found.fault.as_ref().is_some_and(|fault| fault.contains("above its hinge")), "{found:?}");
}
