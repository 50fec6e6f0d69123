//! Circles of a graph of imports.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::imports::Graph;

/// Returns the graph between the modules directly below `src`: each file stands for its folder there, and the root file
/// for itself.
pub(crate) fn between_modules(files: &Graph) -> Graph {
    let mut graph = Graph::new();
    for ((from, to), names) in files {
        let (from, to) = (top_module(from), top_module(to));
        if from != to {
            graph.entry((from.to_string(), to.to_string())).or_default().extend(names.iter().cloned());
        }
    }
    graph
}

/// Returns, for every folder that holds modules, the graph between the modules directly in it: as [`between_modules`], one
/// floor down and further.
pub(crate) fn inside_modules(files: &Graph) -> BTreeMap<String, Graph> {
    let mut graphs: BTreeMap<String, Graph> = BTreeMap::new();
    for ((from, to), names) in files {
        let (a, b): (Vec<&str>, Vec<&str>) = (from.split('/').collect(), to.split('/').collect());
        let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        // Files right in the shared folder have no module of their own; `mod.rs` is the folder itself.
        let part = |parts: &[&str]| parts.get(shared).map(|part| part.trim_end_matches(".rs").to_string());
        let (Some(from), Some(to)) = (part(&a), part(&b)) else { continue };
        if shared > 0 && from != "mod" && to != "mod" {
            let graph = graphs.entry(a[..shared].join("/")).or_default();
            graph.entry((from, to)).or_default().extend(names.iter().cloned());
        }
    }
    graphs
}

/// Returns the module directly below `src` that a file belongs to.
pub(crate) fn top_module(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

/// Returns one text for each circle: a largest set of places that all reach each other, and the names that tie them.
pub(crate) fn circles(graph: &Graph) -> Vec<String> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in graph.keys() {
        next.entry(from).or_default().insert(to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = next.keys().map(|place| (*place, reach(&next, place))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|places| places.contains(to));
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for place in next.keys() {
        if told.contains(place) || !reaches(place, place) {
            continue;
        }
        let circle: Vec<&str> =
            next.keys().copied().filter(|other| reaches(place, other) && reaches(other, place)).collect();
        let mut text = format!("circle of {}: {}", circle.len(), circle.join(", "));
        for ((from, to), names) in graph {
            if circle.contains(&from.as_str()) && circle.contains(&to.as_str()) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                write!(text, "\n    {from} -> {to}: {}", names.join(", ")).unwrap();
            }
        }
        told.extend(circle);
        found.push(text);
    }
    found
}

/// All places that imports lead to from this one, itself only if they lead back.
fn reach<'a>(next: &BTreeMap<&'a str, BTreeSet<&'a str>>, start: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(place) = open.pop() {
        for to in next.get(place).into_iter().flatten() {
            if reached.insert(*to) {
                open.push(to);
            }
        }
    }
    reached
}
