//! Several servers of this program on one database: all refuse revoked rights, and updates are applied once, whichever server is
//! killed.
//!
//! `REVOCATIONS`, `IDEMPOTENCY_KEYS`, `SERVER_KILLS` and `PROMOTIONS` set the numbers of these.

mod idempotency;
mod kills;
mod revocation;
mod updates;

use std::env;

use crate::support::server::Server;

/// A user with all grants, whose limits no test reaches.
const USER: &str = "demo";

/// Starts a server whose tokens the others accept.
fn start(database: &str, flags: &[&str]) -> Server {
    Server::start_with_common_key(database, &[&["--deadline", "1h"], flags].concat())
}

/// A number of the environment.
fn number(name: &str, otherwise: usize) -> usize {
    env::var(name).map_or(otherwise, |number| number.parse().unwrap())
}
