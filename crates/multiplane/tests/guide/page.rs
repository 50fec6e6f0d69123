//! CONTRIBUTING.md against the files that it shows.

const PAGE: &str = include_str!("../../../../CONTRIBUTING.md");

/// Files that the page shows as a whole.
const WHOLE: [(&str, &str); 4] = [
    ("Add a solver", include_str!("batch_subgradient.rs")),
    ("Add an order or a step", include_str!("cyclic.rs")),
    ("Add a task", include_str!("multilabel.rs")),
    ("Add a data format", include_str!("label_sets.rs")),
];

/// Files of which it shows lines.
const PARTS: [(&str, &str); 6] = [
    ("Add a solver", include_str!("../../../core/src/solvers/registry.rs")),
    ("Add an order or a step", include_str!("solvers.rs")),
    ("Add a task", include_str!("../../../tasks/src/registry.rs")),
    ("Add a data format", include_str!("../../../tasks/src/data/formats.rs")),
    ("Add a loss", include_str!("../../../tasks/src/losses.rs")),
    ("Add a loss", include_str!("multilabel.rs")),
];

/// The Rust code that the page shows under a heading, fence by fence.
fn shown(heading: &str) -> Vec<&'static str> {
    let section = PAGE.split("\n## ").find(|section| section.starts_with(&format!("{heading}\n")));
    let fences = section.unwrap_or_default().split("```rust\n").skip(1);
    fences.map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

/// Every example file stands on the page as it is, and whatever else is shown stands in a file of the sources.
#[test]
fn the_page_shows_these_files() {
    for (heading, file) in WHOLE {
        assert!(shown(heading).contains(&file), "{heading}: the page does not show the example as it is");
    }
    for heading in ["Add a solver", "Add an order or a step", "Add a task", "Add a loss", "Add a data format"] {
        let fences = shown(heading);
        assert!(!fences.is_empty(), "{heading}: the page shows no code");
        for fence in fences {
            let known = WHOLE.iter().chain(&PARTS).any(|(of, file)| *of == heading && file.contains(fence));
            assert!(known, "{heading}: no source has this code any more:\n{fence}");
        }
    }
}
