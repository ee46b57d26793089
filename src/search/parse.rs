//! The parser of search strings.

use crate::search::bounds::{MAX_ELEMENTS, MAX_LENGTH, MAX_TERMS};
use crate::search::error::{SearchError, SearchErrorKind};
use crate::search::term::{Comparator, Term};

/// Parses a search string. Fails with an error per invalid term. An empty string has no terms.
pub fn parse(text: &str) -> Result<Vec<Term<'_>>, Vec<SearchError>> {
    if text.len() > MAX_LENGTH {
        return Err(vec![SearchError::new(text, 0, SearchErrorKind::TooLong)]);
    }
    let mut terms = Vec::new();
    let mut errors = Vec::new();
    for word in text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()) {
        let offset = word.as_ptr() as usize - text.as_ptr() as usize;
        if terms.len() + errors.len() == MAX_TERMS {
            errors.push(SearchError::new(word, offset, SearchErrorKind::TooManyTerms));
            break;
        }
        match term(word, offset) {
            Ok(term) => terms.push(term),
            Err(kind) => errors.push(SearchError::new(word, offset, kind)),
        }
    }
    if errors.is_empty() { Ok(terms) } else { Err(errors) }
}

fn term(text: &str, offset: usize) -> Result<Term<'_>, SearchErrorKind> {
    let (key, value) = text.split_once(':').ok_or(SearchErrorKind::NoColon)?;
    if !is_key(key) {
        return Err(SearchErrorKind::InvalidKey);
    }
    let (range, value) = comparator(value);
    if value.is_empty() {
        return Err(SearchErrorKind::EmptyValue);
    }
    let elements = elements(value)?;
    let comparator = match (range, elements.len()) {
        (None, 1) => Comparator::Equals,
        (None, _) => Comparator::In,
        (Some(comparator), 1) => comparator,
        (Some(_), _) => return Err(SearchErrorKind::RangeOfList),
    };
    Ok(Term { key, comparator, elements, offset, text })
}

fn is_key(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn comparator(value: &str) -> (Option<Comparator>, &str) {
    let prefixes = [
        (">=", Comparator::GreaterOrEqual),
        ("<=", Comparator::LessOrEqual),
        (">", Comparator::Greater),
        ("<", Comparator::Less),
    ];
    prefixes
        .into_iter()
        .find_map(|(prefix, comparator)| value.strip_prefix(prefix).map(|rest| (Some(comparator), rest)))
        .unwrap_or((None, value))
}

fn elements(value: &str) -> Result<Vec<&str>, SearchErrorKind> {
    let mut elements = Vec::new();
    let mut rest = value;
    loop {
        let (element, remainder) = element(rest);
        if element.is_empty() {
            return Err(if elements.is_empty() && remainder.is_none() {
                SearchErrorKind::EmptyValue
            } else {
                SearchErrorKind::EmptyElement
            });
        }
        if elements.len() == MAX_ELEMENTS {
            return Err(SearchErrorKind::TooManyElements);
        }
        elements.push(element);
        match remainder {
            None => return Ok(elements),
            Some(remainder) => rest = remainder,
        }
    }
}

/// The first element, and the text after the comma that follows it.
fn element(text: &str) -> (&str, Option<&str>) {
    quoted(text).unwrap_or_else(|| match text.split_once(',') {
        Some((element, remainder)) => (element, Some(remainder)),
        None => (text, None),
    })
}

/// The quoted element at the beginning of a text, if there is one. A comma or the end must follow the closing quote.
fn quoted(text: &str) -> Option<(&str, Option<&str>)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inner = &text[1..];
    inner.match_indices(quote).find_map(|(at, _)| {
        let (element, after_quote) = (&inner[..at], &inner[at + 1..]);
        match after_quote.strip_prefix(',') {
            Some(remainder) => Some((element, Some(remainder))),
            None => after_quote.is_empty().then_some((element, None)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match parse(text) {
            Ok(terms) => {
                let terms =
                    terms.iter().map(|term| format!("{} {} {:?}", term.key, term.comparator.describe(), term.elements));
                terms.collect::<Vec<_>>().join(" & ")
            }
            Err(errors) => {
                let errors = errors.iter().map(|error| format!("{}: {:?}", error.offset, error.kind));
                errors.collect::<Vec<_>>().join(" & ")
            }
        }
    }

    #[test]
    fn parses_every_form_of_term() {
        for (text, expected) in [
            ("", ""),
            ("   ", ""),
            ("statusId:ORDER_HELD", r#"statusId equals ["ORDER_HELD"]"#),
            ("statusId:A,B,C", r#"statusId in ["A", "B", "C"]"#),
            ("orderDate:>2026-05-01", r#"orderDate > ["2026-05-01"]"#),
            ("orderDate:>=2026-05-01T09:30:00Z", r#"orderDate >= ["2026-05-01T09:30:00Z"]"#),
            ("a:<1  b:<=2", r#"a < ["1"] & b <= ["2"]"#),
            ("a:b:c:d", r#"a equals ["b:c:d"]"#),
            ("orderDate:>'2026-05-01'", r#"orderDate > ["2026-05-01"]"#),
            (r#"a:"b",'c',d"#, r#"a in ["b", "c", "d"]"#),
            ("a:'b,c'", r#"a equals ["b,c"]"#),
            ("a:'>5'", r#"a equals [">5"]"#),
            ("a:O'Brien,'tis", r#"a in ["O'Brien", "'tis"]"#),
            ("a:'b'c'", r#"a equals ["b'c"]"#),
            ("name:Ünïcode,日本", r#"name in ["Ünïcode", "日本"]"#),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn reports_every_invalid_term_with_its_offset() {
        for (text, expected) in [
            ("approved", "0: NoColon"),
            ("a:1 red shirt", "4: NoColon & 8: NoColon"),
            (":x", "0: InvalidKey"),
            ("-a:x", "0: InvalidKey"),
            ("1a:x", "0: InvalidKey"),
            ("ä:x", "0: InvalidKey"),
            ("a:", "0: EmptyValue"),
            ("a:>", "0: EmptyValue"),
            ("a:''", "0: EmptyValue"),
            ("a:b,,c", "0: EmptyElement"),
            ("a:,b", "0: EmptyElement"),
            ("a:b,", "0: EmptyElement"),
            ("a:>b,c", "0: RangeOfList"),
            ("a:'b c'", "5: NoColon"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn limits_terms_elements_and_length() {
        let terms = |n| vec!["a:b"; n].join(" ");
        assert!(parse(&terms(MAX_TERMS)).is_ok());
        assert_eq!(read(&terms(MAX_TERMS + 5)), format!("{}: TooManyTerms", MAX_TERMS * 4));
        let list = |n| format!("a:{}", vec!["b"; n].join(","));
        assert!(parse(&list(MAX_ELEMENTS)).is_ok());
        assert_eq!(read(&list(MAX_ELEMENTS + 1)), "0: TooManyElements");
        let long = |n| format!("a:{}", "b".repeat(n - 2));
        assert!(parse(&long(MAX_LENGTH)).is_ok());
        assert_eq!(read(&long(MAX_LENGTH + 1)), "0: TooLong");
    }
}
