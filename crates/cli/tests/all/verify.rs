//! `verify` does not call true what a file says of itself and cannot be: values of the model that its own numbers, its
//! weights or its checkpoint contradict, and paths that lack rows.

use crate::common::refusals::assert_refused;
use crate::common::{Scratch, number, samples};
use multiplane::observe::Certificate;
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
    let lies: [Lie; 7] = [
        ("one example more", |model| model.info.provenance.n += 1, true),
        (
            "weights 0 at another lambda",
            |model| {
                let dual = model.info.certificate.dual;
                model.w.fill(0.0);
                model.info.lambda *= 2.0;
                model.info.certificate = Certificate::new(1.0, dual, true);
            },
            true,
        ),
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

/// A label that was put in place of another, under either rescaling, leaves examples that the model does not know: an
/// error that says so.
#[test]
fn a_label_that_is_replaced_is_an_error() {
    for rescaling in ["margin", "slack"] {
        let scratch = scratch();
        let set = format!("--set task.rescaling={rescaling}");
        scratch.succeed(&format!("train --task multiclass --data rows.svm --passes 4 --quiet --out m {set}"));
        let mut model = Model::load(&scratch.path("m")).unwrap();
        model.info.provenance.vocabulary.labels[2] = "other".into();
        model.save(&scratch.path("changed")).unwrap();
        let found = scratch.run("verify --model changed --data rows.svm");
        let is_told = found.stderr.contains("a label that the model does not know")
            || found.stderr.contains("not the data that the model was trained on");
        assert!(found.code != Some(0) && is_told && !found.stderr.contains("panicked"), "{}", found.stderr);
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
        squares: Vec::new(),
        info: whole.info.clone(),
    };
    thinned.save(&scratch.path("thinned")).unwrap();
    let mut loose = whole.clone();
    loose.dual[1] -= 0.1;
    loose.save(&scratch.path("loose")).unwrap();
    let mut larger = whole.clone();
    larger.info.provenance.n += 1;
    larger.save(&scratch.path("larger")).unwrap();
    for (model, expected) in [("thinned", "above eps"), ("loose", "above eps"), ("larger", "61 examples")] {
        let found = verify(model);
        assert_eq!(found.code, Some(1), "{model}: {}", found.stdout);
        assert!(found.object()["fault"].as_str().is_some_and(|fault| fault.contains(expected)), "{}", found.stdout);
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

/// Rounding is no excuse for a bound on its wrong side: two equal columns of timestamps, of which 64-bit scores hold
/// nothing, with weights that cancel. A primal value below the true one is not true, by however little; the true one is.
#[test]
fn rounding_excuses_no_false_bound() {
    let scratch = Scratch::new();
    let rows: Vec<(f64, [f64; 3])> = (0..6)
        .map(|k| {
            let time = 1.6e18 + f64::from(k * k + 1) * 4.1e13;
            (if k % 2 == 0 { -1.0 } else { 1.0 }, [time, time, [0.023, 0.19, 0.535, -1.102, -0.788, 0.4][k as usize]])
        })
        .collect();
    let text: String = rows.iter().map(|(y, x)| format!("{y} 1:{:.0} 2:{:.0} 3:{}\n", x[0], x[1], x[2])).collect();
    std::fs::write(scratch.path("ts.svm"), text).unwrap();
    scratch.succeed("train --task binary --data ts.svm --passes 20 --clock work --quiet --out m");
    assert_eq!(scratch.json("verify --model m --data ts.svm")["verified"], true, "what training says is true");
    let mut model = Model::load(&scratch.path("m")).unwrap();
    model.w = vec![1e-4, -1e-4, 0.3];
    let hinges: f64 = rows.iter().map(|(y, x)| (1.0 - y * 0.3 * x[2]).max(0.0)).sum();
    let exact = 0.5 * model.info.lambda * (0.09 + 2e-8) + hinges / 6.0;
    for (share, code) in [(0.5, 1), (0.9, 1), (1.0 - 1e-3, 1), (1.0 - 1e-6, 1), (1.0 - 1e-8, 1), (1.0, 0)] {
        let primal = exact * share;
        let certificate = &mut model.info.certificate;
        (certificate.primal, certificate.dual, certificate.gap) = (primal, Some(primal), Some(0.0));
        certificate.certified = true;
        model.save(&scratch.path("forged")).unwrap();
        let found = scratch.run("verify --model forged --data ts.svm");
        assert_eq!(found.code, Some(code), "{share}: {}{}", found.stdout, found.stderr);
        assert_eq!(found.stdout.contains("NOT TRUE"), code == 1, "{share}: {}", found.stdout);
    }
}

/// Where the judge's own digits do not tell, `verify` says so instead of a verdict.
#[test]
fn what_cannot_be_verified_is_said_to_be_so() {
    let scratch = Scratch::new();
    let rows: String = (0..6).map(|k| format!("{} 1:{k}.5e70 2:{k}.5e70 3:0.5\n", 1 - 2 * (k % 2))).collect();
    std::fs::write(scratch.path("huge.svm"), rows).unwrap();
    scratch.succeed("train --task binary --data huge.svm --passes 5 --clock work --quiet --out m");
    let mut model = Model::load(&scratch.path("m")).unwrap();
    model.w = vec![1e-20, -1e-20, 0.1];
    let certificate = &mut model.info.certificate;
    (certificate.primal, certificate.dual, certificate.gap, certificate.certified) = (1.1, Some(1.1), Some(0.0), true);
    model.save(&scratch.path("forged")).unwrap();
    let found = scratch.run("verify --model forged --data huge.svm");
    assert_eq!(found.code, Some(1), "{}{}", found.stdout, found.stderr);
    assert!(found.stderr.contains("cannot be verified"), "{}{}", found.stdout, found.stderr);
}

/// A model of 32 bits is half as large, predicts the same, and has no certificate: its primal value is recomputed, not
/// compared. Nothing is overwritten or written for what is no model.
#[test]
fn narrow_models_claim_nothing() {
    let scratch = Scratch::new().with("letter.data", samples::letters(40, 64));
    let train = "train --task chain --data letter.data --lambda 0.01 --gap 5% --quiet --out m";
    let primal = number(&scratch.json(train), "primal");
    scratch.succeed("compact m --out small");
    let [wide, narrow] = ["m", "small"].map(|file| std::fs::metadata(scratch.path(file)).unwrap().len());
    assert!(wide > 18_000 && narrow < wide * 6 / 10, "{narrow} bytes after {wide}");
    let [wide, narrow] =
        ["m", "small"].map(|m| scratch.succeed(&format!("predict --data letter.data --model {m}")).stdout);
    assert_eq!(wide, narrow);
    let found = scratch.json("verify --model small --data letter.data");
    let near = (number(&found, "primal") - primal).abs();
    assert!(found["verified"] == true && found["reported_primal"].is_null() && near < 1e-6 * primal, "{found:?}");
    let said = scratch.succeed("verify --model small --data letter.data").stdout;
    assert!(said.contains("the model claims none, and so no certificate"), "{said}");
    assert!(scratch.succeed("show small").stdout.contains("not certified: its weights were rounded to 32 bits"));
    scratch.succeed("compact small --out again");
    assert!(std::fs::read(scratch.path("small")).unwrap() == std::fs::read(scratch.path("again")).unwrap());
    assert_refused(&scratch, "compact m --out m", "it would overwrite m");
    assert_refused(&scratch, "compact letter.data --out new", "it is not a model file");
    assert_refused(&scratch, "compact m --lambda 1 --out new", "is a model at one lambda");
    let mut huge = Model::load(&scratch.path("m")).unwrap();
    huge.w[5] = -1e39;
    huge.save(&scratch.path("huge")).unwrap();
    let ran = scratch.run("compact huge --out new");
    assert!(ran.code == Some(1) && ran.stderr.contains("weight 5 is -1e39: 32 bits hold at most"), "{}", ran.stderr);
    assert!(!scratch.path("new").exists());
}
