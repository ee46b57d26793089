//! How long statements wait for locks. The client that waits is not told, so another connection asks PostgreSQL, and only about statements
//! that already take long.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use deadpool_postgres::StatementCache;
use tokio::time::{self, error::Elapsed};
use tokio_postgres::Error;

use crate::database::address::database_address::{CONNECT_TIMEOUT, DatabaseAddress};
use crate::database::address::role::Role;
use crate::database::connection::connect::connect;

/// How often PostgreSQL is asked. The end of a wait is known as exactly as that.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long it may take to answer.
const LONGEST_ANSWER: Duration = Duration::from_secs(1);

/// The processes that wait, since when and for how long, both in microseconds.
const WAITS: &str = "
SELECT pid, (extract(epoch FROM waitstart) * 1000000)::bigint,
    (extract(epoch FROM clock_timestamp() - waitstart) * 1000000)::bigint
FROM pg_catalog.pg_locks
WHERE NOT granted AND waitstart IS NOT NULL AND pid = ANY($1)";

/// What is asked about the connections of a pool.
#[derive(Debug, Clone)]
pub(in crate::database) struct LockWatch(Arc<Watch>);

#[derive(Debug)]
struct Watch {
    address: DatabaseAddress,
    /// The processes that serve the pool's connections. A connection is known by its cache.
    processes: Mutex<Vec<(Weak<StatementCache>, i32)>>,
    watched: Mutex<Watched>,
}

#[derive(Debug, Default)]
struct Watched {
    /// The statements, each with the process that runs it.
    waits: Vec<(i32, Weak<LockWait>)>,
    /// Whether a task asks about them.
    is_asking: bool,
}

/// Why nothing is known.
#[derive(Debug, thiserror::Error)]
enum WatchError {
    #[error(transparent)]
    Database(#[from] Error),
    #[error(transparent)]
    TooSlow(#[from] Elapsed),
}

impl LockWatch {
    /// For the connections of a pool to this database.
    pub(in crate::database) fn new(address: &DatabaseAddress) -> Self {
        Self(Arc::new(Watch {
            address: address.for_role(Role::Locks),
            processes: Mutex::default(),
            watched: Mutex::default(),
        }))
    }

    /// A connection that this process serves was opened.
    pub(in crate::database) fn insert(&self, connection: &Arc<StatementCache>, process: i32) {
        let mut processes = lock(&self.0.processes);
        processes.retain(|(other, _)| other.strong_count() > 0);
        processes.push((Arc::downgrade(connection), process));
    }

    /// The pool's database.
    #[cfg(feature = "traces")]
    pub(in crate::database) fn address(&self) -> &DatabaseAddress {
        &self.0.address
    }

    /// Observes how long the statement that the connection runs waits for locks, until that is over.
    pub(in crate::database) fn watch(&self, connection: &Weak<StatementCache>, wait: &Arc<LockWait>) {
        let process = lock(&self.0.processes).iter().find(|(other, _)| other.ptr_eq(connection)).map(|(_, id)| *id);
        let Some(process) = process else { return };
        wait.state().is_over = false;
        let mut watched = lock(&self.0.watched);
        let wait = Arc::downgrade(wait);
        watched.waits.retain(|(_, other)| !other.ptr_eq(&wait));
        watched.waits.push((process, wait));
        if !mem::replace(&mut watched.is_asking, true) {
            tokio::spawn(self.clone().ask());
        }
    }

    async fn ask(self) {
        // A server that does not answer has other events for the log.
        if self.ask_while_watched().await.is_err() {
            *lock(&self.0.watched) = Watched::default();
        }
    }

    async fn ask_while_watched(&self) -> Result<(), WatchError> {
        let client = time::timeout(CONNECT_TIMEOUT, connect(&self.0.address)).await??;
        let statement = client.prepare(WAITS).await?;
        while let Some(processes) = self.watched_processes() {
            let waiting = time::timeout(LONGEST_ANSWER, client.query(&statement, &[&processes])).await??;
            let waiting = waiting.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)));
            self.observe(&waiting.collect::<Result<Vec<_>, Error>>()?);
            time::sleep(INTERVAL).await;
        }
        Ok(())
    }

    /// The processes to ask about; `None` if there are none, and this task ends.
    fn watched_processes(&self) -> Option<Vec<i32>> {
        let mut watched = lock(&self.0.watched);
        watched.waits.retain(|(_, wait)| wait.upgrade().is_some_and(|wait| !wait.state().is_over));
        watched.is_asking = !watched.waits.is_empty();
        watched.is_asking.then(|| watched.waits.iter().map(|(process, _)| *process).collect())
    }

    fn observe(&self, waiting: &[(i32, i64, i64)]) {
        for (process, wait) in &lock(&self.0.watched).waits {
            let Some(wait) = wait.upgrade() else { continue };
            let found = waiting.iter().find(|(waiting, ..)| waiting == process);
            wait.observe(found.map(|(_, since, micros)| (*since, Duration::from_micros(micros.unsigned_abs()))));
        }
    }
}

/// How long a statement waited for locks.
#[derive(Debug, Default)]
pub(crate) struct LockWait(Mutex<WaitState>);

#[derive(Debug, Default)]
struct WaitState {
    /// Whether anything was observed.
    is_known: bool,
    /// Whether it has all its locks.
    is_over: bool,
    /// How long the waits took that have ended.
    ended: Duration,
    /// The wait that was observed last: when it began, and how long it had taken.
    last: Option<(i64, Duration)>,
}

impl LockWait {
    /// How long it has waited; `None` if that was not observed.
    pub(crate) fn time(&self) -> Option<Duration> {
        let state = self.state();
        state.is_known.then(|| state.ended + state.last.map_or(Duration::ZERO, |(_, time)| time))
    }

    /// The statement has all its locks.
    pub(crate) fn end(&self) {
        self.state().is_over = true;
    }

    fn observe(&self, found: Option<(i64, Duration)>) {
        let mut state = self.state();
        if state.is_over {
            return;
        }
        state.is_known = true;
        if let Some((since, time)) = state.last
            && found.is_none_or(|(other, _)| other != since)
        {
            state.ended += time;
        }
        state.last = found;
    }

    fn state(&self) -> MutexGuard<'_, WaitState> {
        lock(&self.0)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_of_a_statement_are_added_up() {
        let millis = Duration::from_millis;
        let wait = LockWait::default();
        assert_eq!(wait.time(), None);
        for (found, total) in [
            (None, 0),
            (Some((1, millis(40))), 40),
            (Some((1, millis(140))), 140),
            (Some((7, millis(30))), 170),
            (None, 170),
            (Some((9, millis(5))), 175),
        ] {
            wait.observe(found);
            assert_eq!(wait.time(), Some(millis(total)), "{found:?}");
        }
        wait.end();
        wait.observe(Some((9, millis(500))));
        assert_eq!(wait.time(), Some(millis(175)), "what comes later is another statement's");
    }
}
