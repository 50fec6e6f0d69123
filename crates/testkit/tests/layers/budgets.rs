//! The budgets of `budgets.toml`: sizes of traits, structs, crates and documents, and names that are defined once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use syn::visit::{self, Visit};

use crate::facts::for_tests;
use crate::sources::{self, Source, root};

/// The bounds of `budgets.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Budgets {
    rules: Rules,
    /// Bounds of traits and structs that are above the rule, by name.
    larger: BTreeMap<String, usize>,
    /// Lines of Rust, by folder.
    lines: BTreeMap<String, usize>,
    /// Words of Markdown, by file or folder.
    words: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    trait_methods: usize,
    struct_fields: usize,
    shared_type_names: usize,
    wide_lines: usize,
    noun_clauses: usize,
}

/// Reads `budgets.toml`.
pub(crate) fn read() -> Budgets {
    let text = fs::read_to_string(root().join("budgets.toml")).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("budgets.toml: {error}"))
}

/// A struct, enum or trait.
pub(crate) struct TypeDefinition {
    name: String,
    /// Path of its file.
    file: String,
    /// Methods of a trait or fields of a struct.
    size: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Trait,
    Struct,
    Enum,
}

/// Returns the types that a file defines, without those of tests.
pub(crate) fn type_definitions(source: &Source) -> Vec<TypeDefinition> {
    let parsed = syn::parse_file(&source.text).unwrap_or_else(|error| panic!("{}: {error}", source.path));
    let mut reader = Reader { file: &source.path, found: Vec::new() };
    reader.visit_file(&parsed);
    reader.found
}

struct Reader<'a> {
    file: &'a str,
    found: Vec<TypeDefinition>,
}

impl Reader<'_> {
    fn define(&mut self, name: &syn::Ident, kind: Kind, size: usize) {
        self.found.push(TypeDefinition { name: name.to_string(), file: self.file.to_string(), size, kind });
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if !for_tests(&item.attrs) {
            self.define(&item.ident, Kind::Struct, item.fields.len());
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if !for_tests(&item.attrs) {
            self.define(&item.ident, Kind::Enum, 0);
        }
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        if !for_tests(&item.attrs) {
            let methods = item.items.iter().filter(|item| matches!(item, syn::TraitItem::Fn(_))).count();
            self.define(&item.ident, Kind::Trait, methods);
        }
    }
}

impl Budgets {
    /// Returns the types that are too large, the names that are defined twice too often, and exceptions that nothing needs.
    pub(crate) fn type_faults(&self, types: &[TypeDefinition]) -> Vec<String> {
        let mut faults = Vec::new();
        let mut needed = BTreeMap::new();
        for one in types {
            let (rule, parts) = match one.kind {
                Kind::Trait => (self.rules.trait_methods, "methods"),
                Kind::Struct => (self.rules.struct_fields, "fields"),
                Kind::Enum => continue,
            };
            let bound = self.larger.get(&one.name).copied().unwrap_or(rule);
            if one.size > rule {
                needed.insert(one.name.as_str(), one.size);
            }
            if one.size > bound {
                faults
                    .push(format!("{}: {} has {} {parts}, at most {bound} are allowed", one.file, one.name, one.size));
            }
        }
        for (name, bound) in &self.larger {
            if needed.get(name.as_str()).is_none_or(|size| size < bound) {
                faults.push(format!("budgets.toml: larger.{name} = {bound} is more than {name} needs"));
            }
        }
        faults.extend(bounded("shared_type_names", self.rules.shared_type_names, &shared_names(types)));
        faults
    }

    /// Returns what is wrong with the lines of a set of files.
    pub(crate) fn line_faults(&self, files: &[Source]) -> Vec<String> {
        let (mut wide, mut clauses) = (Vec::new(), Vec::new());
        for file in files {
            let mut before = "";
            for (number, line) in file.text.lines().enumerate() {
                let place = || format!("{}:{}", file.path, number + 1);
                if line.chars().count() > 120 {
                    wide.push(place());
                }
                if opens_with_noun_clause(before, line) {
                    clauses.push(place());
                }
                before = line;
            }
        }
        let mut faults = Vec::from_iter(bounded("wide_lines", self.rules.wide_lines, &wide));
        faults.extend(bounded("noun_clauses", self.rules.noun_clauses, &clauses));
        for (folder, bound) in &self.lines {
            let inside = |file: &&Source| file.path.starts_with(&format!("{folder}/")) && file.path.contains("/src/");
            let lines: usize = files.iter().filter(inside).map(|file| file.text.lines().count()).sum();
            assert!(lines > 0, "budgets.toml: lines.{folder}: no such folder");
            faults.extend(above(&format!("{folder}: lines"), lines, *bound));
        }
        faults
    }

    /// Returns the documents of too many words.
    pub(crate) fn word_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (path, bound) in &self.words {
            let words = words(&root().join(path));
            assert!(words > 0, "budgets.toml: words.{path}: no such document");
            faults.extend(above(&format!("{path}: words"), words, *bound));
        }
        faults
    }
}

fn above(what: &str, found: usize, bound: usize) -> Option<String> {
    (found > bound).then(|| format!("{what}: {found}, at most {bound} are allowed"))
}

/// Returns one text if more places than allowed break a rule: the number and the first places.
fn bounded(rule: &str, bound: usize, places: &[String]) -> Option<String> {
    let first: Vec<&str> = places.iter().take(20).map(String::as_str).collect();
    Some(format!("{}, such as\n    {}", above(rule, places.len(), bound)?, first.join("\n    ")))
}

/// Returns one text for each definition of a name that is defined in another place already.
fn shared_names(types: &[TypeDefinition]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in types {
        places.entry(&one.name).or_default().push(&one.file);
    }
    let shared = places.iter().filter(|(_, files)| files.len() > 1);
    shared
        .flat_map(|(name, files)| files[1..].iter().map(move |file| format!("{name}: {}, {file}", files[0])))
        .collect()
}

/// Tells if a line opens a doc comment with a clause in the place of a noun or a verb.
fn opens_with_noun_clause(before: &str, line: &str) -> bool {
    let doc = |line: &str| {
        let line = line.trim_start();
        line.starts_with("///") || line.starts_with("//!")
    };
    let text = line.trim_start().trim_start_matches(['/', '!']);
    doc(line) && !doc(before) && [" What ", " Whether ", " Where ", " That "].iter().any(|word| text.starts_with(word))
}

/// Counts the words of a document, or of all documents of a folder that are part of the project.
fn words(path: &Path) -> usize {
    if path.is_file() {
        return fs::read_to_string(path).unwrap().split_whitespace().count();
    }
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let skipped = |path: &Path| {
        let name = name(path);
        ["target", "benchmarks", "venv", "node_modules"].contains(&name.as_str())
            || (name.starts_with('.') && path.is_dir())
    };
    let entries = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let inside =
        entries.filter(|path| !skipped(path) && (path.is_dir() || path.extension().is_some_and(|kind| kind == "md")));
    inside.map(|path| words(&path)).sum()
}

/// Reads the Rust sources that budgets count, by path from the root.
pub(crate) fn counted_sources() -> Vec<Source> {
    let mut files = Vec::new();
    for folder in ["crates", "bindings/python/src"] {
        let inside = sources::read(&root().join(folder)).into_iter();
        let named = inside.map(|file| Source { path: format!("{folder}/{}", file.path), text: file.text });
        files.extend(named.filter(|file| file.path.contains("/src/")));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::made_up;

    fn budgets() -> Budgets {
        toml::from_str(
            "[rules]\ntrait_methods = 1\nstruct_fields = 1\nshared_type_names = 0\nwide_lines = 0\nnoun_clauses = 0\n\
             [larger]\nWide = 3\n[lines]\na = 2\n[words]\n",
        )
        .unwrap()
    }

    fn faults(text: &str) -> Vec<String> {
        let types: Vec<_> = made_up(&[("a/src/x.rs", text)]).iter().flat_map(type_definitions).collect();
        budgets().type_faults(&types)
    }

    #[test]
    fn types_above_their_bound_are_found() {
        assert_eq!(faults("struct Wide { a: u8, b: u8, c: u8 }"), Vec::<String>::new());
        assert_eq!(faults("struct Wide { a: u8, b: u8, c: u8, d: u8 }").len(), 1);
        assert_eq!(faults("struct Wide { a: u8, b: u8, c: u8 } trait T { fn a(); fn b(); }").len(), 1);
        assert_eq!(faults("struct Wide { a: u8 }").len(), 1, "the exception is not needed");
        let tests =
            "struct Wide { a: u8, b: u8, c: u8 } #[cfg(test)] mod tests { struct S { a: u8, b: u8 } struct Wide; }";
        assert_eq!(faults(tests), Vec::<String>::new());
    }

    #[test]
    fn names_are_defined_once() {
        let found = faults("struct Wide { a: u8, b: u8, c: u8 } enum E { A } mod inner { struct E; }");
        assert!(found.len() == 1 && found[0].contains("E: a/src/x.rs"), "{found:?}");
    }

    #[test]
    fn lines_are_held() {
        let wide = format!("// {}", "x".repeat(118));
        let files = made_up(&[("a/src/x.rs", "/// Whether it rains.\nfn f() {}\n"), ("b/src/y.rs", &wide)]);
        let found = budgets().line_faults(&files);
        assert!(found.len() == 2 && found[0].contains("wide_lines") && found[1].contains("a/src/x.rs:1"), "{found:?}");
        let files = made_up(&[("a/src/x.rs", "/// Returns x,\n/// Whether or not.\nfn f() {}\n")]);
        let found = budgets().line_faults(&files);
        assert!(found.len() == 1 && found[0].contains("a: lines: 3"), "{found:?}");
    }
}
