//! The text of a document, cut into tokens exactly as the GraphQL specification (September 2025, section 2.1) says.
//!
//! `graphql_parser` reads tokens too, but not these: it refuses `1e5` and `\u{1F600}`, takes `\b` for another character
//! and counts a tab as eight columns. So the cutting is done here, in one pass, and it never gets to see a literal.

use crate::error::graphql_error::Location;
use crate::query::parse::ParseError;
use crate::query::strings;

/// The most tokens that a document may have. A document of a client that people wrote has some hundreds.
pub(super) const MOST_TOKENS: usize = 10_000;

/// Bytes that most tokens take with the space around them.
const USUAL_TOKEN: usize = 6;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `{`, `}`, `(`, `)`, `[`, `]`, `:`, `!`, `$`, `=`, `@`, `&`, `|` or `...`
    Punctuator,
    /// A name or keyword.
    Name,
    /// A whole number, of any length.
    Int,
    /// A number with a fraction or an exponent.
    Float,
    /// A string in quotes, its escapes known to be right.
    String,
    /// A string in triple quotes.
    BlockString,
}

/// A token and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// What it is.
    pub(super) kind: Kind,
    /// Its text, quotes included.
    pub(super) text: &'a str,
    /// Where it begins.
    pub(super) location: Location,
}

impl Token<'_> {
    /// Whether it is that punctuator.
    pub(super) fn is(&self, punctuator: &str) -> bool {
        self.kind == Kind::Punctuator && self.text == punctuator
    }

    /// Whether it is that name.
    pub(super) fn is_name(&self, name: &str) -> bool {
        self.kind == Kind::Name && self.text == name
    }

    /// Whether it opens a bracket.
    pub(super) fn opens(&self) -> bool {
        self.kind == Kind::Punctuator && matches!(self.text, "{" | "(" | "[")
    }

    /// Whether it closes a bracket.
    pub(super) fn closes(&self) -> bool {
        self.kind == Kind::Punctuator && matches!(self.text, "}" | ")" | "]")
    }
}

/// The tokens of a text.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    /// In the order of the text.
    pub(super) list: Vec<Token<'a>>,
    /// Where the text ends.
    pub(super) end: Location,
}

/// Something that is no token, and where.
pub(super) type TokenError = (Location, ParseError);

/// Cuts a text into tokens.
pub(super) fn cut(text: &str) -> Result<Tokens<'_>, TokenError> {
    let mut cursor = Cursor { rest: text, location: Location { line: 1, column: 1 } };
    let mut list = Vec::with_capacity((text.len() / USUAL_TOKEN).min(MOST_TOKENS));
    loop {
        cursor.skip_ignored();
        let location = cursor.location;
        let Some(first) = cursor.peek() else { return Ok(Tokens { list, end: location }) };
        if list.len() == MOST_TOKENS {
            return Err((location, ParseError::TooManyTokens));
        }
        let start = cursor.rest;
        let kind = cursor.token(first).map_err(|error| (error.0.unwrap_or(location), error.1))?;
        let text = &start[..start.len() - cursor.rest.len()];
        list.push(Token { kind, text, location });
    }
}

struct Cursor<'a> {
    rest: &'a str,
    location: Location,
}

/// An error at a place of its own, or where the token begins.
type Fault = (Option<Location>, ParseError);

impl Cursor<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Takes a character; a carriage return takes the line feed behind it along.
    fn bump(&mut self) -> Option<char> {
        let first = self.peek()?;
        let length = if self.rest.starts_with("\r\n") { 2 } else { first.len_utf8() };
        self.rest = &self.rest[length..];
        if matches!(first, '\n' | '\r') {
            self.location = Location { line: self.location.line.saturating_add(1), column: 1 };
        } else {
            self.location.column = self.location.column.saturating_add(1);
        }
        Some(first)
    }

    fn bump_times(&mut self, times: usize) {
        for _ in 0..times {
            self.bump();
        }
    }

    fn bump_while(&mut self, wanted: impl Fn(char) -> bool) -> usize {
        let mut taken = 0;
        while self.peek().is_some_and(&wanted) {
            self.bump();
            taken += 1;
        }
        taken
    }

    /// Takes as many bytes, which are characters of one column each and end no line.
    fn take(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
        self.location.column = self.location.column.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    fn skip_ignored(&mut self) {
        loop {
            let spaces = self.rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b',')).count();
            self.take(spaces);
            match self.peek() {
                Some('\u{feff}' | '\n' | '\r') => {
                    self.bump();
                }
                Some('#') => {
                    self.bump_while(|c| !matches!(c, '\n' | '\r'));
                }
                _ => return,
            }
        }
    }

    fn token(&mut self, first: char) -> Result<Kind, Fault> {
        match first {
            '{' | '}' | '(' | ')' | '[' | ']' | ':' | '!' | '$' | '=' | '@' | '&' | '|' => {
                self.take(1);
                Ok(Kind::Punctuator)
            }
            '.' if self.rest.starts_with("...") => {
                self.bump_times(3);
                Ok(Kind::Punctuator)
            }
            c if is_name_start(c) => {
                let length = self.rest.bytes().take_while(|byte| is_name_continue(char::from(*byte))).count();
                self.take(length);
                Ok(Kind::Name)
            }
            '-' | '0'..='9' => self.number(),
            '"' if self.rest.starts_with("\"\"\"") => self.block_string(),
            '"' => self.string(),
            other => Err((None, ParseError::Character(other))),
        }
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let mut kind = Kind::Int;
        if self.peek() == Some('-') {
            self.bump();
        }
        if self.peek() == Some('0') {
            self.bump();
            if self.peek().is_some_and(|c| c.is_ascii_digit()) {
                return Err((None, ParseError::Number("nothing but a fraction behind a leading zero")));
            }
        } else {
            self.digits("a digit")?;
        }
        if self.peek() == Some('.') {
            kind = Kind::Float;
            self.bump();
            self.digits("a digit behind the decimal point")?;
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            kind = Kind::Float;
            self.bump();
            if matches!(self.peek(), Some('+' | '-')) {
                self.bump();
            }
            self.digits("a digit in the exponent")?;
        }
        if self.peek().is_some_and(|c| c == '.' || is_name_start(c)) {
            return Err((None, ParseError::Number("a space or punctuation behind it")));
        }
        Ok(kind)
    }

    fn digits(&mut self, expected: &'static str) -> Result<(), Fault> {
        match self.bump_while(|c| c.is_ascii_digit()) {
            0 => Err((None, ParseError::Number(expected))),
            _ => Ok(()),
        }
    }

    fn string(&mut self) -> Result<Kind, Fault> {
        self.bump();
        loop {
            let here = self.location;
            match self.peek() {
                None | Some('\n' | '\r') => return Err((None, ParseError::UnterminatedString)),
                Some('"') => {
                    self.bump();
                    return Ok(Kind::String);
                }
                Some('\\') => match strings::escape(self.rest) {
                    Ok((_, length)) => self.bump_times(length),
                    Err(escape) => return Err((Some(here), ParseError::Escape(escape))),
                },
                Some(_) => {
                    self.bump();
                }
            }
        }
    }

    fn block_string(&mut self) -> Result<Kind, Fault> {
        self.bump_times(3);
        loop {
            if self.rest.starts_with("\\\"\"\"") {
                self.bump_times(4);
            } else if self.rest.starts_with("\"\"\"") {
                self.bump_times(3);
                return Ok(Kind::BlockString);
            } else if self.bump().is_none() {
                return Err((None, ParseError::UnterminatedBlockString));
            }
        }
    }
}

fn is_name_start(c: char) -> bool {
    c == '_' || c.is_ascii_alphabetic()
}

fn is_name_continue(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        cut(text).unwrap().list.iter().map(|token| (token.kind, token.text)).collect()
    }

    fn places(text: &str) -> Vec<(u32, u32)> {
        cut(text).unwrap().list.iter().map(|token| (token.location.line, token.location.column)).collect()
    }

    #[test]
    fn every_form_of_number_is_told_apart() {
        for text in ["0", "-0", "7", "-12", "123456789012345678901234567890"] {
            assert_eq!(kinds(text), [(Kind::Int, text)]);
        }
        for text in ["0.0", "-1.50", "1e0", "1e9", "1E+05", "-2.5e-10"] {
            assert_eq!(kinds(text), [(Kind::Float, text)]);
        }
        for text in ["00", "-01", "1.", "1.a", "1e", "1e+", "1a", "1_", "0x1", "1.5.2", "-", "-a", ".5", "1...a", "+1"]
        {
            assert!(cut(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ignored_tokens_are_ignored_anywhere() {
        assert_eq!(kinds("\u{feff},a,\u{feff}b # c {\r,d"), [(Kind::Name, "a"), (Kind::Name, "b"), (Kind::Name, "d")]);
    }

    #[test]
    fn places_are_counted_in_characters_and_by_every_line_end() {
        assert_eq!(places("a\tb"), [(1, 1), (1, 3)]);
        assert_eq!(places("\"é😀\" a"), [(1, 1), (1, 6)]);
        assert_eq!(places("a\r\nb\rc\nd"), [(1, 1), (2, 1), (3, 1), (4, 1)]);
        assert_eq!(places("\"\"\"a\r\nb\"\"\" c #\r\nd"), [(1, 1), (2, 6), (3, 1)]);
    }

    #[test]
    fn strings_end_where_they_should() {
        assert_eq!(kinds(r#""" "a\"" """""" """a\"""" b""""#).len(), 4);
        for text in ["\"a", "\"a\n\"", "\"\\\"", "\"\"\"a\"\"", "\"\"\"a\\\"\"\"", r#""\x""#, r#""\u12""#, r#""\u{}""#]
        {
            assert!(cut(text).is_err(), "{text}");
        }
    }

    #[test]
    fn other_characters_are_refused_where_they_stand() {
        let (location, error) = cut("{ a\n  ; }").unwrap_err();
        assert_eq!((location.line, location.column), (2, 3));
        assert!(matches!(error, ParseError::Character(';')));
        for text in ["\0", "?", "a.b", "..", "é", "'a'", "\u{a0}", "\u{2028}"] {
            assert!(cut(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn tokens_are_bounded() {
        assert!(cut(&"a ".repeat(MOST_TOKENS)).is_ok());
        let (location, error) = cut(&"a ".repeat(MOST_TOKENS + 1)).unwrap_err();
        assert_eq!(location.column, 20_001);
        assert!(matches!(error, ParseError::TooManyTokens));
    }
}
