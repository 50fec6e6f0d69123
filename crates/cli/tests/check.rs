//! `check` end to end: built-in tasks are sound, faults planted into the template of an external program are named.
//! Programs need `python3`; without it those tests say so and pass.

mod common;

use std::path::Path;
use std::process::Command;

use common::{Ran, Scratch, assert_keys, samples};

fn data() -> Scratch {
    let rows = samples::rows(60, &[1, 2, 3], 4);
    Scratch::new().with("three.svm", rows).with("letter.data", samples::letters(20, 64))
}

/// Examines the template with some texts put in others' places.
fn check_template(scratch: &Scratch, changes: &[(&str, &str)]) -> Option<Ran> {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return None;
    }
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/external/multiclass.py");
    let mut program = std::fs::read_to_string(template).unwrap();
    for (before, after) in changes {
        assert!(program.contains(before), "{before}");
        program = program.replacen(before, after, 1);
    }
    scratch.write("oracle.py", program);
    let mut command = scratch.command("check --task external --data three.svm --json");
    Some(common::run(command.args(["--set", "task.command=python3 oracle.py"])))
}

/// Built-in tasks and the template as it is are sound: exit code 0, no finding, a profile.
#[test]
fn sound_tasks_exit_0() {
    let scratch = data();
    for task in ["multiclass --data three.svm", "chain --data letter.data"] {
        let found = scratch.json(&format!("check --task {task}"));
        assert_keys(&found, "task n d sound findings profile");
        assert_eq!((&found["sound"], found["findings"].as_array().unwrap().len()), (&true.into(), 0), "{found:?}");
        assert!(found["profile"]["decode_calls"].as_u64().unwrap() > 100);
        let text = scratch.succeed(&format!("check --task {task} --examples 5 --seed 3")).stdout;
        assert!(text.contains("no fault was found") && text.contains("5 of them decoded"), "{text}");
    }
    let Some(ran) = check_template(&scratch, &[]) else { return };
    assert_eq!((ran.code, &ran.object()["sound"]), (Some(0), &true.into()), "{}", ran.stdout);
}

/// A mistake: texts of the template with what stands in their places, the finding, part of its cause.
type Mistake<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);

/// Each mistake in an external program is named with its cause; exit code 1.
#[test]
fn faults_of_programs_are_named() {
    let scratch = data();
    let (entry, delta, known) = ("[[start + index, value] for", "return float(y != truth)", "if y not in CLASSES:");
    let all = "return [[start + index, value] for index, value in x if index < WIDTH]";
    let cases: [Mistake<'_>; 11] = [
        (&[("else loss(truth, y)))", "else 0.0))")], "loss-ignored", "loss is left out"),
        (&[(entry, "[[start + index + 1, value] for")], "index-out-of-range", "off by one"),
        (&[(delta, "return 1.0")], "loss-of-truth", "adds a constant"),
        (&[(delta, "return -float(y != truth)")], "negative-loss", "gain"),
        (&[(delta, "return float('nan')")], "loss-not-finite", "division by 0"),
        (&[(entry, "[[start + index, float('nan')] for")], "feature-not-finite", "missing"),
        (&[(all, "return [1.0, 2.0]")], "feature-length", "another dimension"),
        (
            &[("answers = [decode(", "import random; answers = [random.choice(CLASSES) or (")],
            "non-deterministic",
            "chance",
        ),
        (
            &[
                ("return max(CLASSES", "return str(max(CLASSES"),
                ("truth, y)))", "truth, y))))"),
                (known, "if type(y) is str:"),
            ],
            "wrong-label-type",
            "another form",
        ),
        (&[("return sum(value * w[start", "return -sum(value * w[start")], "score-mismatch", "a sign"),
        (&[(known, "if i == 7: raise KeyError(y)\n    if y not in CLASSES:")], "oracle-error", "raised an error"),
    ];
    for (changes, kind, cause) in cases {
        let Some(ran) = check_template(&scratch, changes) else { return };
        assert_eq!(ran.code, Some(1), "{kind}: {}{}", ran.stdout, ran.stderr);
        let found = ran.object();
        let findings = found["findings"].as_array().unwrap();
        let named = findings.iter().find(|finding| finding["kind"] == kind);
        let named = named.unwrap_or_else(|| panic!("{kind}: {findings:#?}"));
        assert!(named["cause"].as_str().unwrap().contains(cause), "{named:#?}");
        assert!(named["example"].is_u64() && named["count"].as_u64() > Some(0), "{named:#?}");
    }
}

/// Bad usage is refused with exit code 2, and nothing else is said.
#[test]
fn bad_usage_exits_2() {
    let scratch = data();
    for (arguments, part) in [
        ("check", "no task given"),
        ("check --task chain", "no data given"),
        ("check --task chain --data missing", "missing"),
        ("check --task multiclass --data three.svm --examples 0", "examples = 0"),
        ("check --task multiclass --data three.svm --passes 0", "passes = 0"),
        ("check --task multiclass --data three.svm --set task.bia=true", "did you mean `bias`"),
    ] {
        let ran = scratch.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(part), "{arguments}: {}", ran.stderr);
    }
}
