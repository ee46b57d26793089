//! Keeps the grants fresh: loads them, then again whenever the database says that they have changed.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time;
use tokio_postgres::{AsyncMessage, Client, Config, Error, NoTls};

use crate::access::caller_limits::DefaultLimits;
use crate::access::grants::{self, Grants};
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The channel on which the triggers of the access tables notify.
pub const CHANNEL: &str = "orderql_access";

/// How often the grants are read although nothing was heard: a connection that is gone without a word is noticed then.
const RELOAD_EVERY: Duration = Duration::from_mins(1);

/// How long one load, or one attempt to connect, may take.
const LONGEST_LOAD: Duration = Duration::from_secs(10);

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The grants as they are now. While the database is away the last ones known hold.
#[derive(Debug)]
pub struct GrantCache {
    current: watch::Receiver<Arc<Grants>>,
    connected: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

/// Why the grants cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GrantCacheError {
    /// The database refused, or cannot be reached.
    #[error("cannot read the accounts and their grants from the database")]
    Database(#[from] Error),
    /// The database did not answer in time.
    #[error("the database did not answer within {} s when asked for the accounts", LONGEST_LOAD.as_secs())]
    TooSlow(#[from] time::error::Elapsed),
    /// The connection ended.
    #[error("the connection on which changes of grants are heard was lost")]
    Lost,
}

/// A connection that listens, and the word it gives.
struct Listening {
    client: Client,
    /// Told of every notification and of the connection's end. Several that come while one is acted on count as one.
    heard: Arc<Notify>,
}

impl GrantCache {
    /// Loads the grants, and follows them on a connection of its own until it is dropped.
    pub async fn start(config: Config, default: DefaultLimits) -> Result<Self, GrantCacheError> {
        let (listening, grants) = listen_and_load(&config, &default).await?;
        let (publish, current) = watch::channel(Arc::new(grants));
        let connected = Arc::new(AtomicBool::new(true));
        let task = tokio::spawn(follow(config, default, listening, publish, Arc::clone(&connected)));
        Ok(Self { current, connected, task })
    }

    /// The grants as last read.
    pub fn current(&self) -> Arc<Grants> {
        Arc::clone(&self.current.borrow())
    }

    /// Whether the database was there when last heard of, which is at once where its end of the connection is closed.
    pub fn is_connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }

    /// Tells of every load from now on.
    pub fn changes(&self) -> watch::Receiver<Arc<Grants>> {
        let mut changes = self.current.clone();
        changes.mark_unchanged();
        changes
    }
}

impl Drop for GrantCache {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn follow(
    config: Config,
    default: DefaultLimits,
    mut listening: Listening,
    publish: watch::Sender<Arc<Grants>>,
    connected: Arc<AtomicBool>,
) {
    loop {
        let error = follow_while_connected(&listening, &default, &publish).await;
        connected.store(false, Ordering::Relaxed);
        emit(&Event::GrantsStale { error: &error });
        listening = reconnect(&config, &default, &publish).await;
        connected.store(true, Ordering::Relaxed);
        emit(&Event::GrantsFresh);
    }
}

/// Reloads at every word, until the connection fails.
async fn follow_while_connected(
    listening: &Listening,
    default: &DefaultLimits,
    publish: &watch::Sender<Arc<Grants>>,
) -> GrantCacheError {
    loop {
        // Heard or not, the grants are read again; only how long that took differs.
        let _ = time::timeout(RELOAD_EVERY, listening.heard.notified()).await;
        if listening.client.is_closed() {
            return GrantCacheError::Lost;
        }
        match load(&listening.client, default).await {
            Ok(grants) => publish.send_replace(Arc::new(grants)),
            Err(error) => return error,
        };
    }
}

/// Tries, with growing pauses, until it listens again and has the grants.
async fn reconnect(config: &Config, default: &DefaultLimits, publish: &watch::Sender<Arc<Grants>>) -> Listening {
    let mut pause = FIRST_PAUSE;
    loop {
        match listen_and_load(config, default).await {
            Ok((listening, grants)) => {
                publish.send_replace(Arc::new(grants));
                return listening;
            }
            Err(error) => emit(&Event::GrantsRetried { error: &error, pause }),
        }
        time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Listens first and loads then, so that no change falls between.
async fn listen_and_load(config: &Config, default: &DefaultLimits) -> Result<(Listening, Grants), GrantCacheError> {
    let listening = time::timeout(LONGEST_LOAD, listen(config)).await??;
    let grants = load(&listening.client, default).await?;
    Ok((listening, grants))
}

async fn load(client: &Client, default: &DefaultLimits) -> Result<Grants, GrantCacheError> {
    Ok(time::timeout(LONGEST_LOAD, grants::load(client, default)).await??)
}

async fn listen(config: &Config) -> Result<Listening, Error> {
    let (client, mut connection) = config.connect(NoTls).await?;
    let heard = Arc::new(Notify::new());
    let told = Arc::clone(&heard);
    // Ends when the client is dropped.
    tokio::spawn(async move {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notification(_))) => told.notify_one(),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => break,
            }
        }
        // The client counts as closed only once its connection is gone.
        drop(connection);
        told.notify_one();
    });
    client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
    Ok(Listening { client, heard })
}
