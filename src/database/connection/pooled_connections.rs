//! The connections of a pool, and whether new ones can be opened.
//!
//! A pool opens connections when requests need them. When that fails, one is tried every second until it can be opened. So the end of an
//! outage is known without requests, too, and so is one that lasts.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use deadpool_postgres::{
    Connect, Hook, Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, Status, TimeoutType,
    Timeouts,
};
use tokio::task::JoinHandle;
use tokio::time;
use tokio_postgres::{Client, Config, Error};

use crate::database::address::database_address::{CONNECT_TIMEOUT, DatabaseAddress};
use crate::database::connection::connect::spawn;
use crate::database::connection::session_check::SessionCheck;
use crate::database::error::DatabaseError;
use crate::database::metrics::{ConnectFailure, FAILED_CONNECTS, PoolName};
use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::telemetry::metrics::label::Label;

/// How long the statements that set a new connection up may take.
const SET_UP_TIMEOUT: Duration = Duration::from_secs(2);

/// How often a connection is tried while none can be opened.
const TRIAL_INTERVAL: Duration = Duration::from_secs(1);

/// The connections of a pool.
#[derive(Debug, Clone)]
pub(in crate::database) struct PooledConnections(Arc<Pooled>);

#[derive(Debug)]
struct Pooled {
    name: PoolName,
    pool: Pool,
    /// Opens a connection for a trial. It is closed at once, so this pool is always empty.
    trial: Pool,
    /// Connections that are being opened.
    opening: Arc<AtomicUsize>,
    /// Why no connection could be opened, until a trial succeeds.
    failure: Mutex<Option<ConnectFailure>>,
}

impl PooledConnections {
    /// No connections yet. A request waits for a free one for `wait` at most; `check` and `prepare` look at each new one.
    pub(in crate::database) fn new(
        name: PoolName,
        database: &DatabaseAddress,
        (size, wait): (usize, Duration),
        check: &SessionCheck,
        prepare: Option<&'static str>,
    ) -> Result<Self, DatabaseError> {
        let mut database = database.clone();
        database.config.connect_timeout(CONNECT_TIMEOUT);
        let opening = Arc::<AtomicUsize>::default();
        let build = |size, opening: Arc<AtomicUsize>| {
            let config = database.config.clone();
            let connector = Connector { database: database.clone(), opening };
            let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
            let pool = Pool::builder(Manager::from_connect(config, connector, manager));
            // Recycling sends no statement, so it needs no timeout.
            let timeouts = Timeouts { wait: Some(wait), create: Some(CONNECT_TIMEOUT), recycle: None };
            let hook: Hook = check.clone().hook(prepare);
            let pool = pool.max_size(size).timeouts(timeouts).runtime(Runtime::Tokio1).post_create(hook);
            pool.build().map_err(|error| DatabaseError::Unreachable(Box::new(error)))
        };
        let (pool, trial) = (build(size, Arc::clone(&opening))?, build(1, Arc::default())?);
        Ok(Self(Arc::new(Pooled { name, pool, trial, opening, failure: Mutex::default() })))
    }

    /// Takes a connection. Waits for a free one.
    pub(in crate::database) async fn get(&self) -> Result<Object, DatabaseError> {
        let error = match take(&self.0.pool).await {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        let failure = ConnectFailure::of(&error);
        let error = DatabaseError::from(error);
        if let Some(failure) = failure
            && self.0.failed(failure).is_none()
        {
            emit(&Event::ConnectsFail { pool: self.0.name(), error: &error });
            tokio::spawn(try_until_one_opens(Arc::downgrade(&self.0)));
        }
        Err(error)
    }

    /// Closes a statement on each of them that has prepared it.
    pub(in crate::database) fn forget(&self, sql: &str) {
        self.0.pool.manager().statement_caches.remove(sql, &[]);
    }

    /// How many there are, and how many are free.
    pub(in crate::database) fn status(&self) -> Status {
        self.0.pool.status()
    }

    /// Why no further connection can be opened, if that has failed.
    pub(in crate::database) fn failure(&self) -> Option<ConnectFailure> {
        *self.0.failure()
    }

    /// Whether a connection is open.
    pub(in crate::database) fn has_open(&self) -> bool {
        self.status().size > self.0.opening.load(Ordering::Relaxed)
    }
}

impl Pooled {
    fn name(&self) -> &'static str {
        PoolName::text(self.name.index())
    }

    /// No connection could be opened. Returns why that was so before, if it was.
    fn failed(&self, failure: ConnectFailure) -> Option<ConnectFailure> {
        FAILED_CONNECTS.of((self.name, failure)).increment();
        self.failure().replace(failure)
    }

    fn failure(&self) -> MutexGuard<'_, Option<ConnectFailure>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a connection of a pool. The pool has a timeout for a new connection, and none for the statements that set it up: one that does not
/// answer these would keep its place for ever.
async fn take(pool: &Pool) -> Result<Object, PoolError> {
    let patience = pool.timeouts().wait.unwrap_or_default() + CONNECT_TIMEOUT + SET_UP_TIMEOUT;
    time::timeout(patience, pool.get()).await.unwrap_or(Err(PoolError::Timeout(TimeoutType::Create)))
}

/// Tries to open a connection until that succeeds, or nobody uses the pool any more.
async fn try_until_one_opens(pooled: Weak<Pooled>) {
    loop {
        time::sleep(TRIAL_INTERVAL).await;
        let Some(pooled) = pooled.upgrade() else { return };
        match take(&pooled.trial).await {
            Ok(connection) => {
                drop(Object::take(connection));
                *pooled.failure() = None;
                emit(&Event::ConnectsWork { pool: pooled.name() });
                return;
            }
            Err(error) => drop(ConnectFailure::of(&error).map(|failure| pooled.failed(failure))),
        }
    }
}

/// Opens a pool's connections.
struct Connector {
    database: DatabaseAddress,
    opening: Arc<AtomicUsize>,
}

impl Connect for Connector {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        Box::pin(async {
            let _opening = Opening::begin(&self.opening);
            spawn(&self.database).await
        })
    }
}

/// A connection that is being opened. Its request may give it up.
struct Opening<'a>(&'a AtomicUsize);

impl<'a> Opening<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ConnectFailure {
    /// Why no connection could be opened; `None` if none was to be opened.
    fn of(error: &PoolError) -> Option<Self> {
        use deadpool_postgres::HookError;
        use tokio_postgres::error::SqlState;
        let error = match error {
            PoolError::Timeout(TimeoutType::Create) => return Some(Self::Timeout),
            PoolError::PostCreateHook(HookError::Backend(error)) | PoolError::Backend(error) => error,
            PoolError::PostCreateHook(_) => return Some(Self::Unsuitable),
            PoolError::Timeout(_) | PoolError::Closed | PoolError::NoRuntimeSpecified => return None,
        };
        Some(match error.code() {
            None => Self::Unreachable,
            Some(&SqlState::TOO_MANY_CONNECTIONS) => Self::TooManyConnections,
            Some(code) if code.code().starts_with("28") => Self::Authentication,
            Some(_) => Self::Unavailable,
        })
    }
}
