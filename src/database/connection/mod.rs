//! A connection: its start and its settings, its statements and their rows, their cancellation, and what a pooler in between must
//! leave as it is.

pub(crate) mod backend;
pub(crate) mod batch_queue;
mod batch_text;
pub(crate) mod batches;
pub(super) mod cancel;
pub mod connect;
pub(crate) mod lock_waits;
pub(crate) mod own_connection;
pub(super) mod pooled_connections;
pub(crate) mod pooler;
pub(crate) mod read_connection;
pub(crate) mod rows;
pub mod session;
pub(super) mod session_check;
pub(crate) mod shared_connection;
pub(crate) mod shared_connections;
pub(crate) mod shared_turn;
pub(super) mod statement_texts;
