//! The program on the public data sets: certified brackets that must hold the published or long-computed optima.

mod common;
#[path = "../../testkit/tests/common/real_data.rs"]
mod real_data;

use std::path::Path;

use common::{Scratch, number, run};
use real_data::file;
use serde_json::{Map, Value};

/// No training here may take longer, in seconds.
const PATIENCE: f64 = 20.0;

/// Trains with a certificate, checks the bracket against the optimal value, rounded to `digits` decimals, and has the
/// model verified.
fn certified(data: &Path, test: Option<&Path>, arguments: &str, optimum: f64, digits: i32) -> Map<String, Value> {
    let scratch = Scratch::new();
    let mut train = scratch.command("train --json --out model --data");
    train.arg(data).args(arguments.split(' '));
    if let Some(test) = test {
        train.arg("--test").arg(test);
    }
    let ran = run(&mut train);
    let said = ran.stderr.lines().filter(|line| !line.starts_with("hint: the training loss is")).count();
    assert_eq!((ran.code, said), (Some(0), 0), "{}", ran.stderr);
    assert!(ran.seconds < PATIENCE, "it took {} s", ran.seconds);
    let summary = ran.object();
    let (primal, dual) = (number(&summary, "primal"), number(&summary, "dual"));
    assert_eq!((&summary["certified"], &summary["stop_reason"]), (&true.into(), &"gap".into()));
    let rounding = 0.5 * 10f64.powi(-digits);
    assert!(dual <= optimum + rounding && primal >= optimum - rounding, "[{dual}, {primal}] lacks {optimum}");
    let verified = run(scratch.command("verify --model model --data").arg(data));
    assert_eq!(verified.code, Some(0), "{}{}", verified.stdout, verified.stderr);
    summary
}

/// "OCR small": fold 0 has 626 words and 4004 weights; its optimum at lambda = 1/n is 0.0764.
#[test]
fn ocr_fold_0() {
    let Some(data) = file("ocr_fold_0", "ocr/letter.data.gz") else { return };
    let arguments = "--task chain --solver mp-bcfw --set data.folds=0 --gap 0.05";
    let summary = certified(&data, None, arguments, 0.0764, 4);
    assert_eq!((&summary["n"], &summary["d"]), (&626.into(), &4004.into()));
    assert!(number(&summary, "gap") <= 0.05);
    assert!((number(&summary, "lambda") - 1.0 / 626.0).abs() < 1e-15);
}

/// USPS digits: 7291 rows of 256 pixels in ten classes; the optimum at lambda = 1/n is 0.01659. Of the test digits
/// one in ten is wrong.
#[test]
fn usps_digits() {
    let Some(data) = file("usps_digits", "usps/usps.gz") else { return };
    let Some(test) = file("usps_digits", "usps/usps.t.gz") else { return };
    let summary = certified(&data, Some(&test), "--task multiclass --gap 0.05", 0.01659, 5);
    assert_eq!((&summary["n"], &summary["d"]), (&7291.into(), &2560.into()));
    assert!(number(&summary, "gap") <= 0.05);
    assert!((0.09..0.12).contains(&number(&summary, "test_loss")));
}

/// a9a: 32561 rows of 123 features to 1 %; the optimum at lambda = 1/n is 0.351 to that accuracy, and the test error
/// of a linear SVM 15 %.
#[test]
fn a9a() {
    let Some(data) = file("a9a", "binary/a9a.gz") else { return };
    let Some(test) = file("a9a", "binary/a9a.t.gz") else { return };
    let summary = certified(&data, Some(&test), "--task binary --gap 1%", 0.351, 3);
    assert_eq!((&summary["n"], &summary["d"]), (&32561.into(), &123.into()));
    assert!(number(&summary, "gap") <= 0.01 * number(&summary, "primal"));
    assert!((0.145..0.16).contains(&number(&summary, "test_loss")));
}

/// CoNLL-2000 chunking with the usual templates: 338 thousand features of 22 labels each, and after a few passes a test
/// F1 beyond 93 %. The loss and lambda were chosen on sentences held out from training.
#[test]
fn conll_chunking() {
    let Some(data) = file("conll_chunking", "conll2000/train.txt.gz") else { return };
    let Some(test) = file("conll_chunking", "conll2000/test.txt.gz") else { return };
    let scratch = Scratch::new();
    let train = "train --task chain --solver bcfw-avg --passes 6 --lambda 0.0011 --set task.loss=hamming-sum";
    let ran = run(scratch.command(&format!("{train} --json --out model --data")).arg(&data));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.seconds < PATIENCE, "it took {} s", ran.seconds);
    let summary = ran.object();
    assert_eq!((&summary["n"], &summary["d"], &summary["certified"]), (&8936.into(), &7448606.into(), &true.into()));
    assert!(number(&summary, "dual") <= 1.32 && number(&summary, "primal") >= 1.17, "{summary:?}");
    let ran = run(scratch.command("evaluate --model model --json --data").arg(&test));
    let warnings = ran.complaints("warning:");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].starts_with("warning: 2 tokens have a label that training never saw"), "{warnings:?}");
    let found = ran.object();
    assert_eq!((&found["n"], &found["chunks"]), (&2012.into(), &23852.into()));
    assert!(number(&found, "f1") >= 0.93, "{found:?}");
    let verified = run(scratch.command("verify --model model --data").arg(&data));
    assert_eq!(verified.code, Some(0), "{}{}", verified.stdout, verified.stderr);
}

/// The answer to a problem file of the public set; `None` where it is absent.
fn inferred(test: &str, name: &str, arguments: &str) -> Option<Map<String, Value>> {
    let path = file(test, name)?;
    let scratch = Scratch::new();
    let ran = run(scratch.command("infer --json --data").arg(path).args(arguments.split_whitespace()));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{name}");
    Some(ran.object())
}

/// Flows of networks are the published ones.
#[test]
fn published_flows() {
    for (name, flow) in [("gl1", 156545), ("wlm3", 11875108), ("ak-4102", 8207)] {
        let Some(answer) = inferred("published_flows", &format!("maxflow/{name}.max.gz"), "") else { return };
        assert_eq!((answer["flow"].as_i64(), &answer["exact"]), (Some(flow), &true.into()), "{name}");
    }
}

/// Whatever engine the program chooses: the bound is not above the proven optimum, the energy not below it, and an
/// answer that claims to be exact is.
#[test]
fn answers_bracket_proven_optima() {
    for (name, optimum) in [
        ("seg_binary/10_14_s.binary.uai", 85.762023302),
        ("seg_binary/11_3_s.binary.uai", 62.333204797),
        ("grid/grid10x10.f10.uai", -695.824870439),
        ("protein/1aie.uai", 4.635273362),
        ("toulbar2/celar6sub0.wcsp", 159.0),
        ("toulbar2/1aho.cfn", -33.729920),
    ] {
        let answer = inferred("answers_bracket_proven_optima", &format!("mrf/{name}.gz"), "--seconds 2");
        let Some(answer) = answer else { continue };
        let energy = number(&answer, "energy");
        assert!(energy >= optimum - 1e-6, "{name}: {energy} is below the optimum");
        assert!(answer["bound"].as_f64().is_none_or(|bound| bound <= optimum + 1e-6), "{name}: {}", answer["bound"]);
        assert!(answer["exact"] == false || energy <= optimum + 1e-6, "{name}: {energy} is not exact");
    }
}
