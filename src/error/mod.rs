//! Errors as clients see them: stable codes, and lists of GraphQL errors in document order.
//!
//! Each module of the pure half has its own error enum and implements [`Diagnostic`](diagnostic::Diagnostic) for it.
//! A [`GraphqlError`](graphql_error::GraphqlError) is such an error together with its locations in the document.
//! Whatever depends on a code alone (name, HTTP status, meaning) is a column of the table in [`code`].

pub mod code;
pub mod diagnostic;
pub(crate) mod excerpt;
pub mod graphql_error;
