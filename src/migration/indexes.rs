//! The declared indexes, and which of them a database lacks.
//!
//! `declared/indexes.txt` lists them as a migrated database has them: name, relation, and the definition after `USING`.

use std::collections::HashMap;

use tokio_postgres::{Client, Error, Row};

pub(super) const LIST: &str = include_str!("declared/indexes.txt");

/// The indexes of all relations.
const EXISTING: &str = "
    SELECT namespace.nspname || '.' || relation.relname, index.relname::text, indisvalid,
        substring(pg_get_indexdef(indexrelid) FROM ' USING (.*)$')
    FROM pg_index
    JOIN pg_class AS index ON index.oid = indexrelid
    JOIN pg_class AS relation ON relation.oid = indrelid
    JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
    WHERE nspname IN ('public', 'orderql')";

/// The tables, whether they are partitioned, and their columns.
const TABLES: &str = "
    SELECT nspname || '.' || relname, relkind = 'p',
        ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = relation.oid AND attnum > 0 AND NOT attisdropped)
    FROM pg_class AS relation
    JOIN pg_namespace AS namespace ON namespace.oid = relnamespace
    WHERE relkind IN ('r', 'p') AND nspname IN ('public', 'orderql')";

/// An index, as the list of declared indexes has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeclaredIndex {
    pub(crate) name: &'static str,
    /// With its schema.
    pub(super) relation: &'static str,
    pub(super) definition: &'static str,
}

impl DeclaredIndex {
    pub(super) fn schema(&self) -> &'static str {
        self.relation.split('.').next().unwrap_or_default()
    }

    /// Its columns. Those of expressions are the words with an underscore that call no function.
    fn columns(&self) -> impl Iterator<Item = &'static str> {
        let list =
            self.definition.split_once('(').map_or("", |(_, list)| list.split(" WHERE ").next().unwrap_or_default());
        let is_of_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let words = list.split_inclusive(move |character| !is_of_name(character)).filter_map(move |part| {
            let word = part.trim_end_matches(|character| !is_of_name(character));
            (!part.ends_with('(') && !matches!(word, "" | "DESC" | "INCLUDE")).then_some(word)
        });
        let has_expressions = list.contains("::") || list.contains(" COLLATE ");
        words.filter(move |word| !has_expressions || word.contains('_'))
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
    pub(crate) index: DeclaredIndex,
    pub(super) is_partitioned: bool,
    /// The relation or index with its name.
    pub(super) named: Option<Unsuitable>,
    /// The index that an interrupted run has made to take its place.
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
pub(super) fn all() -> impl Iterator<Item = DeclaredIndex> {
    LIST.lines().filter_map(|line| {
        let (name, rest) = line.split_once(' ')?;
        let (relation, definition) = rest.split_once(' ')?;
        Some(DeclaredIndex { name, relation, definition })
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
pub(super) struct ExistingIndex {
    relation: String,
    pub(super) name: String,
    is_valid: bool,
    definition: String,
}

impl ExistingIndex {
    fn equals(&self, index: &DeclaredIndex) -> bool {
        self.relation == index.relation && comparable(&self.definition) == comparable(index.definition)
    }
}

/// The indexes of all relations.
pub(super) async fn existing(client: &Client) -> Result<Vec<ExistingIndex>, Error> {
    let row = |row: &Row| {
        Ok(ExistingIndex {
            relation: row.try_get(0)?,
            name: row.try_get(1)?,
            is_valid: row.try_get(2)?,
            definition: row.try_get(3)?,
        })
    };
    client.query(EXISTING, &[]).await?.iter().map(row).collect()
}

/// The declared indexes that equal no valid index of their tables, whatever its name. A table that does not exist needs none, unless it is
/// about to be made; nor is an index of missing columns needed.
pub(crate) async fn missing(client: &Client, made: &[&str]) -> Result<Vec<MissingIndex>, Error> {
    let existing = existing(client).await?;
    let rows = client.query(TABLES, &[]).await?;
    let tables: HashMap<String, (bool, Vec<String>)> = rows
        .iter()
        .map(|row| Ok((row.try_get(0)?, (row.try_get(1)?, row.try_get(2)?))))
        .collect::<Result<_, Error>>()?;
    let found = all().filter_map(|index| {
        let is_partitioned = match tables.get(index.relation) {
            Some((is_partitioned, columns)) => {
                index.columns().all(|column| columns.iter().any(|other| other == column)).then_some(*is_partitioned)?
            }
            None => made.contains(&index.relation).then_some(false)?,
        };
        let (new, old) = (index.new_name(), index.old_name());
        let is_there =
            |other: &ExistingIndex| other.is_valid && other.equals(&index) && other.name != new && other.name != old;
        if existing.iter().any(is_there) {
            return None;
        }
        let named = |name: &str| {
            let in_schema = |other: &&ExistingIndex| other.name == name && other.relation.starts_with(index.schema());
            let other = existing.iter().find(in_schema)?;
            Some(Unsuitable { is_valid: other.is_valid, is_equal: other.equals(&index) })
        };
        Some(MissingIndex { is_partitioned, named: named(index.name), unfinished: named(&new), index })
    });
    Ok(found.collect())
}

impl MissingIndex {
    /// The statements that make it in one transaction. If another one has its name, which is invalid or has other columns, that is read
    /// until the new one is there.
    ///
    /// For an index that is to be built beside writers these are the statements without the steps of partitions, and no transaction.
    pub(crate) fn statements(&self, concurrently: bool) -> Vec<String> {
        let DeclaredIndex { name, relation, definition } = self.index;
        let (schema, new) = (self.index.schema(), self.index.new_name());
        let how = if concurrently { " CONCURRENTLY" } else { "" };
        let mut statements = Vec::new();
        if self.unfinished.is_some() {
            statements.push(format!("DROP INDEX{how} {schema}.{new}"));
        }
        if self.named.is_some() {
            statements.push(format!("CREATE INDEX{how} {new} ON {relation} USING {definition}"));
            statements.push(format!("DROP INDEX{how} {schema}.{name}"));
            statements.push(format!("ALTER INDEX {schema}.{new} RENAME TO {name}"));
        } else {
            statements.push(format!("CREATE INDEX{how} {name} ON {relation} USING {definition}"));
        }
        statements
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_an_index_are_read_from_its_definition() {
        let columns =
            |definition| DeclaredIndex { name: "i", relation: "public.t", definition }.columns().collect::<Vec<_>>();
        assert_eq!(columns("btree (a DESC, b) INCLUDE (c) WHERE d IS NOT NULL"), ["a", "b", "c"]);
        assert_eq!(columns("btree (a, b) INCLUDE (c) WHERE (d IS NOT NULL)"), ["a", "b", "c"]);
        let expression = "btree (regexp_replace(((a_name)::text COLLATE \"C\"), '[^0-9]'::text, ''::text), b_id)";
        assert_eq!(columns(expression), ["a_name", "b_id"]);
    }

    #[test]
    fn the_list_has_names_relations_and_definitions() {
        assert_eq!(all().count(), LIST.lines().count());
        for DeclaredIndex { name, relation, definition } in all() {
            assert!(name.starts_with("oql_") || relation.starts_with("orderql."), "{name}");
            assert!(definition.starts_with("btree ("), "{definition}");
        }
    }
}
