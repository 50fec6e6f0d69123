//! `docs/claims.md`, made from the verdicts that are kept under `benchmarks/runs`.

use std::fs;
use std::path::Path;

use multiplane_lab::reproduction::find;
use serde_json::Value;

/// Reads the verdicts in a folder, if there are any.
fn read_verdicts(dir: &Path) -> Option<Vec<Value>> {
    serde_json::from_slice(&fs::read(dir.join("verdicts.json")).ok()?).ok()
}

/// Returns the page: of each experiment the newest verdicts kept.
fn page(root: &Path) -> String {
    let runs = root.join("benchmarks/runs");
    let mut folders: Vec<String> = fs::read_dir(&runs)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter(|name| name.contains("-reproduce-"))
        .collect();
    folders.sort();
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
    out + &format!("\n## Not run\n\nNo run is kept of {}.\n", absent.join(", "))
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
    let found: Vec<&str> = find("all").unwrap().iter().flat_map(|of| of.sentences()).collect();
    let lines =
        page.lines().filter(|line| line.ends_with(" |") && !line.starts_with("| claim") && !line.starts_with("|--"));
    for line in lines {
        let cells: Vec<&str> = line.split(" | ").collect();
        assert!(found.contains(&cells[2]), "{line}: no claim of the program");
    }
}
