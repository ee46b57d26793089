//! `orderql mcp`: a client of the public API that speaks the Model Context Protocol, for AI agents. Whatever an agent does is a request
//! of its caller to the server, with the caller's limits, and is logged there.
//!
//! - `protocol_server`: the protocol's server
//! - `tools`: which tools there are, and their arguments
//! - `prompts`: questions with queries
//! - `stdio`, `http`: the protocol at standard input, and over HTTP
//! - `batch`: several messages at a time
//! - `backend`: the server that is asked, and its schema
//! - `checked_tokens`: tokens that it accepted a moment ago
//! - `run`, `price`, `page`, `explain`, `changes`: what tools do
//! - `fit`: fewer rows
//! - `limits`: what may be spent on a query
//! - `handle`: where a list goes on
//! - `untrusted`: text that people outside wrote
//! - `reply`: results and refusals

mod backend;
mod batch;
mod changes;
mod checked_tokens;
mod explain;
mod fit;
mod handle;
mod http;
mod limits;
mod page;
mod price;
mod prompts;
mod protocol_server;
mod reply;
mod run;
mod stdio;
mod tools;
mod untrusted;

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::cli::mcp::backend::{TokenSource, ToolBackend};
use crate::cli::mcp::http::Access;
use crate::cli::mcp::protocol_server::ProtocolServer;
use crate::cli::outcome::Outcome;
use crate::cli::remote_server::{self, RemoteServer, Url};
use crate::http::address_range::AddressRange;

/// Serve AI agents with the Model Context Protocol, as a client of a running server
///
/// Speaks over standard input and output, as desktop programs expect, or with --listen over HTTP, where every request has the
/// token of its caller. Nothing can be changed, and every request is one of the caller, with the caller's limits.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server: http://HOST:PORT, https://HOST:PORT, or unix: and the path of a socket
    #[arg(long, env = "ORDERQL_URL", value_name = "URL", default_value = "http://127.0.0.1:8080",
        value_parser = remote_server::url)]
    url: Url,

    /// PEM file of the authorities whose servers are trusted, instead of those that the system trusts
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// The token of the caller
    #[arg(long, env = "ORDERQL_TOKEN", value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,

    /// A file with the token, which is read for every request, so that it may be replaced
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,

    /// Listen here and speak over HTTP, at the path /mcp, with the `Authorization` of each request
    #[arg(long, value_name = "ADDRESS", conflicts_with = "token_file")]
    listen: Option<SocketAddr>,

    /// With --listen: an origin whose web pages may call, such as `https://chat.example.com`; may be repeated
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    origin: Vec<String>,

    /// With --listen: a name under which it is called, beside localhost; may be repeated
    #[arg(long, value_name = "HOST", requires = "listen")]
    host: Vec<String>,

    /// With --listen: the address or the network of a proxy, which may have more connections than a client; may be repeated
    #[arg(long, value_name = "ADDRESS", requires = "listen", value_parser = proxy)]
    trusted_proxy: Vec<AddressRange>,
}

fn proxy(text: &str) -> Result<AddressRange, String> {
    AddressRange::parse(text)
        .ok_or_else(|| "an IP address or a network is wanted, such as 10.0.0.1 or 10.0.0.0/8".to_owned())
}

/// The threads that run tools for clients over HTTP.
const TOOL_THREADS: usize = 2;

/// Serves until standard input ends, or over HTTP until the program is ended.
pub(crate) fn run(args: Args) -> Outcome {
    let server = RemoteServer::new(args.url, args.ca.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if let Some(address) = args.listen {
        let protocol_server = ProtocolServer::new(ToolBackend::new(server, TokenSource::OfRequest));
        let tools = tokio::runtime::Builder::new_multi_thread().worker_threads(TOOL_THREADS).enable_all().build()?;
        let access = Access { origins: args.origin, hosts: args.host, proxies: args.trusted_proxy };
        return runtime.block_on(http::serve(address, protocol_server, access, tools.handle().clone()));
    }
    let credentials = match (args.token_file, args.token.filter(|token| !token.is_empty())) {
        (Some(file), _) => TokenSource::File(file),
        (None, Some(token)) => TokenSource::Token(token),
        (None, None) => return Err("name a caller: ORDERQL_TOKEN, --token, or --token-file".into()),
    };
    let outcome = runtime.block_on(stdio::serve(ProtocolServer::new(ToolBackend::new(server, credentials))));
    // A pending read of standard input would be waited for.
    runtime.shutdown_background();
    outcome
}
