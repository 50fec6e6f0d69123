//! The sources of the workspace: which files there are, and what stands in them.

use std::fs;
use std::path::{Path, PathBuf};

/// A Rust file: its path from the folder that was read, with `/` between the parts, and its text.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Returns the root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads all Rust files below a folder, in the order of their paths.
pub(crate) fn read(folder: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    collect(folder, folder, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn collect(base: &Path, folder: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(base, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let relative = path.strip_prefix(base).unwrap().to_string_lossy().replace('\\', "/");
            found.push(Source { path: relative, text });
        }
    }
}

/// Makes sources of paths and texts, for tests of the check itself.
pub(crate) fn made_up(files: &[(&str, &str)]) -> Vec<Source> {
    files.iter().map(|(path, text)| Source { path: (*path).to_string(), text: (*text).to_string() }).collect()
}

/// Returns the module that a file below `src` holds: `a/b.rs` and `a/b/mod.rs` are `a::b`; `lib.rs` and `main.rs` are
/// the root.
pub(crate) fn module_of(path: &str) -> Vec<String> {
    let stem = path.trim_end_matches(".rs");
    let mut parts: Vec<String> = stem.split('/').map(String::from).collect();
    let is_root = parts.len() == 1 && (stem == "lib" || stem == "main");
    if is_root || parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}
