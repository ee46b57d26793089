//! `orderql serve`: serves a database until SIGINT or SIGTERM.
//!
//! - `start`: opens everything that the server needs, with `database_wait`, `connection_check`, `served_schema` and `served_documents`
//! - `server`: serves, and does what `signals` ask for; operators are served on the `admin_thread`
//! - `reload`: reads the settings again, and compares the schema with the tables when `schema_checks` says that it is time
//! - `service_manager`: notifies systemd of starts, reloads and the stop

use std::io;
use std::time::Duration;

use tokio::runtime::{self, Runtime};

use crate::cli::database::addresses;
use crate::cli::outcome::Outcome;
use crate::cli::serve::reload::Settings;
use crate::cli::serve::signals::Signals;
use crate::cli::serve::start::start;
use crate::cli::settings;
use crate::config::flags::Flags;
use crate::config::settings::Config;
use crate::http::socket::inherited::InheritedSockets;
use crate::telemetry::log;

mod admin_thread;
mod connection_check;
mod database_wait;
mod reload;
mod schema_checks;
pub(crate) mod served_documents;
mod served_schema;
mod server;
mod service_manager;
pub(crate) mod signals;
pub(crate) mod start;

/// How long a thread that hashed a password stays idle. The allocator frees the hash's 19 MiB when it ends.
const BLOCKING_THREAD_IDLE: Duration = Duration::from_secs(1);

/// Serve a database
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags,
}

/// Serves until SIGINT or SIGTERM.
pub(crate) fn run(args: &Args) -> Outcome {
    let values = settings::gather(&args.flags)?;
    let config = Config::read(&values)?;
    let sockets = InheritedSockets::take();
    let log = log::open(&config.log())?;
    let servers = addresses(&config)?;
    runtime(&config)?.block_on(async {
        let mut signals = Signals::listen()?;
        let server = tokio::select! {
            server = start(&config, &values, servers, sockets) => server?,
            _ = signals.end() => return Ok(()),
        };
        server.serve(signals, Some(Settings { flags: &args.flags, values, log: &log })).await
    })
}

/// The runtime that the server runs on.
pub(crate) fn runtime(config: &Config) -> io::Result<Runtime> {
    let mut builder = runtime::Builder::new_multi_thread();
    if let Some(threads) = config.threads {
        builder.worker_threads(threads);
    }
    builder.enable_all().thread_keep_alive(BLOCKING_THREAD_IDLE).build()
}
