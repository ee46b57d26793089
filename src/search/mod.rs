//! The search string of a collection root: its grammar (`grammar/search.ebnf`), read into terms with their offsets.
//!
//! Nothing here knows which keys a root declares: that is [`crate::query::bind`]'s question.

use std::fmt;

use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};

/// The most terms that one search string may hold. Terms on indexed keys cost nothing, so they need a bound of their own.
pub const MOST_TERMS: usize = 50;

/// The most elements that one in-list may hold.
pub const MOST_ELEMENTS: usize = 1000;

/// The longest search string that is read, in bytes. A document may use one variable in hundreds of places, and every
/// place has terms of its own.
pub const LONGEST: usize = 64 * 1024;

/// How a term compares its key with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Comparator {
    /// `key:value`
    Equals,
    /// `key:a,b,c`
    In,
    /// `key:>value`
    Greater,
    /// `key:>=value`
    GreaterOrEqual,
    /// `key:<value`
    Less,
    /// `key:<=value`
    LessOrEqual,
}

impl Comparator {
    /// Every comparator, in the specification's order.
    pub const ALL: [Self; 6] =
        [Self::Equals, Self::In, Self::Greater, Self::GreaterOrEqual, Self::Less, Self::LessOrEqual];

    /// The comparator as a message names it.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Equals => "equals",
            Self::In => "in",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
        }
    }
}

/// One `key:value` of a search string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term<'a> {
    /// What stands before the first colon.
    pub key: &'a str,
    /// How the key is compared.
    pub comparator: Comparator,
    /// The elements, quotes taken off, none empty: several with [`Comparator::In`], else one.
    pub elements: Vec<&'a str>,
    /// Where the term begins, in bytes from the string's start.
    pub offset: usize,
    /// The term as it was written.
    pub text: &'a str,
}

/// A search string that is not of its grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchError {
    /// The term at fault, as it was written, cut to a length fit for a message.
    pub term: String,
    /// Where it begins, in bytes from the string's start.
    pub offset: usize,
    /// What is wrong with it.
    pub fault: SearchErrorKind,
}

/// What is wrong with a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchErrorKind {
    /// No colon.
    NoColon,
    /// What stands before the colon is no key.
    BadKey,
    /// Nothing behind the colon or the comparator.
    EmptyValue,
    /// An empty element of an in-list.
    EmptyElement,
    /// A range comparator with a list.
    RangeOfList,
    /// More than [`MOST_TERMS`].
    TooManyTerms,
    /// More than [`MOST_ELEMENTS`].
    TooManyElements,
    /// The string has more than [`LONGEST`] bytes.
    TooLong,
    /// The value is not one that its key can take: what the key expects.
    BadValue(&'static str),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { term, offset, fault } = self;
        write!(f, "the search term `{term}` at offset {offset} ")?;
        match fault {
            SearchErrorKind::NoColon => f.write_str("is not of the form key:value; a value cannot contain a space"),
            SearchErrorKind::BadKey => f.write_str("has no key before its colon; write key:value"),
            SearchErrorKind::EmptyValue => f.write_str("has no value; write key:value or leave the term out"),
            SearchErrorKind::EmptyElement => f.write_str("has an empty element in its list; write key:a,b,c"),
            SearchErrorKind::RangeOfList => f.write_str("compares a range with a list; a range takes one value"),
            SearchErrorKind::TooManyTerms => write!(f, "is one too many; at most {MOST_TERMS} terms are taken"),
            SearchErrorKind::TooManyElements => write!(f, "lists too much; at most {MOST_ELEMENTS} elements are taken"),
            SearchErrorKind::TooLong => {
                write!(f, "stands in a string of more than {LONGEST} bytes; ask in several queries")
            }
            SearchErrorKind::BadValue(expected) => {
                write!(f, "has a value that its key cannot take; expected {expected}")
            }
        }
    }
}

impl SearchErrorKind {
    /// What would have been right, in a few words.
    pub fn expected(self) -> String {
        match self {
            Self::NoColon | Self::BadKey | Self::EmptyValue => "key:value".to_owned(),
            Self::EmptyElement => "key:a,b,c".to_owned(),
            Self::RangeOfList => "a range of one value".to_owned(),
            Self::TooManyTerms => format!("at most {MOST_TERMS} terms"),
            Self::TooManyElements => format!("at most {MOST_ELEMENTS} elements"),
            Self::TooLong => format!("at most {LONGEST} bytes"),
            Self::BadValue(expected) => expected.to_owned(),
        }
    }
}

impl Diagnostic for SearchError {
    fn code(&self) -> ErrorCode {
        ErrorCode::MalformedQuery
    }

    fn extensions(&self) -> ErrorExtensions {
        let mut facts = ErrorExtensions::new();
        facts.insert("term".to_owned(), self.term.clone().into());
        facts.insert("offset".to_owned(), self.offset.into());
        facts.insert("expected".to_owned(), self.fault.expected().into());
        facts
    }
}

impl SearchError {
    /// That `term` has this fault.
    pub fn new(text: &str, offset: usize, fault: SearchErrorKind) -> Self {
        Self { term: shown(text), offset, fault }
    }
}

/// A client's text, cut to a length fit for a message.
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut shown: String = text.chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Reads a search string. Every term that cannot be read is reported; an empty string has no terms.
pub fn parse(text: &str) -> Result<Vec<Term<'_>>, Vec<SearchError>> {
    if text.len() > LONGEST {
        return Err(vec![SearchError::new(text, 0, SearchErrorKind::TooLong)]);
    }
    let mut terms = Vec::new();
    let mut faults = Vec::new();
    for word in text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()) {
        let offset = word.as_ptr() as usize - text.as_ptr() as usize;
        if terms.len() + faults.len() == MOST_TERMS {
            faults.push(SearchError::new(word, offset, SearchErrorKind::TooManyTerms));
            break;
        }
        match term(word, offset) {
            Ok(term) => terms.push(term),
            Err(fault) => faults.push(SearchError::new(word, offset, fault)),
        }
    }
    if faults.is_empty() { Ok(terms) } else { Err(faults) }
}

fn term(text: &str, offset: usize) -> Result<Term<'_>, SearchErrorKind> {
    let (key, value) = text.split_once(':').ok_or(SearchErrorKind::NoColon)?;
    if !is_key(key) {
        return Err(SearchErrorKind::BadKey);
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
        let (element, behind) = element(rest);
        if element.is_empty() {
            return Err(if elements.is_empty() && behind.is_none() {
                SearchErrorKind::EmptyValue
            } else {
                SearchErrorKind::EmptyElement
            });
        }
        if elements.len() == MOST_ELEMENTS {
            return Err(SearchErrorKind::TooManyElements);
        }
        elements.push(element);
        match behind {
            None => return Ok(elements),
            Some(behind) => rest = behind,
        }
    }
}

/// The first element, and what stands behind the comma after it.
fn element(text: &str) -> (&str, Option<&str>) {
    quoted(text).unwrap_or_else(|| match text.split_once(',') {
        Some((element, behind)) => (element, Some(behind)),
        None => (text, None),
    })
}

/// An element in quotes, where the text begins with one: the closing quote stands before a comma or the end.
fn quoted(text: &str) -> Option<(&str, Option<&str>)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inner = &text[1..];
    inner.match_indices(quote).find_map(|(at, _)| {
        let (element, behind) = (&inner[..at], &inner[at + 1..]);
        match behind.strip_prefix(',') {
            Some(behind) => Some((element, Some(behind))),
            None => behind.is_empty().then_some((element, None)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match parse(text) {
            Ok(terms) => {
                let terms = terms.iter().map(|t| format!("{} {} {:?}", t.key, t.comparator.describe(), t.elements));
                terms.collect::<Vec<_>>().join(" & ")
            }
            Err(faults) => {
                let faults = faults.iter().map(|m| format!("{}: {:?}", m.offset, m.fault));
                faults.collect::<Vec<_>>().join(" & ")
            }
        }
    }

    #[test]
    fn every_form_of_a_term() {
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
    fn every_fault_is_told_with_its_offset() {
        for (text, expected) in [
            ("approved", "0: NoColon"),
            ("a:1 red shirt", "4: NoColon & 8: NoColon"),
            (":x", "0: BadKey"),
            ("-a:x", "0: BadKey"),
            ("1a:x", "0: BadKey"),
            ("ä:x", "0: BadKey"),
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
    fn what_costs_nothing_is_bounded() {
        let terms = |n| vec!["a:b"; n].join(" ");
        assert!(parse(&terms(MOST_TERMS)).is_ok());
        assert_eq!(read(&terms(MOST_TERMS + 5)), format!("{}: TooManyTerms", MOST_TERMS * 4));
        let list = |n| format!("a:{}", vec!["b"; n].join(","));
        assert!(parse(&list(MOST_ELEMENTS)).is_ok());
        assert_eq!(read(&list(MOST_ELEMENTS + 1)), "0: TooManyElements");
        let long = |n| format!("a:{}", "b".repeat(n - 2));
        assert!(parse(&long(LONGEST)).is_ok());
        assert_eq!(read(&long(LONGEST + 1)), "0: TooLong");
    }
}
