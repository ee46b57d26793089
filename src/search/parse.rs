//! The parser of search strings.

use crate::search::bounds::MAX_TERMS;
use crate::search::error::{SearchError, SearchErrorKind};
use crate::search::term::{Comparator, Term, TermOperator};

/// Parses a search string: its terms and the errors of invalid ones, in the order of the string. An empty string has no
/// terms. Stops at the first term above the limit, with an error.
pub fn parse(text: &str) -> Vec<Result<Term<'_>, SearchError>> {
    let mut terms = Vec::new();
    let mut rest = text.trim_start_matches(SPACES);
    while !rest.is_empty() {
        let (found, remainder) = rest.split_at(term_length(rest));
        let offset = text.len() - rest.len();
        if terms.len() == MAX_TERMS {
            terms.push(Err(SearchError::new(found, offset, SearchErrorKind::TooManyTerms)));
            break;
        }
        terms.push(term(found, offset).map_err(|kind| SearchError::new(found, offset, kind)));
        rest = remainder.trim_start_matches(SPACES);
    }
    terms
}

/// The characters between terms.
const SPACES: [char; 4] = [' ', '\t', '\n', '\r'];

/// The length of a text up to its first space, in bytes.
fn word_length(text: &str) -> usize {
    text.find(SPACES).unwrap_or(text.len())
}

/// The length of the term at the beginning of a text, in bytes: up to the first space that is not in quotes.
fn term_length(text: &str) -> usize {
    let word = &text[..word_length(text)];
    let Some(colon) = word.find(':') else { return word.len() };
    let value = &text[colon + 1..];
    let mut rest = &value[operator_length(value)..];
    let mut unclosed = Unclosed::default();
    loop {
        match element(rest, &mut unclosed).remainder {
            Following::List(list) => rest = list,
            Following::End(end) => return text.len() - end.len(),
        }
    }
}

fn term(text: &str, offset: usize) -> Result<Term<'_>, SearchErrorKind> {
    let (key, value) = text.split_once(':').ok_or_else(|| without_colon(text))?;
    if key.is_empty() {
        return Err(SearchErrorKind::NoKey);
    }
    let (sign, value) = value.split_at(operator_length(value));
    let comparator = match sign {
        "" => None,
        ">" => Some(Comparator::Greater),
        ">=" => Some(Comparator::GreaterOrEqual),
        "<" => Some(Comparator::Less),
        "<=" => Some(Comparator::LessOrEqual),
        _ => return Ok(Term { key, operator: TermOperator::Unknown(sign), elements: Vec::new(), offset, text }),
    };
    let elements = elements(value)?;
    let comparator = match (comparator, elements.len()) {
        (None, 1) => Comparator::Equals,
        (None, _) => Comparator::In,
        (Some(comparator), 1) => comparator,
        (Some(_), _) => return Err(SearchErrorKind::RangeOfList),
    };
    Ok(Term { key, operator: TermOperator::Known(comparator), elements, offset, text })
}

fn without_colon(text: &str) -> SearchErrorKind {
    let is_connective = ["AND", "OR", "NOT"].iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_connective || text.starts_with('(') { SearchErrorKind::BooleanSyntax } else { SearchErrorKind::NoColon }
}

/// The length of the operator at the beginning of a text, in bytes. All that can be read as an operator belongs to it, so
/// that a misspelt operator is not mistaken for a value.
fn operator_length(text: &str) -> usize {
    text.find(|c| !matches!(c, '<' | '>' | '=' | '!' | '~')).unwrap_or(text.len())
}

fn elements(value: &str) -> Result<Vec<&str>, SearchErrorKind> {
    if value.is_empty() {
        return Err(SearchErrorKind::EmptyValue);
    }
    let mut elements = Vec::new();
    let mut rest = value;
    let mut unclosed = Unclosed::default();
    loop {
        let Element { text, is_quoted, remainder } = element(rest, &mut unclosed);
        if text.is_empty() && !is_quoted {
            return Err(if elements.is_empty() && matches!(remainder, Following::End(_)) {
                SearchErrorKind::EmptyValue
            } else {
                SearchErrorKind::EmptyElement
            });
        }
        if !is_quoted && operator_length(text) > 0 {
            return Err(SearchErrorKind::OperatorInList);
        }
        if !is_quoted && text.contains('*') {
            return Err(SearchErrorKind::Pattern);
        }
        elements.push(text);
        match remainder {
            Following::List(list) => rest = list,
            Following::End(_) => return Ok(elements),
        }
    }
}

/// The first element of a list.
struct Element<'a> {
    /// The element without its quotes.
    text: &'a str,
    is_quoted: bool,
    remainder: Following<'a>,
}

/// The character after an element.
enum Following<'a> {
    /// A comma, and this text after it.
    List(&'a str),
    /// The end of the term, and this text, which is empty or begins with a space.
    End(&'a str),
}

impl<'a> Following<'a> {
    /// `None` if the text continues the element.
    fn of(text: &'a str) -> Option<Self> {
        match text.chars().next() {
            Some(',') => Some(Self::List(&text[1..])),
            Some(other) if !SPACES.contains(&other) => None,
            Some(_) | None => Some(Self::End(text)),
        }
    }
}

fn element<'a>(text: &'a str, unclosed: &mut Unclosed) -> Element<'a> {
    quoted(text, unclosed).unwrap_or_else(|| {
        let (element, rest) = text.split_at(text.find([',', ' ', '\t', '\n', '\r']).unwrap_or(text.len()));
        let remainder = Following::of(rest).unwrap_or(Following::End(rest));
        Element { text: element, is_quoted: false, remainder }
    })
}

/// The quotes that are not closed in a word. Looking for each of them again would take quadratic time.
#[derive(Default)]
struct Unclosed(String);

/// The quoted element at the beginning of a text, if there is one. A comma, a space or the end must follow the closing quote.
/// Within a word, an element may have quotes of its own kind inside. One with spaces may not: it ends at the next.
fn quoted<'a>(text: &'a str, Unclosed(unclosed): &mut Unclosed) -> Option<Element<'a>> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inner = &text[1..];
    let closed_at = |at: usize| {
        let remainder = Following::of(&inner[at + 1..])?;
        Some(Element { text: &inner[..at], is_quoted: true, remainder })
    };
    let is_unclosed = unclosed.contains(quote);
    let word = if is_unclosed { "" } else { &inner[..word_length(inner)] };
    if let Some(element) = word.match_indices(quote).find_map(|(at, _)| closed_at(at)) {
        return Some(element);
    }
    // Only as far as the next quote, and not to the word's end: there may be many.
    if let Some(element) = inner.find(quote).filter(|at| inner[..*at].contains(SPACES)).and_then(closed_at) {
        unclosed.clear();
        return Some(element);
    }
    if !is_unclosed {
        unclosed.push(quote);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The terms and errors of a search string, in its order.
    fn read(text: &str) -> String {
        let read = |result: &Result<Term<'_>, SearchError>| match result {
            Ok(Term { key, operator: TermOperator::Known(comparator), elements, .. }) => {
                format!("{key} {} {elements:?}", comparator.describe())
            }
            Ok(Term { key, operator: TermOperator::Unknown(sign), .. }) => format!("{key} unknown {sign}"),
            Err(error) => format!("{}: {:?}", error.offset, error.kind),
        };
        parse(text).iter().map(read).collect::<Vec<_>>().join(" & ")
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
            ("a:>'=5'", r#"a > ["=5"]"#),
            ("a:O'Brien,'tis", r#"a in ["O'Brien", "'tis"]"#),
            ("a:'b'c'", r#"a equals ["b'c"]"#),
            (r#"a:'b,'c,"d,'e",'f,"g""#, r#"a in ["'b", "'c", "d,'e", "'f", "g"]"#),
            ("name:Ünïcode,日本", r#"name in ["Ünïcode", "日本"]"#),
            ("a:-5,b=c,d!", r#"a in ["-5", "b=c", "d!"]"#),
            ("a:'#10*',\"*\",'!=b'", r##"a in ["#10*", "*", "!=b"]"##),
            ("a:'b c'", r#"a equals ["b c"]"#),
            (r#"a:'' b:"",c d:>''"#, r#"a equals [""] & b in ["", "c"] & d > [""]"#),
            (r#"storeName:"New York" a:b"#, r#"storeName equals ["New York"] & a equals ["b"]"#),
            (r#"a:"b  c: d","O'Brien, Ann",e  f:>'2 3'"#, r#"a in ["b  c: d", "O'Brien, Ann", "e"] & f > ["2 3"]"#),
            ("a:'b\tc',d'e f:'g", r#"a in ["b\tc", "d'e"] & f equals ["'g"]"#),
            ("a:'b'c d:'e'", r#"a equals ["'b'c"] & d equals ["e"]"#),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn many_quotes_that_are_not_closed_are_read_at_once() {
        // In quadratic time, this would take minutes.
        let text = format!("a:{}", vec!["'b"; 300_000].join(","));
        let terms = parse(&text);
        assert_eq!(terms[0].as_ref().unwrap().elements.len(), 300_000);
    }

    #[test]
    fn everything_before_the_first_colon_is_the_key() {
        for key in ["-a", "!a", "(a", "1a", "ä", "a=b", "a>=2026-05-01T10", "'a'", "*"] {
            assert_eq!(read(&format!("{key}:x:y")), format!(r#"{key} equals ["x:y"]"#));
        }
    }

    #[test]
    fn reports_every_invalid_term_with_its_offset_beside_the_others() {
        for (text, expected) in [
            ("approved", "0: NoColon"),
            ("a:1 red shirt", r#"a equals ["1"] & 4: NoColon & 8: NoColon"#),
            (":x a:b", r#"0: NoKey & a equals ["b"]"#),
            ("a:", "0: EmptyValue"),
            ("a:>", "0: EmptyValue"),
            ("a:b,,c", "0: EmptyElement"),
            ("a:,b", "0: EmptyElement"),
            ("a:b,", "0: EmptyElement"),
            ("a:>b,c", "0: RangeOfList"),
            ("a:b,>c", "0: OperatorInList"),
            ("a:b,!=c", "0: OperatorInList"),
            ("a:'b c", r#"a equals ["'b"] & 5: NoColon"#),
            ("a:'O'Brien & sons'", r#"a equals ["'O'Brien"] & 11: NoColon & 13: NoColon"#),
            ("a:' '' b:c", r#"a equals ["'"] & 4: NoColon & b equals ["c"]"#),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn names_an_operator_that_does_not_exist() {
        for sign in ["!", "!=", "~", "=", "==", "<>", "=>", "=<", ">>", "<<", ">==", "!~", "=~", ">~"] {
            assert_eq!(read(&format!("a:{sign}b,c d:e")), format!(r#"a unknown {sign} & d equals ["e"]"#));
            assert_eq!(read(&format!("a:{sign}")), format!("a unknown {sign}"));
        }
    }

    #[test]
    fn there_are_no_patterns_and_no_boolean_syntax() {
        for text in ["a:*", "a:b*", "a:b,*c", "a:>2*", "a:'b*", "a:'b*'c"] {
            assert_eq!(read(text), "0: Pattern", "{text}");
        }
        for text in ["AND", "OR", "not", "(", "(a", "()"] {
            assert_eq!(read(text), "0: BooleanSyntax", "{text}");
        }
        for text in ["ORDER", "a)", "a=b"] {
            assert_eq!(read(text), "0: NoColon", "{text}");
        }
    }

    #[test]
    fn stops_at_the_first_term_above_the_limit() {
        let terms = |n| vec!["a:b"; n].join(" ");
        assert!(parse(&terms(MAX_TERMS)).iter().all(Result::is_ok));
        let text = terms(MAX_TERMS + 5);
        let parsed = parse(&text);
        assert_eq!(parsed.len(), MAX_TERMS + 1);
        let error = parsed[MAX_TERMS].as_ref().unwrap_err();
        assert_eq!((error.offset, error.kind), (MAX_TERMS * 4, SearchErrorKind::TooManyTerms));
    }
}
