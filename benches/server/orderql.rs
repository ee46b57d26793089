//! The orderql server, as the benchmarks start it and sign in to it.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::client::{Connection, graphql_request};
use crate::database::Database;
use crate::driver::Requests;
use crate::error::Result;
use crate::keys::Keys;
use crate::output;
use crate::process::{ServerProcess, free_address};
use crate::workload::Workload;

/// The path of the GraphQL endpoint.
pub const PATH: &str = "/rest/s1/graphql";

/// Starts the server with its defaults, but without the access log, as no peer writes one, and without a limit for the
/// connections of an address, as all clients have the same.
pub fn start(database: &Database, flags: &[impl AsRef<str>]) -> Result<ServerProcess> {
    start_at(&database.url(), flags)
}

/// The same with an address of the database.
pub fn start_at(database: &str, flags: &[impl AsRef<str>]) -> Result<ServerProcess> {
    let address = free_address()?;
    let mut command = serve(database, address)?;
    command.args(["--log", "warn", "--token-lifetime", "24h", "--connections-per-address", "1000000"]);
    command.args(flags.iter().map(AsRef::as_ref));
    ServerProcess::start_at(&mut command, address, "orderql.log")
}

/// Starts a program as a server with these flags, but for the limits that a benchmark needs.
pub fn start_program<'a>(
    program: &Path,
    database: &str,
    flags: impl Iterator<Item = &'a str>,
    log: &str,
) -> Result<ServerProcess> {
    let address = free_address()?;
    let mut command = serve_with(program, database, address)?;
    command.args(["--token-lifetime", "24h", "--connections-per-address", "1000000"]).args(flags);
    ServerProcess::start_at(&mut command, address, log)
}

/// Starts the server with one thread and without the access log, by a program that runs others, such as valgrind.
pub fn start_under(mut runner: Command, database: &str, flags: &[String]) -> Result<ServerProcess> {
    let address = free_address()?;
    serve_arguments(&mut runner, database, address)?;
    runner.args(["--threads", "1", "--log", "warn", "--token-lifetime", "24h"]).args(flags);
    ServerProcess::start_at(&mut runner, address, "orderql.log")
}

/// Starts the server with its defaults and a listener for operators at `admin`. Nobody reads its log if it `has_unread_log`.
pub fn start_attacked(database: &Database, admin: SocketAddr, has_unread_log: bool) -> Result<ServerProcess> {
    let address = free_address()?;
    let mut command = serve(&database.url(), address)?;
    command.args(["--admin-listen", &admin.to_string()]);
    if has_unread_log {
        return ServerProcess::start_unread(&mut command, address);
    }
    ServerProcess::start_at(&mut command, address, "attacked.log")
}

fn serve(database: &str, address: SocketAddr) -> Result<Command> {
    serve_with(Path::new(env!("CARGO_BIN_EXE_orderql")), database, address)
}

fn serve_with(program: &Path, database: &str, address: SocketAddr) -> Result<Command> {
    let mut command = Command::new(program);
    serve_arguments(&mut command, database, address)?;
    Ok(command)
}

fn serve_arguments(command: &mut Command, database: &str, address: SocketAddr) -> Result<()> {
    command.args(["serve", "--database-url", database, "--listen", &address.to_string(), "--key-folder"]);
    command.arg(output::file("keys")?);
    Ok(())
}

/// The requests of a query of single orders, sent by a user.
pub fn order_requests(keys: &Keys, server: &ServerProcess, user: &str, query: &str) -> Result<Requests> {
    let bearer = sign_in(server, user)?;
    let keys = keys.of(Workload::Detail).iter();
    let variables = keys.map(|key| Workload::Detail.variables(key, ""));
    Ok(Rc::new(variables.map(|variables| graphql_request(PATH, Some(&bearer), query, &variables)).collect()))
}

/// The request for a token.
pub fn token_request(user: &str, password: &str, headers: &str) -> Vec<u8> {
    let credentials = BASE64_STANDARD.encode(format!("{user}:{password}"));
    format!("POST /auth/token HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {credentials}\r\n{headers}\r\n")
        .into_bytes()
}

/// A token for a user whose password is its name.
pub fn sign_in(server: &ServerProcess, user: &str) -> Result<String> {
    let mut connection = Connection::open("orderql", server.address)?;
    let response = connection.json(&token_request(user, user, ""))?;
    let token = response["access_token"].as_str().map(str::to_owned);
    token.ok_or_else(|| connection.unexpected(response.to_string().as_bytes()))
}
