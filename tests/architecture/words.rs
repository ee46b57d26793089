//! What a Rust file names: its words, without what only looks like them.

use std::ops::Range;

/// The names right below a path's first segment: `a` of `root::a::b`, `a` and `b` of `root::{a::c, b}`.
pub(crate) fn below(tokens: &[String], root: &str) -> Vec<String> {
    let roots = (0..tokens.len()).filter(|place| tokens[*place] == root);
    roots.flat_map(|place| heads(tokens, place + 1)).collect()
}

/// The names behind the `::` that stands at a place; nothing where there is none.
pub(crate) fn heads(tokens: &[String], place: usize) -> Vec<String> {
    if !tokens[place.min(tokens.len())..].starts_with(&[":".to_owned(), ":".to_owned()]) {
        return Vec::new();
    }
    let Some(first) = tokens.get(place + 2) else { return Vec::new() };
    if first != "{" {
        return vec![first.clone()];
    }
    let group = group(tokens, place + 2);
    let mut depth = 0;
    let mut heads = Vec::new();
    for place in group.start..group.end {
        match tokens[place].as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," => {}
            name if depth == 1 && ["{", ","].contains(&tokens[place - 1].as_str()) => heads.push(name.to_owned()),
            _ => {}
        }
    }
    heads
}

/// Whether an outside crate is named: at the beginning of a path, or imported by itself.
pub(crate) fn names(tokens: &[String], outside: &str) -> bool {
    (0..tokens.len()).filter(|place| tokens[*place] == outside).any(|place| {
        let before = place.checked_sub(1).map(|before| tokens[before].as_str());
        let is_path = tokens[place + 1..].starts_with(&[":".to_owned(), ":".to_owned()]);
        (is_path && before != Some(":")) || before == Some("use")
    })
}

/// The tokens without what is compiled for tests alone: an item behind `#[cfg(test)]`.
pub(crate) fn without_tests(tokens: &[String]) -> Vec<String> {
    let attribute = self::tokens("#[cfg(test)]");
    let mut kept = Vec::with_capacity(tokens.len());
    let mut place = 0;
    while place < tokens.len() {
        if !tokens[place..].starts_with(&attribute) {
            kept.push(tokens[place].clone());
            place += 1;
            continue;
        }
        let end = tokens[place..].iter().position(|token| token == ";" || token == "{");
        let Some(end) = end.map(|end| place + end) else { break };
        place = if tokens[end] == "{" { group(tokens, end).end } else { end + 1 };
    }
    kept
}

/// From an opening brace to behind its closing one.
fn group(tokens: &[String], open: usize) -> Range<usize> {
    let mut depth = 0;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open..place + 1;
        }
    }
    open..tokens.len()
}

/// Rust's words, and its other characters one by one; comments, strings, characters and lifetimes are left out.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<_> = text.chars().collect();
    let at = |place: usize| chars.get(place).copied().unwrap_or('\0');
    let behind = |place: usize, end: &str| {
        let end: Vec<_> = end.chars().collect();
        let places = place..chars.len();
        places.into_iter().find(|place| chars[*place..].starts_with(&end)).map_or(chars.len(), |at| at + end.len())
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut place = 0;
    while place < chars.len() {
        place = match at(place) {
            '/' if at(place + 1) == '/' => behind(place, "\n"),
            '/' if at(place + 1) == '*' => {
                let mut depth = 1;
                let mut inside = place + 2;
                while depth > 0 && inside < chars.len() {
                    match (at(inside), at(inside + 1)) {
                        ('*', '/') => depth -= 1,
                        ('/', '*') => depth += 1,
                        _ => {
                            inside += 1;
                            continue;
                        }
                    }
                    inside += 2;
                }
                inside
            }
            '"' => {
                let mut inside = place + 1;
                while inside < chars.len() && at(inside) != '"' {
                    inside += if at(inside) == '\\' { 2 } else { 1 };
                }
                inside + 1
            }
            '\'' if at(place + 1) == '\\' => behind(place + 3, "'"),
            '\'' if at(place + 2) == '\'' => place + 3,
            '\'' => place + 1,
            c if is_word(c) => {
                let word: String = chars[place..].iter().take_while(|c| is_word(**c)).collect();
                let end = place + word.chars().count();
                let hashes = chars[end..].iter().take_while(|c| **c == '#').count();
                if ["r", "br", "cr"].contains(&word.as_str()) && at(end + hashes) == '"' {
                    behind(end + hashes + 1, &format!("\"{}", "#".repeat(hashes)))
                } else {
                    tokens.push(word);
                    end
                }
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(c.to_string());
                }
                place + 1
            }
        };
    }
    tokens
}
