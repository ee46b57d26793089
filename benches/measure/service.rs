//! Our own server, as the benches start it and sign in to it.

use std::path::Path;
use std::process::Command;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::Fault;
use super::exchange::Line;
use super::spawned::{Spawned, free_address};
use super::store::Store;

/// Where we answer queries.
pub const PATH: &str = "/rest/s1/graphql";

/// Starts it, as it is delivered but for the log, where a line a request would be written.
pub fn start(store: &Store, folder: &Path, flags: &[String]) -> Result<Spawned, Fault> {
    let address = free_address()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_orderql"));
    command.args(["serve", "--log", "warn", "--token-lifetime", "24h", "--database-url", &store.url()]);
    command.args(["--listen", &address.to_string(), "--key-folder"]).arg(folder.join("keys")).args(flags);
    Spawned::at(&mut command, address, &folder.join("orderql.log"))
}

/// A token of the server's for a user whose password is its name.
pub fn sign_in(server: &Spawned, user: &str) -> Result<String, Fault> {
    let credentials = BASE64_STANDARD.encode(format!("{user}:{user}"));
    let request = format!("POST /auth/token HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {credentials}\r\n\r\n");
    let answer = Line::to("orderql", server.address)?.json(request.as_bytes())?;
    let token = answer["access_token"].as_str();
    token.map(str::to_owned).ok_or_else(|| Fault::Answer { from: "orderql".to_owned(), what: answer.to_string() })
}
