//! `orderql serve`: serves a database until it is told to stop.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{self, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task;

use crate::access::audit_writer::AuditWriter;
use crate::access::grant_cache::GrantCache;
use crate::access::jwt::Tokens;
use crate::access::login::Logins;
use crate::access::password::Passwords;
use crate::cli::{Outcome, schema, settings};
use crate::compile::compiler::Compiler;
use crate::config::flags::Flags;
use crate::config::settings::Config;
use crate::database::connect::connect;
use crate::database::pool::Pool;
use crate::database::writer_pool::WriterPool;
use crate::http::endpoint::graphql::persisted_queries::PersistedQueries;
use crate::http::endpoint::sdl::SdlDocument;
use crate::http::listener::Listener;
use crate::http::options::Options;
use crate::http::request_ids::RequestIds;
use crate::http::service::Service;
use crate::telemetry::log;
use crate::throttle::rate_limiter::RateLimiter;
use crate::throttle::running::RunningQueries;

/// How long the last audit events may take to be stored when the server stops.
const LAST_EVENTS: Duration = Duration::from_secs(5);

/// How long a thread that hashed a password is kept. The allocator gives the hash's 19 MiB back when it ends.
const BLOCKING_THREAD: Duration = Duration::from_secs(1);

/// Takes every setting.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags,
}

/// Serves until SIGINT or SIGTERM.
pub(crate) fn run(args: &Args) -> Outcome {
    let values = settings::gather(&args.flags)?;
    let config = Config::read(&values)?;
    log::open(&config.log())?;
    let database = config.database()?;
    runtime(&config)?.block_on(async { start(&config, database).await?.serve().await })
}

/// What the server runs on.
pub(crate) fn runtime(config: &Config) -> io::Result<Runtime> {
    let mut builder = runtime::Builder::new_multi_thread();
    if let Some(threads) = config.threads {
        builder.worker_threads(threads);
    }
    builder.enable_all().thread_keep_alive(BLOCKING_THREAD).build()
}

/// A server that is bound to its address and has not answered anybody yet.
pub(crate) struct Server {
    listener: Listener,
    service: Service,
    trail: AuditWriter,
    options: Options,
}

/// Makes everything ready, or says what is missing.
pub(crate) async fn start(
    config: &Config,
    database: tokio_postgres::Config,
) -> Result<Server, Box<dyn Error + Send + Sync>> {
    let catalog = schema::read(config.schema.as_deref())?;
    // What is missing is to be named now, and not by the answers of whoever needs it first.
    schema::hold(&connect(&database).await?, &catalog).await?;
    let options = config.http();
    let trail = AuditWriter::start(database.clone());
    let password_checks = config.password_checks;
    let passwords = task::spawn_blocking(move || Passwords::new(password_checks)).await??;
    let service = Service {
        sdl: SdlDocument::new(catalog.sdl().to_owned()),
        compiler: Compiler::new(Arc::new(catalog), config.query_cache),
        grants: GrantCache::start(database.clone(), config.default_limits()).await?,
        logins: Logins::new(passwords, config.lockout(), trail.clone()),
        pool: Pool::new(&config.pool(database.clone()))?,
        writer: WriterPool::new(&config.writer(database))?,
        tokens: Tokens::open(config.tokens()?)?,
        rate_limiter: RateLimiter::in_memory(),
        running_queries: RunningQueries::default(),
        persisted_queries: PersistedQueries::new(options.persisted_queries),
        options: options.clone(),
        request_ids: RequestIds::default(),
    };
    Ok(Server { listener: Listener::bind(config.listen).await?, service, trail, options })
}

impl Server {
    /// The address that it is bound to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves until the process is told to stop.
    pub(crate) async fn serve(self) -> Outcome {
        let stop = told_to_stop()?;
        self.listener.serve(Arc::new(self.service), &self.options, stop).await;
        self.trail.finish(LAST_EVENTS).await;
        Ok(())
    }
}

/// Is ready when SIGINT or SIGTERM comes.
fn told_to_stop() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
