//! Opens everything that a server needs.

use std::error::Error;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task;
use tokio_postgres::Client;

use crate::access::audit_retention::Retention;
use crate::access::audit_writer::AuditWriter;
use crate::access::grant_cache::GrantCache;
use crate::access::login::Logins;
use crate::access::password::Passwords;
use crate::access::tokens::jwt::Tokens;
use crate::api::named_documents::NamedDocuments;
use crate::api::query_texts::QueryTexts;
use crate::api::service::CurrentService;
use crate::api::service::Service;
use crate::catalog::Catalog;
use crate::change_feed::check::{ForeignIds, has_foreign_ids};
use crate::change_feed::install;
use crate::change_feed::ticker::Ticker;
use crate::change_feed::watcher::Watcher;
use crate::cli::outcome::Outcome;
use crate::cli::schema;
use crate::cli::serve::connection_check;
use crate::cli::serve::database_wait::{self, connect};
use crate::cli::serve::served_schema::{SchemaSource, ServedSchema};
use crate::cli::serve::server::Server;
use crate::config::report::report;
use crate::config::settings::Config;
use crate::config::values::SettingValues;
use crate::database::address::server_addresses::ServerAddresses;
use crate::database::collation_versions::changed_collations;
use crate::database::pool::writer_pool::WriterPool;
use crate::http::handler::HttpState;
use crate::http::listener::Listener;
use crate::http::listener_kind::ListenerKind;
use crate::http::memory_budget::MemoryBudget;
use crate::http::options::HttpOptions;
use crate::http::socket::inherited::InheritedSockets;
use crate::http::socket::listening::{BoundSocket, ListenError};
use crate::http::socket::tls;
use crate::migration::record::has_order_tables;
use crate::replicas::read_servers::ReadServers;
use crate::shared_store::connection::SharedStore;
use crate::telemetry::emit;
use crate::telemetry::event::Event;
#[cfg(feature = "traces")]
use crate::telemetry::traces::recorder;
use crate::throttle::memory_store::MemoryStore;
use crate::throttle::query_throttle::QueryThrottle;
use crate::throttle::queues::Queues;
use crate::throttle::rate_limiter::RateLimiter;

/// Fails if the schema file, a certificate, the external issuer's keys or an address cannot be used. Nothing is written.
#[cfg_attr(not(feature = "tools"), expect(dead_code, reason = "for the demo"))]
pub(crate) async fn check(config: &Config) -> Outcome {
    schema::read(config.schema.as_deref())?;
    Tokens::check(&config.tokens()?)?;
    let options = config.http();
    options.tls.as_ref().map(tls::read).transpose()?;
    if let Some(address) = &options.admin_listen {
        BoundSocket::check(address, ListenerKind::Admin).await?;
    }
    BoundSocket::check(&options.listen, ListenerKind::Public).await?;
    Ok(())
}

/// Opens everything that the server needs. Fails if something is missing. A key is made, where there is none, once the rest is known
/// to be there.
pub(crate) async fn start(
    config: &Config,
    values: &SettingValues,
    servers: ServerAddresses,
    inherited: InheritedSockets,
) -> Result<Server, Box<dyn Error + Send + Sync>> {
    let (options, api) = (config.http(), config.api());
    let tls = options.tls.as_ref().map(tls::read).transpose()?;
    let first = database_wait::read(config.start_wait, async || FirstReads::read(config, &servers).await).await?;
    let FirstReads { schema, documents, served, grants, updates_orders } = first;
    let ServedSchema { catalog, constraints, views, vocabularies } = served;
    let (listener, admin) = listeners(&options, inherited).await?;
    #[cfg(feature = "traces")]
    recorder::start();
    let audit = AuditWriter::start(servers.primary.clone());
    let retention = config.audit_keep.map(|keep| Retention::start(servers.primary.clone(), keep));
    let passwords = passwords(config).await?;
    let (buckets, store) = buckets(config).await;
    let service = Service {
        views,
        cpu_tasks: Arc::default(),
        schema_fit: Arc::default(),
        vocabularies,
        grants: grants.into(),
        logins: Logins::new(passwords, config.lockout(), store.clone(), audit.clone()).into(),
        change_feeds: Ticker::start(servers.primary.clone()).into(),
        servers: ReadServers::start(&config.reads(&servers), catalog, constraints)?.into(),
        flushes: Arc::default(),
        change_watcher: Watcher::new(servers.primary.clone()).into(),
        parked: Queues::new(config.update_queues()),
        exports: Queues::new(config.update_queues()),
        writer: WriterPool::new(&config.writer(servers.primary.clone()))?,
        update_options: config.updates(),
        tokens: Tokens::open(config.tokens()?)?.into(),
        admission: QueryThrottle::new(buckets, config.query_queues()).into(),
        shared_store: store,
        refusal_pace: Arc::default(),
        report_pace: Arc::default(),
        free_query_pace: Arc::default(),
        updates: Queues::new(config.update_queues()),
        update_rates: MemoryStore::new().into(),
        updates_orders,
        documents,
        persisted_queries: QueryTexts::new(api.persisted_queries).into(),
        settings: report(values).into(),
        http: HttpState {
            memory: MemoryBudget::new(options.memory_budget, options.body_limit),
            options,
            tls,
            is_draining: Arc::default(),
        },
        options: api,
        request_ids: Arc::default(),
        runtime: Handle::current(),
    };
    service.grants.answer_with(Arc::clone(&service.tokens));
    let services = CurrentService::new(service);
    Ok(Server { listener, admin, services, audit, schema, servers, _retention: retention })
}

/// The facts that are read from the database before the first request.
struct FirstReads {
    schema: SchemaSource,
    documents: Arc<NamedDocuments>,
    served: ServedSchema,
    grants: GrantCache,
    updates_orders: bool,
}

impl FirstReads {
    async fn read(config: &Config, servers: &ServerAddresses) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let (schema, read, documents) = SchemaSource::read(config)?;
        let client = connect(servers, config.start_wait).await?;
        connection_check::check(config, servers).await?;
        let served = schema.open(read, &client, servers).await?;
        let updates_orders = has_order_tables(&client).await?;
        check_change_feeds(&client, &served.catalog).await?;
        for collation in changed_collations(&client).await? {
            emit(&Event::CollationChanged { collation: &collation.to_string(), remedy: &collation.remedy });
        }
        let grants = GrantCache::start(servers, config.grants()).await?;
        Ok(Self { schema, documents, served, grants, updates_orders })
    }
}

/// Fails if the ids in the change feeds mean nothing here. A feed that misses changes is reported.
async fn check_change_feeds(client: &Client, catalog: &Catalog) -> Result<(), Box<dyn Error + Send + Sync>> {
    if has_foreign_ids(client).await? {
        return Err(ForeignIds.into());
    }
    for feed in install::missing(client, catalog.feeds()).await? {
        emit(&Event::ChangeFeedIncomplete { feed: &feed.name });
    }
    Ok(())
}

async fn passwords(config: &Config) -> Result<Passwords, Box<dyn Error + Send + Sync>> {
    let password_checks = config.password_checks();
    Ok(task::spawn_blocking(move || Passwords::new(password_checks)).await??)
}

/// The public listener, and the operators' if there is one.
async fn listeners(
    options: &HttpOptions,
    mut inherited: InheritedSockets,
) -> Result<(Listener, Option<Listener>), ListenError> {
    let mut bind = async |address, kind| {
        let socket = BoundSocket::bind(address, kind, options.listen_mode, &mut inherited).await?;
        Ok::<_, ListenError>(Listener::new(socket, kind))
    };
    let admin = match &options.admin_listen {
        Some(address) => Some(bind(address, ListenerKind::Admin).await?),
        None => None,
    };
    Ok((bind(&options.listen, ListenerKind::Public).await?, admin))
}

/// The callers' buckets, and the store that several servers have them in.
async fn buckets(config: &Config) -> (RateLimiter, Option<SharedStore>) {
    match &config.bucket_url {
        Some(address) => {
            let store = SharedStore::start(address.clone()).await;
            (RateLimiter::shared(store.clone(), config.bucket_away), Some(store))
        }
        None => (RateLimiter::in_memory(), None),
    }
}
