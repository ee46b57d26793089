//! The paths in a file's tokens, such as `crate::query::bind`, with imports and groups resolved.

use std::collections::HashMap;

use crate::tokens::block;

/// A path, as its names.
pub(crate) type Path = Vec<String>;

/// The absolute paths in a file of that module, without the root: those that begin with one of the names of the root, `super`
/// or `self`, and those that begin with an imported name or with a child module.
pub(crate) fn package_paths(tokens: &[String], module: &[String], roots: &[&str]) -> Vec<Path> {
    let mut local: HashMap<String, Path> = HashMap::new();
    for name in declared_modules(tokens) {
        local.insert(name.clone(), [module, &[name]].concat());
    }
    let paths = all_paths(tokens);
    let imports = paths.iter().filter(|path| path.is_import);
    let imports: Vec<_> =
        imports.filter_map(|path| Some((path.name(), resolve(&path.names, module, roots, &local)?))).collect();
    local.extend(imports);
    paths.iter().filter_map(|path| resolve(&path.names, module, roots, &local)).collect()
}

/// The first names of all paths: crates, modules and local names.
pub(crate) fn first_names(tokens: &[String]) -> Vec<String> {
    all_paths(tokens).into_iter().map(|path| path.names[0].clone()).collect()
}

/// The second names of paths that begin with that crate.
pub(crate) fn names_in(tokens: &[String], outside: &str) -> Vec<String> {
    let paths = all_paths(tokens).into_iter().filter(|path| path.names[0] == outside);
    paths.filter_map(|path| path.names.get(1).cloned()).collect()
}

/// A path as it is written.
struct Written {
    names: Path,
    is_import: bool,
    alias: Option<String>,
}

impl Written {
    /// The name that an import introduces.
    fn name(&self) -> String {
        self.alias.clone().unwrap_or_else(|| self.names[self.names.len() - 1].clone())
    }
}

fn resolve(names: &[String], module: &[String], roots: &[&str], local: &HashMap<String, Path>) -> Option<Path> {
    let supers = names.iter().take_while(|name| *name == "super").count();
    let first = names.first()?;
    if roots.contains(&first.as_str()) {
        Some(names[1..].to_vec())
    } else if supers > 0 {
        Some([&module[..module.len().checked_sub(supers)?], &names[supers..]].concat())
    } else if first == "self" && names.len() > 1 {
        Some([module, &names[1..]].concat())
    } else {
        Some([local.get(first)?, &names[1..]].concat())
    }
}

/// The names of `mod name;`.
fn declared_modules(tokens: &[String]) -> Vec<String> {
    let windows = tokens.windows(3).filter(|window| window[0] == "mod" && window[2] == ";");
    windows.map(|window| window[1].clone()).collect()
}

/// All paths of two or more names, and all imports.
fn all_paths(tokens: &[String]) -> Vec<Written> {
    let mut paths = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        if tokens[index] == "use" {
            index = read_tree(tokens, index + 1, &[], &mut paths);
        } else if is_name(&tokens[index]) && is_separator(tokens, index + 1) && !follows_separator(tokens, index) {
            let mut names = vec![tokens[index].clone()];
            index += 1;
            while is_separator(tokens, index) && tokens.get(index + 2).is_some_and(|token| is_name(token)) {
                names.push(tokens[index + 2].clone());
                index += 3;
            }
            paths.push(Written { names, is_import: false, alias: None });
        } else {
            index += 1;
        }
    }
    paths
}

/// Reads a part of an import, and returns the index after it.
fn read_tree(tokens: &[String], start: usize, prefix: &[String], paths: &mut Vec<Written>) -> usize {
    let mut names = prefix.to_vec();
    let mut index = start;
    while let Some(token) = tokens.get(index) {
        if token == "{" {
            let end = block(tokens, index).end;
            index += 1;
            while index + 1 < end {
                index = read_tree(tokens, index, &names, paths);
                if tokens.get(index).is_some_and(|token| token == ",") {
                    index += 1;
                }
            }
            return end;
        }
        if token == "*" || (is_name(token) && token != "as") {
            names.push(token.clone());
            index += 1;
        }
        if is_separator(tokens, index) {
            index += 2;
            continue;
        }
        break;
    }
    // `a::{self}` imports `a`; `a::*` uses `a`.
    while names.len() > 1 && names.last().is_some_and(|name| name == "self" || name == "*") {
        names.pop();
    }
    let mut alias = None;
    if tokens.get(index).is_some_and(|token| token == "as") {
        alias = tokens.get(index + 1).cloned();
        index += 2;
    }
    if !names.is_empty() {
        paths.push(Written { names, is_import: true, alias });
    }
    index.max(start + 1)
}

fn is_separator(tokens: &[String], index: usize) -> bool {
    tokens.get(index).is_some_and(|token| token == ":") && tokens.get(index + 1).is_some_and(|token| token == ":")
}

fn follows_separator(tokens: &[String], index: usize) -> bool {
    index >= 2 && is_separator(tokens, index - 2)
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}
