//! The values of the database that a caller would search for to cause the most work: common ones, rare ones, and those whose
//! first match is far from the page's start; and positions in every order.

use orderql::catalog::column::Column;
use orderql::catalog::connection::{Connection, SortKey};
use orderql::catalog::search_key::SearchKey;
use orderql::search::Comparator;
use orderql::value::ScalarType;
use serde_json::{Map, Value};
use tokio_postgres::Client;

use crate::error::Result;

/// The most values of a list.
pub const LIST: usize = 100;

/// Common values of two keys among which a combination is chosen that few rows have.
const COMBINED: usize = 10;

/// A value that a search string can contain without quotes.
const PLAIN: &str = "^[[:alnum:]_./#]([[:alnum:]_./#:+-]*)$";

/// The values of a search key.
#[derive(Debug, Default)]
pub struct KeyValues {
    /// The most common values, the commonest first; [`LIST`] at most.
    pub common: Vec<String>,
    /// A value that no other value is rarer than.
    pub rare: Option<String>,
    /// By the connection's sort keys: the value whose first row comes last in the order, and the value whose first row comes
    /// last in the reversed order.
    pub far: Vec<[Option<String>; 2]>,
    /// The least, the middle and the greatest value. Only of keys that accept a range.
    pub ends: Option<[String; 3]>,
}

/// The key values of a row in an order, by the names of the columns.
#[derive(Debug, Clone, Default)]
pub struct Position(Map<String, Value>);

impl Position {
    /// The text of a column; `None` is a null.
    pub fn text(&self, column: &Column) -> Option<String> {
        match self.0.get(&column.name)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            value => Some(value.to_string()),
        }
    }
}

/// Whether a key accepts ranges.
pub fn is_range(key: &SearchKey) -> bool {
    key.comparators.contains(&Comparator::Greater)
}

/// Reads the values of a search key, with one pass over the rows.
pub async fn values(client: &Client, connection: &Connection, key: &SearchKey) -> Result<KeyValues> {
    let sort_keys = &connection.sort_keys;
    let (from, column) = relation(connection, key);
    let ends = sort_keys.iter().enumerate().map(|(index, sort_key)| {
        let column = &sort_key.columns[0].name;
        format!(", min(t.{column}) AS low{index}, max(t.{column}) AS high{index}")
    });
    let ends = ends.collect::<Vec<_>>().concat();
    let is_text = matches!(key.column.scalar, ScalarType::Id | ScalarType::String);
    let plain = if is_text { format!("WHERE v::text ~ '{PLAIN}'") } else { String::new() };
    let list = |order: String| format!("ARRAY(SELECT to_jsonb(v) #>> '{{}}' FROM counted ORDER BY {order}, v LIMIT 1)");
    // A null sorts last.
    let far = (0..sort_keys.len()).map(|index| {
        let late = list(format!("low{index} DESC NULLS FIRST, n"));
        let early = list(format!("high{index} NULLS LAST, n"));
        format!(", {late}, {early}")
    });
    let far = far.collect::<Vec<_>>().concat();
    let shares = if is_range(key) {
        "ARRAY(SELECT to_jsonb(v) #>> '{}'
               FROM unnest((SELECT percentile_disc('{0, 0.5, 1}'::float8[]) WITHIN GROUP (ORDER BY v) FROM counted)) AS v)"
    } else {
        "'{}'::text[]"
    };
    let sql = format!(
        "WITH counted AS MATERIALIZED (
             SELECT * FROM (
                 SELECT {column} AS v, count(*) AS n{ends} FROM {from} WHERE {column} IS NOT NULL GROUP BY 1
             ) AS every {plain}
         )
         SELECT ARRAY(SELECT to_jsonb(v) #>> '{{}}' FROM counted ORDER BY n DESC, v LIMIT {LIST}), {}, {shares}{far}",
        list("n".to_owned())
    );
    let row = client.query_one(&sql, &[]).await?;
    let first =
        |column: usize| Ok::<_, tokio_postgres::Error>(row.try_get::<_, Vec<String>>(column)?.into_iter().next());
    let mut far = Vec::new();
    for index in 0..sort_keys.len() {
        far.push([first(3 + 2 * index)?, first(4 + 2 * index)?]);
    }
    let ends = row.try_get::<_, Vec<String>>(2)?.try_into().ok();
    Ok(KeyValues { common: row.try_get(0)?, rare: first(1)?, far, ends })
}

/// Of the common values of two keys, those that the fewest rows have together.
pub async fn rarely_together(
    client: &Client,
    connection: &Connection,
    keys: [&SearchKey; 2],
    values: [&KeyValues; 2],
) -> Result<Option<(String, String)>> {
    let [one, other] = keys.map(|key| &key.column.name);
    let [ones, others] = values.map(|values| values.common.iter().take(COMBINED).collect::<Vec<_>>());
    let sql = format!(
        "SELECT one.v, other.v
         FROM unnest($1::text[]) WITH ORDINALITY AS one (v, nth)
         CROSS JOIN unnest($2::text[]) WITH ORDINALITY AS other (v, nth)
         LEFT JOIN (
             SELECT {one}::text AS one, {other}::text AS other, count(*) AS n
             FROM {} WHERE {one}::text = ANY ($1) AND {other}::text = ANY ($2) GROUP BY 1, 2
         ) AS found ON found.one = one.v AND found.other = other.v
         ORDER BY COALESCE(found.n, 0), one.nth + other.nth, one.nth LIMIT 1",
        connection.relation
    );
    let row = client.query_opt(&sql, &[&ones, &others]).await?;
    Ok(row.map(|row| Ok::<_, tokio_postgres::Error>((row.try_get(0)?, row.try_get(1)?))).transpose()?)
}

/// A row near the start of an order, in its middle, and near its end.
pub async fn positions(client: &Client, connection: &Connection, sort_key: &SortKey) -> Result<Vec<Position>> {
    let relation = &connection.relation;
    let names = || sort_key.columns.iter().map(|column| column.name.as_str());
    let columns = names().collect::<Vec<_>>().join(", ");
    let backwards = names().map(|name| format!("{name} DESC")).collect::<Vec<_>>().join(", ");
    let count: i64 = client.query_one(&format!("SELECT count(*) FROM {relation}"), &[]).await?.try_get(0)?;
    let mut positions = Vec::new();
    for (order, offset) in [(&columns, 1), (&columns, count / 2), (&backwards, 1)] {
        let sql = format!(
            "SELECT to_jsonb(t)::text FROM (
                 SELECT {columns} FROM {relation} ORDER BY {order} OFFSET $1 LIMIT 1
             ) AS t"
        );
        if let Some(row) = client.query_opt(&sql, &[&offset]).await? {
            positions.push(Position(serde_json::from_str(row.try_get(0)?)?));
        }
    }
    Ok(positions)
}

/// The rows that have a search key's values, and the column of the key.
fn relation(connection: &Connection, key: &SearchKey) -> (String, String) {
    match &key.semi_join {
        None => (format!("{} AS t", connection.relation), format!("t.{}", key.column.name)),
        Some(within) => {
            let from =
                format!("{} AS t JOIN {} AS w USING ({})", connection.relation, within.relation, within.by.join(", "));
            (from, format!("w.{}", key.column.name))
        }
    }
}
