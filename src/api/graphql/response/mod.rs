//! Executes a query that is paid for, and writes its response: data, or an analysis.
//!
//! - `analysis`: the time, rows and buffers of a query in PostgreSQL, in place of its data
//! - `changes`: checks of a page of changes before its tokens leave
//! - `execution`: runs a query within its deadline
//! - `gathered_body`: a response whose rows are gathered before it is written
//! - `response_body`: the body of a response whose rows are there
//! - `response_end`: the end of a response, after its data
//! - `response_envelope`: the text around the data
//! - `row_memory`: the memory of rows
//! - `streamed_body`: a response that is written while its rows are fetched

pub(crate) mod analysis;
pub(crate) mod changes;
pub(crate) mod execution;
pub(crate) mod gathered_body;
pub(crate) mod response_body;
pub(crate) mod response_end;
pub(crate) mod response_envelope;
pub(crate) mod row_memory;
pub(crate) mod streamed_body;
