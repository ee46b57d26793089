//! Keeps the grants in memory up to date: loads them at the start, and again when they have changed. A number in the database
//! counts the changes; it is looked at every second, and at once when a notification says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time;

use crate::access::change_listener::ChangeListener;
use crate::access::grant_source::{AccessVersion, GrantSource, GrantSourceError};
use crate::access::grants::{GrantOptions, Grants};
use crate::access::tokens::jwt::Tokens;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::server_addresses::ServerAddresses;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// How often the database is asked whether something has changed. It is a sign of life as well.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long it may take to answer. A connection to a frozen server, or over a network that lost it silently, stays open.
const LONGEST_ANSWER: Duration = Duration::from_secs(3);

/// How often the grants are read although nothing seems to have changed: triggers can be disabled.
const RELOAD_INTERVAL: Duration = Duration::from_mins(1);

/// The pause after the first failed attempt to connect. Every further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The current grants. While the database is unreachable, the last known ones stay in force.
#[derive(Debug)]
pub(crate) struct GrantCache {
    current: watch::Receiver<Arc<Grants>>,
    options: watch::Sender<GrantOptions>,
    connected: Arc<AtomicBool>,
    task: JoinHandle<()>,
    listener: ChangeListener,
}

impl GrantCache {
    /// Loads the grants, and refreshes them over connections of its own until it is dropped.
    pub(crate) async fn start(servers: &ServerAddresses, options: GrantOptions) -> Result<Self, GrantSourceError> {
        let changed = Arc::new(Notify::new());
        // It begins before the grants are read, so that no change is missed between the two.
        let listener = ChangeListener::start(servers.listen.clone(), Arc::clone(&changed));
        let servers: Vec<_> = servers.readable().cloned().collect();
        let source = GrantSource::find(&servers).await?;
        let (version, grants) = source.load(&options).await?;
        let (publish, current) = watch::channel(Arc::new(grants));
        let connected = Arc::new(AtomicBool::new(true));
        let (options, new_options) = watch::channel(options);
        let refresher = Refresher {
            servers,
            options: new_options,
            changed,
            publish,
            version,
            loaded: Instant::now(),
            search: None,
        };
        let task = tokio::spawn(refresher.run(source, Arc::clone(&connected)));
        Ok(Self { current, options, connected, task, listener })
    }

    /// Has the grants read again with other options. Does not wait for it.
    pub(crate) fn set_options(&self, options: GrantOptions) {
        self.options.send_replace(options);
    }

    /// Answers from now on when a command asks whether these tokens accept a key.
    pub(crate) fn answer_with(&self, tokens: Arc<Tokens>) {
        self.listener.answer_with(tokens);
    }

    /// The grants that were read last.
    pub(crate) fn current(&self) -> Arc<Grants> {
        Arc::clone(&self.current.borrow())
    }

    /// Whether the database answers. False from the moment at which it closes the connection, and some seconds after it has
    /// frozen.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected.load(Ordering::Relaxed)
    }
}

impl Drop for GrantCache {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads the grants again when they have changed.
struct Refresher {
    /// The servers that have them, the primary first.
    servers: Vec<DatabaseAddress>,
    options: watch::Receiver<GrantOptions>,
    changed: Arc<Notify>,
    publish: watch::Sender<Arc<Grants>>,
    /// The version of the grants that were read last.
    version: AccessVersion,
    /// When that was.
    loaded: Instant,
    /// A search for the primary, while the grants are read from a replica.
    search: Option<JoinHandle<Option<GrantSource>>>,
}

impl Refresher {
    async fn run(mut self, mut source: GrantSource, connected: Arc<AtomicBool>) {
        loop {
            let error = self.refresh_from(&mut source).await;
            connected.store(false, Ordering::Relaxed);
            emit(&Event::GrantsStale { error: &error });
            source = self.reconnect().await;
            connected.store(true, Ordering::Relaxed);
            emit(&Event::GrantsFresh);
        }
    }

    /// Refreshes the grants until the connection fails.
    async fn refresh_from(&mut self, source: &mut GrantSource) -> GrantSourceError {
        loop {
            let is_due = tokio::select! {
                () = source.lost() => return GrantSourceError::Lost,
                () = self.changed.notified() => true,
                // The sender lives as long as this task.
                _ = self.options.changed() => true,
                () = time::sleep(INTERVAL) => self.loaded.elapsed() >= RELOAD_INTERVAL,
            };
            if !source.is_primary
                && let Some(primary) = self.look_for_primary().await
            {
                *source = primary;
            }
            if let Err(error) = self.refresh(source, is_due).await {
                return error;
            }
        }
    }

    /// The primary, if a search that began earlier has found it. A primary that does not answer delays nothing.
    async fn look_for_primary(&mut self) -> Option<GrantSource> {
        let search = self.search.get_or_insert_with(|| {
            let servers = self.servers.clone();
            tokio::spawn(async move { GrantSource::find_primary(&servers).await.ok() })
        });
        if search.is_finished() { self.search.take()?.await.ok()? } else { None }
    }

    /// Loads the grants if they have changed, or if it `is_due`.
    async fn refresh(&mut self, source: &GrantSource, is_due: bool) -> Result<(), GrantSourceError> {
        let version = source.version(LONGEST_ANSWER).await?;
        // A replica that has not followed yet must not take back newer grants. A primary is right, also after a restored backup.
        let is_older = version < self.version && !source.is_primary;
        if is_older || version == self.version && !is_due {
            return Ok(());
        }
        let options = *self.options.borrow_and_update();
        let (version, grants) = source.load(&options).await?;
        self.publish.send_replace(Arc::new(grants));
        (self.version, self.loaded) = (version, Instant::now());
        Ok(())
    }

    /// Tries to read the grants, with growing pauses, until it succeeds.
    async fn reconnect(&mut self) -> GrantSource {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.try_reconnect().await {
                Ok(source) => return source,
                Err(error) => emit(&Event::GrantsRetried { error: &error, pause }),
            }
            time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn try_reconnect(&mut self) -> Result<GrantSource, GrantSourceError> {
        let source = GrantSource::find(&self.servers).await?;
        self.refresh(&source, true).await?;
        Ok(source)
    }
}
