//! Completions and manual pages: made from the definitions of the command line, all of them, and the same every time.

use std::fs;

use crate::common::{BINARY, Scratch, run};

/// The program's commands as its help lists them.
fn commands(scratch: &Scratch) -> Vec<String> {
    let help = scratch.succeed("--help").stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// Every command as it is typed after the program's name, the program itself first.
fn calls(scratch: &Scratch) -> Vec<String> {
    let names = commands(scratch).into_iter().filter(|name| name != "help");
    [String::new(), "data make".into()].into_iter().chain(names).collect()
}

/// The short help has a line of most options, the long one all of it with examples; both fit 80 columns.
#[test]
fn help_is_short_and_long() {
    let scratch = Scratch::new();
    for call in calls(&scratch) {
        let [short, long] = ["-h", "--help"].map(|flag| scratch.succeed(format!("{call} {flag}").trim()).stdout);
        for line in short.lines().chain(long.lines()) {
            assert!(line.chars().count() <= 80, "{call}: {line}");
        }
        assert!(short.len() < long.len() && !short.contains("Examples:"), "{call}: {short}");
        let examples = long.split("Examples:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
        assert!(examples.contains("multiplane "), "{call}: {examples}");
        // An example that is too long for its line would go on without indentation.
        assert!(
            examples.lines().all(|line| ["  multiplane ", "  # ", "      --", "  source ", "  cut "]
                .iter()
                .any(|start| line.starts_with(start))),
            "{call}: {examples}"
        );
        assert!(long.contains("Exit codes: 0 done, 1 "), "{call}: {long}");
    }
    let help = scratch.succeed("train -h").stdout;
    for part in ["\nStops:\n", "\nOutput:\n", "\nCheckpoints:\n", "  Strength of the regulariser [default: auto]\n"] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

/// The examples of the help run in their order, but for those that print scripts, ask a program, need a cluster or take half a minute.
#[test]
fn examples_of_the_help_run() {
    let scratch = Scratch::new().with("problem.uai", "MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 4\n");
    let texts = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/help.txt")).unwrap();
    let mut ran = 0;
    for section in texts.split("\n== ").skip(1) {
        let (call, lines) = section.split_once('\n').unwrap();
        if ["multiplane", "multiplane demo", "multiplane completions", "multiplane reproduce"].contains(&call) {
            continue;
        }
        for line in lines.replace("\\\n", " ").lines() {
            if !line.contains("multiplane ")
                || ["man -l", "external", "--shards"].iter().any(|part| line.contains(part))
            {
                continue;
            }
            let line = line.replace("multiplane ", &format!("'{BINARY}' "));
            let mut command = std::process::Command::new("sh");
            let done = run(command.args(["-c", &line]).current_dir(scratch.path("")));
            assert_eq!(done.code, Some(0), "{line}: {}", done.stderr);
            ran += 1;
        }
    }
    assert!(ran > 20, "only {ran} examples were found");
}

/// A script for each shell, with every command and options of commands; another shell is refused by name.
#[test]
fn every_shell_completes_every_command() {
    let scratch = Scratch::new();
    let commands = commands(&scratch);
    assert!(commands.iter().any(|name| name == "train") && commands.len() >= 13, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = scratch.succeed(&format!("completions {shell}")).stdout;
        for name in commands.iter().map(String::as_str).chain(["checkpoint-every", "lambda-min", "make"]) {
            assert!(script.contains(name), "{shell} does not know {name}");
        }
    }
    let refused = scratch.run("completions tcsh");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("tcsh") && refused.stderr.contains("zsh"), "{}", refused.stderr);
}

/// Bash, where it is there, completes from the script: commands after the program, options after a command.
#[test]
fn bash_takes_the_script() {
    let scratch = Scratch::new();
    scratch.write("complete", scratch.succeed("completions bash").stdout);
    let ask = |words: &str| {
        let line = format!(
            "source complete && COMP_WORDS=({words}) && COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) && \
             _multiplane multiplane \"${{COMP_WORDS[COMP_CWORD]}}\" && echo \"${{COMPREPLY[@]}}\""
        );
        let made = std::process::Command::new("bash").args(["-c", &line]).current_dir(scratch.path("")).output();
        made.ok().map(|made| String::from_utf8(made.stdout).unwrap().trim().to_owned())
    };
    let Some(found) = ask("multiplane ver") else {
        println!("skipped: there is no bash");
        return;
    };
    assert_eq!(found, "verify");
    assert_eq!(ask("multiplane train --lam").unwrap(), "--lambda");
    assert_eq!(ask("multiplane completions z").unwrap(), "zsh");
}

/// A page for every command, `data make` included, each with the name of its file as title and the options of the help.
#[test]
fn every_command_has_a_page() {
    let scratch = Scratch::new();
    scratch.succeed("man --out pages/man1");
    let mut files: Vec<String> = fs::read_dir(scratch.path("pages/man1"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut expected: Vec<String> =
        commands(&scratch).iter().filter(|name| *name != "help").map(|name| format!("multiplane-{name}.1")).collect();
    expected.extend(["multiplane.1".into(), "multiplane-data-make.1".into()]);
    expected.sort();
    assert_eq!(files, expected);
    let version = env!("CARGO_PKG_VERSION");
    for file in &files {
        let page = scratch.text(&format!("pages/man1/{file}"));
        let title = file.strip_suffix(".1").unwrap();
        assert!(page.contains(&format!(".TH {title} 1  \"multiplane {version}\" ")), "{file}: {page}");
        for section in ["EXAMPLES", "\"EXIT STATUS\"", "\"SEE ALSO\""] {
            assert!(page.contains(&format!("\n.SH {section}\n")), "{file}: {section}");
        }
        assert!(!page.contains("EXTRA"), "{file}");
    }
    let page = scratch.text("pages/man1/multiplane-train.1");
    assert!(page.contains("checkpoint\\-every") && page.contains("Stop when the duality gap is at most X"), "{page}");
    let synopsis = "\\fBmultiplane train\\fR [\\-\\-task NAME] [\\-\\-data PATH]";
    assert!(page.contains(synopsis), "the synopsis has the command as it is typed, with values: {page}");
    assert_eq!(scratch.succeed("man train").stdout, page, "a page alone is the one that is written");
    assert_eq!(scratch.succeed("man").stdout, scratch.text("pages/man1/multiplane.1"));
    let made = scratch.text("pages/man1/multiplane-data-make.1");
    assert_eq!(scratch.succeed("man data make").stdout, made);
}

/// Unknown commands and places that cannot be written are told, with the exit code of bad input.
#[test]
fn faults_are_told() {
    let scratch = Scratch::new().with("file", "something");
    for (command, expected) in [
        ("man trian", "error: unknown command `trian`: did you mean `train`?"),
        ("man data mak", "error: unknown command `mak`"),
        ("man --out file", "error: file: could not be made: "),
    ] {
        let refused = scratch.run(command);
        assert_eq!(refused.code, Some(2), "{command}");
        assert!(refused.stderr.starts_with(expected), "{command}: {}", refused.stderr);
    }
    assert_eq!(scratch.text("file"), "something");
}
