//! Text → document, by the grammar of the GraphQL specification (September 2025).
//!
//! `graphql_parser` implements the grammar, but reads many tokens differently from the specification: it rejects `1e5` and
//! `\u{1F600}`, counts a tab as eight columns, and has no positions for values. So it only parses a text without the
//! literals that it would misread:
//!
//! - `lexer`: text → tokens, `strings`: the values of string literals
//! - `normalize`: tokens → the text for `graphql_parser`, a token per line
//! - `restore`: puts positions and literals back into the parser's tree
//! - `source`: these steps in order
//! - `document`: the tree, and where its arguments and variables are
//! - [`definitions`]: its operations and fragments, one by one
//! - `print`: the document as graphql-js prints it
//! - `error`: why a text is not a document
//!
//! The result is as the specification demands, with these exceptions:
//!
//! - A document has at most 10,000 tokens, and at most 50 brackets open at once.
//! - A text with type definitions is a syntax error. By the specification it is a document that violates a rule.
//! - The arguments of a directive on a variable are not validated, because no directive is allowed there.

pub mod definitions;
pub(super) mod document;
mod error;
pub(super) mod lexer;
mod normalize;
pub mod print;
mod restore;
mod source;
mod strings;

pub use document::Document;
pub use source::Source;
