//! Reads the vocabularies of search keys from the database: at the start, and again after a request with a value that is in none of them,
//! because the value may have been added since. No request waits for it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time;
use tokio_postgres::{Client, Error};

use crate::catalog::Catalog;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::address::role::Role;
use crate::database::address::server_addresses::ServerAddresses;
use crate::database::connection::connect::connect;
use crate::database::connection::session::reader;
use crate::plan::sql::{Identifier, Relation};
use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::vocabulary::{CurrentVocabularies, Vocabularies, Vocabulary, VocabularySource};

/// The pause after the vocabularies were read. A value that was added is known after this time at the latest.
const PAUSE: Duration = Duration::from_secs(5);

/// How long connecting and reading may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The most rows of a relation that lists known values. A larger relation has data and is not read as a vocabulary.
const MAX_ROWS: usize = 1000;

/// Keeps vocabularies up to date until it is dropped.
#[derive(Debug)]
pub(crate) struct VocabularyReader {
    wanted: Arc<Notify>,
    task: JoinHandle<()>,
}

/// Why the vocabularies cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VocabularyError {
    /// The database reported an error, or cannot be reached.
    #[error("cannot read the known values of search keys from the database")]
    Database(#[from] Error),
    /// The database did not answer in time.
    #[error("the database did not answer within {} s when asked for the known values of search keys", TIMEOUT.as_secs())]
    TooSlow(#[from] time::error::Elapsed),
}

impl VocabularyReader {
    /// Reads the vocabularies of the catalog into `current`, and again whenever [`Self::refresh`] is called: from the primary, or
    /// else from a replica.
    pub(crate) async fn start(
        servers: &ServerAddresses,
        catalog: Arc<Catalog>,
        current: Arc<CurrentVocabularies>,
    ) -> Result<Self, VocabularyError> {
        let servers: Vec<_> = servers.readable().map(|server| reader(&server.for_role(Role::Vocabularies)).0).collect();
        current.replace(read_from_any(&servers, &catalog).await?);
        let wanted = Arc::new(Notify::new());
        let task = tokio::spawn(refresh(servers, catalog, current, Arc::clone(&wanted)));
        Ok(Self { wanted, task })
    }

    /// Has the vocabularies read again, soon. Does not wait for it.
    pub(crate) fn refresh(&self) {
        self.wanted.notify_one();
    }
}

impl Drop for VocabularyReader {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads the vocabularies whenever that is wanted, with a pause after each time. The last ones stay in force when the
/// database cannot be read.
async fn refresh(
    servers: Vec<DatabaseAddress>,
    catalog: Arc<Catalog>,
    current: Arc<CurrentVocabularies>,
    wanted: Arc<Notify>,
) {
    loop {
        wanted.notified().await;
        match read_from_any(&servers, &catalog).await {
            Ok(vocabularies) => current.replace(vocabularies),
            Err(error) => emit(&Event::VocabulariesStale { error: &error }),
        }
        time::sleep(PAUSE).await;
    }
}

/// Reads from the first server that answers. Fails with the error of the first one, which is the primary.
async fn read_from_any(servers: &[DatabaseAddress], catalog: &Catalog) -> Result<Vocabularies, VocabularyError> {
    let mut first = None;
    for server in servers {
        match read(server, catalog).await {
            Ok(vocabularies) => return Ok(vocabularies),
            Err(error) => first = first.or(Some(error)),
        }
    }
    first.map_or_else(|| Ok(Vocabularies::default()), Err)
}

async fn read(database: &DatabaseAddress, catalog: &Catalog) -> Result<Vocabularies, VocabularyError> {
    let sources = VocabularySource::all(catalog);
    if sources.is_empty() {
        return Ok(Vocabularies::default());
    }
    let read = async {
        let client = connect(database).await?;
        let mut found = HashMap::new();
        for source in sources {
            if let Some(vocabulary) = read_source(&client, &source).await? {
                found.insert(source, Arc::new(vocabulary));
            }
        }
        Ok::<_, Error>(found)
    };
    let found = time::timeout(TIMEOUT, read).await??;
    Ok(Vocabularies::new(catalog, |source| found.get(source).cloned()))
}

/// The values of a source; `None` if the relation is too large.
async fn read_source(client: &Client, source: &VocabularySource) -> Result<Option<Vocabulary>, Error> {
    let VocabularySource { relation, column } = source;
    // The limit comes first, so that PostgreSQL does not read a large relation.
    let select = format!("SELECT {}::text FROM {} LIMIT {}", Identifier(column), Relation(relation), MAX_ROWS + 1);
    let rows = client.query(&select, &[]).await?;
    if rows.len() > MAX_ROWS {
        emit(&Event::VocabularyTooLarge { relation, max_rows: MAX_ROWS });
        return Ok(None);
    }
    let values = rows.iter().map(|row| row.try_get::<_, Option<String>>(0)).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(Vocabulary::new(values.into_iter().flatten())))
}
