//! Hears of changed grants at once, where the database's notifications arrive. They need not: a transaction pooler takes the
//! `LISTEN` and delivers nothing, and a standby takes none. So the listener sends itself a notification, and warns if it does not
//! come back. Changes are noticed without it as well, a little later.

use std::collections::hash_map::RandomState;
use std::future::poll_fn;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time;
use tokio_postgres::{AsyncMessage, Client, Error};

use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// The channel of the notifications that the triggers of the access tables send.
const CHANNEL: &str = "orderql_access";

/// How long connecting may take.
const LONGEST_CONNECT: Duration = Duration::from_secs(10);

/// How long a notification may take to come back.
const LONGEST_DELIVERY: Duration = Duration::from_secs(2);

/// How often delivery is tried: a connection that a network has lost silently stays open.
const TRIAL_INTERVAL: Duration = Duration::from_mins(1);

/// The pause after the first failed attempt. Every further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Why no notifications are received.
#[derive(Debug, thiserror::Error)]
enum ListenError {
    /// The database reported an error, or cannot be reached.
    #[error("cannot listen for notifications")]
    Database(#[from] Error),
    /// It did not answer in time.
    #[error("the database did not answer in time")]
    TooSlow(#[from] time::error::Elapsed),
    /// It takes them and does not deliver them.
    #[error("a notification was sent and did not arrive, as behind a pooler that lends connections by the transaction")]
    Undelivered,
    /// The connection was lost.
    #[error("the connection on which notifications are received was lost")]
    Lost,
}

/// Listens until it is dropped.
#[derive(Debug)]
pub(super) struct ChangeListener(JoinHandle<()>);

impl ChangeListener {
    /// Begins to listen, and notifies `changed` of changes, and whenever some may have been missed.
    pub(super) fn start(address: DatabaseAddress, changed: Arc<Notify>) -> Self {
        Self(tokio::spawn(listen(address, changed)))
    }
}

impl Drop for ChangeListener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn listen(address: DatabaseAddress, changed: Arc<Notify>) {
    let (mut pause, mut is_reported) = (FIRST_PAUSE, false);
    loop {
        let error = match Listening::begin(&address, &changed).await {
            Ok(mut listening) => {
                if is_reported {
                    emit(&Event::NotificationsReceived);
                }
                (pause, is_reported) = (FIRST_PAUSE, false);
                // What changed until now may not have been notified.
                changed.notify_one();
                listening.until_it_fails().await
            }
            Err(error) => error,
        };
        if !is_reported {
            emit(&Event::NotificationsMissing { error: &error });
            is_reported = true;
        }
        time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// A connection that receives notifications.
struct Listening {
    client: Client,
    /// The payloads of the notifications that nobody but this server sends. Closed when the connection is lost.
    own: mpsc::UnboundedReceiver<String>,
}

impl Listening {
    async fn begin(address: &DatabaseAddress, changed: &Arc<Notify>) -> Result<Self, ListenError> {
        let address = address.for_role(Role::Accounts);
        let (client, mut connection) = time::timeout(LONGEST_CONNECT, address.open()).await??;
        let (sender, own) = mpsc::unbounded_channel();
        let changed = Arc::clone(changed);
        // Ends when the client is dropped.
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                match message {
                    // Those of the triggers have no payload.
                    AsyncMessage::Notification(notification) if notification.payload().is_empty() => {
                        changed.notify_one();
                    }
                    // A receiver that is gone needs nothing.
                    AsyncMessage::Notification(notification) => drop(sender.send(notification.payload().to_owned())),
                    _ => {}
                }
            }
        });
        let mut listening = Self { client, own };
        time::timeout(LONGEST_CONNECT, listening.client.batch_execute(&format!("LISTEN {CHANNEL}"))).await??;
        listening.try_delivery().await?;
        Ok(listening)
    }

    async fn until_it_fails(&mut self) -> ListenError {
        let mut next_trial = time::Instant::now() + TRIAL_INTERVAL;
        loop {
            match time::timeout_at(next_trial, self.own.recv()).await {
                Ok(None) => return ListenError::Lost,
                // Another server's.
                Ok(Some(_)) => {}
                Err(_) => {
                    if let Err(error) = self.try_delivery().await {
                        return error;
                    }
                    next_trial = time::Instant::now() + TRIAL_INTERVAL;
                }
            }
        }
    }

    /// Fails if a notification of its own does not come back.
    async fn try_delivery(&mut self) -> Result<(), ListenError> {
        let nonce = format!("{:016x}", RandomState::new().hash_one(Instant::now()));
        let delivery = async {
            let notify = format!("NOTIFY {CHANNEL}, '{nonce}'");
            self.client.batch_execute(&notify).await?;
            while self.own.recv().await.ok_or(ListenError::Lost)? != nonce {}
            Ok(())
        };
        time::timeout(LONGEST_DELIVERY, delivery).await.unwrap_or(Err(ListenError::Undelivered))
    }
}
