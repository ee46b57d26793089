//! No cycles between the files and folders of a folder: in `src`, and in the benches, fuzz targets and tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::paths::package_paths;
use crate::sources::{module, sources};
use crate::tokens::{tokens, without_tests};

#[test]
fn files_and_folders_have_no_cycles() {
    for root in programs() {
        // Each program has paths of its own: `crate` is the folder of its `main.rs` or `lib.rs`.
        let path = |path: &Path| Path::new("src").join(path.strip_prefix(&root).unwrap());
        let files: Vec<_> = sources(&root).iter().map(|(file, text)| (path(file), text.clone())).collect();
        let cycles = cycles(&files);
        assert!(cycles.is_empty(), "{root}: {}", cycles.join("\n"));
    }
}

/// The folders of `src`, `benches`, `fuzz` and `tests` that have the root of a program or library.
fn programs() -> BTreeSet<String> {
    let files = ["src", "benches", "fuzz", "tests"].map(sources).concat();
    let roots = files.iter().filter(|(path, _)| path.ends_with("main.rs") || path.ends_with("lib.rs"));
    roots.map(|(path, _)| path.parent().unwrap().display().to_string()).collect()
}

/// The uses of other files in a file.
type Uses = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// Describes every cycle between the children of a folder. A child is a file or a folder with everything in it.
fn cycles(files: &[(PathBuf, String)]) -> Vec<String> {
    let uses = uses(files);
    let folders: BTreeSet<_> = uses.keys().filter_map(|file| file.parent()).flat_map(Path::ancestors).collect();
    let mut cycles = Vec::new();
    for folder in folders.into_iter().filter(|folder| folder.starts_with("src")) {
        let children = children_uses(folder, &uses);
        for cycle in components(&children) {
            let edges = cycle.iter().flat_map(|child| children[child].iter().map(move |used| (child, used)));
            let edges = edges.filter(|(_, used)| cycle.contains(*used));
            let edges: Vec<_> = edges.map(|(child, used)| format!("{child} → {used}")).collect();
            cycles.push(format!("{}: {}", folder.display(), edges.join(", ")));
        }
    }
    cycles
}

/// For each file the other files that it uses.
fn uses(files: &[(PathBuf, String)]) -> Uses {
    let modules: BTreeMap<_, _> = files.iter().map(|(path, _)| (module(path), path)).collect();
    let uses_of = |path: &PathBuf, text: &String| {
        let paths = package_paths(&without_tests(&tokens(text)), &module(path), &["crate"]);
        let used = paths.iter().filter_map(|path| {
            // The longest beginning that is a module; the rest is an item in it.
            (1..=path.len()).rev().find_map(|length| modules.get(&path[..length]))
        });
        used.filter(|used| **used != path).map(|used| (*used).clone()).collect()
    };
    files.iter().map(|(path, text)| (path.clone(), uses_of(path, text))).collect()
}

/// For each child of a folder the other children that it uses.
fn children_uses(folder: &Path, uses: &Uses) -> BTreeMap<String, BTreeSet<String>> {
    let child = |path: &Path| Some(path.strip_prefix(folder).ok()?.iter().next()?.to_string_lossy().into_owned());
    let mut children: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, used) in uses {
        let Some(user) = child(file) else { continue };
        let used = used.iter().filter_map(|path| child(path)).filter(|used| *used != user).collect();
        children.entry(user.clone()).or_default().append(&mut { used });
    }
    children
}

/// The strongly connected components of several nodes: two nodes belong together if each reaches the other.
fn components(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let reachable: BTreeMap<_, _> = graph.keys().map(|node| (node, reachable(graph, node))).collect();
    let mut components: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (node, others) in &reachable {
        let component: BTreeSet<_> =
            others.iter().filter(|other| reachable[*other].contains(node)).map(|other| (*other).clone()).collect();
        if component.len() > 1 {
            components.insert(component);
        }
    }
    components.into_iter().collect()
}

/// The nodes that a path of one or more edges leads to.
fn reachable<'a>(graph: &'a BTreeMap<String, BTreeSet<String>>, start: &str) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<_> = graph[start].iter().collect();
    while let Some(node) = open.pop() {
        if found.insert(node) {
            open.extend(&graph[node]);
        }
    }
    found
}

#[test]
fn finds_cycles() {
    let files = |files: &[(&str, &str)]| -> Vec<_> {
        files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect()
    };
    for (example, expected) in [
        // Between two files, by every kind of path.
        (
            &[("src/a/b.rs", "use crate::a::c::C;"), ("src/a/c.rs", "use super::b::B;")][..],
            "src/a: b.rs → c.rs, c.rs → b.rs",
        ),
        (
            &[("src/a/b.rs", "use crate::a::{c, d::D}; fn f() { c::g() }"), ("src/a/c.rs", "fn g() { super::b::f() }")],
            "src/a: b.rs → c.rs, c.rs → b.rs",
        ),
        (
            &[("src/a/b.rs", "use super::c::*;"), ("src/a/c.rs", "use crate::a::b::{self, B as X};")],
            "src/a: b.rs → c.rs, c.rs → b.rs",
        ),
        // Items in mod.rs belong to that file.
        (
            &[("src/a/mod.rs", "mod b; fn f() { b::g() }"), ("src/a/b.rs", "use super::A;")],
            "src/a: b.rs → mod.rs, mod.rs → b.rs",
        ),
        (
            &[("src/a/mod.rs", "mod b; pub use b::B;"), ("src/a/b.rs", "use crate::a::A;")],
            "src/a: b.rs → mod.rs, mod.rs → b.rs",
        ),
        // Between folders, and over several files.
        (
            &[
                ("src/a/b/c.rs", "use crate::a::d::e::E;"),
                ("src/a/d/f.rs", "use crate::a::b::c::C;"),
                ("src/a/d/e.rs", ""),
            ],
            "src/a: b → d, d → b",
        ),
        (
            &[("src/a.rs", "use crate::b::B;"), ("src/b.rs", "use crate::c::C;"), ("src/c.rs", "use crate::a::A;")],
            "src: a.rs → b.rs, b.rs → c.rs, c.rs → a.rs",
        ),
    ] {
        assert_eq!(cycles(&files(example)), [expected]);
    }
    for example in [
        &[("src/a/mod.rs", "pub mod b; pub mod c;"), ("src/a/b.rs", "use super::c::C;"), ("src/a/c.rs", "")][..],
        &[("src/a/b.rs", "use super::c::C;"), ("src/a/c.rs", "#[cfg(test)] mod tests { use crate::a::b::B; }")],
        &[
            ("src/a/b.rs", "use super::c::C; fn f() { let a = 1; a::b() }"),
            ("src/a/c.rs", "//! [`B`](super::b::B)\nuse b::B;"),
        ],
    ] {
        assert_eq!(cycles(&files(example)), [""; 0]);
    }
}
