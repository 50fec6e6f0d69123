//! `verify` does not call true what a file says of itself and cannot be: values of the model that its own numbers, its
//! weights or its checkpoint contradict, and paths that lack rows.

mod common;

use common::{Scratch, samples};
use multiplane::{Model, ModelFile, PathModel};

/// Its name, what it changes, and whether it contradicts the model itself.
type Lie = (&'static str, fn(&mut Model), bool);

fn scratch() -> Scratch {
    Scratch::new().with("rows.svm", samples::rows(60, &[1, 2, 3], 4))
}

/// A dual, gap or certificate that was put into the metadata, with the right checksum, is found: with the checkpoint of the
/// run's end all of them, without it what contradicts itself.
#[test]
fn claims_of_a_model_are_compared() {
    let scratch = scratch();
    scratch.succeed(
        "train --task multiclass --data rows.svm --passes 4 --clock work --quiet --out m --checkpoint c --solver bcfw",
    );
    let verify = |model: &str, rest: &str| scratch.run(&format!("verify --model {model} --data rows.svm {rest}"));
    for rest in ["", "--checkpoint c"] {
        let sound = verify("m", rest);
        assert_eq!(sound.code, Some(0), "{rest}: {}", sound.stderr);
    }
    let sound = Model::load(&scratch.path("m")).unwrap();
    let changed = |change: fn(&mut Model)| {
        let mut model = sound.clone();
        change(&mut model);
        model.save(&scratch.path("changed")).unwrap();
    };
    let lies: [Lie; 5] = [
        (
            "a dual of 999",
            |model| (model.info.certificate.dual, model.info.certificate.gap) = (Some(999.0), Some(-998.0)),
            true,
        ),
        ("a gap of 1e-9", |model| model.info.certificate.gap = Some(1e-9), true),
        ("no dual", |model| model.info.certificate.dual = None, true),
        ("no gap", |model| model.info.certificate.gap = None, true),
        (
            "a dual near the primal",
            |model| {
                let certificate = &mut model.info.certificate;
                let dual = certificate.primal - 1e-9;
                (certificate.dual, certificate.gap) = (Some(dual), Some(certificate.primal - dual));
            },
            false,
        ),
    ];
    for (name, change, without) in lies {
        changed(change);
        let found = verify("changed", "--checkpoint c --json");
        assert_eq!(found.code, Some(1), "{name}, with the checkpoint: {}", found.stdout);
        assert!(found.object()["fault"].is_string(), "{name}: {}", found.stdout);
        let found = verify("changed", "");
        assert_eq!(found.code, Some(i32::from(without)), "{name}: {}", found.stderr);
    }
}

/// A path without some of its rows, or with a dual that is too low for eps, is not what it says.
#[test]
fn thinned_paths_are_noticed() {
    let scratch = scratch();
    scratch.succeed("path --task multiclass --data rows.svm --eps 0.05 --lambda-min 1e-2 --clock work --quiet --out p");
    let verify = |model: &str| scratch.run(&format!("verify --model {model} --data rows.svm --json"));
    assert_eq!(verify("p").code, Some(0), "{}", verify("p").stdout);
    let ModelFile::Path(whole) = ModelFile::load(&scratch.path("p")).unwrap() else { panic!("no path") };
    let rows = whole.lambdas.len();
    assert!(rows > 6, "{rows} rows");
    let keep = [0, 1, rows - 1];
    let kept = |values: &[f64]| keep.map(|k| values[k]).to_vec();
    let thinned = PathModel {
        lambdas: kept(&whole.lambdas),
        primal: kept(&whole.primal),
        dual: kept(&whole.dual),
        w: keep.iter().flat_map(|&k| whole.row(k).to_vec()).collect(),
        info: whole.info.clone(),
    };
    thinned.save(&scratch.path("thinned")).unwrap();
    let mut loose = whole.clone();
    loose.dual[1] -= 0.1;
    loose.save(&scratch.path("loose")).unwrap();
    for model in ["thinned", "loose"] {
        let found = verify(model);
        assert_eq!(found.code, Some(1), "{model}: {}", found.stdout);
        assert!(found.object()["fault"].as_str().is_some_and(|fault| fault.contains("above eps")), "{}", found.stdout);
    }
}

/// A model whose budget had no room for a certificate claims none: there is nothing to be untrue, and verify says so.
#[test]
fn a_model_without_a_certificate_claims_nothing() {
    let scratch = scratch();
    scratch.succeed("train --task multiclass --data rows.svm --passes 0.5 --clock work --quiet --out m");
    let found = scratch.succeed("verify --model m --data rows.svm");
    assert!(found.stdout.contains("the model claims none, and so no certificate"), "{}", found.stdout);
    let found = scratch.json("verify --model m --data rows.svm");
    assert_eq!((&found["verified"], &found["reported_primal"]), (&true.into(), &().into()));
}
