//! The layer check: who may import whom, and what may stand where. Reads the sources of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

/// Crates, and which of ours each may use.
const CRATES: [(&str, &[&str]); 6] = [
    ("infer", &[]),
    ("core", &[]),
    ("tasks", &["infer", "core"]),
    ("multiplane", &["infer", "core", "tasks"]),
    ("cli", &["multiplane", "tasks"]),
    ("testkit", &["infer", "core", "tasks", "multiplane"]),
];

/// Modules of core, bottom to top; a module may import those before it, and those of its own rank.
const RANKS: [&[&str]; 18] = [
    &["linalg", "rng", "clock", "divide", "state", "parameter", "step"],
    &["plane"],
    &["metric"],
    &["regularizer", "point"],
    &["oracle", "example"],
    &["task"],
    &["task_oracle", "executor"],
    &["lookahead"],
    &["context"],
    &["average"],
    &["iterate", "qp", "gaps"],
    &["cache", "order"],
    &["dual"],
    &["hull"],
    &["rescale", "solver"],
    &["observe"],
    &["run"],
    &["solvers"],
];

/// Files that may hold `unsafe`: a prefetch, and the counting allocator of tests.
const UNSAFE: [&str; 2] = ["core/src/linalg.rs", "infer/tests/common/counting.rs"];

/// Most lines of a source file.
const MOST_LINES: usize = 500;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All Rust files below a directory, with their content.
fn sources(directory: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found.sort();
    found
}

/// Lines of code, numbered from 1: no comments, nothing from the tests at a file's end.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).enumerate();
    lines.map(|(number, line)| (number + 1, line)).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Names of our crates that a manifest depends on outside its dev-dependencies.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        }
        let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if section == "[dependencies]" && name.starts_with("multiplane") {
            found.push(name.trim_start_matches("multiplane-").to_string());
        }
    }
    found
}

fn crate_faults(name: &str, manifest: &str, allowed: &[&str]) -> Vec<String> {
    let used = dependencies(manifest);
    let bad = used.into_iter().filter(|used| !allowed.contains(&used.as_str()));
    bad.map(|used| format!("crates/{name}/Cargo.toml: {name} may not depend on {used}")).collect()
}

/// Imports of core modules that go up.
fn import_faults(module: &str, text: &str) -> Vec<String> {
    let rank = |name: &str| RANKS.iter().position(|rank| rank.contains(&name));
    let Some(own) = rank(module) else { return vec![format!("module {module} has no rank: give it one")] };
    let mut faults = Vec::new();
    for (number, line) in code(text) {
        for (place, _) in line.match_indices("crate::") {
            let rest = &line[place + "crate::".len()..];
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if rank(&name).is_some_and(|other| other > own) {
                faults.push(format!("{module}:{number}: imports {name}, which is above it"));
            }
        }
    }
    faults
}

/// Things that only some files may contain.
fn content_faults(path: &str, text: &str) -> Vec<String> {
    let in_library = ["crates/infer/src", "crates/core/src", "crates/tasks/src", "crates/multiplane/src"]
        .iter()
        .any(|library| path.contains(library));
    let mut faults = Vec::new();
    for (number, line) in code(text) {
        let mut refuse = |rule: &str| faults.push(format!("{path}:{number}: {rule}"));
        let is_unsafe = line.contains("unsafe {") || line.contains("unsafe fn") || line.contains("unsafe impl");
        if is_unsafe && !UNSAFE.iter().any(|allowed| path.ends_with(allowed)) {
            refuse("unsafe code outside linalg");
        }
        let prints = ["println!", "eprintln!", "print!(", "dbg!("].iter().any(|word| line.contains(word));
        if in_library && prints {
            refuse("a library prints");
        }
        let reads_time = ["Instant::", "SystemTime"].iter().any(|word| line.contains(word));
        if in_library && reads_time && !path.ends_with("core/src/clock.rs") {
            refuse("the time is read outside clock");
        }
        if in_library && (line.contains("env::var") || line.contains("env::args")) {
            refuse("a library reads the environment");
        }
    }
    if text.lines().count() > MOST_LINES {
        faults.push(format!("{path}: more than {MOST_LINES} lines: is it one thing?"));
    }
    faults
}

/// The workspace keeps its layers.
#[test]
fn layers_are_kept() {
    let mut faults = Vec::new();
    for (name, allowed) in CRATES {
        let manifest = fs::read_to_string(root().join("crates").join(name).join("Cargo.toml")).unwrap();
        faults.extend(crate_faults(name, &manifest, allowed));
    }
    let core = root().join("crates/core/src");
    for (path, text) in sources(&core) {
        let relative = path.strip_prefix(&core).unwrap();
        let module = relative.components().next().unwrap().as_os_str().to_string_lossy();
        let module = module.trim_end_matches(".rs");
        if module != "lib" {
            faults.extend(import_faults(module, &text));
        }
    }
    let all = sources(&root().join("crates"));
    assert!(all.len() > 50, "the sources were not found");
    for (path, text) in all {
        let path = path.to_string_lossy().replace('\\', "/");
        if !path.ends_with("tests/layers.rs") {
            faults.extend(content_faults(&path, &text));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The check can fail: each rule on a made-up violation.
#[test]
fn violations_are_found() {
    let manifest = "[dependencies]\nmultiplane-tasks.workspace = true\n[dev-dependencies]\nmultiplane-cli = {}\n";
    assert_eq!(crate_faults("core", manifest, &[]).len(), 1);
    assert_eq!(crate_faults("multiplane", manifest, &["tasks"]).len(), 0);
    assert_eq!(import_faults("plane", "use crate::dual::DualState;").len(), 1);
    assert_eq!(import_faults("dual", "use crate::plane::Plane;\n// crate::run\nuse crate::solver::Ctx;").len(), 1);
    assert_eq!(import_faults("run", "// crate::solvers\nuse crate::solver::Ctx;").len(), 0);
    assert_eq!(import_faults("novel", "").len(), 1);
    let library = "/crates/core/src/x.rs";
    for bad in ["unsafe { x }", "println!(\"\")", "let t = Instant::now();", "std::env::var(\"X\")"] {
        assert_eq!(content_faults(library, bad).len(), 1, "{bad}");
        assert_eq!(content_faults(library, &format!("// {bad}")).len(), 0, "{bad}");
        assert_eq!(content_faults(library, &format!("#[cfg(test)]\nmod tests {{ {bad} }}")).len(), 0, "{bad}");
    }
    assert_eq!(content_faults("/crates/cli/src/x.rs", "println!(\"\")").len(), 0);
    assert_eq!(content_faults(library, &"\n".repeat(501)).len(), 1);
}
