//! What the endpoints work with.

use std::sync::Arc;

use tokio::runtime::Handle;

use crate::access::grant_cache::GrantCache;
use crate::access::login::Logins;
use crate::access::tokens::jwt::Tokens;
use crate::api::cpu_tasks::CpuTasks;
use crate::api::named_documents::NamedDocuments;
use crate::api::options::Options;
use crate::api::query_texts::QueryTexts;
use crate::api::request_ids::RequestIds;
use crate::api::schema_fit::SchemaFit;
use crate::api::shared_flush::SharedFlush;
use crate::api::views::Views;
use crate::change_feed::ticker::Ticker;
use crate::change_feed::watcher::Watcher;
use crate::database::pool::writer_pool::WriterPool;
use crate::http::handler::{Current, HttpState};
use crate::orders::options::UpdateOptions;
use crate::replicas::read_servers::ReadServers;
use crate::shared_store::connection::SharedStore;
use crate::throttle::memory_store::MemoryStore;
use crate::throttle::pace::Pace;
use crate::throttle::query_throttle::QueryThrottle;
use crate::throttle::queues::Queues;
use crate::vocabulary::reader::VocabularyReader;

/// The service in force.
pub(crate) type CurrentService = Current<Service>;

/// What the endpoints work with. A copy shares everything but the settings.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    /// Accounts, grants and profiles.
    pub grants: Arc<GrantCache>,
    /// Verifies names and passwords.
    pub logins: Arc<Logins>,
    /// Signs and verifies tokens.
    pub tokens: Arc<Tokens>,
    /// What callers see of the schema, each with its compiler and its text.
    pub views: Arc<Views>,
    /// Compiles large queries, in turns by caller.
    pub(crate) cpu_tasks: Arc<CpuTasks>,
    pub(crate) schema_fit: Arc<SchemaFit>,
    pub(crate) vocabularies: Arc<VocabularyReader>,
    /// The callers' credits, and their running and waiting queries.
    pub admission: Arc<QueryThrottle>,
    /// The store that nodes share, if they do.
    pub shared_store: Option<SharedStore>,
    /// Holds back refusals of callers that get many.
    pub(crate) refusal_pace: Arc<Pace>,
    /// Holds back reports of prices and plans, which are free.
    pub(crate) report_pace: Arc<Pace>,
    /// Holds back queries that cost nothing, such as introspection, and large ones that do not compile.
    pub(crate) free_query_pace: Arc<Pace>,
    /// The callers' running and waiting order updates.
    pub updates: Queues,
    /// How many order updates each caller sent lately, on this server.
    pub(crate) update_rates: Arc<MemoryStore>,
    /// Whether the database has the tables of order updates.
    pub(crate) updates_orders: bool,
    /// Connections for queries and exports.
    pub servers: Arc<ReadServers>,
    /// Writes the ticks of change feeds.
    pub(crate) change_feeds: Arc<Ticker>,
    /// Flushes of the primary's log before tokens of changes leave.
    pub(crate) flushes: Arc<SharedFlush>,
    /// Wakes requests that wait for changes.
    pub(crate) change_watcher: Arc<Watcher>,
    /// The callers' requests that wait for changes.
    pub parked: Queues,
    /// The callers' exports.
    pub exports: Queues,
    /// Connections for order updates.
    pub writer: WriterPool,
    pub(crate) update_options: UpdateOptions,
    /// The documents that clients name.
    pub documents: Arc<NamedDocuments>,
    /// The texts of persisted queries.
    pub persisted_queries: Arc<QueryTexts>,
    /// The settings in force, for operators.
    pub settings: Arc<serde_json::Value>,
    /// What the HTTP server works with.
    pub http: HttpState,
    /// The options of the endpoints.
    pub options: Options,
    pub(crate) request_ids: Arc<RequestIds>,
    /// Where callers are served, and connections to the database are opened.
    pub runtime: Handle,
}

impl Service {
    /// The server is stopping: requests that wait for other requests get an error, and those that run go on.
    pub(crate) fn stop_waiting(&self) {
        self.admission.close();
        self.updates.close();
    }

    /// Whether some server answers queries.
    pub(crate) fn database_answers(&self) -> bool {
        // Without replicas, the connection that accounts are read on shows it.
        if self.servers.has_replicas() { self.servers.is_some_server_there() } else { self.grants.is_connected() }
    }
}
