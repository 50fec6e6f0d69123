//! Public data sets, for the tests of several crates. They are looked for in the folder that `MULTIPLANE_DATA` names, else
//! in `shared/data` beside the checkout; a test whose file is absent says so and passes.

use std::path::PathBuf;

/// The path of a file or folder; `None` if it is absent.
pub(crate) fn file(test: &str, name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("MULTIPLANE_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = folder.join(name);
    if !path.exists() {
        eprintln!("SKIPPED {test}: no data at {}", path.display());
        return None;
    }
    Some(path.canonicalize().unwrap())
}
