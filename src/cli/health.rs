//! `orderql health`: asks the server with these settings whether it is ready, for containers and scripts.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use thiserror::Error;

use crate::cli::http_client::{ServerAddress, send};
use crate::cli::outcome::Outcome;
use crate::cli::settings;
use crate::config::flags::Flags;
use crate::config::settings::Config;
use crate::http::socket::address::ListenAddress;
use crate::http::socket::tls;

/// How long the server may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Ask the server of this machine whether it is ready
///
/// Prints its answer. Exits with 1 if it is not ready, or does not answer within 5 seconds. Takes the server's settings, and
/// asks at admin-listen if that is set.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only ask whether it is alive
    #[arg(long)]
    live: bool,

    #[command(flatten)]
    flags: Flags,
}

/// Why the answer is not yes.
#[derive(Debug, Error)]
enum HealthError {
    /// The server says so.
    #[error("the server is not ready")]
    NotReady,
    /// The server's address is not known.
    #[error(
        "set admin-listen to an address and a port or a Unix socket: where systemd's socket listens is not known here"
    )]
    NoAddress,
}

/// Asks, and prints the answer.
pub(crate) fn run(args: &Args) -> Outcome {
    let config = Config::read(&settings::gather(&args.flags)?)?;
    let address = address(&config)?;
    let path = if args.live { "/health/live" } else { "/health/ready" };
    let request = Request::get(path).header("host", "localhost").body(Full::new(Bytes::new()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(send(&address, request, TIMEOUT))?;
    let mut out = io::stdout().lock();
    out.write_all(&answer.body)?;
    writeln!(out)?;
    if answer.status.is_success() { Ok(()) } else { Err(HealthError::NotReady.into()) }
}

/// Whether a server of this program responds at an address of these settings.
pub(crate) async fn is_server(listen: &ListenAddress, config: &Config) -> bool {
    let is_encrypted = *listen == config.listen && config.tls_cert.is_some();
    let Ok(address) = server_address(listen, is_encrypted) else { return false };
    let Ok(request) = Request::get("/health/live").header("host", "localhost").body(Full::new(Bytes::new())) else {
        return false;
    };
    send(&address, request, TIMEOUT).await.is_ok_and(|answer| answer.status.is_success())
}

/// The address of a server with these settings. The operators' listener is not encrypted, and neither are Unix sockets.
fn address(config: &Config) -> Outcome<ServerAddress> {
    let (listen, is_encrypted) = match &config.admin_listen {
        Some(address) => (address, false),
        None => (&config.listen, config.tls_cert.is_some()),
    };
    server_address(listen, is_encrypted)
}

fn server_address(listen: &ListenAddress, is_encrypted: bool) -> Outcome<ServerAddress> {
    match listen {
        ListenAddress::Tcp(address) => {
            let address = reachable(*address).to_string();
            Ok(if is_encrypted {
                // The certificate is for the name that clients use, and nothing secret is sent.
                ServerAddress::Encrypted(address, Arc::new(tls::client_of_any_server()?))
            } else {
                ServerAddress::Plain(address)
            })
        }
        ListenAddress::Unix(path) => Ok(ServerAddress::Unix(path.clone())),
        ListenAddress::Inherited(_) => Err(HealthError::NoAddress.into()),
    }
}

/// A client cannot connect to the address that means all interfaces.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, v4.port()).into(),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => (Ipv6Addr::LOCALHOST, v6.port()).into(),
        other => other,
    }
}
