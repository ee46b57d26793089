//! `search`: a search string.
//!
//! - Terms and errors are in the order of the string, at places that it has, within the limit.
//! - A term written anew, its elements in quotes where that is possible, is read as the same term.
//! - Memory grows with the string's length at most.

use orderql::search::{Comparator, SearchErrorKind, Term, TermOperator, parse};

use crate::support::allocation::{Allowance, within};

const ALLOWANCE: Allowance = Allowance { per_byte: 200, constant: 50_000 };

/// The most terms, and the error behind them.
const MAX_RESULTS: usize = 51;

/// Runs the target.
pub fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let results = within(ALLOWANCE, text.len(), || parse(text));
    assert!(results.len() <= MAX_RESULTS);
    let mut end = 0;
    // Where an invalid term ends is not known if it has a quote: spaces may be in its value.
    let mut is_end_known = true;
    let is_separator = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
    for (index, result) in results.iter().enumerate() {
        let offset = match result {
            Ok(term) => term.offset,
            Err(error) => error.offset,
        };
        assert!(offset >= end && text.is_char_boundary(offset) && offset < text.len(), "offset {offset}");
        if is_end_known {
            assert!(text[end..offset].chars().all(is_separator), "something was left out before offset {offset}");
        }
        match result {
            Ok(term) => {
                check_term(text, term);
                (end, is_end_known) = (offset + term.text.len(), true);
                assert!(text[end..].is_empty() || text[end..].starts_with(is_separator), "a term ends at {end}");
            }
            Err(error) => {
                let is_last = index + 1 == MAX_RESULTS;
                assert_eq!(error.kind == SearchErrorKind::TooManyTerms, is_last);
                assert!(!error.to_string().is_empty());
                end = text[offset..].find(is_separator).map_or(text.len(), |length| offset + length);
                is_end_known = !text[offset..end].contains(['\'', '"']);
            }
        }
    }
    if results.len() < MAX_RESULTS && is_end_known {
        assert!(text[end..].trim_ascii().is_empty(), "something was left out behind offset {end}");
    }
}

fn check_term(text: &str, term: &Term<'_>) {
    assert!(text[term.offset..].starts_with(term.text));
    assert!(!term.key.is_empty() && !term.key.contains(':') && term.text.starts_with(term.key));
    // Only quotes can have nothing between them.
    let has_quotes = term.text.contains(['\'', '"']);
    assert!(term.elements.iter().all(|element| has_quotes || !element.is_empty()));
    let TermOperator::Known(comparator) = term.operator else { return assert_eq!(term.elements.len(), 0) };
    let sign = match comparator {
        Comparator::Equals | Comparator::In | Comparator::Matches => "",
        other => other.describe(),
    };
    assert_eq!(term.elements.len() > 1, comparator == Comparator::In);
    let Some(elements) = term.elements.iter().map(|element| quoted(element)).collect::<Option<Vec<_>>>() else {
        return;
    };
    let written = format!("{}:{sign}{}", term.key, elements.join(","));
    match parse(&written).as_slice() {
        [Ok(again)] => assert_eq!(
            (again.key, again.operator, &again.elements),
            (term.key, term.operator, &term.elements),
            "{written}"
        ),
        other => panic!("{written} is read as {other:?}"),
    }
}

/// The element between quotes that it does not contain.
fn quoted(element: &str) -> Option<String> {
    let quote = ['\'', '"'].into_iter().find(|quote| !element.contains(*quote))?;
    Some(format!("{quote}{element}{quote}"))
}
