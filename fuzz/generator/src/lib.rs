//! Random GraphQL requests for any catalog: valid ones, and ones with mistakes. Bytes make every choice, so the same bytes make
//! the same request, and a fuzzer that changes the bytes changes the request.
//!
//! - [`choices`]: bytes → choices
//! - [`document`]: a document as a tree, whose values know what they mean
//! - [`search`], [`cursor`]: the values that have a structure of their own
//! - [`values`]: where the values of keys, search terms and cursors come from
//! - [`generate`](mod@generate): catalog and choices → a valid request; `selections`, `arguments`, `variables` are its parts, `place` and `response_keys` what these know of the document
//! - [`request`]: the tree with its variables and limits, as text and JSON
//! - [`change`]: other values, larger and smaller requests
//! - [`mistake`]: requests that break a rule
//! - [`print`](mod@print): a tree as text
//! - [`redaction`]: schema files with grants, and what is left of one for some callers
//!
//! ```
//! use orderql::catalog::Catalog;
//! use orderql::compile::compile;
//! use orderql_generator::choices::{Choices, bytes_of_seed};
//! use orderql_generator::generate::{Settings, generate};
//! use orderql_generator::values::Invented;
//!
//! let catalog = Catalog::built_in()?;
//! let bytes = bytes_of_seed(7, 1024);
//! let generated = generate(&catalog, &Invented, Settings::default(), &mut Choices::new(&bytes));
//! compile(&catalog, &generated.request(), &generated.unlimited())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
pub mod change;
pub mod choices;
pub mod cursor;
pub mod document;
pub mod generate;
pub mod mistake;
mod place;
pub mod print;
pub mod redaction;
pub mod request;
mod response_keys;
pub mod search;
mod selections;
pub mod values;
mod variables;
