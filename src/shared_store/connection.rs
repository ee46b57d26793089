//! Calls of a shared store. A call takes 50 ms at most. After one that failed the store counts as away: calls fail at once, until
//! a sign of life of this node has got through, which is tried once a second. So no request waits for a store that is away, and
//! no request has to find out that the store is back.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, RedisError, Script};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{self, Instant};

use crate::shared_store::address::StoreAddress;
use crate::shared_store::metrics::DURATION;
use crate::shared_store::nodes::Beat;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// How long a call may take, with all that belongs to it.
const CALL_TIMEOUT: Duration = Duration::from_millis(50);

/// How long opening a connection may take. No request waits for it.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The pause between two signs of life, and before a store that was lost is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// A connection to a store. It is opened in the background, and again when it was lost. Copies share it.
#[derive(Debug, Clone)]
pub(crate) struct SharedStore {
    shared: Arc<StoreState>,
    _watch: Arc<StoreWatch>,
}

struct StoreState {
    address: StoreAddress,
    /// None while the store is away.
    open: Mutex<Option<Open>>,
    /// Notified when the store was lost.
    lost: Notify,
    /// The nodes that were counted last.
    nodes: AtomicU64,
}

/// A connection that worked when it was used last.
#[derive(Clone)]
struct Open {
    connection: MultiplexedConnection,
    /// Which one it is.
    id: u64,
}

/// The task that gives signs of life, which ends with the last copy of the store.
#[derive(Debug)]
struct StoreWatch(JoinHandle<()>);

/// A script that the store runs.
#[derive(Debug)]
pub(crate) struct StoreScript(Script);

/// Why a call returned nothing. Whether it was executed is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// It was not tried, because the one before it failed.
    #[error("the shared store is away")]
    Away,
    /// There was no response in time.
    #[error("the shared store did not respond within {within:?}")]
    TimedOut {
        /// The time limit.
        within: Duration,
    },
    /// The store cannot be reached, or refused.
    #[error("the shared store failed")]
    Failed(#[from] RedisError),
}

impl StoreScript {
    /// A script with this text.
    pub(crate) fn new(text: &str) -> Self {
        Self(Script::new(text))
    }
}

impl SharedStore {
    /// Connects, and stays connected from then on. A store that cannot be reached is no error.
    pub(crate) async fn start(address: StoreAddress) -> Self {
        let shared =
            Arc::new(StoreState { address, open: Mutex::default(), lost: Notify::new(), nodes: AtomicU64::new(1) });
        let mut beat = Beat::new();
        if let Err(error) = shared.open(&mut beat).await {
            emit(&Event::SharedStoreLost { address: &shared.address.to_string(), error: &error });
        }
        let watch = tokio::spawn(watch(Arc::clone(&shared), beat));
        Self { shared, _watch: Arc::new(StoreWatch(watch)) }
    }

    /// Runs a script, which returns whole numbers. Only one that the store does not have yet is sent again.
    pub(crate) async fn call(
        &self,
        script: &StoreScript,
        keys: &[&str],
        arguments: &[u64],
    ) -> Result<Vec<i64>, StoreError> {
        let mut open = self.shared.open_now().clone().ok_or(StoreError::Away)?;
        // Boxed, so that the futures of requests stay small where there is no store.
        let result = Box::pin(call(&mut open.connection, &script.0, keys, arguments)).await;
        if let Err(error) = &result {
            self.shared.lose(open.id, error);
        }
        result
    }

    /// Whether calls are tried.
    pub(crate) fn is_up(&self) -> bool {
        self.shared.open_now().is_some()
    }

    /// How many nodes use the store: as many as there were when it was last reached, at least this one.
    pub(crate) fn nodes(&self) -> u64 {
        self.shared.nodes.load(Ordering::Relaxed)
    }
}

impl StoreState {
    /// The connection, unless the store is away. A poisoned lock is used as well: there is nothing half written.
    fn open_now(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a connection. Calls use it if a sign of life gets through.
    async fn open(&self, beat: &mut Beat) -> Result<(), StoreError> {
        // The time limits are ours: the library's would add up.
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        let connection = self.address.client().get_multiplexed_async_connection_with_config(&config);
        let connection = time::timeout(CONNECT_TIMEOUT, connection)
            .await
            .map_err(|_| StoreError::TimedOut { within: CONNECT_TIMEOUT })??;
        let mut open = Open { connection, id: RandomState::new().hash_one(0) };
        self.beat(&mut open, beat).await?;
        *self.open_now() = Some(open);
        Ok(())
    }

    /// Gives a sign of life, and counts the nodes.
    async fn beat(&self, open: &mut Open, beat: &mut Beat) -> Result<(), StoreError> {
        let (script, keys, arguments) = beat.call();
        let counted = call(&mut open.connection, script, &keys, &arguments).await?;
        let counted = counted.first().and_then(|nodes| u64::try_from(*nodes).ok()).unwrap_or_default();
        self.nodes.store(beat.nodes(counted), Ordering::Relaxed);
        Ok(())
    }

    /// The store is away from now on, unless another connection was opened since.
    fn lose(&self, id: u64, error: &StoreError) {
        let lost = self.open_now().take_if(|open| open.id == id);
        if lost.is_some() {
            emit(&Event::SharedStoreLost { address: &self.address.to_string(), error });
            self.lost.notify_one();
        }
    }
}

/// Gives signs of life, and opens the connection again when it was lost.
async fn watch(shared: Arc<StoreState>, mut beat: Beat) {
    loop {
        let open = shared.open_now().clone();
        if let Some(mut open) = open {
            let lost = time::timeout(PAUSE, shared.lost.notified()).await.is_ok();
            if !lost && let Err(error) = shared.beat(&mut open, &mut beat).await {
                shared.lose(open.id, &error);
            }
        } else {
            time::sleep(PAUSE).await;
            if shared.open(&mut beat).await.is_ok() {
                emit(&Event::SharedStoreBack { address: &shared.address.to_string() });
            }
        }
    }
}

async fn call(
    connection: &mut MultiplexedConnection,
    script: &Script,
    keys: &[&str],
    arguments: &[u64],
) -> Result<Vec<i64>, StoreError> {
    let mut invocation = script.prepare_invoke();
    for key in keys {
        invocation.key(key);
    }
    for argument in arguments {
        invocation.arg(argument);
    }
    let started = Instant::now();
    let result = time::timeout(CALL_TIMEOUT, invocation.invoke_async(connection)).await;
    DURATION.of(()).record_time(started.elapsed());
    Ok(result.map_err(|_| StoreError::TimedOut { within: CALL_TIMEOUT })??)
}

impl Drop for StoreWatch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl fmt::Debug for StoreState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("address", &self.address).field("nodes", &self.nodes).finish_non_exhaustive()
    }
}
