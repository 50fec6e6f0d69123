//! `check` end to end: built-in tasks are sound, faults planted into the template of an external program are named.
//! Programs need `python3`; without it those tests say so and pass.

use std::path::Path;
use std::process::Command;

use crate::common::refusals::assert_all_refused;
use crate::common::{Ran, Scratch, assert_keys, samples};

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
    Some(crate::common::run(command.args(["--set", "task.command=python3 oracle.py"])))
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

/// Assignments (permutations) or tags of three words, decoded by trying all; the quality is not declared.
const STRUCTURED: &str = r#"
import itertools, json, random, sys
chance, mode = random.Random(1), sys.argv[1]
ALL = list(itertools.permutations(range(3)) if mode == "assignment" else itertools.product(range(3), repeat=3))
INPUTS = [[[chance.gauss(0, 1) for _ in range(2)] for _ in range(3)] for _ in range(25)]
TRUTHS = [chance.choice(ALL) for _ in INPUTS]

def phi(x, y):
    f = [0.0] * 15
    for k, (token, label) in enumerate(zip(x, y)):
        f[2 * label] += token[0]
        f[2 * label + 1] += token[1]
        if k and mode == "tags":
            f[6 + 3 * y[k - 1] + label] += 1.0
    return f

def describe(i, y):
    loss = sum(a != b for a, b in zip(TRUTHS[i], y)) / 3
    return {"label": list(y), "features": phi(INPUTS[i], y), "loss": loss}

def decode(i, augment):
    def score(y):
        found = describe(i, y)
        return sum(a * b for a, b in zip(found["features"], W)) + augment * found["loss"]
    return max(ALL, key=score)

for line in sys.stdin:
    ask = json.loads(line)
    if ask["type"] == "hello":
        print(json.dumps({"protocol": 1, "examples": len(INPUTS), "dim": 15}), flush=True)
    elif ask["type"] == "weights":
        W = ask["w"]
    elif ask["type"] == "end":
        break
    else:
        i = ask["examples"][0]
        y = {"truth": lambda: TRUTHS[i], "describe": lambda: ask["labels"][0], "decode": lambda: decode(i, ask["augment"])}
        print(json.dumps({"id": ask["id"], "answers": [describe(i, y[ask["type"]]())]}), flush=True)
"#;

/// Labels that are lists: a sound program has no finding, though not every list is a labelling and nothing is declared;
/// pairs that decode leaves out are found by name of their coordinates.
#[test]
fn structured_labels_are_examined() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        return;
    }
    let scratch = Scratch::new().with("sound.py", STRUCTURED);
    let unary = "zip(found[\"features\"][:6], W))";
    scratch.write("unary.py", STRUCTURED.replace("zip(found[\"features\"], W))", unary));
    let examine = |program: &str| {
        let mut command = scratch.command("check --task external --json");
        crate::common::run(command.args(["--set", &format!("task.command=python3 {program}")]))
    };
    for program in ["sound.py assignment", "sound.py tags", "unary.py assignment"] {
        let ran = examine(program);
        assert_eq!(ran.code, Some(0), "{program}: {}{}", ran.stdout, ran.stderr);
    }
    let ran = examine("unary.py tags");
    let found = ran.object();
    assert_eq!((ran.code, &found["findings"][0]["kind"]), (Some(1), &"score-mismatch".into()), "{}", ran.stdout);
    let cause = found["findings"][0]["cause"].as_str().unwrap();
    assert!(cause.contains("disagree about coordinates") && !cause.contains(" 5,"), "{cause}");
}

/// Bad usage is refused with exit code 2, and nothing else is said.
#[test]
fn bad_usage_exits_2() {
    let scratch = data();
    let cases = [
        ("check", "no task given"),
        ("check --task chain", "no data given"),
        ("check --task chain --data missing", "missing"),
        ("check --task multiclass --data three.svm --examples 0", "examples = 0"),
        ("check --task multiclass --data three.svm --passes 0", "passes = 0"),
        ("check --task multiclass --data three.svm --set task.bia=true", "did you mean `bias`"),
    ];
    assert_all_refused(&scratch, "", cases);
}
