//! Bad problem files, given to the program: exit code 2, one line that names the place and the rule, nothing written,
//! and never more memory than a small machine has.

use std::io::Read;
use std::process::Command;

use crate::common::refusals::assert_refused;
use crate::common::{BINARY, Scratch, run};

fn gzip(mut content: impl Read) -> Vec<u8> {
    let mut out = Vec::new();
    let mut buffered = std::io::BufReader::new(&mut content);
    flate2::bufread::GzEncoder::new(&mut buffered, flate2::Compression::fast()).read_to_end(&mut out).unwrap();
    out
}

const CUT_UAI: &str = "MARKOV\n2\n2 2\n2\n1 0\n2 0 1\n2\n 0.4 0.3\n4\n 3 2.5";

/// One of each kind of fault that people meet.
const FAULTS: [(&str, &str, &str); 26] = [
    (
        "a.max",
        "p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 -1\n",
        ":5:7: found `-1` as capacity, expected a finite number that is not negative",
    ),
    ("a.max", "p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 9 1\n", ":5:5: found `9` as head, expected a node from 1 to 3"),
    ("a.max", "p max 3 2\nn 1 s\nn 3 t\na 1 2 nan\na 2 3 1\n", ":4:7: found `nan` as capacity"),
    ("a.max", "p max 3 2\nn 1 s\na 1 2 5\na 2 3 1\n", ": found no sink in 4 lines, expected a line `n NODE t`"),
    ("a.max", "p max 3 2\nn 1 s\nn 3 t\na 1 2 5\n", ": found the end of the file after 1 arcs (line 4), expected 2"),
    (
        "a.max",
        "p max 3 1000000000000\nn 1 s\nn 3 t\na 1 2 5\n",
        ": found the end of the file after 1 arcs (line 4), expected 1000000000000",
    ),
    ("a.max", "p max 1000000000000 1\nn 1 s\nn 3 t\na 1 2 5\n", ":1:7: found `1000000000000` as the number of nodes"),
    ("a.max", "p max 4000000000 1\nn 1 s\nn 3 t\na 1 2 5\n", ": found 4000000000 nodes and 1 arcs, expected at most"),
    (
        "a.uai",
        "MARKOV\n3\n2 2 2\n1\n3 0 1 2\n8\n1 1 1 1 1 1 1 1\n",
        ":5:1: found factor 0 of 3 variables, expected at most 2",
    ),
    ("a.uai", "MARKOV\n2\n2 2\n1\n2 0 1\n3\n1 1 1\n", ":6:1: found a table of 3 entries for factor 0, expected 4"),
    (
        "a.uai",
        "MARKOV\n2\n2 2\n1\n2 0 5\n4\n1 1 1 1\n",
        ":5:5: found `5` as variable 2 of 2 of factor 0, expected a variable below 2",
    ),
    ("a.uai", "MARKOV\n1\n2\n1\n1 0\n2\n1 inf\n", ":7:3: found `inf` as entry 1 of 2 of factor 0"),
    ("a.uai", CUT_UAI, ":10:7: found the end of the file, expected entry 2 of 4 of factor 1"),
    (
        "a.uai",
        "MARKOV\n1000000000000\n2 2\n",
        ":4:1: found the end of the file, expected the number of labels of variable 2",
    ),
    (
        "a.uai",
        "MARKOV\n2\n1000000 1000000\n1\n2 0 1\n1000000000000\n1 1\n",
        ":8:1: found the end of the file, expected entry 2 of 1000000000000",
    ),
    ("a.uai", "MARKOV\n1\n4000000000\n0\n", ": found 4000000000 energies that the file implies"),
    ("a.uai", "", ":1:1: found an empty file, expected MARKOV or BAYES"),
    ("a.uai", "\0\u{1}\u{2}\u{3} \0", ":1:1: found `\\0\\u{1}\\u{2}\\u{3}` as kind of model, expected MARKOV or BAYES"),
    (
        "a.wcsp",
        "x 2 1000000 1 9\n1000000 1000000\n2 0 1 5 0\n",
        ":3:9: found 1000000000000 energies that the file implies",
    ),
    (
        "a.wcsp",
        "x 2 2 1000000000000 9\n2 2\n",
        ":3:1: found the end of the file, expected the arity of cost function 0",
    ),
    (
        "a.cfn",
        "{ problem { p <9 } variables { x 2 y 2 } functions { f { scope [x z]",
        ":1:67: found `z` as a variable of function `f`",
    ),
    (
        "a.wcsp",
        "x 2 2 1 1000000000000000001\n2 2\n2 0 1 1000000000000000000 0\n",
        ":3:7: found `1000000000000000000` as the default cost of cost function 0 of 1, expected one of at most 2^53",
    ),
    (
        "a.cfn",
        "{ { p <1000000000000000001.0 } { x 2 }\n { { [x] [1000000000000000000 0] } } }",
        ":2:11: found `1000000000000000000` as cost 0 of function 0, expected one that a double tells from the bound",
    ),
    (
        "a.cfn",
        "{ { p <1.5e308 } { x 2 }\n { { [] [1e308] }\n { [] [1e308] } } }",
        ":3:2: found energies 1e308 and 1e308 to be added, expected a sum that is a finite number (function 1)",
    ),
    (
        "a.cfn",
        "{ { p <1.5e308 } { x 2 y 2 }\n { { [x] [1e308 0] }\n { [y] [1e308 0] } } }",
        ": node 0: found energies of up to 1e308 in size besides 0e0 in all others, expected a sum of at most 1e300",
    ),
    (
        "what.txt",
        "once upon a time",
        ":1:1: found `once` as first word, expected a problem of a known format, or a name that tells: .uai (",
    ),
];

#[test]
fn faults_are_named() {
    let scratch = Scratch::new().with("labels", "old labels");
    for (name, text, message) in FAULTS {
        scratch.write(name, text);
        assert_refused(
            &scratch,
            &format!("infer --data {name} --json --out labels"),
            &format!("error: {name}{message}"),
        );
    }
    std::fs::create_dir(scratch.path("folder.uai")).unwrap();
    for (data, message) in [
        ("folder.uai", "error: folder.uai: found a directory, expected a data file"),
        ("missing.uai", "error: missing.uai: found no such file, expected a data file"),
    ] {
        assert_refused(&scratch, &format!("infer --data {data}"), message);
    }
    scratch.write("a.uai", b"MARKOV\n\xff\xfe\n");
    assert_refused(&scratch, "infer --data a.uai", "error: a.uai:2:1: found byte 0xff, expected UTF-8 text");
}

/// Gzip that is cut off or damaged is not taken for a short file.
#[test]
fn broken_gzip_is_refused() {
    let entries = (0..5000).map(|at| format!("{}\n", at * at % 7919 + 1)).collect::<String>();
    let text = format!("MARKOV 1 5000 1 1 0 5000\n{entries}");
    let whole = gzip(text.as_bytes());
    let scratch = Scratch::new().with("a.uai.gz", &whole);
    scratch.succeed("infer --data a.uai.gz --quiet");
    scratch.write("a.uai.gz", &whole[..whole.len() / 2]);
    assert_refused(&scratch, "infer --data a.uai.gz", "error: a.uai.gz: found gzip data that is cut off after line ");
    let mut damaged = whole.clone();
    let checksum = whole.len() - 8;
    damaged[checksum] ^= 1;
    scratch.write("a.uai.gz", damaged);
    assert_refused(&scratch, "infer --data a.uai.gz", "error: a.uai.gz: found damaged gzip data after line ");
}

/// Within 400 MB of address space: files of a few bytes that promise or imply terabytes, an endless word, a line of any
/// length without a line end, and a gzip bomb are refused for what they are, not for want of memory.
#[test]
#[cfg(target_os = "linux")]
fn memory_is_bounded() {
    let bomb = |byte: u8| gzip(std::io::repeat(byte).take((1 << 30) + (1 << 20)));
    let scratch = Scratch::new().with("endless.uai.gz", bomb(b'1')).with("bomb.uai.gz", bomb(b' '));
    scratch.write("line.max", [b"c ".as_slice(), &vec![b'x'; 17 << 20]].concat());
    let refused = |name: &str, message: &str| {
        let mut command = Command::new("sh");
        let limited = "ulimit -v 400000; exec \"$0\" infer --data \"$1\" --json";
        let ran = run(command.args(["-c", limited, BINARY, name]).current_dir(scratch.path("")));
        let error = format!("error: {name}{message}");
        assert_eq!((ran.code, ran.complaints(&error).len()), (Some(2), 1), "{name}: {}\n{error}", ran.stderr);
        assert!(ran.seconds < 20.0, "{name}: {} s", ran.seconds);
    };
    for (name, text, message) in FAULTS {
        scratch.write(name, text);
        refused(name, message);
    }
    refused("endless.uai.gz", ":1:1: found a word longer than 64 KiB, expected shorter ones");
    refused("bomb.uai.gz", ":1:1: found more than 16 MiB without a word after this place");
    refused("line.max", ":1:1: found a line longer than 16 MiB, expected shorter ones");
}
