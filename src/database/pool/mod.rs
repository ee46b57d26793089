//! The pools of connections: for reading, where queries and exports have one each on every server, and for writing.

pub mod options;
pub(crate) mod pool_status;
pub mod reader_pool;
pub(crate) mod writer_pool;
