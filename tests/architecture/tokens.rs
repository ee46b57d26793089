//! The tokens of a Rust file: its words and other characters, without comments and literals.

use std::ops::Range;

/// Splits a text into words and single characters. Comments, strings, characters and lifetimes are left out.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<_> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let after = |start: usize, end: &str| {
        let end: Vec<_> = end.chars().collect();
        (start..chars.len())
            .find(|index| chars[*index..].starts_with(&end))
            .map_or(chars.len(), |found| found + end.len())
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut index = 0;
    while index < chars.len() {
        index = match at(index) {
            '/' if at(index + 1) == '/' => after(index, "\n"),
            '/' if at(index + 1) == '*' => end_of_comment(&chars, index),
            '"' => {
                let mut end = index + 1;
                while end < chars.len() && at(end) != '"' {
                    end += if at(end) == '\\' { 2 } else { 1 };
                }
                end + 1
            }
            '\'' if at(index + 1) == '\\' => after(index + 3, "'"),
            '\'' if at(index + 2) == '\'' => index + 3,
            '\'' => index + 1,
            c if is_word(c) => {
                let word: String = chars[index..].iter().take_while(|c| is_word(**c)).collect();
                let end = index + word.chars().count();
                let hashes = chars[end..].iter().take_while(|c| **c == '#').count();
                if ["r", "br", "cr"].contains(&word.as_str()) && at(end + hashes) == '"' {
                    after(end + hashes + 1, &format!("\"{}", "#".repeat(hashes)))
                } else {
                    tokens.push(word);
                    end
                }
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(c.to_string());
                }
                index + 1
            }
        };
    }
    tokens
}

/// The index after a block comment, which may contain others.
fn end_of_comment(chars: &[char], start: usize) -> usize {
    let (mut depth, mut index) = (1, start + 2);
    while depth > 0 && index < chars.len() {
        match (chars[index], chars.get(index + 1)) {
            ('*', Some('/')) => depth -= 1,
            ('/', Some('*')) => depth += 1,
            _ => {
                index += 1;
                continue;
            }
        }
        index += 2;
    }
    index
}

/// The tokens without items that have the attribute `#[cfg(test)]`.
pub(crate) fn without_tests(tokens: &[String]) -> Vec<String> {
    let attribute = self::tokens("#[cfg(test)]");
    let mut others = Vec::with_capacity(tokens.len());
    let mut index = 0;
    while index < tokens.len() {
        if !tokens[index..].starts_with(&attribute) {
            others.push(tokens[index].clone());
            index += 1;
            continue;
        }
        let end = tokens[index..].iter().position(|token| token == ";" || token == "{");
        let Some(end) = end.map(|end| index + end) else { break };
        index = if tokens[end] == "{" { block(tokens, end).end } else { end + 1 };
    }
    others
}

/// The range from an opening brace to its closing one.
pub(crate) fn block(tokens: &[String], open: usize) -> Range<usize> {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open..index + 1;
        }
    }
    open..tokens.len()
}
