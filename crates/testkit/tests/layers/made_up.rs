//! The check can fail: each rule on made-up sources.

use crate::circles::{between_modules, circles, inside_modules};
use crate::content::content_faults;
use crate::fallible::undocumented;
use crate::imports::{Imports, imports};
use crate::rules::{Crate, dependency_faults, floor_faults, style_faults};
use crate::sources::made_up;

const SAMPLE: Crate = Crate { name: "sample", folder: "sample", may_use: &["core"], floors: &[&["low"], &["high"]] };

/// Imports of a made-up crate, all of which resolve.
fn read(files: &[(&str, &str)]) -> Imports {
    let found = imports(&made_up(files));
    assert_eq!(found.unresolved, Vec::<String>::new());
    found
}

/// Pairs `from -> to: names` of a made-up crate.
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let found = read(files).files;
    let names = |names: std::collections::BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(" ");
    found.into_iter().map(|((from, to), taken)| format!("{from} -> {to}: {}", names(taken))).collect()
}

/// Nested groups, renames, `self`, `super` and paths in code are imports of the file that defines the name.
#[test]
fn all_ways_to_write_an_import_are_read() {
    let low = ("low/mod.rs", "pub mod deep; pub struct Thing; pub fn act() {}");
    let deep = ("low/deep.rs", "pub struct Inner; pub mod brace { pub struct Kept; }");
    let of = |text: &str| arrows(&[("lib.rs", "mod low; mod user;"), low, deep, ("user.rs", text)]);
    let thing = "user.rs -> low/mod.rs: Thing";
    let inner = "user.rs -> low/deep.rs: Inner";
    assert_eq!(of("use crate::{low::{self, deep::{Inner as I}, Thing}};"), [inner, thing]);
    assert_eq!(of("use super::low::deep::Inner;"), [inner]);
    assert_eq!(of("use crate::low; fn f(_: &low::deep::Inner) {}"), [inner]);
    assert_eq!(of("fn f() -> Vec<crate::low::Thing> { vec![] }"), [thing]);
    assert_eq!(of("fn f() { println!(\"{}\", crate::low::act()); }"), ["user.rs -> low/mod.rs: act"]);
    assert_eq!(of("fn f() { use crate::low::Thing; }"), [thing]);
    assert_eq!(of("use crate::low::*; fn f(_: Thing) {}"), [thing]);
    assert_eq!(of("#[serde(with = \"crate::low::act\")] struct S;"), ["user.rs -> low/mod.rs: act"]);
    assert_eq!(of("mod inner { use super::super::low::Thing; }"), [thing]);
    assert_eq!(of("use crate::low::deep::brace::Kept;"), ["user.rs -> low/deep.rs: Kept"]);
    assert_eq!(of("use crate::low; use std::fmt; fn f(x: u32) { x.act(); }"), Vec::<String>::new());
}

/// An import by way of a re-export is an import of the file behind it; the re-export itself is none, unless its file
/// uses the name.
#[test]
fn re_exports_lead_to_the_file_that_defines() {
    let view = ("plane/view.rs", "pub struct Plane;");
    let user = ("user.rs", "use crate::plane::Plane;");
    let by_name = [("lib.rs", "pub use plane::Plane;"), ("plane/mod.rs", "mod view; pub use view::Plane;"), view, user];
    assert_eq!(arrows(&by_name), ["user.rs -> plane/view.rs: Plane"]);
    let by_glob = [("lib.rs", ""), ("plane/mod.rs", "mod view; pub use self::view::*;"), view, user];
    assert_eq!(arrows(&by_glob), ["user.rs -> plane/view.rs: Plane"]);
    let used = [("plane/mod.rs", "mod view; pub use view::Plane; fn f(_: Plane) {}"), view];
    assert_eq!(arrows(&used), ["plane/mod.rs -> plane/view.rs: Plane"]);
    let renamed = [("lib.rs", "pub use crate::plane::view::Plane as Sheet;"), ("plane/mod.rs", "pub mod view;"), view];
    let user = ("user.rs", "use crate::Sheet;");
    assert_eq!(arrows(&[&renamed[..], &[user]].concat()), ["user.rs -> plane/view.rs: Plane"]);
}

/// Tests may import what they like: modules for tests, their files, and functions for tests are left out.
#[test]
fn tests_are_left_out() {
    let module = ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }");
    let file = ("a/mod.rs", "pub struct A; #[cfg(test)] mod tests;");
    let below = ("a/tests.rs", "use crate::b::B;");
    let function = ("a.rs", "pub struct A; impl A { #[cfg(test)] fn f(_: crate::b::B) {} }");
    let b = ("b.rs", "use crate::a::A; pub struct B;");
    for files in [&[module, b][..], &[file, below, b], &[function, b]] {
        let expected = format!("b.rs -> {}: A", files[0].0);
        assert_eq!(arrows(files), [expected]);
    }
    let kept = ("a.rs", "pub struct A; #[cfg(not(test))] fn f(_: crate::b::B) {}");
    assert_eq!(arrows(&[kept, b]).len(), 2);
}

/// Items that a macro's body writes are known by the file of the macro.
#[test]
fn items_of_macros_are_known() {
    let list = (
        "list.rs",
        "macro_rules! list { ($($x:expr),*) => { pub static ALL: &[u32] = &[$($x),*]; }; } list! { crate::one::ONE }",
    );
    let files = [list, ("one.rs", "pub const ONE: u32 = 1;"), ("user.rs", "use crate::list::ALL;")];
    assert_eq!(arrows(&files), ["list.rs -> one.rs: ONE", "user.rs -> list.rs: ALL"]);
}

/// What leads nowhere is told, so that a blind spot of the check is seen.
#[test]
fn blind_spots_are_told() {
    read(&[("lib.rs", "pub use std::fmt::Debug as D;"), ("a.rs", "use crate::D; use std::nowhere::Thing;")]);
    let found = imports(&made_up(&[("lib.rs", "use crate::nowhere::Thing;"), ("a.rs", "pub use super::gone;")]));
    assert_eq!(found.unresolved.len(), 2);
}

/// Circles of two files, of three, and of a folder's file with one below it; with the names that tie them.
#[test]
fn circles_of_files_are_found() {
    let two = [("a.rs", "use crate::b::B; pub struct A;"), ("b.rs", "pub struct B; fn f(_: crate::a::A) {}")];
    let found = circles(&read(&two).files);
    assert_eq!(found, ["circle of 2: a.rs, b.rs\n    a.rs -> b.rs: B\n    b.rs -> a.rs: A"]);
    let three = [
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "use crate::c::C; pub struct B;"),
        ("c.rs", "use crate::a::A; pub struct C;"),
        ("d.rs", "use crate::a::A;"),
    ];
    let found = circles(&read(&three).files);
    assert!(found.len() == 1 && found[0].starts_with("circle of 3: a.rs, b.rs, c.rs\n"), "{found:?}");
    let below = [("a/mod.rs", "mod b; use b::B; pub struct A;"), ("a/b.rs", "use super::A; pub struct B;")];
    assert_eq!(circles(&read(&below).files).len(), 1);
    let root = [("lib.rs", "mod a; pub struct L; fn f(_: a::A) {}"), ("a.rs", "use crate::L; pub struct A;")];
    assert_eq!(circles(&read(&root).files).len(), 1);
    let re_exported = [
        ("a/mod.rs", "mod b; mod c; pub use b::B; fn f(_: c::C) {}"),
        ("a/b.rs", "pub struct B;"),
        ("a/c.rs", "use super::B; pub struct C;"),
    ];
    assert_eq!(circles(&read(&re_exported).files), Vec::<String>::new());
}

/// Two modules import each other although no two files do.
#[test]
fn circles_of_modules_are_found() {
    let files = [
        ("a/mod.rs", "pub mod x; pub mod y;"),
        ("a/x.rs", "use crate::b::B;"),
        ("a/y.rs", "pub struct Y;"),
        ("b.rs", "pub struct B; fn f(_: crate::a::y::Y) {}"),
    ];
    let found = read(&files).files;
    assert_eq!(circles(&found), Vec::<String>::new());
    assert_eq!(circles(&between_modules(&found)).len(), 1);
    let nested = [
        ("inner/mod.rs", "pub mod a; pub mod b;"),
        ("inner/a/mod.rs", "pub mod x; pub mod y;"),
        ("inner/a/x.rs", "use crate::inner::b::B;"),
        ("inner/a/y.rs", "pub struct Y;"),
        ("inner/b.rs", "pub struct B; fn f(_: crate::inner::a::y::Y) {}"),
    ];
    let found = read(&nested).files;
    assert_eq!((circles(&found).len(), circles(&between_modules(&found)).len()), (0, 0));
    assert_eq!(circles(&inside_modules(&found)["inner"]).len(), 1);
}

/// Imports do not go from floor to floor upwards, and floors name modules that there are.
#[test]
fn floors_are_kept() {
    let faults = |files: &[(&str, &str)]| floor_faults(&SAMPLE, &read(files).files, &made_up(files));
    let (low, high) = (("low.rs", "pub struct L;"), ("high/mod.rs", "pub struct H; fn f(_: crate::low::L) {}"));
    assert_eq!(faults(&[low, high]), Vec::<String>::new());
    assert_eq!(faults(&[("low.rs", "use crate::high::H;"), ("high/mod.rs", "pub struct H;")]).len(), 1);
    let hidden = [("lib.rs", "pub use high::H;"), ("low.rs", "use crate::H;"), ("high/mod.rs", "pub struct H;")];
    assert_eq!(faults(&hidden).len(), 1);
    assert_eq!(faults(&[low]).len(), 1);
}

/// No file stands beside the folder of its name.
#[test]
fn one_module_style() {
    let faults = |files: &[(&str, &str)]| style_faults(&SAMPLE, &made_up(files)).len();
    assert_eq!(faults(&[("a.rs", ""), ("a/b.rs", "")]), 1);
    assert_eq!(faults(&[("a/mod.rs", ""), ("a/b.rs", ""), ("a/b/tests.rs", "")]), 1);
    assert_eq!(faults(&[("a/mod.rs", ""), ("a/b.rs", ""), ("ab.rs", "")]), 0);
}

/// A crate depends only on those it may use, under whatever name and on whatever platform; tests may use all.
#[test]
fn dependencies_are_read() {
    for manifest in [
        "[dependencies]\nmultiplane-tasks.workspace = true\n[dev-dependencies]\nmultiplane = {}\n",
        "[dependencies.multiplane]\nversion = \"1\"\n",
        "[dependencies]\nx = { package = \"multiplane-tasks\" }\n",
        "[target.'cfg(unix)'.dependencies]\nmultiplane-tasks = {}\n",
        "[build-dependencies]\nmultiplane-tasks = {}\n",
    ] {
        assert_eq!(dependency_faults(&SAMPLE, manifest).len(), 1, "{manifest}");
    }
    assert!(dependency_faults(&SAMPLE, "[dependencies]\nmultiplane-core = {}\nserde = \"1\"\n").is_empty());
}

/// A public function that returns a result needs a section `# Errors`, a trait's method too; others do not.
#[test]
fn sections_on_errors_are_read() {
    let found = |text: &str| undocumented(&made_up(&[("a.rs", text)])[0]).len();
    assert_eq!(found("/// Reads.\npub fn f() -> Result<(), E> { g() }"), 1);
    assert_eq!(found("/// Reads.\n///\n/// # Errors\n/// Never.\npub fn f() -> io::Result<()> { g() }"), 0);
    assert_eq!(found("pub(crate) fn f() -> Result<(), E> { g() } pub fn h() -> Option<u32> { None }"), 0);
    assert_eq!(found("impl S { pub fn f() -> Result<(), E> { g() } fn h() -> Result<(), E> { g() } }"), 1);
    assert_eq!(found("pub trait T { fn f() -> Result<(), E>; } impl T for S { fn f() -> Result<(), E> { g() } }"), 1);
    assert_eq!(found("#[cfg(test)] mod tests { pub fn f() -> Result<(), E> { g() } }"), 0);
}

/// Each rule on contents, in code, in a comment and in tests.
#[test]
fn contents_are_read() {
    let library = "crates/core/src/x.rs";
    for bad in ["unsafe { x }", "println!(\"\")", "let t = Instant::now();", "std::env::var(\"X\")"] {
        assert_eq!(content_faults(library, bad).len(), 1, "{bad}");
        assert_eq!(content_faults(library, &format!("// {bad}")).len(), 0, "{bad}");
        assert_eq!(content_faults(library, &format!("#[cfg(test)]\nmod tests {{ {bad} }}")).len(), 0, "{bad}");
    }
    assert_eq!(content_faults("crates/cli/src/x.rs", "println!(\"\")").len(), 0);
    assert_eq!(content_faults("crates/cli/src/x.rs", "unsafe { x }").len(), 1);
    assert_eq!(content_faults("crates/core/src/linalg/mod.rs", "unsafe { x }").len(), 0);
    assert_eq!(content_faults(library, &"\n".repeat(501)).len(), 1);
}
