//! The primary and its replicas, and which of them a read goes to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use tokio::time;

use crate::catalog::Catalog;
use crate::database::connection::own_connection::OwnConnection;
use crate::database::connection::read_connection::ReadConnection;
use crate::database::connection::shared_connections::StatementText;
use crate::database::error::DatabaseError;
use crate::database::metrics::{ConnectFailure, PoolName, waited};
use crate::database::pool::pool_status::PoolStatus;
use crate::database::wal_position::WalPosition;
use crate::preflight::Constraints;
use crate::replicas::caller_positions::{CallerPositions, Write};
use crate::replicas::options::{ReadOptions, ReadServerOptions};
use crate::replicas::positions::{Positions, ReadNeeds, ReplicaState, ServerId, Suitability};
use crate::replicas::read_server::{ReadReason, ReadServer};
use crate::replicas::rendezvous;
use crate::replicas::watcher::{self, SchemaToCheck, Schemas};
use crate::throttle::fair_semaphore::FairPermit;

/// How long a caller's request waits for a replica to have what the caller has seen on the primary. Usually it takes a few
/// milliseconds, and the requests after it read from the replica. Otherwise a caller who reads all the time would stay on the primary.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// How long a request waits for the primary to say whether it has written a position.
const LONGEST_QUESTION: Duration = Duration::from_secs(1);

/// How often positions are wanted meanwhile.
const WAIT_STEP: Duration = Duration::from_millis(2);

/// How long a caller's requests do not wait after that was in vain.
const NO_WAIT: Duration = Duration::from_secs(1);

/// The servers that are read.
#[derive(Debug)]
pub(crate) struct ReadServers {
    primary: Arc<ReadServer>,
    replicas: Vec<Arc<ReadServer>>,
    positions: Arc<Positions>,
    callers: CallerPositions,
    schemas: Schemas,
    /// How long a query waits for a connection.
    wait: Duration,
    watchers: Vec<JoinHandle<()>>,
}

/// The servers that a request may be read from.
#[derive(Debug, Clone)]
pub(crate) struct ReadRoute {
    /// The replicas that may answer, the preferred one first. If there is none, it is the primary.
    replicas: Vec<usize>,
    reason: ReadReason,
}

/// A connection to a server, in turn with other callers.
pub(crate) struct LeasedConnection<C> {
    pub(crate) connection: C,
    pub(crate) held: HeldServer,
}

/// A server that a query is read from, and the query's turn there.
#[derive(Debug)]
pub(crate) struct HeldServer {
    pub(crate) server: Arc<ReadServer>,
    _turn: FairPermit,
}

/// A place among the exports that run on a server at the same time, and its connection.
pub(crate) struct ExportPlace {
    pub(crate) connection: OwnConnection,
    pub(crate) server: Arc<ReadServer>,
    _turn: FairPermit,
}

impl ExportPlace {
    /// Whether another caller waits for a place.
    pub(crate) fn is_wanted(&self) -> bool {
        self.server.export_turns.waiting() > 0
    }
}

/// The turn of a statement that can share a connection.
enum FreeTurn {
    /// On a connection that requests share.
    Shared(FairPermit),
    /// On a connection of its own.
    Own(FairPermit),
}

impl ReadServers {
    /// Opens the pools, and begins to watch how far the servers are if there are replicas.
    pub(crate) fn start(
        options: &ReadOptions,
        catalog: Arc<Catalog>,
        constraints: Constraints,
    ) -> Result<Self, DatabaseError> {
        let replicas = options.replicas.iter().enumerate();
        let replicas =
            replicas.map(|(index, replica)| Ok(Arc::new(ReadServer::new(ServerId::Replica(index), replica, true)?)));
        let mut servers = Self {
            primary: ReadServer::new(ServerId::Primary, &options.primary, !options.replicas.is_empty())?.into(),
            replicas: replicas.collect::<Result<_, DatabaseError>>()?,
            positions: Positions::new(options.replicas.len(), options.longest_lag).into(),
            callers: CallerPositions::new(options.longest_lag),
            schemas: Schemas::new(SchemaToCheck { number: 0, catalog, constraints }),
            wait: options.primary.queries.wait,
            watchers: Vec::new(),
        };
        if servers.has_replicas() {
            let primary = Arc::clone(&servers.primary);
            let primary = watcher::watch_primary(options.primary.address(), primary, Arc::clone(&servers.positions));
            let watch = |(server, options): (&Arc<ReadServer>, _)| {
                let positions = Arc::clone(&servers.positions);
                watcher::watch_replica(options, Arc::clone(server), positions, servers.schemas.subscribe())
            };
            let addresses = options.replicas.iter().map(ReadServerOptions::address);
            servers.watchers = servers.replicas.iter().zip(addresses).map(watch).chain([primary]).collect();
        }
        Ok(servers)
    }

    /// Serves another schema. Replicas are read when they are found to fit.
    pub(crate) fn serve_schema(&self, catalog: Arc<Catalog>, constraints: Constraints) {
        let number = self.positions.begin_schema();
        self.schemas.replace(SchemaToCheck { number, catalog, constraints });
    }

    /// Whether there are replicas.
    pub(crate) fn has_replicas(&self) -> bool {
        !self.replicas.is_empty()
    }

    /// The servers, the primary first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<ReadServer>> {
        std::iter::once(&self.primary).chain(&self.replicas)
    }

    /// Whether the primary answers; `None` if that is not watched, or not known yet.
    pub(crate) fn is_primary_there(&self) -> Option<bool> {
        self.positions.is_primary_there()
    }

    /// Whether the primary or a replica that may be read answers.
    pub(crate) fn is_some_server_there(&self) -> bool {
        let is_current = |(_, state): (_, ReplicaState)| matches!(state, ReplicaState::Current(_));
        self.is_primary_there() == Some(true) || self.replica_states().any(is_current)
    }

    /// The replicas, with what their positions mean.
    pub(crate) fn replica_states(&self) -> impl Iterator<Item = (&Arc<ReadServer>, ReplicaState)> {
        self.replicas.iter().zip(self.positions.replicas(Instant::now()))
    }

    /// Why no further connection to the primary can be opened, if that has failed.
    pub(crate) fn primary_failure(&self) -> Option<ConnectFailure> {
        let ReadServer { queries, exports, .. } = &*self.primary;
        queries.status().failure.or_else(|| exports.status().failure)
    }

    /// The state of the connections for queries, of all servers.
    pub(crate) fn query_pools(&self) -> PoolStatus {
        let status = |server: &Arc<ReadServer>| {
            // Queries wait for their turn before they take a connection.
            let status = server.queries.status();
            PoolStatus { waiting: status.waiting + server.waiting(), ..status }
        };
        self.all().map(status).fold(PoolStatus::default(), PoolStatus::and)
    }

    /// The state of the connections for exports, of all servers.
    pub(crate) fn export_pools(&self) -> PoolStatus {
        let status = |server: &Arc<ReadServer>| {
            let status = server.exports.status();
            PoolStatus { waiting: status.waiting + server.export_turns.waiting(), ..status }
        };
        self.all().map(status).fold(PoolStatus::default(), PoolStatus::and)
    }

    /// Whether a position may have been written. Asks the primary if the position is beyond the known positions; a primary that is away may
    /// have written anything. Without replicas, nothing is known, and nothing depends on it.
    pub(crate) async fn may_be_written(&self, position: WalPosition) -> bool {
        let since = Instant::now();
        loop {
            let learnt = self.positions.learnt();
            if let Some(is_written) = self.positions.is_written(position, since) {
                return is_written;
            }
            if self.is_primary_there() != Some(true) || since.elapsed() >= LONGEST_QUESTION {
                return true;
            }
            self.positions.want();
            let _ = time::timeout(WAIT_STEP, learnt).await;
        }
    }

    /// The route of a request of the caller that needs the changes up to `after`.
    pub(crate) async fn route(&self, caller: &str, after: Option<WalPosition>) -> ReadRoute {
        if !self.has_replicas() {
            return ReadRoute::to_primary(ReadReason::Preferred);
        }
        let mut now = Instant::now();
        let (mut replicas, mut found) = self.suitable(caller, after, now);
        let until = now + LONGEST_WAIT;
        while found == Suitability::Unseen && self.callers.may_wait(caller, now) {
            let learnt = self.positions.learnt();
            self.positions.want();
            // Several servers are asked, and one may still have to replay.
            let _ = time::timeout(WAIT_STEP, learnt).await;
            now = Instant::now();
            (replicas, found) = self.suitable(caller, after, now);
            if now >= until {
                self.callers.skip_waiting(caller, now + NO_WAIT);
            }
        }
        match found {
            Suitability::Suitable => ReadRoute { replicas, reason: ReadReason::Preferred },
            Suitability::Behind | Suitability::Unseen => {
                // The next request finds out more.
                self.positions.want();
                ReadRoute::to_primary(ReadReason::Position)
            }
            Suitability::Unavailable => ReadRoute::to_primary(ReadReason::NoReplica),
        }
    }

    /// The primary, for requests that no replica can answer.
    pub(crate) fn primary_route() -> ReadRoute {
        ReadRoute::to_primary(ReadReason::Position)
    }

    /// The replicas that may answer a request of the caller, and otherwise how near they come.
    fn suitable(&self, caller: &str, after: Option<WalPosition>, now: Instant) -> (Vec<usize>, Suitability) {
        self.callers.with(caller, now, |written, seen| {
            let after = match written {
                // Only the primary has it if anybody has.
                Some(Write::Unknown) => return (Vec::new(), Suitability::Behind),
                Some(Write::UpTo(position)) => after.max(Some(position)),
                None => after,
            };
            let order = rendezvous::order(caller, self.replicas.iter().map(|replica| &*replica.name));
            self.positions.suitable(order, ReadNeeds { after, seen }, now)
        })
    }

    /// The server that a request is to be read from.
    pub(crate) fn preferred(&self, route: &ReadRoute) -> &Arc<ReadServer> {
        route.replicas.first().and_then(|index| self.replicas.get(*index)).unwrap_or(&self.primary)
    }

    /// A connection for a query, in turn with other callers: one with many queries must not keep all others waiting. A statement that
    /// promises little work shares one if it can.
    pub(crate) async fn connect(
        &self,
        route: &ReadRoute,
        caller: &Arc<str>,
        small: Option<StatementText<'_>>,
    ) -> Result<LeasedConnection<ReadConnection>, DatabaseError> {
        waited(PoolName::Queries, async || {
            if let Some(text) = small
                && let Some(shared) = self.share(route, caller, text).await?
            {
                return Ok(shared);
            }
            // Boxed, as what else waits here, so that the futures of statements that share a connection stay small.
            let LeasedConnection { connection, held } = Box::pin(self.own(route, caller)).await?;
            Ok(LeasedConnection { connection: connection.into(), held })
        })
        .await
    }

    /// A connection of its own for a query, in turn with other callers.
    pub(crate) async fn connect_own(
        &self,
        route: &ReadRoute,
        caller: &Arc<str>,
    ) -> Result<LeasedConnection<OwnConnection>, DatabaseError> {
        waited(PoolName::Queries, || self.own(route, caller)).await
    }

    async fn own(
        &self,
        route: &ReadRoute,
        caller: &Arc<str>,
    ) -> Result<LeasedConnection<OwnConnection>, DatabaseError> {
        let (server, turn, reason) = self.turn(route, caller).await?;
        let connection = server.queries.connection().await?;
        server.count(reason);
        Ok(LeasedConnection { connection, held: HeldServer { server: Arc::clone(server), _turn: turn } })
    }

    /// A connection of the preferred server that requests share, if the statement is prepared there and it has a place. If no other
    /// connection is free either, the first one that comes, of either kind: so that nobody who comes later is served before.
    async fn share(
        &self,
        route: &ReadRoute,
        caller: &Arc<str>,
        text: StatementText<'_>,
    ) -> Result<Option<LeasedConnection<ReadConnection>>, DatabaseError> {
        let server = self.preferred(route);
        let turns = if text.has_few_rows { &server.batch_turns } else { &server.shared_turns };
        let turn = match turns.try_acquire() {
            Some(turn) => FreeTurn::Shared(turn),
            None if server.turns.has_free() || !server.queries.is_shared(text) => return Ok(None),
            None => {
                let first = async {
                    tokio::select! {
                        biased;
                        turn = turns.acquire(caller) => FreeTurn::Shared(turn),
                        turn = server.turns.acquire(caller) => FreeTurn::Own(turn),
                    }
                };
                Box::pin(time::timeout(self.wait, first)).await.map_err(|_| DatabaseError::Busy)?
            }
        };
        let (turn, connection) = match turn {
            FreeTurn::Shared(turn) => match server.queries.try_share(text) {
                Some(shared) => (turn, shared),
                None => return Ok(None),
            },
            FreeTurn::Own(turn) => (turn, Box::pin(server.queries.connection()).await?.into()),
        };
        server.count(route.reason);
        let held = HeldServer { server: Arc::clone(server), _turn: turn };
        Ok(Some(LeasedConnection { connection, held }))
    }

    /// A turn at the first server of the route that has one, or else at the preferred one, when it comes.
    async fn turn(
        &self,
        route: &ReadRoute,
        caller: &Arc<str>,
    ) -> Result<(&Arc<ReadServer>, FairPermit, ReadReason), DatabaseError> {
        let mut replicas = route.replicas.iter().filter_map(|index| self.replicas.get(*index));
        if let Some((server, turn)) = replicas.find_map(|server| Some((server, server.turns.try_acquire()?))) {
            let is_preferred = Arc::ptr_eq(server, self.preferred(route));
            return Ok((server, turn, if is_preferred { route.reason } else { ReadReason::Busy }));
        }
        let server = self.preferred(route);
        let turn = time::timeout(self.wait, server.turns.acquire(caller)).await;
        Ok((server, turn.map_err(|_| DatabaseError::Busy)?, route.reason))
    }

    /// A place among the exports of the preferred server, in turn with other callers.
    pub(crate) async fn export_place(
        &self,
        route: &ReadRoute,
        caller: &Arc<str>,
        wait: Duration,
    ) -> Result<ExportPlace, DatabaseError> {
        waited(PoolName::Exports, async || {
            let server = self.preferred(route);
            let turn = time::timeout(wait, server.export_turns.acquire(caller)).await;
            let turn = turn.map_err(|_| DatabaseError::Busy)?;
            let connection = server.exports.connection().await?;
            server.count(route.reason);
            Ok(ExportPlace { connection, server: Arc::clone(server), _turn: turn })
        })
        .await
    }

    /// The route of a second attempt after an error, if it may help: to the primary if a replica is to blame, and to another replica while
    /// the primary is away.
    pub(crate) fn after_error(&self, route: &ReadRoute, error: &DatabaseError) -> Option<ReadRoute> {
        let is_worth_it = match self.preferred(route).id {
            // A standby may be the only server. Conflicts are with the replay of its primary's changes.
            ServerId::Primary => matches!(error, DatabaseError::Conflict(_)),
            ServerId::Replica(_) => error.is_temporary(),
        };
        is_worth_it.then(|| match route.replicas.split_first() {
            Some((_, others)) if !others.is_empty() && self.is_primary_there() == Some(false) => {
                ReadRoute { replicas: others.to_vec(), reason: ReadReason::Retry }
            }
            _ => ReadRoute::to_primary(ReadReason::Retry),
        })
    }

    /// Closes a statement on each connection that has prepared it.
    pub(crate) fn forget(&self, text: StatementText<'_>) {
        self.all().flat_map(|server| [&server.queries, &server.exports]).for_each(|pool| pool.forget(text));
    }

    /// The rows of a statement had many bytes: it has connections of its own for a while, so that no request waits behind it.
    pub(crate) fn exclude(&self, text: StatementText<'_>) {
        self.all().for_each(|server| server.queries.exclude(text));
    }

    /// The caller has received rows of this server.
    pub(crate) fn record_read(&self, caller: &Arc<str>, server: &ReadServer) {
        if self.has_replicas() {
            self.callers.record_read(caller, server.id, Instant::now());
        }
    }

    /// An order update of the caller is about to be committed.
    pub(crate) fn begin_write(&self, caller: &Arc<str>) {
        if self.has_replicas() {
            self.callers.record_write(caller, Write::Unknown, Instant::now());
        }
    }

    /// How long it matters how far a caller has written: later, every replica that may be read has it. `None` without replicas.
    pub(crate) fn writes_count(&self) -> Option<Duration> {
        self.has_replicas().then(|| self.callers.writes_count())
    }

    /// Records that the caller's changes are in the log up to this position.
    pub(crate) fn record_write(&self, caller: &Arc<str>, position: WalPosition) {
        if self.has_replicas() {
            self.callers.record_write(caller, Write::UpTo(position), Instant::now());
        }
    }
}

impl Drop for ReadServers {
    fn drop(&mut self) {
        self.watchers.iter().for_each(JoinHandle::abort);
    }
}

impl ReadRoute {
    const fn to_primary(reason: ReadReason) -> Self {
        Self { replicas: Vec::new(), reason }
    }
}
