//! Pages name files that exist.

use std::path::{Path, PathBuf};

/// Short names of folders that pages declare.
const SHORT: [(&str, &str); 2] =
    [("border/", "bindings/python/src/"), ("python/", "bindings/python/python/multiplane/")];

/// Where a page may mean that a file is: crates are named without `crates` and `src`.
fn places(root: &Path, file: &str) -> Vec<PathBuf> {
    let mut places = vec![root.join(file), root.join("crates").join(file)];
    if let Some((first, rest)) = file.split_once('/') {
        let folder = root.join("crates").join(first);
        places.extend([folder.join("src").join(rest), folder.join("tests").join(rest)]);
    }
    let short = SHORT.iter().find_map(|(short, long)| Some(root.join(long).join(file.strip_prefix(short)?)));
    places.extend(short);
    places
}

/// All sources below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The sources that a page names in backticks, `a/{b,c}.rs` taken apart.
fn named(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for quoted in page.split('`').skip(1).step_by(2) {
        for word in quoted.split_whitespace().filter(|word| word.contains('/') && !word.contains(['*', '…'])) {
            if !(word.ends_with(".rs") || word.ends_with(".py")) {
                continue;
            }
            match word.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
                Some((before, (names, after))) => {
                    found.extend(names.split(',').map(|name| format!("{before}{name}{after}")));
                }
                None => found.push(word.to_owned()),
            }
        }
    }
    found
}

/// Every source named by the page on what is there, by the architecture and by the guide is there.
#[test]
fn files_named_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut seen, mut all) = (0, Vec::new());
    for folder in ["crates", "bindings/python/src", "bindings/python/python"] {
        sources(&root.join(folder), &mut all);
    }
    for page in ["docs/coverage.md", "ARCHITECTURE.md", "docs/math.md", "docs/performance.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        for file in named(&text) {
            seen += 1;
            let there = places(&root, &file).iter().any(|place| place.exists());
            // Below a folder that the sentence has named, the rest of a path is enough.
            assert!(there || all.iter().any(|path| path.ends_with(&file)), "{page}: {file} is not there");
        }
    }
    assert!(seen > 150, "{seen} names were found");
}
