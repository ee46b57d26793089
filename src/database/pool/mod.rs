//! The pools of connections: one for reading, one for writing.

pub mod options;
pub(crate) mod pool_status;
pub mod reader_pool;
pub(crate) mod writer_pool;
