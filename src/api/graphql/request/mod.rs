//! Reads a request: its envelope, and the text and the variables of its query.
//!
//! - `envelope_error`: why an envelope cannot be read
//! - `given_variables`: the values of variables, as the client gave them
//! - `json_members`: the members of a JSON object
//! - `json_size`: how much memory JSON takes
//! - `persisted_queries`: texts by their hashes
//! - `query_request`: a request whose caller and query are known
//! - `query_source`: where the text of a query comes from
//! - `request_envelope`: the query, variables and extensions of a request

pub(crate) mod envelope_error;
pub(crate) mod given_variables;
pub(crate) mod json_members;
pub(crate) mod json_size;
pub(crate) mod persisted_queries;
pub(crate) mod query_request;
pub(crate) mod query_source;
pub(crate) mod request_envelope;
