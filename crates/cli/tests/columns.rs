//! Columns of tables, wherever a model is used: by name, and those that are left out.

mod common;

use common::Scratch;
use common::refusals::assert_refused;
use serde_json::json;

/// Columns of `--test` go by their names as those of `evaluate` do; other names are refused, and so is a stream's
/// label column not lost.
#[test]
fn columns_go_by_name_everywhere() {
    let rows = |order: [usize; 3], header: &str| {
        let row = |k: usize| {
            let fields =
                [format!("{}", k % 7), format!("{}", (3 * k) % 5), (if k % 7 > 3 { "1" } else { "-1" }).to_owned()];
            order.map(|at| fields[at].clone()).join(",")
        };
        format!("{header}\n{}\n", (0..40).map(row).collect::<Vec<_>>().join("\n"))
    };
    let scratch = Scratch::new().with("train.csv", rows([0, 1, 2], "a,b,kind"));
    scratch.write("test.csv", rows([1, 0, 2], "b,a,kind"));
    scratch.write("other.csv", rows([0, 1, 2], "a,c,kind"));
    let train = "train --task binary --data train.csv --passes 30 --lambda 1e-3 --quiet --out m --clock work";
    let said = scratch.json(&format!("{train} --test test.csv"));
    assert_eq!(said["test_loss"], said["train_loss"]);
    assert_eq!(scratch.json("evaluate --model m --data test.csv")["loss"], said["test_loss"]);
    assert_refused(&scratch, &format!("{train} --test other.csv"), "other.csv:1:3: found `c` as column");

    scratch.write("bare.csv", rows([0, 1, 2], ""));
    scratch.write("narrow.csv", "0.5,1\n0.25,-1\n");
    scratch.write("wide.csv", "0.5,2,3,1\n0.25,3,4,-1\n");
    for (file, columns) in [("narrow.csv", 2), ("wide.csv", 4)] {
        assert_refused(
            &scratch,
            &format!("train --task binary --data bare.csv --test {file} --quiet --out m"),
            &format!("found {columns} columns, expected 2, the features"),
        );
    }

    scratch.write("first.csv", rows([2, 0, 1], "kind,a,b"));
    let stream = "train --stream --task binary --solver ssg --lambda 0.1 --set stream.window=10 --clock work";
    scratch.assert_same_weights(stream, ["--data train.csv", "--data first.csv --set data.label_column=1"]);
}

/// What training left out is left out wherever the model is used, whether the data still has it or not; where numbers
/// cannot tell, nothing is guessed.
#[test]
fn ignored_columns_stay_ignored() {
    let rows = |fields: &[&str], header: bool| {
        let cell = |k: usize, field: &str| match field {
            "id" => format!("r{k}"),
            "a" => format!("{}", k % 7),
            "b" => format!("{}", (3 * k) % 5),
            _ => (if k % 7 > 3 { "x" } else { "y" }).to_owned(),
        };
        let line = |k: usize| fields.iter().map(|field| cell(k, field)).collect::<Vec<_>>().join(",");
        let head = if header { format!("{}\n", fields.join(",")) } else { String::new() };
        head + &(0..60).map(|k| line(k) + "\n").collect::<String>()
    };
    let scratch = Scratch::new();
    for (header, ignored) in [(true, "id"), (true, "1"), (false, "1")] {
        scratch.write("train.csv", rows(&["id", "a", "b", "kind"], header));
        scratch.write("bare.csv", rows(&["id", "a", "b"], header));
        scratch.write("short.csv", rows(&["a", "b", "kind"], header));
        let train =
            format!("train --task multiclass --data train.csv --set data.ignore={ignored} --clock work --out m");
        let said = scratch.json(&format!("{train} --test train.csv"));
        assert_eq!(said["test_loss"], said["train_loss"], "{ignored}");
        let predicted = scratch.succeed("predict --model m --data train.csv").stdout;
        assert_eq!(scratch.json("verify --model m --data train.csv")["verified"], json!(true));
        if header {
            assert_eq!(scratch.json(&format!("{train} --test short.csv"))["test_loss"], said["test_loss"]);
            for data in ["bare.csv", "short.csv"] {
                assert_eq!(scratch.succeed(&format!("predict --model m --data {data}")).stdout, predicted, "{data}");
            }
            assert_eq!(scratch.json("evaluate --model m --data short.csv")["loss"], said["train_loss"]);
        } else {
            for (data, said_so) in [("bare.csv", "data.ignore=1"), ("short.csv", "data.ignore=[]")] {
                assert_refused(
                    &scratch,
                    &format!("predict --model m --data {data}"),
                    "say whether these are here: data.ignore=1, or data.ignore=[]",
                );
                let found = scratch.succeed(&format!("predict --model m --data {data} --set {said_so}")).stdout;
                assert_eq!(found, predicted, "{data}");
            }
        }
    }
}
