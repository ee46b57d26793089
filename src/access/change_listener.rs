//! Receives notifications of changed grants, and questions about retired keys, where the database delivers them. It need not: a
//! transaction pooler takes the `LISTEN` and delivers nothing, and a standby takes none. So the listener sends itself a
//! notification, and warns if it does not come back. Changes are noticed without it as well, a little later.

use std::collections::hash_map::RandomState;
use std::future::poll_fn;
use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time;
use tokio_postgres::{AsyncMessage, Client, Error, Notification};

use crate::access::key_retirement::{self, QUESTIONS};
use crate::access::tokens::jwt::Tokens;
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
enum NotificationError {
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
pub(super) struct ChangeListener {
    task: JoinHandle<()>,
    /// Answer questions about keys, once they are open.
    tokens: Arc<OnceLock<Arc<Tokens>>>,
}

impl ChangeListener {
    /// Begins to listen, and notifies `changed` of changes, and whenever some may have been missed.
    pub(super) fn start(address: DatabaseAddress, changed: Arc<Notify>) -> Self {
        let tokens = Arc::default();
        Self { task: tokio::spawn(listen(address, changed, Arc::clone(&tokens))), tokens }
    }

    /// Answers questions about keys from now on.
    pub(super) fn answer_with(&self, tokens: Arc<Tokens>) {
        // Set once: the keys are opened once.
        let _ = self.tokens.set(tokens);
    }
}

impl Drop for ChangeListener {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(address: DatabaseAddress, changed: Arc<Notify>, tokens: Arc<OnceLock<Arc<Tokens>>>) {
    let (mut pause, mut is_reported) = (FIRST_PAUSE, false);
    loop {
        let error = match Listening::begin(&address, &changed).await {
            Ok(mut listening) => {
                if is_reported {
                    emit(&Event::NotificationsReceived);
                }
                (pause, is_reported) = (FIRST_PAUSE, false);
                // Changes until now may not have been notified.
                changed.notify_one();
                listening.until_it_fails(&tokens).await
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
    /// The notifications that have a payload. Closed when the connection is lost.
    received: mpsc::UnboundedReceiver<Notification>,
}

impl Listening {
    async fn begin(address: &DatabaseAddress, changed: &Arc<Notify>) -> Result<Self, NotificationError> {
        let address = address.for_role(Role::Notifications);
        let (client, mut connection) = time::timeout(LONGEST_CONNECT, address.open()).await??;
        let (sender, received) = mpsc::unbounded_channel();
        let changed = Arc::clone(changed);
        // Ends when the client is dropped.
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
                match message {
                    // Notifications of the triggers have no payload.
                    AsyncMessage::Notification(notification) if notification.payload().is_empty() => {
                        changed.notify_one();
                    }
                    // A receiver that is gone needs nothing.
                    AsyncMessage::Notification(notification) => drop(sender.send(notification)),
                    _ => {}
                }
            }
        });
        let mut listening = Self { client, received };
        let listen = format!("LISTEN {CHANNEL}; LISTEN {QUESTIONS}");
        time::timeout(LONGEST_CONNECT, listening.client.batch_execute(&listen)).await??;
        listening.try_delivery().await?;
        Ok(listening)
    }

    async fn until_it_fails(&mut self, tokens: &OnceLock<Arc<Tokens>>) -> NotificationError {
        let mut next_trial = time::Instant::now() + TRIAL_INTERVAL;
        loop {
            match time::timeout_at(next_trial, self.received.recv()).await {
                Ok(None) => return NotificationError::Lost,
                Ok(Some(notification)) if notification.channel() == QUESTIONS => {
                    let Some(tokens) = tokens.get() else { continue };
                    if let Err(error) = key_retirement::answer(&self.client, tokens, notification.payload()).await {
                        return error.into();
                    }
                }
                // A trial of another server.
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
    async fn try_delivery(&mut self) -> Result<(), NotificationError> {
        let nonce = format!("{:016x}", RandomState::new().hash_one(Instant::now()));
        let delivery = async {
            let notify = format!("NOTIFY {CHANNEL}, '{nonce}'");
            self.client.batch_execute(&notify).await?;
            while self.received.recv().await.ok_or(NotificationError::Lost)?.payload() != nonce {}
            Ok(())
        };
        time::timeout(LONGEST_DELIVERY, delivery).await.unwrap_or(Err(NotificationError::Undelivered))
    }
}
