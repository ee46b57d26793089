//! Makes indexes, at once or while others write their tables. What an interrupted run has finished is kept.
//!
//! PostgreSQL builds no index of a partitioned table beside writers. It builds the indexes of the partitions; they then become
//! parts of an index of the table that was made without them. An index of another definition stays until the new one is there,
//! under another name.

use std::collections::HashMap;

use tokio_postgres::{Client, Error};

use crate::migration::indexes::{self, DeclaredIndex, MissingIndex, comparable};

/// The partitions of a table at all levels, each with its parent, and whether it has rows of its own.
const PARTITIONS: &str = "
    SELECT relid::regclass::text, parentrelid::regclass::text, isleaf
    FROM pg_partition_tree($1::text::regclass)
    WHERE level > 0
    ORDER BY level";

/// The indexes of a table: whether they are valid, what they are parts of, and their definitions.
const INDEXES: &str = "
    SELECT indexrelid::regclass::text, indisvalid, inhparent::regclass::text,
        substring(pg_get_indexdef(indexrelid) FROM ' USING (.*)$')
    FROM pg_index
    LEFT JOIN pg_inherits ON inhrelid = indexrelid
    WHERE indrelid = $1::text::regclass
    ORDER BY indexrelid";

/// An index of a table.
#[derive(Debug)]
struct FoundIndex {
    name: String,
    is_valid: bool,
    /// The index that it is a part of.
    parent: Option<String>,
}

/// Makes the indexes that the database lacks, and returns their names, or an error and the index that it is about. `progress` is told each
/// name.
pub(super) async fn make_missing(
    client: &Client,
    concurrently: bool,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<String>, (String, Error)> {
    let of_none = |error| ("indexes".to_owned(), error);
    drop_replaced(client, concurrently).await.map_err(of_none)?;
    let missing = indexes::missing(client, &[]).await.map_err(of_none)?;
    let count = missing.len();
    let mut made = Vec::with_capacity(count);
    for (number, missing) in missing.iter().enumerate() {
        let DeclaredIndex { name, relation, .. } = missing.index;
        progress(&format!("index {} of {}: {name}", number + 1, count));
        let done = if concurrently {
            make(client, missing).await
        } else {
            // Together they are one transaction.
            client.batch_execute(&missing.statements(false).join("; ")).await
        };
        done.map_err(|error| (format!("index {name}"), error))?;
        made.push(format!("{}.{name}", relation.trim_start_matches("public.")));
    }
    Ok(made)
}

/// Drops the indexes in whose places others are, where a run was interrupted.
async fn drop_replaced(client: &Client, concurrently: bool) -> Result<(), Error> {
    let existing = indexes::existing(client).await?;
    for index in indexes::all().filter(|index| existing.iter().any(|other| other.name == index.old_name())) {
        let how = if concurrently { " CONCURRENTLY" } else { "" };
        client.batch_execute(&format!("DROP INDEX{how} {}.{}", index.schema(), index.old_name())).await?;
    }
    Ok(())
}

/// Makes the index beside writers, in the place of one of its name.
async fn make(client: &Client, missing: &MissingIndex) -> Result<(), Error> {
    if missing.is_partitioned { make_partitioned(client, missing).await } else { make_whole(client, missing).await }
}

async fn make_whole(
    client: &Client,
    MissingIndex { index, named, unfinished, .. }: &MissingIndex,
) -> Result<(), Error> {
    let DeclaredIndex { name, relation, definition } = index;
    let schema = index.schema();
    let build = async |name: &str| {
        client.batch_execute(&format!("CREATE INDEX CONCURRENTLY {name} ON {relation} USING {definition}")).await
    };
    let drop = async |name: &str| client.batch_execute(&format!("DROP INDEX CONCURRENTLY {schema}.{name}")).await;
    let (new, old) = (index.new_name(), index.old_name());
    let is_built = unfinished.as_ref().is_some_and(|index| index.is_valid && index.is_equal);
    if unfinished.is_some() && !is_built {
        drop(&new).await?;
    }
    match named {
        Some(named) if named.is_valid => {
            if !is_built {
                build(&new).await?;
            }
            // One transaction.
            let swap =
                format!("ALTER INDEX {schema}.{name} RENAME TO {old}; ALTER INDEX {schema}.{new} RENAME TO {name}");
            client.batch_execute(&swap).await?;
            drop(&old).await
        }
        // No query uses it.
        Some(_) => {
            drop(name).await?;
            build(name).await
        }
        None => build(name).await,
    }
}

async fn make_partitioned(client: &Client, missing: &MissingIndex) -> Result<(), Error> {
    let MissingIndex { index, named, unfinished, .. } = missing;
    let DeclaredIndex { name, relation, definition } = index;
    let (schema, new) = (index.schema(), index.new_name());
    // An invalid one lacks partitions.
    let (target, begun) = match named {
        Some(named) if !named.is_equal => (new.as_str(), unfinished),
        named => (*name, named),
    };
    if begun.as_ref().is_none_or(|begun| !begun.is_equal) {
        let stale = if begun.is_some() { format!("DROP INDEX {schema}.{target}; ") } else { String::new() };
        let begin = format!("{stale}CREATE INDEX {target} ON ONLY {relation} USING {definition}");
        within_a_short_wait(client, &begin).await?;
    }
    attach_partitions(client, index, &format!("{schema}.{target}")).await?;
    if target == *name {
        return Ok(());
    }
    let swap = format!("DROP INDEX {schema}.{name}; ALTER INDEX {schema}.{new} RENAME TO {name}");
    within_a_short_wait(client, &swap).await
}

/// Makes the parts of an index that the partitions lack.
async fn attach_partitions(client: &Client, index: &DeclaredIndex, target: &str) -> Result<(), Error> {
    let DeclaredIndex { relation, definition, .. } = index;
    let root: String = client.query_one("SELECT $1::text::regclass::text", &[relation]).await?.try_get(0)?;
    let target: String = client.query_one("SELECT $1::text::regclass::text", &[&target]).await?.try_get(0)?;
    let mut made = HashMap::from([(root, target)]);
    for row in client.query(PARTITIONS, &[relation]).await? {
        let parent: String = row.try_get(1)?;
        let Some(parent) = made.get(&parent).cloned() else { continue };
        let partition = Partition { name: row.try_get(0)?, parent, has_rows: row.try_get(2)? };
        let mut found = part(client, &partition, definition).await?;
        if found.is_none() {
            let how = if partition.has_rows { "INDEX CONCURRENTLY ON" } else { "INDEX ON ONLY" };
            client.batch_execute(&format!("CREATE {how} {} USING {definition}", partition.name)).await?;
            found = part(client, &partition, definition).await?;
        }
        let Some(part) = found else { continue };
        if part.parent.is_none() {
            client.batch_execute(&format!("ALTER INDEX {} ATTACH PARTITION {}", partition.parent, part.name)).await?;
        }
        made.insert(partition.name, part.name);
    }
    Ok(())
}

/// A partition of a table that an index is made on.
struct Partition {
    name: String,
    /// The index of the table that it is a partition of.
    parent: String,
    has_rows: bool,
}

/// The index of a partition that is a part of the parent's, or can be. One that is not valid was not finished, and is.
async fn part(client: &Client, partition: &Partition, definition: &str) -> Result<Option<FoundIndex>, Error> {
    let mut found = Vec::new();
    for row in client.query(INDEXES, &[&partition.name]).await? {
        let index = FoundIndex { name: row.try_get(0)?, is_valid: row.try_get(1)?, parent: row.try_get(2)? };
        let is_suitable = index.parent.as_deref().is_none_or(|other| other == partition.parent);
        if is_suitable && comparable(row.try_get(3)?) == comparable(definition) {
            found.push(index);
        }
    }
    let rank = |index: &FoundIndex| (index.parent.is_some(), index.is_valid);
    let Some(best) = found.into_iter().rev().max_by_key(rank) else { return Ok(None) };
    if partition.has_rows && !best.is_valid {
        client.batch_execute(&format!("REINDEX INDEX CONCURRENTLY {}", best.name)).await?;
    }
    Ok(Some(best))
}

/// Runs statements that lock a table, in one transaction. While they wait, writers wait behind them.
async fn within_a_short_wait(client: &Client, statements: &str) -> Result<(), Error> {
    client.batch_execute(&format!("SET LOCAL lock_timeout TO '1s'; {statements}")).await
}
