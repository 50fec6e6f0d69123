//! Pages name files that exist, and their links lead somewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Short names of folders that pages declare.
const SHORT: [(&str, &str); 3] = [
    ("border/", "bindings/python/src/"),
    ("python/", "bindings/python/python/multiplane/"),
    ("tools/", "bindings/python/tools/"),
];

/// First parts of paths that may end in a folder.
const PLACES: [&str; 12] = [
    "benchmarks",
    "bindings",
    "crates",
    "examples",
    "core",
    "infer",
    "solvers",
    "data",
    "tasks",
    "multiplane",
    "testkit",
    "border",
];

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
    for entry in fs::read_dir(folder).unwrap() {
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
            let place = PLACES.contains(&word.split('/').next().unwrap_or_default());
            if !(place || word.ends_with(".rs") || word.ends_with(".py")) {
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

/// Every source named by the page on what is there, by the architecture and by the guide exists.
#[test]
fn files_named_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut seen, mut all) = (0, Vec::new());
    for folder in ["crates", "bindings/python/src", "bindings/python/python"] {
        sources(&root.join(folder), &mut all);
    }
    for page in ["docs/coverage.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/math.md", "docs/performance.md"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        for file in named(&prose(&text)) {
            seen += 1;
            let there = places(&root, &file).iter().any(|place| place.exists());
            // Below a folder that the sentence has named, the rest of a path is enough.
            assert!(there || all.iter().any(|path| path.ends_with(&file)), "{page}: {file} is not there");
        }
    }
    assert!(seen > 150, "{seen} names were found");
}

/// The names in backticks that follow a word, such as those of "solvers `pl`, `bcpl`".
fn names_after<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for rest in text.split(word).skip(1) {
        let mut rest = rest.strip_prefix('s').unwrap_or(rest);
        while let Some((name, after)) = [" `", ", `", " and `"]
            .iter()
            .find_map(|separator| rest.strip_prefix(separator))
            .and_then(|quoted| quoted.split_once('`'))
        {
            names.push(name);
            rest = after;
        }
    }
    names
}

/// Every row of the page on coverage has a known state, and names solvers and, if it is done, tasks that exist.
#[test]
fn coverage_names_what_exists() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coverage.md")).unwrap();
    let (mut rows, mut named) = (0, 0);
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let &[item, _, state, place] = cells.as_slice() else { panic!("a row of other cells: {line}") };
        if item == "item" {
            continue;
        }
        rows += 1;
        assert!(["done", "planned", "out of reach", "not kept"].contains(&state), "{item}: unknown state {state}");
        for solver in names_after(place, "solver") {
            named += 1;
            assert!(multiplane_solvers::find(solver).is_some(), "{item}: there is no solver `{solver}`");
        }
        for task in names_after(place, "task").iter().filter(|_| state == "done") {
            named += 1;
            assert!(multiplane_tasks::registry::find(task).is_some(), "{item}: there is no task `{task}`");
        }
    }
    assert!(rows > 150 && named > 20, "{rows} rows, {named} names");
}

/// The text of a page without its fenced blocks.
fn prose(page: &str) -> String {
    page.split("\n```").step_by(2).collect()
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let shown = heading.replace("](", "\u{0}").to_lowercase(); // a link's address is not part of the anchor
    let mut parts = shown.split('\u{0}');
    let mut text = parts.next().unwrap_or_default().to_owned();
    text.extend(parts.map(|part| part.split_once(')').map_or(part, |(_, after)| after)));
    let kept = text.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// All Markdown files of the project, with their text.
fn pages(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = Vec::new();
    for folder in ["docs", "crates", "bindings/python", "examples", "benchmarks"] {
        sources(&root.join(folder), &mut all);
    }
    all.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name)));
    let hidden = |path: &Path| path.components().any(|part| part.as_os_str().to_string_lossy().starts_with(".venv"));
    all.retain(|path| path.extension().is_some_and(|ending| ending == "md") && !hidden(path));
    all.into_iter().map(|path| (path.canonicalize().unwrap(), fs::read_to_string(path).unwrap())).collect()
}

/// Every relative link of a page leads to a file, and to a heading of it if it names one.
#[test]
fn links_lead_somewhere() {
    let pages = pages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let anchors = |text: &str| -> Vec<String> {
        prose(text)
            .lines()
            .filter(|line| line.starts_with('#'))
            .map(|line| anchor(line.trim_start_matches('#')))
            .collect()
    };
    let mut seen = 0;
    for (path, text) in &pages {
        for link in prose(text).split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()) {
            if link.contains("://") || link.contains('`') {
                continue;
            }
            seen += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link} leads nowhere", path.display());
            let known = pages.get(&target.canonicalize().unwrap());
            let found = heading.is_empty() || known.is_none_or(|text| anchors(text).iter().any(|name| name == heading));
            assert!(found, "{}: {link} names no heading", path.display());
        }
    }
    assert!(seen > 300, "{seen} links were found");
}

/// Manual and guide begin with their contents: all headings, in order. Their lines fit 120 columns, but for tables.
#[test]
fn contents_are_the_headings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for page in ["docs/manual.md", "docs/python.md"] {
        let text = prose(&fs::read_to_string(root.join(page)).unwrap());
        let is_heading = |line: &&str| line.starts_with("## ") || line.starts_with("### ");
        let expected: Vec<String> =
            text.lines().filter(is_heading).map(|line| anchor(line.trim_start_matches('#'))).collect();
        let contents = text.split("\nContents: ").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
        let listed: Vec<&str> = contents.split("](#").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        assert_eq!(listed, expected, "{page}");
        let too_long = text.lines().find(|line| line.chars().count() > 120 && !line.starts_with('|'));
        assert_eq!(too_long, None, "{page}");
    }
}

/// Words that people look for stand in the manual or the guide.
#[test]
fn words_looked_for_are_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |page: &str| fs::read_to_string(root.join(page)).unwrap();
    let text = (read("docs/manual.md") + &read("docs/python.md")).replace('\n', " ");
    for word in [
        "FAQ",
        "serving",
        "incremental",
        "callback",
        "imbalance",
        "NER",
        "BIO",
        "embedding",
        "segmentation",
        "predict-then-optimise",
        "integer programme",
        "time limit",
        "polars",
        "feature importance",
        "CRFsuite",
        "scikit-learn",
    ] {
        assert!(text.contains(word), "{word} is nowhere");
    }
}

/// The guide links every example that is compiled for it.
#[test]
fn the_guide_links_its_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let mut examples = Vec::new();
    sources(&root.join("crates/multiplane/tests/guide"), &mut examples);
    assert!(examples.len() > 4, "{examples:?}");
    for example in examples {
        let name = example.file_name().unwrap().to_string_lossy();
        assert!(guide.contains(&format!("](crates/multiplane/tests/guide/{name})")), "{name} is not linked");
    }
}
