//! The indexes that migrations make: which of them a database lacks, and how they are made while others write.
//!
//! `indexes.txt` lists them as a migrated database has them: name, relation, and what follows `USING`.

use std::collections::{BTreeSet, HashSet};

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

const LIST: &str = include_str!("indexes.txt");

/// The valid indexes of all relations.
const EXISTING: &str = "
    SELECT namespace.nspname || '.' || relation.relname, substring(pg_get_indexdef(indexrelid) FROM ' USING (.*)$')
    FROM pg_index
    JOIN pg_class AS relation ON relation.oid = indrelid
    JOIN pg_namespace AS namespace ON namespace.oid = relnamespace
    WHERE indisvalid AND nspname IN ('public', 'orderql')";

/// The tables, and whether they are partitioned.
const TABLES: &str = "
    SELECT nspname || '.' || relname, relkind = 'p'
    FROM pg_class
    JOIN pg_namespace AS namespace ON namespace.oid = relnamespace
    WHERE relkind IN ('r', 'p') AND nspname IN ('public', 'orderql')";

/// One of them, as the list has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Index {
    pub(crate) name: &'static str,
    /// With its schema.
    relation: &'static str,
    definition: &'static str,
}

/// An index that a database lacks, or has in another form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MissingIndex {
    pub(crate) index: Index,
    is_partitioned: bool,
}

/// All of them.
fn all() -> impl Iterator<Item = Index> {
    LIST.lines().filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        let (relation, definition) = rest.split_once(' ')?;
        Some(Index { name, relation, definition })
    })
}

/// The names of all of them.
pub(super) fn names() -> Vec<&'static str> {
    all().map(|index| index.name).collect()
}

/// The columns, and whether there is a condition. Its text depends on the types of the columns.
fn comparable(definition: &str) -> (&str, bool) {
    definition.split_once(" WHERE ").map_or((definition, false), |(columns, _)| (columns, true))
}

/// The indexes that no valid index of their tables equals, under whatever name. Tables that do not exist need none.
pub(crate) async fn missing(client: &Client) -> Result<Vec<MissingIndex>, Error> {
    let rows = client.query(EXISTING, &[]).await?;
    let existing: Vec<(String, String)> =
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_, Error>>()?;
    let existing: HashSet<_> =
        existing.iter().map(|(relation, definition)| (relation.as_str(), comparable(definition))).collect();
    let rows = client.query(TABLES, &[]).await?;
    let tables: Vec<(String, bool)> =
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_, Error>>()?;
    let missing = all().filter(|index| !existing.contains(&(index.relation, comparable(index.definition))));
    let found = missing.filter_map(|index| {
        let (_, is_partitioned) = tables.iter().find(|(table, _)| table == index.relation)?;
        Some(MissingIndex { index, is_partitioned: *is_partitioned })
    });
    Ok(found.collect())
}

impl MissingIndex {
    /// The statements that make it, in the place of one of its name, which is invalid or has other columns.
    pub(crate) fn statements(&self, concurrently: bool) -> [String; 2] {
        let Index { name, relation, definition } = self.index;
        let schema = relation.split('.').next().unwrap_or_default();
        // PostgreSQL builds none of a partitioned table's indexes beside writers.
        let how = if concurrently && !self.is_partitioned { " CONCURRENTLY" } else { "" };
        [
            format!("DROP INDEX{how} IF EXISTS {schema}.{name}"),
            format!("CREATE INDEX{how} {name} ON {relation} USING {definition}"),
        ]
    }
}

/// Makes the indexes that the database lacks, and returns their names. One whose columns do not exist is left out.
pub(super) async fn make_missing(client: &Client, concurrently: bool) -> Result<Vec<String>, Error> {
    let mut made = Vec::new();
    for index in missing(client).await? {
        let statements = index.statements(concurrently);
        // Together they are one transaction; one that builds beside writers is none.
        let done = if concurrently {
            match client.batch_execute(&statements[0]).await {
                Ok(()) => client.batch_execute(&statements[1]).await,
                failed => failed,
            }
        } else {
            client.batch_execute(&statements.join("; ")).await
        };
        match done {
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_COLUMN) => {}
            done => {
                done?;
                made.push(format!("{}.{}", index.index.relation.trim_start_matches("public."), index.index.name));
            }
        }
    }
    Ok(made)
}

/// The names of indexes that earlier migrations make and later ones replace.
pub(super) fn replaced<'a>(migrations: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let lasting: HashSet<_> = all().map(|index| index.name).collect();
    let words = migrations.into_iter().flat_map(|sql| sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    words.filter(|word| word.starts_with("oql_") && !lasting.contains(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_names_relations_and_definitions() {
        assert_eq!(all().count(), LIST.lines().count());
        for Index { name, relation, definition } in all() {
            assert!(name.starts_with("oql_") && relation.contains('.'), "{name}");
            assert!(definition.starts_with("btree ("), "{definition}");
        }
    }
}
