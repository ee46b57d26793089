//! Documentation that only repeats the name of what it documents, such as "The cursor." above `cursor`.

use std::path::PathBuf;

use crate::sources::sources;

#[test]
fn no_documentation_repeats_its_name() {
    let repeated = |(path, text): (PathBuf, String)| -> Vec<_> {
        repeating(&text).into_iter().map(|name| format!("{}: {name}", path.display())).collect()
    };
    let found: Vec<_> = sources("src").into_iter().flat_map(repeated).collect();
    assert!(found.is_empty(), "make it `pub(crate)` and delete the comment, or say what the name does not: {found:#?}");
}

/// The names whose whole documentation is their own words.
fn repeating(text: &str) -> Vec<&str> {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let mut names = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(comment) = line.strip_prefix("///") else { continue };
        let is_alone = at == 0 || !lines[at - 1].starts_with("///");
        let Some(item) = lines[at + 1..].iter().find(|line| !line.starts_with("#[")) else { continue };
        if let Some(name) = name(item).filter(|name| is_alone && words(comment) == words(name)) {
            names.push(name);
        }
    }
    names
}

/// The name that an item, a field or a variant has in its first line.
fn name(item: &str) -> Option<&str> {
    const BEFORE: [&str; 11] =
        ["pub", "const", "static", "async", "fn", "struct", "enum", "type", "trait", "mod", "macro_rules!"];
    let mut rest = item;
    loop {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        if !BEFORE.contains(&word) && !word.starts_with("pub(") {
            break;
        }
        rest = after;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty())
}

/// The words of a text or a name in lower case, without articles.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for character in text.chars() {
        if !character.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        if character.is_uppercase() && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        words.last_mut().unwrap().extend(character.to_lowercase());
    }
    words.retain(|word| !["", "the", "a", "an", "its", "this"].contains(&&**word));
    words
}

#[test]
fn finds_documentation_that_repeats_its_name() {
    let repeats = |text| !repeating(text).is_empty();
    assert!(repeats("    /// The cursor.\n    pub cursor: Cursor,"));
    assert!(repeats("/// A search key.\n#[derive(Debug)]\npub(crate) struct SearchKey {"));
    assert!(repeats("/// Its column.\nfn column(&self)"));
    assert!(!repeats("/// The cursor, of the last row.\npub cursor: Cursor,"));
    assert!(!repeats("/// It is rare.\n/// The cursor.\npub cursor: Cursor,"));
    assert!(!repeats("/// The cursor.\n/// Without it, the first page.\npub cursor: Cursor,"));
}
