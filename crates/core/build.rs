//! Hashes the sources of this crate: states are bytes without names, and are read by the code that wrote them alone.
//! The same file in every crate whose code decides how a run goes on.

use std::fs;
use std::path::{Path, PathBuf};

/// FNV-1a of 128 bits: it need not resist anybody.
const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

fn main() {
    println!("cargo:rerun-if-changed=src");
    let mut files = Vec::new();
    list(Path::new("src"), &mut files);
    files.sort();
    let mut hash = BASIS;
    let mut add = |bytes: &[u8]| {
        // Line ends differ from checkout to checkout.
        for byte in bytes.iter().filter(|byte| **byte != b'\r').chain(&[0]) {
            hash = (hash ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    };
    for file in files {
        let name: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
        add(name.join("/").as_bytes());
        add(&fs::read(&file).unwrap_or_default());
    }
    println!("cargo:rustc-env=MULTIPLANE_SOURCES={hash:032x}");
}

/// Lists the files below a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
