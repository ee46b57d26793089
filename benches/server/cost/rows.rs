//! Rows of the database that give the queries their values: existing keys, search terms that match, positions in the middle
//! of a connection.

use std::collections::BTreeMap;

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, RootBinding};
use orderql::catalog::column::Column;
use orderql::catalog::ids::EntityId;
use orderql::catalog::search_key::{SearchKey, SemiJoin};
use serde_json::{Map, Value};
use tokio_postgres::Client;

use crate::error::{BenchError, Result};

/// Rows for each root field.
const ROWS: i64 = 200;

/// A row: its columns, and those of one row of each relation that its search keys look into.
#[derive(Debug, Clone)]
pub struct Row {
    columns: Map<String, Value>,
    joined: BTreeMap<String, Map<String, Value>>,
}

impl Row {
    /// The text of a column; `None` is a null.
    pub fn text(&self, column: &Column) -> Option<String> {
        text(&self.columns, column)
    }

    /// The text of a search key's column.
    pub fn search_text(&self, key: &SearchKey) -> Option<String> {
        match &key.semi_join {
            None => self.text(&key.column),
            Some(within) => text(self.joined.get(&within.relation)?, &key.column),
        }
    }
}

fn text(columns: &Map<String, Value>, column: &Column) -> Option<String> {
    match columns.get(&column.name)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        value @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => Some(value.to_string()),
    }
}

/// Rows of every root field, by its index among the fields of the query type.
#[derive(Debug)]
pub struct Rows(Vec<Vec<Row>>);

impl Rows {
    /// Chooses rows; the same database and seed give the same rows.
    pub async fn choose(client: &Client, catalog: &Catalog, seed: u64) -> Result<Self> {
        let mut roots = Vec::new();
        let query = catalog.object(catalog.query()).into_iter();
        for (field, binding) in query.flat_map(|query| catalog.fields_of(query)) {
            let (relation, target, search_keys) = match binding {
                Binding::Root(RootBinding::Lookup(lookup)) => (&lookup.relation, lookup.target, [].as_slice()),
                Binding::Root(RootBinding::Connection(connection)) => {
                    (&connection.relation, connection.node, connection.search_keys.as_slice())
                }
                _ => {
                    roots.push(Vec::new());
                    continue;
                }
            };
            let joins: BTreeMap<_, _> = search_keys
                .iter()
                .filter_map(|key| key.semi_join.as_ref())
                .map(|within| (within.relation.as_str(), within))
                .collect();
            let rows = read(client, catalog, relation, target, &joins, seed).await?;
            if rows.is_empty() {
                return Err(BenchError::Data(format!("the database has no rows for {}", field.name)));
            }
            roots.push(rows);
        }
        Ok(Self(roots))
    }

    /// The rows of a root field.
    pub fn of(&self, root: usize) -> &[Row] {
        &self.0[root]
    }
}

async fn read(
    client: &Client,
    catalog: &Catalog,
    relation: &str,
    target: EntityId,
    joins: &BTreeMap<&str, &SemiJoin>,
    seed: u64,
) -> Result<Vec<Row>> {
    let key: Vec<_> = catalog.entity(target).key.iter().map(|column| format!("{}::text", column.name)).collect();
    let joined = joins.values().map(|SemiJoin { relation, by, .. }| {
        let on: Vec<_> = by.iter().map(|column| format!("w.{column} = t.{column}")).collect();
        format!(", (SELECT min(to_jsonb(w)::text) FROM {relation} AS w WHERE {})", on.join(" AND "))
    });
    let sql = format!(
        "SELECT to_jsonb(t)::text{} FROM (
             SELECT * FROM {relation} ORDER BY hashtextextended(concat_ws('/', {}), $1) LIMIT {ROWS}
         ) AS t",
        joined.collect::<String>(),
        key.join(", ")
    );
    let mut rows = Vec::new();
    for row in client.query(&sql, &[&seed.cast_signed()]).await? {
        let mut joined = BTreeMap::new();
        for (index, relation) in joins.keys().enumerate() {
            if let Some(text) = row.try_get::<_, Option<&str>>(index + 1)? {
                joined.insert((*relation).to_owned(), serde_json::from_str(text)?);
            }
        }
        rows.push(Row { columns: serde_json::from_str(row.try_get(0)?)?, joined });
    }
    Ok(rows)
}
