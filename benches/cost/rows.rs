//! Rows of the database from which queries take their values: keys that are there, search terms that find something, places
//! in the middle of a walk.

use std::collections::BTreeMap;

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, Column, Connection, Lookup, SemiJoin};
use orderql::catalog::ids::TypeId;
use orderql::value::ScalarType;
use tokio_postgres::Client;

use crate::measure::Fault;

/// Rows that each root has to choose from.
const ROWS: i64 = 200;

/// A row: the values of the columns that are asked for, as text. Moments are microseconds since 1970.
#[derive(Debug, Clone, Default)]
pub struct Row {
    values: BTreeMap<Source, Option<String>>,
}

/// Where a value comes from: a column's name, and the relation where that is not the root's own.
pub type Source = (Option<String>, String);

impl Row {
    /// The value of a column; `None` is a null.
    pub fn value(&self, column: &Column, within: Option<&SemiJoin>) -> Option<&str> {
        self.values.get(&source(column, within))?.as_deref()
    }
}

fn source(column: &Column, within: Option<&SemiJoin>) -> Source {
    (within.map(|within| within.relation.clone()), column.name.clone())
}

/// Rows of every root, by its place among the fields of the query type.
#[derive(Debug)]
pub struct Rows {
    roots: Vec<Vec<Row>>,
}

impl Rows {
    /// Chooses them, always the same from the same database and seed.
    pub async fn choose(client: &Client, catalog: &Catalog, seed: u64) -> Result<Self, Fault> {
        let mut roots = Vec::new();
        let fields = catalog.object(catalog.query()).map(|object| object.fields.as_slice()).unwrap_or_default();
        for field in fields {
            let wanted = match &field.binding {
                Binding::Lookup(point) => Wanted::of_point(catalog, point),
                Binding::Connection(connection) => Wanted::of_connection(catalog, connection),
                _ => continue,
            };
            let rows = wanted.rows(client, seed).await?;
            if rows.is_empty() {
                return Err(Fault::Data(format!("the database has no rows for {}", field.name)));
            }
            roots.push(rows);
        }
        Ok(Self { roots })
    }

    /// The rows of a root.
    pub fn of(&self, root: usize) -> &[Row] {
        &self.roots[root]
    }
}

/// What is asked of a root's relation.
struct Wanted<'a> {
    relation: &'a str,
    key: &'a [Column],
    columns: BTreeMap<Source, (&'a Column, Option<&'a SemiJoin>)>,
}

impl<'a> Wanted<'a> {
    fn of_point(catalog: &'a Catalog, point: &'a Lookup) -> Self {
        let mut wanted = Self::new(catalog, &point.relation, point.target);
        wanted.add(point.keys.iter().map(|column| (column, None)));
        wanted
    }

    fn of_connection(catalog: &'a Catalog, connection: &'a Connection) -> Self {
        let mut wanted = Self::new(catalog, &connection.relation, connection.node);
        wanted.add(connection.search_keys.iter().map(|key| (&key.column, key.semi_join.as_ref())));
        wanted.add(connection.sort_keys.iter().flat_map(|key| &key.columns).map(|column| (column, None)));
        wanted
    }

    fn new(catalog: &'a Catalog, relation: &'a str, target: TypeId) -> Self {
        let key = catalog.entity(target).map_or(&[][..], |entity| &entity.key);
        Self { relation, key, columns: BTreeMap::new() }
    }

    fn add(&mut self, columns: impl Iterator<Item = (&'a Column, Option<&'a SemiJoin>)>) {
        self.columns.extend(columns.map(|(column, within)| (source(column, within), (column, within))));
    }

    async fn rows(&self, client: &Client, seed: u64) -> Result<Vec<Row>, Fault> {
        let values: Vec<_> = self.columns.values().map(|(column, within)| expression(column, *within)).collect();
        let key: Vec<_> = self.key.iter().map(|column| format!("{}::text", column.name)).collect();
        let sql = format!(
            "SELECT {} FROM (SELECT * FROM {} ORDER BY hashtextextended(concat_ws('/', {}), $1) LIMIT {ROWS}) AS t",
            values.join(", "),
            self.relation,
            key.join(", ")
        );
        let rows = client.query(&sql, &[&seed.cast_signed()]).await?;
        let row = |row: &tokio_postgres::Row| {
            let values =
                self.columns.keys().enumerate().map(|(place, source)| Ok((source.clone(), row.try_get(place)?)));
            Ok(Row { values: values.collect::<Result<_, tokio_postgres::Error>>()? })
        };
        rows.iter().map(row).collect()
    }
}

fn expression(column: &Column, within: Option<&SemiJoin>) -> String {
    let text = |alias: &str| match column.scalar {
        ScalarType::DateTime => format!("(extract(epoch FROM {alias}.{}) * 1000000)::int8::text", column.name),
        _ => format!("{alias}.{}::text", column.name),
    };
    let Some(SemiJoin { relation, by }) = within else { return text("t") };
    let on: Vec<_> = by.iter().map(|column| format!("w.{column} = t.{column}")).collect();
    format!("(SELECT min({}) FROM {relation} AS w WHERE {})", text("w"), on.join(" AND "))
}
