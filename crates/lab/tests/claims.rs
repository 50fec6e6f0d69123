//! `docs/claims.md`, made from the verdicts that are kept under `benchmarks/runs`; and what `docs/coverage.md` says of
//! experiments.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use multiplane_lab::reproduction::find;
use serde_json::Value;

/// Reads the verdicts in a folder, if there are any.
fn read_verdicts(dir: &Path) -> Option<Vec<Value>> {
    serde_json::from_slice(&fs::read(dir.join("verdicts.json")).ok()?).ok()
}

/// Returns the page: of each experiment the newest verdicts kept, those of the paper's size first.
fn page(root: &Path) -> String {
    let runs = root.join("benchmarks/runs");
    let mut folders: Vec<String> = fs::read_dir(&runs)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.contains("-reproduce-"))
        .collect();
    folders.sort_by_key(|name| (name.contains("-full-"), name.clone()));
    let mut out = String::from(
        "# Claims of the papers\n\nMade from the verdicts of `multiplane reproduce` that are kept (`UPDATE_CLAIMS=1 \
        cargo test -p multiplane-lab claims`). Thresholds\nare in the program. Each section says what its verdicts \
        rest on; the page with figures is in its folder.\n",
    );
    let mut absent = Vec::new();
    for of in find("all").unwrap() {
        let kept = folders.iter().rev().find_map(|name| Some((name, read_verdicts(&runs.join(name).join(of.name))?)));
        let Some((folder, verdicts)) = kept else {
            absent.push(format!("`{}`", of.name));
            continue;
        };
        let [data, basis] = ["data", "basis"].map(|key| verdicts[0][key].as_str().unwrap_or_default());
        out += &format!("\n## {}\n\n`benchmarks/runs/{folder}/{}`\n\n", of.name, of.name);
        out += &format!("Data: {data}. Rests on: {basis}.\n\n");
        out += "| claim | from | sentence | printed | holds if | ours | verdict |\n|---|---|---|---|---|---|---|\n";
        for verdict in &verdicts {
            let text = |key: &str| verdict[key].as_str().unwrap_or_default().replace('|', "\\|");
            let reason = if verdict["reason"] == "" { String::new() } else { format!(". {}", text("reason")) };
            let cells = ["claim", "source", "sentence", "printed", "threshold"].map(text).join(" | ");
            out += &format!("| {cells} | {}{reason} | {} |\n", text("measured"), text("verdict"));
        }
    }
    match absent.is_empty() {
        true => out,
        false => out + &format!("\n## Not run\n\nNo run is kept of {}.\n", absent.join(", ")),
    }
}

/// The page is what the kept verdicts say; each of these has the words and claims of the program.
#[test]
fn claims_are_those_of_kept_verdicts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (path, page) = (root.join("docs/claims.md"), page(&root));
    if std::env::var_os("UPDATE_CLAIMS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap_or_default() == page, "docs/claims.md is old: set UPDATE_CLAIMS=1");
    let found: Vec<&str> = find("all").unwrap().iter().flat_map(|of| of.claims()).map(|claim| claim.1).collect();
    let lines =
        page.lines().filter(|line| line.ends_with(" |") && !line.starts_with("| claim") && !line.starts_with("|--"));
    for line in lines {
        let cells: Vec<&str> = line.split(" | ").collect();
        assert!(found.contains(&cells[2]), "{line}: no claim of the program");
    }
}

/// Every item of the papers' checklist, in ranges.
const ITEMS: &str = "A01-A08 A10-A23 A30-A33 A40-A43 A50-A56 A60-A67 A70-A75 A80 B01-B07 B10-B21 B30-B35 B40-B47 \
    B50-B54 B60-B62 B70-B78 B80-B88 C01-C05 C10-C12 C20-C21 C30-C31 C40-C41 C50-C54 C60 D01-D14 E01-E18 X1-X10 F1-F12";

/// Lists the items of ranges such as "A01-A04, A06".
fn items(ranges: &str) -> Vec<String> {
    let range = |text: &str| -> Vec<String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |item: &str| item[1..].parse::<u32>().unwrap_or_else(|_| panic!("{item} is no item"));
        let (letter, width) = (&first[..1], first.len() - 1);
        (number(first)..=number(last)).map(|n| format!("{letter}{n:0width$}")).collect()
    };
    ranges.split([',', ' ']).filter(|text| !text.is_empty()).flat_map(range).collect()
}

/// The page on coverage has one row for every item of the papers, and knows experiments as the program does: those that
/// it names exist, and an item with a claim names the experiments that judge it.
#[test]
fn coverage_knows_all_items_and_experiments() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coverage.md")).unwrap();
    let mut rows: BTreeMap<String, &str> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| item |")) {
        let (item, rest) = line[2..].split_once(" | ").unwrap();
        for item in items(item) {
            assert!(rows.insert(item.clone(), rest).is_none(), "{item} has two rows");
        }
    }
    let mut expected = items(ITEMS);
    expected.sort();
    assert_eq!(rows.keys().cloned().collect::<Vec<_>>(), expected);
    for quoted in page.split('`').skip(1).step_by(2).filter_map(|quoted| quoted.strip_prefix("reproduce ")) {
        assert!(quoted == "NAME" || find(quoted).is_ok(), "there is no experiment `{quoted}`");
    }
    for of in find("all").unwrap() {
        for (id, sentence) in of.claims() {
            let row = rows.get(id).unwrap_or_else(|| panic!("{}: {id} is no item: {sentence}", of.name));
            let names = [format!("`{}`", of.name), format!("`reproduce {}`", of.name)];
            assert!(names.iter().any(|name| row.contains(name)), "{id} does not name {}: {row}", of.name);
        }
    }
}

/// Reads the summaries of runs whose folders have this in their names, the oldest first.
fn summaries(runs: &Path, part: &str) -> Vec<String> {
    let names = fs::read_dir(runs).unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.contains(part)).collect();
    names.sort();
    names.iter().map(|name| fs::read_to_string(runs.join(name).join("summary.md")).unwrap()).collect()
}

/// The times that the list of experiments has are those of the newest kept runs: a row each in their summary, the last
/// column.
#[test]
fn times_are_those_of_kept_runs() {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmarks/runs");
    for (size, of_size) in [("quick", 0), ("full", 1)] {
        let summaries = summaries(&runs, &format!("-reproduce-{size}-"));
        for of in find("all").unwrap() {
            let row = format!("| `{}` |", of.name);
            let cell = summaries.iter().rev().find_map(|text| text.lines().find(|line| line.starts_with(&row)));
            let seconds = cell.and_then(|line| line.trim_end_matches(" |").rsplit(" | ").next()?.parse::<u32>().ok());
            assert_eq!([of.quick_seconds, of.full_seconds][of_size], seconds, "{} at the {size} size", of.name);
        }
    }
}
