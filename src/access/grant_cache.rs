//! Keeps the grants in memory up to date: loads them at the start, and again when the database reports a change.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time;
use tokio_postgres::{AsyncMessage, Client, Error};

use crate::access::caller_limits::DefaultLimits;
use crate::access::grants::{self, Grants};
use crate::database::database_address::DatabaseAddress;
use crate::database::role::Role;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The channel of the notifications that the triggers of the access tables send.
const CHANNEL: &str = "orderql_access";

/// How often the grants are read without a notification, in case one was lost.
const RELOAD_INTERVAL: Duration = Duration::from_mins(1);

/// How often the database is asked for a sign of life, and how long it may take to answer. A connection to a frozen server, or
/// over a network that lost it silently, stays open.
const PROBE_INTERVAL: Duration = Duration::from_secs(3);

/// Probes between two loads of the grants.
const PROBES_PER_RELOAD: u64 = RELOAD_INTERVAL.as_secs() / PROBE_INTERVAL.as_secs();

/// How long one load, or one attempt to connect, may take when the connection is new.
const LONGEST_LOAD: Duration = Duration::from_secs(10);

/// The pause after the first failed attempt to connect. Every further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The current grants. While the database is unreachable, the last known ones stay in force.
#[derive(Debug)]
pub(crate) struct GrantCache {
    current: watch::Receiver<Arc<Grants>>,
    default: watch::Sender<DefaultLimits>,
    connected: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

/// Why the grants cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GrantCacheError {
    /// The database reported an error, or cannot be reached.
    #[error("cannot read the accounts and their grants from the database")]
    Database(#[from] Error),
    /// The database did not answer in time.
    #[error("the database did not answer within {} s when asked for the accounts", LONGEST_LOAD.as_secs())]
    TooSlow(#[from] time::error::Elapsed),
    /// The connection was lost.
    #[error("the connection on which changes of grants are heard was lost")]
    Lost,
    /// The database does not answer any more.
    #[error("the database has not answered for {} s", PROBE_INTERVAL.as_secs())]
    Frozen,
}

/// A connection that listens for notifications.
struct Listener {
    client: Client,
    /// Signals a notification or the end of the connection. Several signals that arrive during a load count as one.
    changed: Arc<Notify>,
}

impl GrantCache {
    /// Loads the grants, and refreshes them over a connection of its own until it is dropped.
    pub(crate) async fn start(database: DatabaseAddress, default: DefaultLimits) -> Result<Self, GrantCacheError> {
        let (listener, grants) = listen_and_load(&database, &default).await?;
        let (publish, current) = watch::channel(Arc::new(grants));
        let connected = Arc::new(AtomicBool::new(true));
        let (default, limits) = watch::channel(default);
        let task = tokio::spawn(refresh(database, limits, listener, publish, Arc::clone(&connected)));
        Ok(Self { current, default, connected, task })
    }

    /// Has the grants read again, with other limits of users without a profile. Does not wait for it.
    pub(crate) fn set_default_limits(&self, default: DefaultLimits) {
        self.default.send_replace(default);
    }

    /// The grants that were read last.
    pub(crate) fn current(&self) -> Arc<Grants> {
        Arc::clone(&self.current.borrow())
    }

    /// Whether the database answers. False from the moment at which it closes the connection, and within two probe intervals
    /// after it has frozen.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }
}

impl Drop for GrantCache {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn refresh(
    database: DatabaseAddress,
    mut default: watch::Receiver<DefaultLimits>,
    mut listener: Listener,
    publish: watch::Sender<Arc<Grants>>,
    connected: Arc<AtomicBool>,
) {
    loop {
        let error = refresh_while_connected(&listener, &mut default, &publish).await;
        connected.store(false, Ordering::Relaxed);
        emit(&Event::GrantsStale { error: &error });
        listener = reconnect(&database, &mut default, &publish).await;
        connected.store(true, Ordering::Relaxed);
        emit(&Event::GrantsFresh);
    }
}

/// Reloads the grants at every notification, until the connection fails.
async fn refresh_while_connected(
    listener: &Listener,
    default: &mut watch::Receiver<DefaultLimits>,
    publish: &watch::Sender<Arc<Grants>>,
) -> GrantCacheError {
    let mut probes_left = PROBES_PER_RELOAD;
    loop {
        let changed = async {
            tokio::select! {
                () = listener.changed.notified() => {}
                _ = default.changed() => {}
            }
        };
        let is_notified = time::timeout(PROBE_INTERVAL, changed).await.is_ok();
        if listener.client.is_closed() {
            return GrantCacheError::Lost;
        }
        if is_notified || probes_left == 0 {
            probes_left = PROBES_PER_RELOAD;
            let limits = *default.borrow_and_update();
            match time::timeout(PROBE_INTERVAL, load(&listener.client, &limits)).await {
                Ok(Ok(grants)) => drop(publish.send_replace(Arc::new(grants))),
                Ok(Err(error)) => return error,
                Err(_) => return GrantCacheError::Frozen,
            }
        } else {
            probes_left -= 1;
            match time::timeout(PROBE_INTERVAL, listener.client.batch_execute("")).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return error.into(),
                Err(_) => return GrantCacheError::Frozen,
            }
        }
    }
}

/// Tries to listen and to load the grants, with growing pauses, until it succeeds.
async fn reconnect(
    database: &DatabaseAddress,
    default: &mut watch::Receiver<DefaultLimits>,
    publish: &watch::Sender<Arc<Grants>>,
) -> Listener {
    let mut pause = FIRST_PAUSE;
    loop {
        let limits = *default.borrow_and_update();
        match listen_and_load(database, &limits).await {
            Ok((listener, grants)) => {
                publish.send_replace(Arc::new(grants));
                return listener;
            }
            Err(error) => emit(&Event::GrantsRetried { error: &error, pause }),
        }
        time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Listens first and loads then, so that no change is missed between the two.
async fn listen_and_load(
    database: &DatabaseAddress,
    default: &DefaultLimits,
) -> Result<(Listener, Grants), GrantCacheError> {
    let listener = time::timeout(LONGEST_LOAD, listen(database)).await??;
    let grants = load(&listener.client, default).await?;
    Ok((listener, grants))
}

async fn load(client: &Client, default: &DefaultLimits) -> Result<Grants, GrantCacheError> {
    Ok(time::timeout(LONGEST_LOAD, grants::load(client, default)).await??)
}

async fn listen(database: &DatabaseAddress) -> Result<Listener, Error> {
    let (client, mut connection) = database.for_role(Role::Accounts).open().await?;
    let changed = Arc::new(Notify::new());
    let signal = Arc::clone(&changed);
    // Ends when the client is dropped.
    tokio::spawn(async move {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notification(_))) => signal.notify_one(),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => break,
            }
        }
        // The client counts as closed only once its connection is gone.
        drop(connection);
        signal.notify_one();
    });
    client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
    Ok(Listener { client, changed })
}
