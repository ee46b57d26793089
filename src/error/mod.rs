//! Errors as clients see them: stable codes, and lists of GraphQL errors in document order.
//!
//! - [`code`]: the table of codes, with all that depends on a code alone: name, HTTP status, meaning
//! - [`diagnostic`]: the trait of the error enums that reject a request. Each module between text and plan has an enum of its own
//! - [`graphql_error`]: such an error with its locations in the document, and lists of these
//! - `excerpt`: excerpts of a client's text, for messages

pub mod code;
pub mod diagnostic;
pub(crate) mod excerpt;
pub mod graphql_error;
