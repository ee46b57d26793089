//! The state that the endpoints share, and who holds it for how long.

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

/// The service in force. The listeners of callers and of operators hold it for as long as the process serves. Each request takes the
/// service that is in force when its head arrives, and keeps it until its response is delivered.
pub(crate) type CurrentService = Current<Service>;

/// The state that the endpoints share. It is made once, at the start. A reload, or a check of the tables, replaces it by a copy.
///
/// Values behind an `Arc`, and values whose copies share their state, are the same in all copies: so a bucket, a queue or a pool does not
/// begin anew at a reload. The comment of a field that a reload replaces says so. A request that has begun keeps the old values.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    /// The accounts with their grants and limits, in memory, so that no request has to ask the database for its caller. A task reads them
    /// again when they change.
    pub grants: Arc<GrantCache>,
    /// Verifies names and passwords. Counts the failed logins of accounts and addresses, here or in the shared store, until they are locked
    /// for a while.
    pub logins: Arc<Logins>,
    /// Signs and verifies tokens. Holds the keys, which it reads again when their files have changed. The listener of `grants` has a copy,
    /// to answer the commands that ask which keys servers use.
    pub tokens: Arc<Tokens>,
    /// The views of the schema: one view for all callers with the same grants and scopes, with its compiler, its cached plans and its text.
    /// Replaced when a reload finds another schema, or when the tables have changed and fit. A request keeps its view to the end.
    pub views: Arc<Views>,
    /// Runs work that takes a thread longer than about a millisecond, such as compiling a large query, on some of the cores. Callers have
    /// turns, so that one caller's work does not hold up the others.
    pub(crate) cpu_tasks: Arc<CpuTasks>,
    /// Whether the tables fit the schema. A request whose statement does not fit asks for a check. The task that waits for signals makes
    /// the check, and `/health/ready` reports its result.
    pub(crate) schema_fit: Arc<SchemaFit>,
    /// Reads the vocabularies that the compilers of `views` hold. Replaced together with these; its task ends with the last request that
    /// has the old one.
    pub(crate) vocabularies: Arc<VocabularyReader>,
    /// The callers' credits, and the places of their running and waiting queries; each page of an export counts as a query. Credits are in
    /// memory, or in the store that several servers share. Places are this server's own.
    pub admission: Arc<QueryThrottle>,
    /// The store that several servers share, to report whether it is there. The buckets of `admission` and the locks of `logins` have
    /// copies.
    pub shared_store: Option<SharedStore>,
    /// Holds back rejections of callers that get more than one a millisecond: ten thousand of them a second take the time of many queries.
    pub(crate) refusal_pace: Arc<Pace>,
    /// Holds back reports of prices and plans, which cost no credits but as much time as compiling. Apart from `free_query_pace`, so that
    /// somebody who reads reports can still send queries.
    pub(crate) report_pace: Arc<Pace>,
    /// Holds back queries that cost no credits, such as introspection, and large ones of callers whose large texts did not compile.
    pub(crate) free_query_pace: Arc<Pace>,
    /// The callers' running and waiting order updates. Apart from the queries of `admission`, so that neither waits for the other.
    pub updates: Queues,
    /// How many order updates each caller has sent in the last second. In memory, on each server by itself.
    pub(crate) update_rates: Arc<MemoryStore>,
    /// Whether the database has the tables of order updates. Read once, at the start. After `migrate` has made them, the server has to be
    /// started again.
    pub(crate) updates_orders: bool,
    /// The pools of reading connections to the primary and its replicas, for queries and exports, and the position that each caller has
    /// seen last: a later request of the caller must not see an older state.
    pub servers: Arc<ReadServers>,
    /// Writes the ticks of change feeds, in a task with a connection of its own, for as long as the service is there. Only metrics read it.
    pub(crate) change_feeds: Arc<Ticker>,
    /// Flushes of the primary's log before tokens of changes leave. Requests that ask for one at the same time share it.
    pub(crate) flushes: Arc<SharedFlush>,
    /// Wakes requests that wait for changes. One task looks for new changes for all of them, on one connection.
    pub(crate) change_watcher: Arc<Watcher>,
    /// The callers' requests that wait for changes. Apart from `admission`, because a request that waits for minutes must not take the
    /// place of a query. A page that it reads takes a place there, too.
    pub parked: Queues,
    /// The callers' running exports of snapshots, at most one for each caller: an export holds a connection and a transaction from its
    /// first page to its last.
    pub exports: Queues,
    /// Connections for order updates, apart from the connections that read, so that neither can exhaust the other.
    pub writer: WriterPool,
    /// The settings of order updates. Replaced by a reload.
    pub(crate) update_options: UpdateOptions,
    /// The documents that clients name, from files. Replaced by a reload.
    pub documents: Arc<NamedDocuments>,
    /// The texts of persisted queries, which callers have sent since the start. A restart forgets them: clients send them again.
    pub persisted_queries: Arc<QueryTexts>,
    /// The settings in force and where each comes from, as operators see them. Replaced by a reload, so that they and the fields above
    /// agree.
    pub settings: Arc<serde_json::Value>,
    /// The state of the HTTP server. A reload replaces the options and the certificate; an open connection keeps the certificate and the
    /// time-outs with which it was accepted. The memory budget is the same, with another size.
    pub http: HttpState,
    /// The options of the endpoints. Replaced by a reload.
    pub options: Options,
    /// Makes the ids of requests. Shared by all copies, so that none repeats.
    pub(crate) request_ids: Arc<RequestIds>,
    /// The runtime of the callers' listener, which has the connections to the database. Operators are served on a thread with a runtime of
    /// its own. A request of the console that arrives there is run on this one.
    pub runtime: Handle,
}

impl Service {
    /// The server is stopping: requests that wait for other requests get an error, and running requests go on.
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
