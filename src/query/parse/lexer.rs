//! Text → lexical tokens, exactly as the GraphQL specification (September 2025, section 2.1) defines them, in one pass.

use crate::error::graphql_error::Location;
use crate::query::document_limits::MAX_TOKENS;
use crate::query::parse::error::{ParseError, ParseErrorKind};
use crate::query::parse::strings;

/// The usual length of a token and the space around it, in bytes.
const USUAL_TOKEN: usize = 6;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::query) enum TokenKind {
    /// `{`, `}`, `(`, `)`, `[`, `]`, `:`, `!`, `$`, `=`, `@`, `&`, `|` or `...`
    Punctuator,
    /// A name or keyword.
    Name,
    /// A whole number, of any length.
    Int,
    /// A number with a fraction or an exponent.
    Float,
    /// A string in quotes, with valid escape sequences.
    String,
    /// A string in triple quotes.
    BlockString,
}

/// A token and its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::query) struct Token<'a> {
    pub(in crate::query) kind: TokenKind,
    /// The token's text, including quotes.
    pub(in crate::query) text: &'a str,
    /// The location of the token's first character.
    pub(in crate::query) location: Location,
}

impl Token<'_> {
    pub(super) fn is_punctuator(&self, punctuator: &str) -> bool {
        self.kind == TokenKind::Punctuator && self.text == punctuator
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        self.kind == TokenKind::Name && self.text == name
    }

    pub(super) fn is_opening_bracket(&self) -> bool {
        self.kind == TokenKind::Punctuator && matches!(self.text, "{" | "(" | "[")
    }

    pub(super) fn is_closing_bracket(&self) -> bool {
        self.kind == TokenKind::Punctuator && matches!(self.text, "}" | ")" | "]")
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.kind, TokenKind::String | TokenKind::BlockString)
    }
}

/// The tokens of a text.
#[derive(Debug)]
pub(super) struct LexedTokens<'a> {
    /// In the order of the text.
    pub(super) list: Vec<Token<'a>>,
    /// The location of the text's end.
    pub(super) end: Location,
}

/// Splits a text into tokens.
pub(super) fn tokenize(text: &str) -> Result<LexedTokens<'_>, ParseError> {
    let start = Location { line: 1, column: 1 };
    let mut lexer = Lexer { rest: text, location: start, token_start: start };
    let mut list = Vec::with_capacity((text.len() / USUAL_TOKEN).min(MAX_TOKENS));
    loop {
        lexer.skip_ignored();
        let location = lexer.location;
        let Some(first) = lexer.peek() else { return Ok(LexedTokens { list, end: location }) };
        if list.len() == MAX_TOKENS {
            return Err(ParseError { location, kind: ParseErrorKind::TooManyTokens });
        }
        let start = lexer.rest;
        lexer.token_start = location;
        let kind = lexer.token(first)?;
        let text = &start[..start.len() - lexer.rest.len()];
        list.push(Token { kind, text, location });
    }
}

struct Lexer<'a> {
    /// The rest of the text.
    rest: &'a str,
    /// The location of `rest`.
    location: Location,
    /// The location of the current token, which is the location of most errors.
    token_start: Location,
}

impl Lexer<'_> {
    fn error<T>(&self, kind: ParseErrorKind) -> Result<T, ParseError> {
        Err(ParseError { location: self.token_start, kind })
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Reads a character. Reads a carriage return and the line feed after it as one.
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

    /// Reads characters while they match; returns how many.
    fn bump_while(&mut self, matches: impl Fn(char) -> bool) -> usize {
        let mut count = 0;
        while self.peek().is_some_and(&matches) {
            self.bump();
            count += 1;
        }
        count
    }

    /// Reads that many bytes, which must be ASCII characters other than line terminators.
    fn bump_bytes(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
        self.location.column = self.location.column.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
    }

    fn skip_ignored(&mut self) {
        loop {
            let spaces = self.rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b',')).count();
            self.bump_bytes(spaces);
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

    fn token(&mut self, first: char) -> Result<TokenKind, ParseError> {
        match first {
            '{' | '}' | '(' | ')' | '[' | ']' | ':' | '!' | '$' | '=' | '@' | '&' | '|' => {
                self.bump_bytes(1);
                Ok(TokenKind::Punctuator)
            }
            '.' if self.rest.starts_with("...") => {
                self.bump_times(3);
                Ok(TokenKind::Punctuator)
            }
            c if is_name_start(c) => {
                let length = self.rest.bytes().take_while(|byte| is_name_continue(char::from(*byte))).count();
                self.bump_bytes(length);
                Ok(TokenKind::Name)
            }
            '-' | '0'..='9' => self.number(),
            '"' if self.rest.starts_with("\"\"\"") => self.block_string(),
            '"' => self.string(),
            other => self.error(ParseErrorKind::Character(other)),
        }
    }

    fn number(&mut self) -> Result<TokenKind, ParseError> {
        let mut kind = TokenKind::Int;
        if self.peek() == Some('-') {
            self.bump();
        }
        if self.peek() == Some('0') {
            self.bump();
            if self.peek().is_some_and(|c| c.is_ascii_digit()) {
                return self.error(ParseErrorKind::Number("nothing but a fraction behind a leading zero"));
            }
        } else {
            self.digits("a digit")?;
        }
        if self.peek() == Some('.') {
            kind = TokenKind::Float;
            self.bump();
            self.digits("a digit behind the decimal point")?;
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            kind = TokenKind::Float;
            self.bump();
            if matches!(self.peek(), Some('+' | '-')) {
                self.bump();
            }
            self.digits("a digit in the exponent")?;
        }
        if self.peek().is_some_and(|c| c == '.' || is_name_start(c)) {
            return self.error(ParseErrorKind::Number("a space or punctuation behind it"));
        }
        Ok(kind)
    }

    fn digits(&mut self, expected: &'static str) -> Result<(), ParseError> {
        match self.bump_while(|c| c.is_ascii_digit()) {
            0 => self.error(ParseErrorKind::Number(expected)),
            _ => Ok(()),
        }
    }

    fn string(&mut self) -> Result<TokenKind, ParseError> {
        self.bump();
        loop {
            let here = self.location;
            match self.peek() {
                None | Some('\n' | '\r') => return self.error(ParseErrorKind::UnterminatedString),
                Some('"') => {
                    self.bump();
                    return Ok(TokenKind::String);
                }
                Some('\\') => match strings::escape(self.rest) {
                    Ok((_, length)) => self.bump_times(length),
                    Err(escape) => return Err(ParseError { location: here, kind: ParseErrorKind::Escape(escape) }),
                },
                Some(_) => {
                    self.bump();
                }
            }
        }
    }

    fn block_string(&mut self) -> Result<TokenKind, ParseError> {
        self.bump_times(3);
        loop {
            if self.rest.starts_with("\\\"\"\"") {
                self.bump_times(4);
            } else if self.rest.starts_with("\"\"\"") {
                self.bump_times(3);
                return Ok(TokenKind::BlockString);
            } else if self.bump().is_none() {
                return self.error(ParseErrorKind::UnterminatedBlockString);
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

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        tokenize(text).unwrap().list.iter().map(|token| (token.kind, token.text)).collect()
    }

    fn locations(text: &str) -> Vec<(u32, u32)> {
        tokenize(text).unwrap().list.iter().map(|token| (token.location.line, token.location.column)).collect()
    }

    #[test]
    fn distinguishes_integers_from_floats() {
        for text in ["0", "-0", "7", "-12", "123456789012345678901234567890"] {
            assert_eq!(kinds(text), [(TokenKind::Int, text)]);
        }
        for text in ["0.0", "-1.50", "1e0", "1e9", "1E+05", "-2.5e-10"] {
            assert_eq!(kinds(text), [(TokenKind::Float, text)]);
        }
        for text in ["00", "-01", "1.", "1.a", "1e", "1e+", "1a", "1_", "0x1", "1.5.2", "-", "-a", ".5", "1...a", "+1"]
        {
            assert!(tokenize(text).is_err(), "{text}");
        }
    }

    #[test]
    fn skips_ignored_tokens_anywhere() {
        assert_eq!(
            kinds("\u{feff},a,\u{feff}b # c {\r,d"),
            [(TokenKind::Name, "a"), (TokenKind::Name, "b"), (TokenKind::Name, "d")]
        );
    }

    #[test]
    fn counts_columns_in_characters_and_lines_by_every_line_terminator() {
        assert_eq!(locations("a\tb"), [(1, 1), (1, 3)]);
        assert_eq!(locations("\"é😀\" a"), [(1, 1), (1, 6)]);
        assert_eq!(locations("a\r\nb\rc\nd"), [(1, 1), (2, 1), (3, 1), (4, 1)]);
        assert_eq!(locations("\"\"\"a\r\nb\"\"\" c #\r\nd"), [(1, 1), (2, 6), (3, 1)]);
    }

    #[test]
    fn finds_the_end_of_strings() {
        assert_eq!(kinds(r#""" "a\"" """""" """a\"""" b""""#).len(), 4);
        for text in ["\"a", "\"a\n\"", "\"\\\"", "\"\"\"a\"\"", "\"\"\"a\\\"\"\"", r#""\x""#, r#""\u12""#, r#""\u{}""#]
        {
            assert!(tokenize(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reports_other_characters_at_their_location() {
        let ParseError { location, kind } = tokenize("{ a\n  ; }").unwrap_err();
        assert_eq!((location.line, location.column), (2, 3));
        assert!(matches!(kind, ParseErrorKind::Character(';')));
        for text in ["\0", "?", "a.b", "..", "é", "'a'", "\u{a0}", "\u{2028}"] {
            assert!(tokenize(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn limits_the_number_of_tokens() {
        assert!(tokenize(&"a ".repeat(MAX_TOKENS)).is_ok());
        let ParseError { location, kind } = tokenize(&"a ".repeat(MAX_TOKENS + 1)).unwrap_err();
        assert_eq!(location.column, 20_001);
        assert!(matches!(kind, ParseErrorKind::TooManyTokens));
    }
}
