//! The connections to one server that is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Notify, Semaphore};

use crate::database::connection::batch_queue::MAX_MEMBERS;
use crate::database::connection::shared_connection::{MAX_EXECUTIONS, MAX_IN_FLIGHT};
use crate::database::error::DatabaseError;
use crate::database::pool::reader_pool::ReaderPool;
use crate::replicas::options::ReadServerOptions;
use crate::replicas::positions::ServerId;
use crate::telemetry::metrics::label::{Label, label};
use crate::throttle::fair_semaphore::FairSemaphore;

label! {
    /// Why a query was read from this server.
    ReadReason = "reason" {
        /// It is the caller's, or the only one.
        Preferred = "preferred",
        /// The caller's had no free connection.
        Busy = "busy",
        /// No replica is known to have what the caller wrote, saw or asks for.
        Position = "position",
        /// No replica may be read.
        NoReplica = "no_replica",
        /// Reading from a replica failed.
        Retry = "retry",
    }
}

/// A server that is read.
#[derive(Debug)]
pub(crate) struct ReadServer {
    /// `primary`, or the replica's host and port.
    pub(crate) name: Arc<str>,
    pub(super) id: ServerId,
    /// Connections for queries.
    pub(crate) queries: ReaderPool,
    /// Gives these connections to the callers in turn.
    pub(crate) turns: FairSemaphore,
    /// Gives the places for statements on connections that requests share to the callers in turn.
    pub(super) shared_turns: FairSemaphore,
    /// Gives the places in executions that several requests share to the callers in turn.
    pub(super) batch_turns: FairSemaphore,
    /// The right to stream responses, which hold these connections for as long as their clients read.
    pub(crate) streams: Arc<Semaphore>,
    /// Connections for exports.
    pub(crate) exports: ReaderPool,
    /// Gives these connections to the callers in turn.
    pub(super) export_turns: FairSemaphore,
    /// Queries and exports that were begun, by their reason.
    reads: [AtomicU64; ReadReason::COUNT],
    /// Notified whenever the server is found not to answer; `None` if nobody watches it.
    lost: Option<Notify>,
}

impl ReadServer {
    /// A server without open connections.
    pub(super) fn new(id: ServerId, options: &ReadServerOptions, is_watched: bool) -> Result<Self, DatabaseError> {
        let name = match id {
            ServerId::Primary => "primary".into(),
            ServerId::Replica(_) => options.address().server_name().into(),
        };
        Ok(Self {
            name,
            id,
            queries: ReaderPool::new(&options.queries)?,
            turns: FairSemaphore::new(options.queries.size),
            shared_turns: FairSemaphore::new(options.queries.shared * MAX_IN_FLIGHT),
            batch_turns: FairSemaphore::new(options.queries.shared * MAX_EXECUTIONS * MAX_MEMBERS),
            streams: Semaphore::new(options.queries.size / 2).into(),
            exports: ReaderPool::for_exports(&options.exports)?,
            export_turns: FairSemaphore::new(options.exports.size),
            reads: Default::default(),
            lost: is_watched.then(Notify::new),
        })
    }

    /// How many queries were begun here.
    pub(crate) fn queries_begun(&self) -> u64 {
        self.turns.given_out() + self.shared_turns.given_out() + self.batch_turns.given_out()
    }

    /// How many queries wait for a connection. Who waits for a place on one that requests share would take one of its own, too.
    pub(super) fn waiting(&self) -> usize {
        self.turns.waiting()
    }

    /// Counts a read.
    pub(super) fn count(&self, reason: ReadReason) {
        self.reads[reason.index()].fetch_add(1, Ordering::Relaxed);
    }

    /// The reads so far, by their reason.
    pub(crate) fn read_counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.reads.iter().enumerate();
        counts.map(|(reason, count)| (ReadReason::text(reason), count.load(Ordering::Relaxed)))
    }

    /// The server was found not to answer: requests that wait for it give up.
    pub(super) fn give_up(&self) {
        if let Some(lost) = &self.lost {
            lost.notify_waiters();
        }
    }

    /// Completes with an error when the server is found not to answer, if it is watched.
    pub(crate) async fn lost(&self) -> DatabaseError {
        match &self.lost {
            Some(lost) => lost.notified().await,
            None => std::future::pending().await,
        }
        DatabaseError::Unreachable(format!("the server {} does not answer any more", self.name).into())
    }
}
