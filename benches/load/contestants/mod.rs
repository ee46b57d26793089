//! The contestants, a way of being asked each.
//!
//! - [`served`]: over HTTP: ourselves, the peers, the floor
//! - [`peers`]: how the peers are built and started
//! - [`pgbench`]: the limit (a1)
//! - [`pipelined`]: the limit (a2), and its [`messages`]

pub mod served;
pub mod peers;
pub mod pgbench;
pub mod pipelined;
pub mod messages;
