//! Paths and grids that are cut short and resumed end with the bytes of those that never stopped, and checkpoints are
//! gone on with by what wrote them alone.

use std::path::Path;

use multiplane::dataset::Dataset;
use multiplane::run::GapTarget;
use multiplane::synth::synthetic_words;
use multiplane::{
    Checkpoint, Checkpointer, Error, GridPoints, GridSpec, Outer, Outputs, PathModel, PathSpec, PathSummary,
    RunOptions, RunSpec, Session, WarmStart,
};
use serde_json::{Value, json};

fn session(solver: &Value, stop: &Value) -> Session {
    session_of(&json!("chain"), solver, stop)
}

fn session_of(task: &Value, solver: &Value, stop: &Value) -> Session {
    let tree = json!({"task": task, "solver": solver, "stop": stop, "clock": "work", "seed": 5});
    let mut spec = RunSpec::from_tree(tree.as_object().unwrap()).unwrap();
    spec.stop.gap = None;
    Session::on(spec, Dataset::new(synthetic_words(14, 3)), None).unwrap()
}

fn checkpointer(path: &Path) -> Checkpointer {
    Checkpointer::open(path, None, Box::new(Outputs::default), Box::new(|text| panic!("{text}"))).unwrap()
}

fn drive(session: &Session, outer: &Outer, hooks: RunOptions) -> Result<(PathModel, PathSummary), Error> {
    match outer {
        Outer::Path(path) => session.path(path, hooks),
        Outer::Grid(grid) => session.grid(grid, hooks),
    }
}

fn path() -> Outer {
    Outer::Path(PathSpec { eps: 0.2.into(), lambda_min: 0.02, kappa: 0.9, lambda_max: None })
}

fn grid(points: GridPoints, warm_start: Option<WarmStart>) -> Outer {
    Outer::Grid(GridSpec { points, gap: GapTarget::Absolute(0.1), warm_start, start_gap: 0.1 })
}

/// Model and report of a loop that is cut after each of these numbers of oracle calls, and goes on from its checkpoint.
fn in_pieces(solver: &Value, outer: &Outer, cuts: &[u64], folder: &Path) -> (Vec<u8>, String) {
    in_pieces_of(&json!("chain"), solver, outer, cuts, folder)
}

fn in_pieces_of(task: &Value, solver: &Value, outer: &Outer, cuts: &[u64], folder: &Path) -> (Vec<u8>, String) {
    let place = folder.join("c");
    let mut resume = None;
    for &calls in cuts {
        let hooks =
            RunOptions { checkpointer: Some(checkpointer(&place)), resume: resume.take(), ..RunOptions::default() };
        match drive(&session_of(task, solver, &json!({"calls": calls})), outer, hooks) {
            Ok((_, summary)) => assert!(summary.checkpoints.unwrap().failure.is_none()),
            Err(error) => assert!(error.to_string().contains("the newest sound checkpoint is"), "{error}"),
        }
        resume = Some(Checkpoint::load(&place).unwrap());
    }
    let hooks = RunOptions { resume, ..RunOptions::default() };
    let (model, summary) = drive(&session_of(task, solver, &json!({"calls": 1_000_000})), outer, hooks).unwrap();
    (model.to_bytes().unwrap(), serde_json::to_string(&summary).unwrap())
}

/// Cuts in the search for the start, inside of points, between them and at the end.
#[test]
fn loops_in_pieces_end_the_same() {
    let even = || GridPoints::Even { count: 4, from: None, to: 0.02 };
    let list = || GridPoints::List(vec![1.0, 0.1, 0.02]);
    let loops = [
        path(),
        grid(even(), Some(WarmStart::KeepPrimal)),
        grid(list(), Some(WarmStart::KeepPrimal)),
        grid(list(), Some(WarmStart::KeepDual)),
        grid(even(), None),
    ];
    for solver in ["auto", "mp-bcfw", "bcfw-gap-cache"].map(Value::from) {
        for (number, outer) in loops.iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let whole = in_pieces(&solver, outer, &[], folder.path());
            let last = serde_json::from_str::<Value>(&whole.1).unwrap()["oracle_calls"].as_u64().unwrap();
            let cuts: Vec<u64> = [1, 29, 200, 201, 203, last / 2, last - 1, last + 1].into();
            let mut cuts: Vec<u64> = cuts.into_iter().filter(|&calls| calls <= last + 1).collect();
            cuts.sort_unstable();
            let pieces = in_pieces(&solver, outer, &cuts, folder.path());
            assert!(pieces.0 == whole.0, "{solver}, loop {number}: the model differs, cut at {cuts:?} of {last}");
            assert_eq!(pieces.1, whole.1, "{solver}, loop {number}");
        }
    }
}

/// With a kernel as without, its values counted.
#[test]
fn loops_with_kernels_in_pieces_end_the_same() {
    let kernel = json!({"name": "chain", "kernel": {"name": "rbf", "gamma": 0.2}, "bias": true});
    let loops = [
        path(),
        grid(GridPoints::Even { count: 3, from: None, to: 0.02 }, Some(WarmStart::KeepPrimal)),
        grid(GridPoints::List(vec![1.0, 0.1]), Some(WarmStart::KeepDual)),
    ];
    let report = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    for solver in ["auto", "mp-bcfw"].map(Value::from) {
        for (number, outer) in loops.iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let whole = in_pieces_of(&kernel, &solver, outer, &[], folder.path());
            let last = report(&whole.1)["oracle_calls"].as_u64().unwrap();
            let pieces = in_pieces_of(&kernel, &solver, outer, &[9, 29, last / 2, last - 1], folder.path());
            assert!(pieces.0 == whole.0, "{solver}, loop {number}: the model differs");
            assert_eq!(report(&pieces.1), report(&whole.1), "{solver}, loop {number}");
        }
    }
}

/// Any checkpoint written on the way leads to the same end.
#[test]
fn every_checkpoint_on_the_way_will_do() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("c");
    let solver = json!("mp-bcfw");
    let whole = in_pieces(&solver, &path(), &[], folder.path());
    // Every write is a chance to look at the file of the write before.
    let (seen, from) = (std::rc::Rc::new(std::cell::RefCell::new(Vec::new())), place.clone());
    let outputs = {
        let seen = seen.clone();
        move || {
            seen.borrow_mut().extend(Checkpoint::load(&from));
            Outputs::default()
        }
    };
    let every = Checkpointer::open(&place, Some(1e-9), Box::new(outputs), Box::new(|_| {})).unwrap();
    let session = session(&solver, &json!({"calls": 1_000_000}));
    drive(&session, &path(), RunOptions { checkpointer: Some(every), ..RunOptions::default() }).unwrap();
    let seen = seen.take();
    assert!(seen.len() > 20, "{} checkpoints", seen.len());
    for checkpoint in seen.into_iter().step_by(5) {
        let (model, summary) =
            drive(&session, &path(), RunOptions { resume: Some(checkpoint), ..RunOptions::default() }).unwrap();
        assert!(model.to_bytes().unwrap() == whole.0);
        assert_eq!(serde_json::to_string(&summary).unwrap(), whole.1);
    }
}

/// What would be another path, grid or run is refused with what differs.
#[test]
fn other_loops_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("c");
    let session = session(&json!("mp-bcfw"), &json!({"calls": 1000}));
    let saved = |outer: Option<&Outer>| {
        let hooks = RunOptions { checkpointer: Some(checkpointer(&place)), ..RunOptions::default() };
        match outer {
            Some(outer) => drop(drive(&session, outer, hooks).unwrap()),
            None => drop(session.run(hooks).unwrap()),
        }
        Checkpoint::load(&place).unwrap()
    };
    let resumed = |from: &Checkpoint, outer: Option<&Outer>| {
        let hooks = RunOptions { resume: Some(from.clone()), ..RunOptions::default() };
        match outer {
            Some(outer) => drive(&session, outer, hooks).err(),
            None => session.run(hooks).err(),
        }
        .map(|error| error.to_string())
    };
    let list = |lambdas: &[f64]| GridPoints::List(lambdas.to_vec());
    let some_grid = grid(list(&[1.0, 0.1]), None);
    let (of_path, of_grid, of_run) = (saved(Some(&path())), saved(Some(&some_grid)), saved(None));
    let finer = Outer::Path(PathSpec { eps: 0.1.into(), lambda_min: 0.02, kappa: 0.9, lambda_max: None });
    for (from, to, message) in [
        (&of_path, None, "the checkpoint of a path, not of a training run"),
        (&of_grid, None, "the checkpoint of a grid, not of a training run"),
        (&of_run, Some(&path()), "the checkpoint of a training run, not of a path"),
        (&of_run, Some(&some_grid), "the checkpoint of a training run, not of a grid"),
        (&of_grid, Some(&path()), "the checkpoint of a grid, not of a path"),
        (&of_path, Some(&some_grid), "the checkpoint of a path, not of a grid"),
        (&of_path, Some(&finer), "eps: the checkpoint has 0.2, found 0.1: a path is resumed as it was begun"),
        (&of_grid, Some(&grid(list(&[1.0, 0.2]), None)), "points.list: the checkpoint has [1.0,0.1], found [1.0,0.2]"),
        (&of_grid, Some(&grid(list(&[1.0, 0.1]), Some(WarmStart::KeepDual))), "warm_start: the checkpoint has null"),
    ] {
        let error = resumed(from, to).expect(message);
        assert!(error.contains(message), "{error}\nexpected: {message}");
    }
    assert!(session.restored(&of_path).err().unwrap().to_string().contains("the checkpoint of a path"));
    // A position that does not fit is no panic.
    let swapped = Checkpoint { outer: of_grid.outer.clone(), ..of_path.clone() };
    assert!(resumed(&swapped, Some(&path())).unwrap().contains("the checkpoint: "));
    for len in (0..40).chain((40..of_path.outer.len()).step_by(4001)) {
        let cut = Checkpoint { outer: of_path.outer[..len].to_vec(), ..of_path.clone() };
        assert!(resumed(&cut, Some(&path())).unwrap().contains("the checkpoint: "));
    }
}
