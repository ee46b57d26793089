//! The Rust files of the package.

use std::fs;
use std::path::{Path, PathBuf};

/// The Rust files in a folder of the package and below it, with paths from the package.
pub(crate) fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut folders = vec![PathBuf::from(folder)];
    let mut files = Vec::new();
    while let Some(path) = folders.pop() {
        for entry in fs::read_dir(package().join(&path)).unwrap() {
            let path = path.join(entry.unwrap().file_name());
            let absolute = package().join(&path);
            if absolute.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push((path, fs::read_to_string(absolute).unwrap()));
            }
        }
    }
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The package's folder.
pub(crate) fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The modules of the library, in the order of its root.
pub(crate) fn modules() -> Vec<String> {
    let lib = fs::read_to_string(package().join("src/lib.rs")).unwrap();
    let name = |line: &str| {
        let declared = line.strip_prefix("pub mod ").or_else(|| line.strip_prefix("pub(crate) mod "))?;
        declared.strip_suffix(';').map(str::to_owned)
    };
    lib.lines().filter_map(name).collect()
}

/// The module of a file: `["query", "bind"]` for `src/query/bind/mod.rs`, and none for `src/lib.rs`.
pub(crate) fn module(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let names = path.iter().skip(1).map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name != "mod" && name != "lib").collect()
}
