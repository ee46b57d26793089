//! What the service tells its operator: a closed set of events, and the log that they are written to.

pub mod event;
pub mod log;
