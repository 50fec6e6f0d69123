//! Small trained things: models, paths, grids and checkpoints of several tasks, with the data that they belong to.

use std::path::Path;

use multiplane::dataset::Dataset;
use multiplane::run::GapTarget;
use multiplane::{
    Checkpoint, Checkpointer, GridPoints, GridSpec, Outer, Outputs, PathSpec, RunOptions, RunSpec, Session, data, synth,
};
use serde_json::{Value, json};

/// A way to train, and on what.
pub(crate) struct Training {
    pub(crate) tree: Value,
    pub(crate) outer: Option<Outer>,
    pub(crate) data: fn() -> Dataset,
}

/// A model file and a checkpoint.
pub(crate) struct Trained {
    pub(crate) model: Vec<u8>,
    pub(crate) checkpoint: Vec<u8>,
}

/// Labelled rows.
pub(crate) fn rows() -> Dataset {
    const TEXT: &str = "1 1:1 2:-1\n2 1:2\n3 3:0.5\n2 2:1 3:1\n1 1:1\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    std::fs::write(&path, TEXT).unwrap();
    data::read(&path, None).unwrap()
}

/// Two words of the alphabet's first letters, as small as sequences are.
fn words() -> Dataset {
    Dataset::new(synth::synthetic_chunks(3, 0))
}

fn scenes() -> Dataset {
    Dataset::new(synth::synthetic_scenes(5, 0))
}

fn graphs() -> Dataset {
    Dataset::new(synth::synthetic_graphs(1, 0))
}

fn rotamers() -> Dataset {
    Dataset::new(synth::synthetic_rotamers(1, 0))
}

fn boxes() -> Dataset {
    Dataset::new(data::boxes::Boxes::new(&synth::synthetic_boxes(2, 0)).unwrap())
}

fn poses() -> Dataset {
    Dataset::new(data::poses::Poses::new(&synth::synthetic_poses(2, 0)).unwrap())
}

fn trees() -> Dataset {
    Dataset::new(synth::synthetic_trees(3, 0))
}

fn single(task: Value, solver: &str, data: fn() -> Dataset) -> Training {
    let tree = json!({"task": task, "solver": solver, "stop": {"passes": 2}, "clock": "work", "lambda": 0.5});
    Training { tree, outer: None, data }
}

/// Single runs: every task, kernels, scaled features, several solvers.
pub(crate) fn single_runs() -> Vec<Training> {
    let scaled = json!({"name": "multiclass", "scale": "standard", "bias": true});
    vec![
        single(json!({"name": "multiclass", "bias": true}), "bcfw", rows),
        single(json!({"name": "multiclass", "kernel": "rbf"}), "bcfw", rows),
        single(scaled, "bcpfw-gap-cache", rows),
        single(json!("chain"), "mp-bcfw-avg", words),
        single(json!("multilabel"), "fw", scenes),
        single(json!("graph"), "auto", graphs),
        single(json!("mrf"), "bcfw", rotamers),
        single(json!("tree"), "bcfw", trees),
        single(json!("box"), "auto", boxes),
        single(json!({ "name": "pose", "template": 1 }), "auto", poses),
    ]
}

/// A path, a path with a kernel, and a grid.
pub(crate) fn loops() -> Vec<Training> {
    let looped = |task: Value, solver: &str, outer| Training {
        tree: json!({"task": task, "solver": solver, "stop": {"passes": 60}, "clock": "work"}),
        outer: Some(outer),
        data: rows,
    };
    let path = || Outer::Path(PathSpec { lambda_min: 0.05, ..PathSpec::default() });
    let points = GridPoints::Even { count: 3, from: Some(1.0), to: 0.1 };
    let grid = Outer::Grid(GridSpec { points, gap: GapTarget::Absolute(0.1), warm_start: None, start_gap: 0.1 });
    vec![
        looped(json!("multiclass"), "bcpfw-gap-cache", path()),
        looped(json!({"name": "multiclass", "kernel": "rbf"}), "bcpfw-gap-cache", path()),
        looped(json!("multiclass"), "bcfw", grid),
    ]
}

impl Training {
    /// A session that has not begun.
    pub(crate) fn session(&self) -> Session {
        let spec = RunSpec::from_tree(self.tree.as_object().unwrap()).unwrap();
        Session::on(spec, (self.data)(), None).unwrap()
    }

    /// Trains, or goes on from a checkpoint; returns the model file.
    ///
    /// # Errors
    ///
    /// Those of the session.
    pub(crate) fn run(
        &self,
        resume: Option<Checkpoint>,
        checkpoint: Option<&Path>,
    ) -> Result<Vec<u8>, multiplane::Error> {
        let open = |path| Checkpointer::open(path, None, Box::new(Outputs::default), Box::new(|_| {})).unwrap();
        let hooks = RunOptions { resume, checkpointer: checkpoint.map(open), ..RunOptions::default() };
        let session = self.session();
        match &self.outer {
            None => session.run(hooks)?.0.to_bytes(),
            Some(Outer::Path(path)) => session.path(path, hooks)?.0.to_bytes(),
            Some(Outer::Grid(grid)) => session.grid(grid, hooks)?.0.to_bytes(),
        }
    }

    /// Trains to the end.
    pub(crate) fn trained(&self) -> Trained {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        let model = self.run(None, Some(&path)).unwrap_or_else(|error| panic!("{}: {error}", self.tree));
        Trained { model, checkpoint: std::fs::read(&path).unwrap() }
    }
}
