//! Which file of a crate imports which: names are followed through aliases, globs and re-exports to the file that
//! defines them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::facts::{Facts, Import, Path, facts};
use crate::sources::Source;

/// A graph: for each pair of places, the names that the first takes from the second.
pub(crate) type Graph = BTreeMap<(String, String), BTreeSet<String>>;

/// The imports of a crate.
pub(crate) struct Imports {
    /// From file to file.
    pub(crate) files: Graph,
    /// Imports by `crate`, `self` or `super` that lead to nothing that is known here: blind spots of the check.
    pub(crate) unresolved: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Target {
    Module(Path),
    /// A name, and the file that defines it.
    Item(usize, String),
    /// Something of another crate.
    Foreign,
}

struct Names {
    files: Vec<Facts>,
    modules: HashSet<Path>,
    items: HashMap<(Path, String), Vec<usize>>,
    /// Imports that introduce a name, and those that introduce all names of a place (under no name).
    imports: HashMap<(Path, Option<String>), Vec<Path>>,
}

/// Reads the imports of a crate from its files (paths below `src`).
pub(crate) fn imports(sources: &[Source]) -> Imports {
    let mut files: Vec<Facts> = sources.iter().map(facts).collect();
    let tests: Vec<Path> = files.iter().flat_map(|file| file.test_modules.clone()).collect();
    files.retain(|file| !tests.iter().any(|test| file.modules[0].starts_with(test)));
    let names = Names::new(files);
    let mut found = Imports { files: Graph::new(), unresolved: Vec::new() };
    for (place, file) in names.files.iter().enumerate() {
        let mut link = |module: &Path, path: &Path| {
            let targets = names.resolve(module, path, &mut HashSet::new());
            for target in &targets {
                if let Target::Item(other, name) = target
                    && *other != place
                {
                    let pair = (file.file.clone(), names.files[*other].file.clone());
                    found.files.entry(pair).or_default().insert(name.clone());
                }
            }
            !targets.is_empty()
        };
        for (module, path) in &file.paths {
            link(module, path);
        }
        for Import { module, path, public, .. } in &file.imports {
            let resolved = if *public { names.knows(module, path) } else { link(module, path) };
            if is_local(path) && !resolved {
                found.unresolved.push(format!("{}: nothing found for {}", file.file, path.join("::")));
            }
        }
    }
    found
}

/// Whether a path says itself that it leads to something of this crate.
fn is_local(path: &Path) -> bool {
    path.first().is_some_and(|first| ["crate", "self", "super"].contains(&first.as_str()))
}

impl Names {
    fn new(files: Vec<Facts>) -> Self {
        let mut modules: HashSet<Path> = HashSet::from([Path::new()]);
        let mut items: HashMap<(Path, String), Vec<usize>> = HashMap::new();
        let mut imports: HashMap<(Path, Option<String>), Vec<Path>> = HashMap::new();
        for (place, file) in files.iter().enumerate() {
            modules.extend(file.modules.iter().cloned());
            for definition in &file.definitions {
                items.entry(definition.clone()).or_default().push(place);
            }
            for import in &file.imports {
                let key = (import.module.clone(), import.name.clone());
                imports.entry(key).or_default().push(import.path.clone());
            }
        }
        Self { files, modules, items, imports }
    }

    fn knows(&self, module: &Path, path: &Path) -> bool {
        !self.resolve(module, path, &mut HashSet::new()).is_empty()
    }

    /// What a path means that stands in a module. Empty for what is not of this crate. `seen` keeps aliases that lead
    /// back to themselves from being followed for ever.
    fn resolve(&self, module: &Path, path: &[String], seen: &mut HashSet<(Path, String)>) -> HashSet<Target> {
        let mut place = module.clone();
        let mut rest = path;
        while let [first, others @ ..] = rest {
            match first.as_str() {
                "crate" => place.clear(),
                "self" => {}
                "super" => drop(place.pop()),
                _ => break,
            }
            rest = others;
        }
        let [name, rest @ ..] = rest else { return HashSet::from([Target::Module(place)]) };
        let mut meant = HashSet::new();
        for target in self.lookup(&place, name, seen) {
            match target {
                Target::Module(inner) if !rest.is_empty() => meant.extend(self.resolve(&inner, rest, seen)),
                // The rest of a path behind an item are its variants and functions.
                target => drop(meant.insert(target)),
            }
        }
        meant
    }

    /// What a name means in a module.
    fn lookup(&self, module: &Path, name: &str, seen: &mut HashSet<(Path, String)>) -> HashSet<Target> {
        let mut meant = HashSet::new();
        if !seen.insert((module.clone(), name.to_string())) {
            return meant;
        }
        let own = self.items.get(&(module.clone(), name.to_string()));
        meant.extend(own.into_iter().flatten().map(|file| Target::Item(*file, name.to_string())));
        let inner = [&module[..], &[name.to_string()]].concat();
        if self.modules.contains(&inner) {
            meant.insert(Target::Module(inner));
        }
        let aliases = self.imports.get(&(module.clone(), Some(name.to_string())));
        for path in aliases.into_iter().flatten() {
            let targets = self.resolve(module, path, seen);
            meant.extend(if targets.is_empty() && !is_local(path) {
                HashSet::from([Target::Foreign])
            } else {
                targets
            });
        }
        if meant.is_empty() {
            for path in self.imports.get(&(module.clone(), None)).into_iter().flatten() {
                for place in self.resolve(module, path, &mut seen.clone()) {
                    if let Target::Module(place) = place {
                        meant.extend(self.lookup(&place, name, seen));
                    }
                }
            }
        }
        seen.remove(&(module.clone(), name.to_string()));
        meant
    }
}
