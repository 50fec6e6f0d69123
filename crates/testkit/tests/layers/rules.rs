//! Which crate may use which, which rooms of a crate lie on which floor, and where modules stand.

use crate::circles::top_module;
use crate::imports::Graph;
use crate::sources::Source;

/// A crate of the workspace, and what holds for it.
pub(crate) struct Crate {
    /// Its name without `multiplane-`.
    pub(crate) name: &'static str,
    /// Its folder.
    pub(crate) folder: &'static str,
    /// Which of ours it may depend on, tests aside.
    pub(crate) may_use: &'static [&'static str],
    /// Modules directly below `src`, the lowest floor first: a module imports nothing from a floor above its own. The
    /// rest of the order needs no list, for modules do not import each other in circles.
    pub(crate) floors: &'static [&'static [&'static str]],
}

/// The crates, lowest first.
pub(crate) const CRATES: [Crate; 10] = [
    Crate {
        name: "infer",
        folder: "crates/infer",
        may_use: &[],
        floors: &[&["error", "term", "file"], &["mrf"], &["engine"], &["registry"]],
    },
    Crate {
        name: "core",
        folder: "crates/core",
        may_use: &[],
        floors: &[
            &["linalg", "rng", "clock", "state", "parameter"],
            &["plane"],
            &["metric", "regularizer", "kernel"],
            &["oracle", "example"],
            &["task", "executor"],
            &["context"],
            &["iterate", "qp", "average"],
            &["cache", "order"],
            &["dual"],
            &["hull"],
            &["solver"],
            &["run"],
            &["solvers"],
        ],
    },
    Crate { name: "solvers", folder: "crates/solvers", may_use: &["core"], floors: &[] },
    Crate { name: "data", folder: "crates/data", may_use: &["infer", "core"], floors: &[] },
    Crate { name: "tasks", folder: "crates/tasks", may_use: &["infer", "core", "data"], floors: &[] },
    Crate {
        name: "multiplane",
        folder: "crates/multiplane",
        may_use: &["infer", "core", "solvers", "tasks"],
        floors: &[&["error"], &["spec"], &["file"], &["session"], &["outer"]],
    },
    Crate { name: "lab", folder: "crates/lab", may_use: &["multiplane"], floors: &[] },
    Crate { name: "cli", folder: "crates/cli", may_use: &["multiplane", "lab"], floors: &[] },
    Crate { name: "python", folder: "bindings/python", may_use: &["core", "tasks", "multiplane", "cli"], floors: &[] },
    Crate {
        name: "testkit",
        folder: "crates/testkit",
        may_use: &["infer", "core", "solvers", "tasks", "multiplane"],
        floors: &[],
    },
];

/// Returns what a manifest depends on that it may not.
pub(crate) fn dependency_faults(of: &Crate, manifest: &str) -> Vec<String> {
    let manifest: toml::Table = manifest.parse().unwrap();
    let used = dependencies(&manifest);
    let bad = used.into_iter().filter(|used| !of.may_use.contains(&used.as_str()));
    bad.map(|used| format!("{}/Cargo.toml: {} may not depend on {used}", of.folder, of.name)).collect()
}

/// Names of our crates in the dependency tables of a manifest, those of a platform and of a build script included and
/// those of tests left out.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let mut found = Vec::new();
    for (key, value) in manifest {
        let toml::Value::Table(table) = value else { continue };
        if key == "dependencies" || key == "build-dependencies" {
            for (name, value) in table {
                let package = value.get("package").and_then(toml::Value::as_str).unwrap_or(name);
                if package.starts_with("multiplane") {
                    found.push(package.trim_start_matches("multiplane-").to_string());
                }
            }
        } else if key == "target" {
            let platforms = table.values().filter_map(toml::Value::as_table);
            found.extend(platforms.flat_map(dependencies));
        }
    }
    found
}

/// Returns the imports that go up from floor to floor, and the names on floors that are no module's.
pub(crate) fn floor_faults(of: &Crate, files: &Graph, sources: &[Source]) -> Vec<String> {
    let floor = |file: &str| of.floors.iter().position(|floor| floor.contains(&top_module(file)));
    let mut faults = Vec::new();
    for name in of.floors.iter().copied().flatten() {
        if !sources.iter().any(|source| top_module(&source.path) == *name) {
            faults.push(format!("{}: no module {name}: take it from the floors", of.folder));
        }
    }
    for ((from, to), names) in files {
        if let (Some(own), Some(other)) = (floor(from), floor(to))
            && other > own
        {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            faults.push(format!("{}/src: {from} imports {} from {to}, above it", of.folder, names.join(", ")));
        }
    }
    faults
}

/// Returns the files beside a folder of their name: the folder's file is its `mod.rs`.
pub(crate) fn style_faults(of: &Crate, sources: &[Source]) -> Vec<String> {
    let beside = |file: &&Source| {
        let folder = format!("{}/", file.path.trim_end_matches(".rs"));
        sources.iter().any(|other| other.path.starts_with(&folder))
    };
    let found = sources.iter().filter(beside);
    found.map(|file| format!("{}/src/{}: belongs into its folder, as mod.rs", of.folder, file.path)).collect()
}
