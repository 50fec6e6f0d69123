//! Public functions that can fail say when: their documentation has a section `# Errors`.

use syn::visit::{self, Visit};

use crate::facts::for_tests;
use crate::sources::Source;

/// Returns the public functions of a file that return a `Result` and have no section `# Errors`. Methods of a trait's
/// implementation are left out: the trait says it for them.
///
/// # Panics
/// Where the file is not Rust.
pub(crate) fn undocumented(source: &Source) -> Vec<String> {
    let parsed = syn::parse_file(&source.text).unwrap_or_else(|error| panic!("{}: {error}", source.path));
    let mut reader = Reader { found: Vec::new() };
    reader.visit_file(&parsed);
    reader.found.into_iter().map(|name| format!("{}: {name} has no section `# Errors`", source.path)).collect()
}

struct Reader {
    found: Vec<String>,
}

impl Reader {
    fn check(&mut self, is_public: bool, attributes: &[syn::Attribute], signature: &syn::Signature) {
        if is_public && returns_result(signature) && !has_section(attributes) {
            self.found.push(signature.ident.to_string());
        }
    }
}

fn is_public(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

/// Whether a function returns a `Result`, or an alias of one, whose name ends so.
fn returns_result(signature: &syn::Signature) -> bool {
    let syn::ReturnType::Type(_, returned) = &signature.output else { return false };
    let syn::Type::Path(path) = &**returned else { return false };
    path.path.segments.last().is_some_and(|last| last.ident.to_string().ends_with("Result"))
}

fn has_section(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).any(|attribute| {
        let syn::Meta::NameValue(pair) = &attribute.meta else { return false };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(line), .. }) = &pair.value else { return false };
        line.value().trim() == "# Errors"
    })
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.check(is_public(&item.vis), &item.attrs, &item.sig);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if item.trait_.is_none() && !for_tests(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.check(is_public(&item.vis), &item.attrs, &item.sig);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        if is_public(&item.vis) {
            visit::visit_item_trait(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.check(true, &item.attrs, &item.sig);
    }
}
