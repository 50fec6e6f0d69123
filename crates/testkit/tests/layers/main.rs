//! The layer check: who may import whom, by crate, by module and by file, and what may stand where. It reads the sources
//! of the workspace.
//!
//! No two files of a crate import each other, on no detour either, and no two modules; what a file imports is followed
//! through re-exports to the file that defines it. `mod x;` and a re-export of what the file itself does not use are no
//! imports.
//!
//! It cannot see what has no path in the sources: a call of a method that another file's `impl` of the same type has,
//! and a `macro_rules!` used further down without an import.

mod budgets;
mod circles;
mod content;
mod facts;
mod fallible;
mod imports;
mod made_up;
mod rules;
mod sources;

use std::fs;

use circles::{between_modules, circles, inside_modules};
use imports::imports;
use rules::CRATES;
use sources::{Source, root};

/// What is wrong with the imports and modules of a crate, by its files below `src`.
fn faults_inside(of: &rules::Crate, files: &[Source]) -> Vec<String> {
    let found = imports(files);
    let mut faults: Vec<String> = found.unresolved.iter().map(|line| format!("{}/src: {line}", of.folder)).collect();
    for circle in circles(&found.files) {
        faults.push(format!("{}/src: files in a {circle}", of.folder));
    }
    for circle in circles(&between_modules(&found.files)) {
        faults.push(format!("{}/src: modules in a {circle}", of.folder));
    }
    for (folder, graph) in inside_modules(&found.files) {
        faults.extend(
            circles(&graph).into_iter().map(|circle| format!("{}/src/{folder}: modules in a {circle}", of.folder)),
        );
    }
    faults.extend(rules::floor_faults(of, &found.files, files));
    faults.extend(rules::style_faults(of, files));
    faults
}

/// Imports inside of every crate go down, and modules stand where they should.
#[test]
fn no_circle_anywhere() {
    let mut faults = Vec::new();
    for one in &CRATES {
        let files = sources::read(&root().join(one.folder).join("src"));
        assert!(files.len() > 2, "no sources in {}", one.folder);
        let found = faults_inside(one, &files);
        faults.extend(found);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The check itself has no circle either.
#[test]
fn the_check_keeps_its_own_rule() {
    let found = imports(&sources::read(&root().join("crates/testkit/tests/layers")));
    assert!(found.files.len() > 5 && found.unresolved.is_empty(), "{:?}", found.unresolved);
    assert_eq!(circles(&found.files), Vec::<String>::new());
}

/// Crates depend on those below them, and each crate of the workspace is known here.
#[test]
fn crates_go_down() {
    let mut faults = Vec::new();
    for one in &CRATES {
        let manifest = fs::read_to_string(root().join(one.folder).join("Cargo.toml")).unwrap();
        faults.extend(rules::dependency_faults(one, &manifest));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let workspace: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let members = workspace["workspace"]["members"].as_array().unwrap();
    assert_eq!(members.len(), CRATES.len(), "a crate of the workspace has no rules here");
}

/// Public functions of the libraries that can fail say when.
#[test]
fn fallible_functions_say_when_they_fail() {
    let mut faults = Vec::new();
    for one in CRATES
        .iter()
        .filter(|one| ["infer", "core", "solvers", "data", "tasks", "multiplane", "lab"].contains(&one.name))
    {
        let files = sources::read(&root().join(one.folder).join("src"));
        let found = files.iter().filter(|file| !file.path.ends_with("tests.rs")).flat_map(fallible::undocumented);
        let found: Vec<String> = found.map(|fault| format!("{}/src/{fault}", one.folder)).collect();
        faults.extend(found);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Unsafe code, prints, clocks and the environment stand only where they may, and files are of bearable length.
#[test]
fn contents_are_where_they_may_be() {
    let mut faults = Vec::new();
    for folder in ["crates", "bindings/python/src"] {
        let all = sources::read(&root().join(folder));
        assert!(all.len() > 5, "no sources in {folder}");
        for file in all.iter().filter(|file| !file.path.contains("tests/layers/")) {
            faults.extend(content::content_faults(&format!("{folder}/{}", file.path), &file.text));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Traits, structs, crates and documents keep to `budgets.toml`, and no two types share a name.
#[test]
fn budgets_are_kept() {
    let budgets = budgets::read();
    let files = budgets::counted_sources();
    assert!(files.len() > 100, "no sources");
    let product = files.iter().filter(|file| !file.path.starts_with("crates/testkit/"));
    let types: Vec<_> =
        product.filter(|file| !file.path.ends_with("tests.rs")).flat_map(budgets::type_definitions).collect();
    let mut faults = budgets.type_faults(&types);
    faults.extend(budgets.line_faults(&files));
    faults.extend(budgets.word_faults());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
