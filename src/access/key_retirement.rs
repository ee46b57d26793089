//! Whether running servers reject a retired key. The command that retires it asks them with a notification, and each answers
//! with another one. Servers that receive no notifications cannot answer.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{self, Instant};
use tokio_postgres::{AsyncMessage, Client, Error};

use crate::access::tokens::jwt::Tokens;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;

/// The channel of the questions; the payload is a key's id.
pub(super) const QUESTIONS: &str = "orderql_key_question";

/// The channel of the answers; the payload is one of these words and the key's id.
const ANSWERS: &str = "orderql_key_answer";
const ACCEPTED: &str = "accepted";
const REJECTED: &str = "rejected";

/// How long the servers may take to answer, and to read their key folders.
const LONGEST: Duration = Duration::from_secs(5);

/// How often they are asked meanwhile.
const INTERVAL: Duration = Duration::from_millis(500);

/// The servers of this database, by the connection on which each reads the accounts.
const COUNT_SERVERS: &str = "
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%-accounts'";

/// It is not known that all servers reject the key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unconfirmed {
    /// Some accept it.
    #[error(
        "{accepting} of {servers} running servers still accept its tokens, because they cannot read their key folder, or have another; their logs say more"
    )]
    Accepted { accepting: usize, servers: usize },
    /// Some did not answer.
    #[error(
        "{silent} of {servers} running servers did not say that they reject its tokens; they receive no notifications \
         (listen-url), or are of another version"
    )]
    Silent { silent: usize, servers: usize },
    /// Other servers cannot be asked.
    #[error("the running servers cannot be asked whether they reject its tokens")]
    Database(#[from] Error),
    /// The database does not answer in time.
    #[error("the database did not answer in time when the running servers were to be asked")]
    TooSlow(#[from] time::error::Elapsed),
}

/// Answers a question about a key.
pub(super) async fn answer(client: &Client, tokens: &Tokens, key_id: &str) -> Result<(), Error> {
    let answer = if tokens.accepts_key(key_id) { ACCEPTED } else { REJECTED };
    client.execute("SELECT pg_notify($1, $2)", &[&ANSWERS, &format!("{answer} {key_id}")]).await.map(drop)
}

/// Waits until all running servers reject the key.
pub(crate) async fn confirm(address: &DatabaseAddress, key_id: &str) -> Result<(), Unconfirmed> {
    let until = Instant::now() + LONGEST;
    let (client, mut connection) = time::timeout_at(until, address.for_role(Role::Command).open()).await??;
    let (sender, mut answers) = mpsc::unbounded_channel();
    // Ends when the client is dropped.
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(answer) = message {
                // A receiver that is gone needs nothing.
                drop(sender.send((answer.process_id(), answer.payload().to_owned())));
            }
        }
    });
    time::timeout_at(until, client.batch_execute(&format!("LISTEN {ANSWERS}"))).await??;
    loop {
        let row = time::timeout_at(until, client.query_one(COUNT_SERVERS, &[])).await??;
        let servers = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or_default();
        time::timeout_at(until, client.execute("SELECT pg_notify($1, $2)", &[&QUESTIONS, &key_id])).await??;
        let next = (Instant::now() + INTERVAL).min(until);
        // Whether each server accepts the key, by the process of its connection.
        let mut accepts = BTreeMap::new();
        while accepts.len() < servers
            && let Ok(Some((process, answer))) = time::timeout_at(next, answers.recv()).await
        {
            match answer.split_once(' ') {
                Some((ACCEPTED, id)) if id == key_id => drop(accepts.insert(process, true)),
                Some((REJECTED, id)) if id == key_id => drop(accepts.insert(process, false)),
                _ => {}
            }
        }
        let accepting = accepts.values().filter(|accepts| **accepts).count();
        let silent = servers.saturating_sub(accepts.len());
        if accepting + silent == 0 {
            return Ok(());
        }
        time::sleep_until(next).await;
        if next >= until {
            return Err(if accepting > 0 {
                Unconfirmed::Accepted { accepting, servers }
            } else {
                Unconfirmed::Silent { silent, servers }
            });
        }
    }
}
