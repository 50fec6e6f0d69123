//! Public data sets, which are not part of the project.

use std::path::{Path, PathBuf};

/// Returns a file of the folder that `MULTIPLANE_DATA` names, else of `shared/data` next to the checkout; `None` if it is
/// absent, after saying that the test is skipped.
pub(crate) fn public_data(test: &str, name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("MULTIPLANE_DATA").map_or_else(beside, PathBuf::from).join(name);
    if !path.exists() {
        eprintln!("SKIPPED {test}: no data at {}", path.display());
        return None;
    }
    Some(path)
}
