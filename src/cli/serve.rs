//! `orderql serve`: serves a database until SIGINT or SIGTERM.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::{self, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task;

use crate::access::audit_writer::AuditWriter;
use crate::access::grant_cache::GrantCache;
use crate::access::login::Logins;
use crate::access::password::Passwords;
use crate::access::tokens::jwt::Tokens;
use crate::cli::database::{address, connect};
use crate::cli::outcome::Outcome;
use crate::cli::{schema, settings};
use crate::compile::compiler::Compiler;
use crate::config::flags::Flags;
use crate::config::report::report;
use crate::config::settings::Config;
use crate::config::values::Values;
use crate::database::database_address::DatabaseAddress;
use crate::database::migrate::has_order_tables;
use crate::database::pool::Pool;
use crate::database::writer_pool::WriterPool;
use crate::http::cpu_tasks::CpuTasks;
use crate::http::listener::Listener;
use crate::http::memory_budget::MemoryBudget;
use crate::http::query_texts::QueryTexts;
use crate::http::request_ids::RequestIds;
use crate::http::route::Endpoints;
use crate::http::sdl_document::SdlDocument;
use crate::http::service::Service;
use crate::http::socket::address::ListenAddress;
use crate::http::socket::inherited::InheritedSockets;
use crate::http::socket::listening::{ListenError, ListeningSocket};
use crate::http::socket::tls;
use crate::preflight::stored_types;
use crate::retention::Retention;
use crate::telemetry::event::Event;
use crate::telemetry::{emit, log};
use crate::throttle::admission::Admission;
use crate::throttle::fair_semaphore::FairSemaphore;
use crate::throttle::queues::Queues;
use crate::throttle::rate_limiter::RateLimiter;
use crate::vocabulary_reader::VocabularyReader;

/// How long the server waits for the last audit events to be stored when it stops.
const AUDIT_TIMEOUT: Duration = Duration::from_secs(5);

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
    let _log = log::open(&config.log())?;
    let database = address(&config.database()?)?;
    runtime(&config)?.block_on(async { start(&config, &values, database, sockets).await?.serve().await })
}

/// The runtime that the server runs on.
pub(crate) fn runtime(config: &Config) -> io::Result<Runtime> {
    let mut builder = runtime::Builder::new_multi_thread();
    if let Some(threads) = config.threads {
        builder.worker_threads(threads);
    }
    builder.enable_all().thread_keep_alive(BLOCKING_THREAD_IDLE).build()
}

/// A server that is bound to its address and does not accept connections yet.
pub(crate) struct Server {
    listener: Listener,
    admin: Option<Listener>,
    service: Service,
    audit: AuditWriter,
    _retention: Option<Retention>,
}

/// Fails if the schema file, the external issuer's keys or an address cannot be used. Nothing is written.
pub(crate) async fn check(config: &Config) -> Outcome {
    schema::read(config.schema.as_deref())?;
    Tokens::check(&config.tokens()?)?;
    let options = config.http();
    options.tls.as_ref().map(tls::read).transpose()?;
    for address in options.admin_listen.iter().chain([&options.listen]) {
        ListeningSocket::check(address).await?;
    }
    Ok(())
}

/// Opens everything that the server needs. Fails if something is missing. A key is made, where there is none, once the rest is known
/// to be there.
pub(crate) async fn start(
    config: &Config,
    values: &Values,
    database: DatabaseAddress,
    mut inherited: InheritedSockets,
) -> Result<Server, Box<dyn Error + Send + Sync>> {
    let options = config.http();
    let tls = options.tls.as_ref().map(tls::read).transpose()?;
    let catalog = schema::read(config.schema.as_deref())?.with_search_window(config.search_window);
    // Checked at the start, so that a table that is missing does not show in the responses to clients.
    let client = connect(&database).await?;
    for mismatch in schema::check_database(&client, &catalog, config.schema_constraints).await? {
        emit(&Event::ConstraintMissing { mismatch: &mismatch });
    }
    let stored = stored_types(&client, &catalog).await?;
    let catalog = catalog.with_stored_types(&stored);
    let updates_orders = has_order_tables(&client).await?;
    drop(client);
    let mut bind = async |address, endpoints| {
        let socket = ListeningSocket::bind(address, options.listen_mode, &mut inherited).await?;
        Ok::<_, ListenError>(Listener::new(socket, endpoints))
    };
    let admin = match &options.admin_listen {
        Some(address) => Some(bind(address, Endpoints::Admin).await?),
        None => None,
    };
    let listener = bind(&options.listen, Endpoints::Public).await?;
    let audit = AuditWriter::start(database.clone());
    let retention = config.audit_keep.map(|keep| Retention::start(database.clone(), keep));
    let password_checks = config.password_checks();
    let passwords = task::spawn_blocking(move || Passwords::new(password_checks)).await??;
    let catalog = Arc::new(catalog);
    let compiler = Arc::new(Compiler::new(Arc::clone(&catalog), config.query_cache));
    let vocabularies = Arc::clone(compiler.vocabularies());
    let pool = config.pool(database.clone());
    let service = Service {
        sdl: SdlDocument::new(catalog.sdl().to_owned()),
        compiler,
        cpu_tasks: CpuTasks::default(),
        vocabularies: VocabularyReader::start(&database, catalog, vocabularies).await?,
        grants: GrantCache::start(database.clone(), config.default_limits()).await?,
        logins: Logins::new(passwords, config.lockout(), audit.clone()),
        pool_turns: FairSemaphore::new(pool.size),
        pool_wait: pool.wait,
        pool: Pool::new(&pool)?,
        writer: WriterPool::new(&config.writer(database))?,
        update_options: config.updates(),
        tokens: Tokens::open(config.tokens()?)?,
        admission: Admission::new(RateLimiter::in_memory(), config.query_queues()),
        updates: Queues::new(config.update_queues()),
        updates_orders,
        persisted_queries: QueryTexts::new(options.persisted_queries),
        memory: MemoryBudget::new(options.memory_budget, options.body_limit),
        settings: report(values),
        options,
        tls,
        request_ids: RequestIds::default(),
    };
    Ok(Server { listener, admin, service, audit, _retention: retention })
}

impl Server {
    /// Issues the server's tokens.
    pub(crate) fn tokens(&self) -> &Tokens {
        &self.service.tokens
    }

    /// The bound address.
    pub(crate) fn address(&self) -> &ListenAddress {
        self.listener.address()
    }

    /// Serves until SIGINT or SIGTERM.
    pub(crate) async fn serve(self) -> Outcome {
        let stop = stop_signal()?;
        let service = Arc::new(self.service);
        let (public_ended, end) = oneshot::channel::<()>();
        let admin = self.admin.map(|listener| {
            // The sender sends nothing: it is dropped.
            task::spawn(listener.serve(Arc::clone(&service), end.map(drop)))
        });
        let stopping = Arc::clone(&service);
        let stop = stop.map(move |()| stopping.stop_waiting());
        self.listener.serve(service, stop).await;
        drop(public_ended);
        if let Some(admin) = admin {
            admin.await?;
        }
        self.audit.finish(AUDIT_TIMEOUT).await;
        Ok(())
    }
}

/// Completes at SIGINT or SIGTERM.
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
