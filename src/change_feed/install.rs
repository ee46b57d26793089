//! Makes the change feeds that a schema file declares.

use std::collections::BTreeSet;

use tokio_postgres::{Client, Error};

use crate::catalog::feed::{Feed, FeedPart};
use crate::change_feed::check;

/// Makes the feeds, or their missing parts. Returns the number of tables whose triggers were made. The database must be migrated. A
/// statement that waits for a lock blocks all later ones: limit the wait by the session's `lock_timeout`.
pub(crate) async fn make(client: &Client, feeds: &[Feed]) -> Result<i32, Error> {
    let mut made = 0;
    for feed in missing(client, feeds).await? {
        let definition = feed.definition().to_string();
        let row = client.query_one("SELECT orderql.make_feed($1::text::jsonb)", &[&definition]).await?;
        made += row.try_get::<_, i32>(0)?;
    }
    Ok(made)
}

/// The statement that makes a feed.
pub(crate) fn statement(feed: &Feed) -> String {
    format!("SELECT orderql.make_feed($feed${:#}$feed$);\n", feed.definition())
}

/// The feeds that the database lacks, has otherwise, or whose triggers do not run.
pub(crate) async fn missing<'a>(client: &Client, feeds: &'a [Feed]) -> Result<Vec<&'a Feed>, Error> {
    if !check::exist(client).await? {
        return Ok(feeds.iter().collect());
    }
    let faulty: BTreeSet<String> = check::faults(client).await?.into_iter().map(|fault| fault.feed).collect();
    let select = "SELECT feed, relation, by_column, through, to_column, key_column FROM orderql.sync_part";
    let rows = client.query(select, &[]).await?;
    let made: BTreeSet<[String; 6]> = rows
        .iter()
        .map(|row| {
            Ok([row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?, row.try_get(4)?, row.try_get(5)?])
        })
        .collect::<Result<_, Error>>()?;
    let is_missing = |feed: &&Feed| {
        let declared: BTreeSet<_> = feed.parts.iter().map(|part| row(&feed.name, part)).collect();
        faulty.contains(&feed.name) || !made.iter().filter(|row| row[0] == feed.name).eq(&declared)
    };
    Ok(feeds.iter().filter(is_missing).collect())
}

/// A part as the database has it.
fn row(feed: &str, FeedPart { relation, by, through }: &FeedPart) -> [String; 6] {
    let through = through.as_ref().map(|through| [&through.relation, &through.to, &through.key].map(Clone::clone));
    let [through, to, key] = through.unwrap_or_default();
    [feed.to_owned(), relation.clone(), by.clone(), through, to, key]
}
