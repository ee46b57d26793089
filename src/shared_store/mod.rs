//! A store that the nodes of a service share: Valkey, or Redis from version 7 on. What is in it may be lost at any time.
//!
//! - `address`: where it is
//! - `connection`: runs scripts there within 50 ms, or fails at once while the store is away
//! - `examination`: what it says of itself
//! - `nodes`: counts the nodes that use it
//! - `metrics`: how long calls take

pub(crate) mod address;
pub(crate) mod connection;
pub(crate) mod examination;
pub(crate) mod metrics;
mod nodes;
