//! The examples of the manual, the page on inference and the README, run as they stand: every `console` block in order in
//! one directory, its output compared; every `toml` block written to the file that the text names; the README's commands
//! run. With `UPDATE_MANUAL=1` the pages take the outputs found; look at what that changes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{BINARY, Scratch};

/// A fenced block.
struct Block {
    language: String,
    /// The number of its first line in the page, from 1.
    line: usize,
    text: String,
    /// The name of a file that the text before the block names last, as in `run.toml`.
    file: Option<String>,
}

fn page_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// The page of this name, from the root of the repository.
fn page(name: &str) -> String {
    let path = page_path(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names in backquotes that end so.
fn quoted<'a>(line: &'a str, ending: &str) -> Option<&'a str> {
    line.split('`').skip(1).step_by(2).filter(|name| name.ends_with(ending)).last()
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut open, mut file) = (false, None);
    for (number, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if open => open = false,
            Some(language) => {
                open = true;
                let language = language.trim().to_owned();
                blocks.push(Block { language, line: number + 2, text: String::new(), file: file.clone() });
            }
            None if open => {
                let text = &mut blocks.last_mut().unwrap().text;
                *text += line;
                text.push('\n');
            }
            None => file = quoted(line, ".toml").map(str::to_owned).or(file),
        }
    }
    assert!(!open, "a block is not closed");
    blocks
}

/// Commands, which begin with `$ `, with the output that follows each.
fn commands(text: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            (None, Some((_, output))) => {
                *output += line;
                output.push('\n');
            }
            (None, None) => panic!("output before any command: {line}"),
        }
    }
    commands
}

/// Runs a line of shell in the folder with the program under test on the path; both outputs together.
fn shell(scratch: &Scratch, line: &str) -> (Option<i32>, String) {
    let mut paths = vec![PathBuf::from(BINARY).parent().unwrap().to_path_buf()];
    paths.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{{ {line}\n}} 2>&1")]).current_dir(scratch.path(""));
    let ran = crate::common::run(command.env("PATH", env::join_paths(paths).unwrap()));
    (ran.code, ran.stdout)
}

/// Why a block cannot be run here, if so.
fn skipped(text: &str) -> Option<&'static str> {
    text.contains("^C").then_some("somebody has to press Ctrl-C")
}

/// Every example of a page gives the output that it shows, in the order of the page. Answers how many there are.
fn assert_true(name: &str) -> usize {
    let scratch = Scratch::new();
    let update = env::var_os("UPDATE_MANUAL").is_some();
    let (mut ran, mut renewed) = (0, page(name));
    for block in blocks(&page(name)) {
        let line = block.line;
        match block.language.as_str() {
            "toml" => scratch.write(&block.file.unwrap_or_else(|| panic!("{name}:{line}: no file named")), block.text),
            "console" => match skipped(&block.text) {
                Some(reason) => println!("skipped {name}:{line}: {reason}"),
                None => {
                    for (command, output) in commands(&block.text) {
                        let (_, found) = shell(&scratch, &command);
                        let command = format!("$ {command}\n");
                        if update {
                            renewed = renewed.replacen(&(command.clone() + &output), &(command + &found), 1);
                        } else {
                            assert_eq!(found, output, "{name}:{line}: {command}");
                        }
                        ran += 1;
                    }
                }
            },
            _ => {} // synopses, tables of machines, other languages
        }
    }
    if update {
        fs::write(page_path(name), renewed).unwrap();
    }
    ran
}

#[test]
fn the_manual_is_true() {
    let ran = assert_true("docs/manual.md");
    assert!(ran > 20, "only {ran} commands were found");
}

#[test]
fn the_page_on_inference_is_true() {
    let ran = assert_true("docs/inference.md");
    assert!(ran >= 9, "only {ran} commands were found");
}

#[test]
fn the_page_on_trees_is_true() {
    let ran = assert_true("docs/trees.md");
    assert!(ran >= 5, "only {ran} commands were found");
}

/// The README's commands run, with the files that they need, one after the other, but for those of cargo.
#[test]
fn the_readme_runs() {
    let scratch = Scratch::new();
    let mut ran = 0;
    for block in blocks(&page("README.md")) {
        for line in block.text.replace("\\\n", " ").lines() {
            if line.starts_with("multiplane ") || line.starts_with("printf ") {
                let (code, output) = shell(&scratch, line);
                assert_eq!(code, Some(0), "README:{}: {line}\n{output}", block.line);
                ran += 1;
            } else if line.starts_with("cargo ") || line.contains(" cargo ") {
                println!("skipped `{line}`: it builds");
            }
        }
    }
    assert!(ran >= 8, "only {ran} commands were found");
}

/// No page for users sends them to data that they do not have.
#[test]
fn pages_name_no_data_of_ours() {
    for name in
        ["README.md", "docs/manual.md", "docs/inference.md", "docs/trees.md", "docs/coverage.md", "docs/math.md"]
    {
        assert!(!page(name).contains("shared/data"), "{name}");
    }
}
