//! The indexes that migrations make: which of them a database lacks, and how they are made while others write.
//!
//! `indexes.txt` lists them as a migrated database has them: name, relation, and what follows `USING`.

use std::collections::{BTreeSet, HashSet};

use tokio_postgres::{Client, Error, Row};

const LIST: &str = include_str!("indexes.txt");

/// The indexes of all relations.
const EXISTING: &str = "
    SELECT namespace.nspname || '.' || relation.relname, index.relname::text, indisvalid,
        substring(pg_get_indexdef(indexrelid) FROM ' USING (.*)$')
    FROM pg_index
    JOIN pg_class AS index ON index.oid = indexrelid
    JOIN pg_class AS relation ON relation.oid = indrelid
    JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
    WHERE nspname IN ('public', 'orderql')";

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
    pub(super) relation: &'static str,
    pub(super) definition: &'static str,
}

impl Index {
    pub(super) fn schema(&self) -> &'static str {
        self.relation.split('.').next().unwrap_or_default()
    }

    /// Its name until it takes the place of one that has another definition.
    pub(super) fn new_name(&self) -> String {
        format!("{}_new", self.name)
    }

    /// The name of the one in whose place it is, until that is dropped.
    pub(super) fn old_name(&self) -> String {
        format!("{}_old", self.name)
    }
}

/// An index that a database lacks, or has in another form.
#[derive(Debug)]
pub(crate) struct MissingIndex {
    pub(crate) index: Index,
    pub(super) is_partitioned: bool,
    /// What has its name.
    pub(super) named: Option<Unsuitable>,
    /// What an interrupted run has made to take its place.
    pub(super) unfinished: Option<Unsuitable>,
}

/// An index that is not valid, or has another definition or name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unsuitable {
    pub(super) is_valid: bool,
    /// Whether it has the definition.
    pub(super) is_equal: bool,
}

/// All of them.
pub(super) fn all() -> impl Iterator<Item = Index> {
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
pub(super) fn comparable(definition: &str) -> (&str, bool) {
    definition.split_once(" WHERE ").map_or((definition, false), |(columns, _)| (columns, true))
}

/// An index that exists.
pub(super) struct Existing {
    relation: String,
    pub(super) name: String,
    is_valid: bool,
    definition: String,
}

impl Existing {
    fn equals(&self, index: &Index) -> bool {
        self.relation == index.relation && comparable(&self.definition) == comparable(index.definition)
    }
}

/// The indexes of all relations.
pub(super) async fn existing(client: &Client) -> Result<Vec<Existing>, Error> {
    let row = |row: &Row| {
        Ok(Existing {
            relation: row.try_get(0)?,
            name: row.try_get(1)?,
            is_valid: row.try_get(2)?,
            definition: row.try_get(3)?,
        })
    };
    client.query(EXISTING, &[]).await?.iter().map(row).collect()
}

/// The indexes that no valid index of their tables equals, under whatever name. Tables that do not exist need none.
pub(crate) async fn missing(client: &Client) -> Result<Vec<MissingIndex>, Error> {
    let existing = existing(client).await?;
    let rows = client.query(TABLES, &[]).await?;
    let tables: Vec<(String, bool)> =
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_, Error>>()?;
    let found = all().filter_map(|index| {
        let (new, old) = (index.new_name(), index.old_name());
        let is_there =
            |other: &Existing| other.is_valid && other.equals(&index) && other.name != new && other.name != old;
        let (_, is_partitioned) = tables.iter().find(|(table, _)| table == index.relation)?;
        if existing.iter().any(is_there) {
            return None;
        }
        let named = |name: &str| {
            let in_schema = |other: &&Existing| other.name == name && other.relation.starts_with(index.schema());
            let other = existing.iter().find(in_schema)?;
            Some(Unsuitable { is_valid: other.is_valid, is_equal: other.equals(&index) })
        };
        Some(MissingIndex { is_partitioned: *is_partitioned, named: named(index.name), unfinished: named(&new), index })
    });
    Ok(found.collect())
}

impl MissingIndex {
    /// The statements that make it in one transaction. If another one has its name, which is invalid or has other columns, that is read
    /// until the new one is there.
    pub(crate) fn statements(&self) -> Vec<String> {
        let Index { name, relation, definition } = self.index;
        let (schema, new) = (self.index.schema(), self.index.new_name());
        let mut statements = Vec::new();
        if self.unfinished.is_some() {
            statements.push(format!("DROP INDEX {schema}.{new}"));
        }
        if self.named.is_some() {
            statements.push(format!("CREATE INDEX {new} ON {relation} USING {definition}"));
            statements.push(format!("DROP INDEX {schema}.{name}"));
            statements.push(format!("ALTER INDEX {schema}.{new} RENAME TO {name}"));
        } else {
            statements.push(format!("CREATE INDEX {name} ON {relation} USING {definition}"));
        }
        statements
    }
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
