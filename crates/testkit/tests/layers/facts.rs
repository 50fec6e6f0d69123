//! What one file says about names: what it defines, what it imports, and which paths it writes.
//!
//! Code that only tests see is left out. Paths are also read from the tokens of macros and from attributes, strings in
//! them included (`#[serde(with = "crate::bits")]`).

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::sources::{Source, module_of};

/// The path of a module or of a name, from the root of its crate or from where it is written.
pub(crate) type Path = Vec<String>;

/// One name of a `use` declaration.
pub(crate) struct Import {
    /// The module in which it stands.
    pub(crate) module: Path,
    /// What it names, as written; the names of a glob's source for a glob.
    pub(crate) path: Path,
    /// The name that it introduces; none for a glob.
    pub(crate) name: Option<String>,
    /// Whether it is a re-export: then it only counts if the file uses the name itself.
    pub(crate) public: bool,
}

/// All that the check knows of one file.
#[derive(Default)]
pub(crate) struct Facts {
    /// Path of the file below `src`.
    pub(crate) file: String,
    /// Names defined here, with the module that holds them.
    pub(crate) definitions: Vec<(Path, String)>,
    /// Modules written here: that of the file, and those with braces.
    pub(crate) modules: Vec<Path>,
    /// What `use` declarations say.
    pub(crate) imports: Vec<Import>,
    /// Paths written in code, with the module in which each stands.
    pub(crate) paths: Vec<(Path, Path)>,
    /// Modules declared here that only tests see.
    pub(crate) test_modules: Vec<Path>,
}

/// Reads a file.
///
/// # Panics
///
/// If it is not Rust.
pub(crate) fn facts(source: &Source) -> Facts {
    let parsed = syn::parse_file(&source.text).unwrap_or_else(|error| panic!("{}: {error}", source.path));
    let module = module_of(&source.path);
    let known = Facts { file: source.path.clone(), modules: vec![module.clone()], ..Facts::default() };
    let mut reader = Reader { module, facts: known };
    reader.visit_file(&parsed);
    reader.facts
}

struct Reader {
    module: Path,
    facts: Facts,
}

impl Reader {
    fn define(&mut self, name: &syn::Ident) {
        self.facts.definitions.push((self.module.clone(), name.to_string()));
    }

    fn mention(&mut self, path: Path) {
        self.facts.paths.push((self.module.clone(), path));
    }

    fn import(&mut self, tree: &syn::UseTree, before: &[String], public: bool) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        let (path, name) = match tree {
            syn::UseTree::Path(step) => return self.import(&step.tree, &with(&step.ident), public),
            syn::UseTree::Group(group) => return group.items.iter().for_each(|tree| self.import(tree, before, public)),
            syn::UseTree::Glob(_) => (before.to_vec(), None),
            syn::UseTree::Name(last) if last.ident == "self" => (before.to_vec(), before.last().cloned()),
            syn::UseTree::Name(last) => (with(&last.ident), Some(last.ident.to_string())),
            syn::UseTree::Rename(last) if last.ident == "self" => (before.to_vec(), Some(last.rename.to_string())),
            syn::UseTree::Rename(last) => (with(&last.ident), Some(last.rename.to_string())),
        };
        self.facts.imports.push(Import { module: self.module.clone(), path, name, public });
    }

    /// Reads the paths in the tokens of a macro or of an attribute; `defines` says that the tokens are the body of a
    /// macro, whose items become items of this file.
    fn tokens(&mut self, tokens: TokenStream, defines: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.tokens(group.stream(), defines),
                TokenTree::Literal(literal) => self.path_in_string(&literal.to_string()),
                TokenTree::Ident(first) => {
                    let after_dot = at > 0 && is_punct(&tokens[at - 1], '.');
                    let mut path = vec![first.to_string()];
                    while let [a, b, TokenTree::Ident(next), ..] = &tokens[at + 1..] {
                        if !(is_punct(a, ':') && is_punct(b, ':')) {
                            break;
                        }
                        path.push(next.to_string());
                        at += 3;
                    }
                    let names_item = ITEM_KEYWORDS.contains(&path[0].as_str());
                    if let (true, true, Some(TokenTree::Ident(name))) = (defines, names_item, tokens.get(at + 1)) {
                        self.define(name);
                    }
                    if !after_dot {
                        self.mention(path);
                    }
                }
                TokenTree::Punct(_) => {}
            }
            at += 1;
        }
    }

    fn path_in_string(&mut self, literal: &str) {
        let text = literal.trim_matches('"');
        let is_path = text.split("::").all(|part| syn::parse_str::<syn::Ident>(part).is_ok() || part == "crate");
        if literal.starts_with('"') && is_path {
            self.mention(text.split("::").map(String::from).collect());
        }
    }
}

/// Words before the name of an item.
const ITEM_KEYWORDS: [&str; 8] = ["fn", "struct", "enum", "trait", "const", "static", "type", "union"];

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Whether attributes keep what follows for tests.
pub(crate) fn for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let first = list.tokens.clone().into_iter().next().map(|token| token.to_string()).unwrap_or_default();
        let all_of = |token: TokenTree| match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                group.stream().into_iter().any(|inner| inner.to_string() == "test")
            }
            _ => false,
        };
        first == "test" || first == "doctest" || (first == "all" && list.tokens.clone().into_iter().any(all_of))
    })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::ExternCrate(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::ForeignMod(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::TraitAlias(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Union(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if for_tests(attributes(item)) {
            if let syn::Item::Mod(module) = item {
                self.facts.test_modules.push([&self.module[..], &[module.ident.to_string()]].concat());
            }
            return;
        }
        match item {
            syn::Item::Const(item) => self.define(&item.ident),
            syn::Item::Enum(item) => self.define(&item.ident),
            syn::Item::Fn(item) => self.define(&item.sig.ident),
            syn::Item::Static(item) => self.define(&item.ident),
            syn::Item::Struct(item) => self.define(&item.ident),
            syn::Item::Trait(item) => self.define(&item.ident),
            syn::Item::TraitAlias(item) => self.define(&item.ident),
            syn::Item::Type(item) => self.define(&item.ident),
            syn::Item::Union(item) => self.define(&item.ident),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_some() {
            self.module.push(item.ident.to_string());
            self.facts.modules.push(self.module.clone());
            visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&item.tree, &[], !matches!(item.vis, syn::Visibility::Inherited));
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if let Some(name) = &item.ident {
            self.define(name);
        }
        self.visit_path(&item.mac.path);
        self.tokens(item.mac.tokens.clone(), item.ident.is_some());
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.visit_path(&item.path);
        self.tokens(item.tokens.clone(), false);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone(), false);
        }
    }

    /// `pub(in crate::x)` names a place, and imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.mention(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }
}
