//! The rows of a collection root in the order of each sort key, and the values of its search keys, as plain SQL finds them.

use std::collections::HashMap;

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, EntityBinding};
use orderql::catalog::column::Column;
use orderql::catalog::connection::{Connection, SortKey};
use orderql::catalog::search_key::SearchKey;
use orderql::cursor::{Encoder, decode};
use orderql::value::{ScalarType, Value};
use tokio_postgres::Client;

use crate::support::cursor::{numeric, unix_micros};

/// A collection root and its rows.
pub struct RootRows<'a> {
    pub name: &'a str,
    pub connection: &'a Connection,
    /// The fields of the primary key.
    pub id_fields: Vec<&'a str>,
    /// The columns of the primary key.
    id_columns: Vec<&'a str>,
    /// A field of an object that is joined by its key, as a selection; empty if there is none.
    pub joined: String,
    /// The rows in the order of each sort key, and in its reverse.
    orders: Vec<[RowOrder; 2]>,
    /// The values of the search keys in each row. Of a key in another relation, one of its values.
    pub rows: Vec<Vec<Option<String>>>,
    /// Values of each search key: the most and the least frequent, the first, the last, and some others.
    pub values: Vec<Vec<String>>,
}

/// The rows in the order of a sort key.
struct RowOrder {
    /// The index of each id.
    indexes: HashMap<String, usize>,
    /// The values of the sort key's columns in each row.
    keys: Vec<Vec<Option<String>>>,
}

impl<'a> RootRows<'a> {
    pub async fn load(client: &Client, catalog: &'a Catalog, name: &'a str, connection: &'a Connection) -> Self {
        let node = catalog.object(connection.node.ty()).unwrap();
        // Without its dates, a key identifies the rows here as well.
        let ids = catalog.entity(connection.node).key.iter().filter(|column| column.scalar != ScalarType::DateTime);
        let field_of = |name: &str| {
            let is_named = |binding: Binding<'_>| binding.column().is_some_and(|column| column.name == name);
            catalog.fields_of(node).find(|(_, binding)| is_named(*binding)).map(|(field, _)| field.name.as_str())
        };
        // An item has one ship group here, so that its column, which no field shows as it is, is not needed either.
        let ids = ids.filter_map(|column| Some((column.name.as_str(), field_of(&column.name)?)));
        let (id_columns, id_fields) = ids.unzip();
        let joined = catalog.fields_of(node).find_map(|(field, binding)| {
            let Binding::Entity(EntityBinding::One(one)) = binding else { return None };
            let entity = catalog.entity(one.target);
            let target = catalog.object(one.target.ty())?;
            // A view reads more than one row.
            let is_table = one.unique && !entity.relation.contains('.');
            let is_other = |binding: Binding<'_>| binding.column().is_some_and(|column| !entity.key.contains(column));
            let (column, _) = catalog.fields_of(target).find(|(_, binding)| is_other(*binding))?;
            is_table.then(|| format!("{} {{ {} }}", field.name, column.name))
        });
        let mut root = Self {
            name,
            connection,
            id_fields,
            id_columns,
            joined: joined.unwrap_or_default(),
            orders: Vec::new(),
            rows: Vec::new(),
            values: Vec::new(),
        };
        root.reload(client).await;
        root
    }

    /// Reads the rows again.
    pub async fn reload(&mut self, client: &Client) {
        let relation = &self.connection.relation;
        let keys = &self.connection.search_keys;
        let values: Vec<_> = keys.iter().enumerate().map(|(index, key)| search_value(index, key)).collect();
        let joins: Vec<_> = keys.iter().enumerate().filter_map(|(index, key)| search_join(index, key)).collect();
        let sql = format!("SELECT {} FROM {relation} AS t {}", values.join(", "), joins.join(" "));
        let rows = client.query(&sql, &[]).await.unwrap();
        self.rows = rows.iter().map(|row| (0..row.len()).map(|column| row.get(column)).collect()).collect();
        self.values = (0..keys.len()).map(|key| frequencies(&self.rows, key)).collect();
        self.orders.clear();
        for sort_key in &self.connection.sort_keys {
            let columns: Vec<_> = sort_key.columns.iter().map(cursor_value).collect();
            let order = async |reverse| {
                let sql = format!(
                    "SELECT {}, {} FROM {relation} AS t ORDER BY {}",
                    self.id_sql(),
                    columns.join(", "),
                    order_by(sort_key, reverse)
                );
                let rows = client.query(&sql, &[]).await.unwrap();
                let ids = rows.iter().map(|row| row.get(0));
                let indexes = ids.enumerate().map(|(index, id)| (id, index)).collect();
                let keys = rows.iter().map(|row| (1..row.len()).map(|column| row.get(column)).collect()).collect();
                RowOrder { indexes, keys }
            };
            self.orders.push([order(false).await, order(true).await]);
        }
    }

    /// The primary key of a row named `t` as one text.
    pub fn id_sql(&self) -> String {
        format!("concat_ws('|', t.{})", self.id_columns.join(", t."))
    }

    /// The position of a row in an order.
    pub fn position(&self, sort_key: usize, reverse: bool, id: &str) -> usize {
        let order = &self.orders[sort_key][usize::from(reverse)];
        *order.indexes.get(id).unwrap_or_else(|| panic!("no row has the id {id}"))
    }

    /// The cursor of the row at a position of an order.
    pub fn cursor(&self, sort_key: usize, reverse: bool, position: usize) -> String {
        let (order, key) = (&self.orders[sort_key][usize::from(reverse)], &self.connection.sort_keys[sort_key]);
        let mut encoder = Encoder::default();
        encoder.begin(if reverse { key.tag.reversed() } else { key.tag });
        for (value, column) in order.keys[position].iter().zip(&key.columns) {
            match (value, column.scalar) {
                (None, _) => encoder.null(),
                (Some(text), ScalarType::Decimal | ScalarType::Int) => encoder.numeric(&numeric(text)),
                (Some(text), ScalarType::DateTime) => encoder.timestamp(unix_micros(text.parse().unwrap())),
                (Some(text), _) => encoder.text(text.as_bytes()),
            }
        }
        let mut text = Vec::new();
        encoder.finish(&mut text);
        String::from_utf8(text).unwrap()
    }

    /// The position of a cursor's row. Fails if the cursor is not that row's.
    pub fn position_of_cursor(&self, sort_key: usize, reverse: bool, cursor: &str) -> Result<usize, String> {
        let key = &self.connection.sort_keys[sort_key];
        let tag = if reverse { key.tag.reversed() } else { key.tag };
        let types: Vec<_> = key.columns.iter().map(|column| column.scalar).collect();
        let values = decode(cursor, tag, &types).map_err(|error| format!("{cursor}: {error}"))?;
        let part = |name: &&str| {
            let column = key.columns.iter().rposition(|column| column.name == **name).unwrap();
            match &values[column] {
                Some(Value::Text(text)) => text.clone(),
                other => panic!("a key has the value {other:?}"),
            }
        };
        let id = self.id_columns.iter().map(part).collect::<Vec<_>>().join("|");
        let position = self.position(sort_key, reverse, &id);
        let expected = self.cursor(sort_key, reverse, position);
        if cursor == expected { Ok(position) } else { Err(format!("the cursor of {id} is {expected}, not {cursor}")) }
    }
}

/// The columns of an order, in which nulls are last.
pub fn order_by(sort_key: &SortKey, reverse: bool) -> String {
    let direction = if reverse { " DESC NULLS LAST" } else { "" };
    sort_key.columns.iter().map(|column| format!("t.{}{direction}", column.name)).collect::<Vec<_>>().join(", ")
}

/// The values of a key, by how many rows have them.
fn frequencies(rows: &[Vec<Option<String>>], key: usize) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for value in rows.iter().filter_map(|row| row[key].as_deref()) {
        *counts.entry(value).or_default() += 1;
    }
    let mut values: Vec<_> = counts.into_iter().collect();
    values.sort_by_key(|(value, count)| (*count, *value));
    let last = values.len().saturating_sub(1);
    let by_count = [0, 1, last / 4, last / 2, last / 4 * 3, last.saturating_sub(2), last.saturating_sub(1), last];
    let mut chosen: Vec<_> = by_count.iter().filter_map(|index| values.get(*index)).map(|(value, _)| *value).collect();
    chosen.extend(values.iter().map(|(value, _)| *value).min());
    chosen.extend(values.iter().map(|(value, _)| *value).max());
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(str::to_owned).collect()
}

/// The value of a search key in a row named `t`, or in the row of another relation that is joined to it, as a search string has it.
fn search_value(index: usize, key: &SearchKey) -> String {
    let alias = if key.semi_join.is_some() { format!("x{index}") } else { "t".to_owned() };
    match key.column.scalar {
        ScalarType::DateTime => {
            format!("to_char({alias}.{} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')", key.column.name)
        }
        _ => format!("{alias}.{}::text", key.column.name),
    }
}

/// Joins a row of the relation that has a search key's values. A join of whole relations, because without statistics PostgreSQL
/// looks rows up in slow ways.
fn search_join(index: usize, key: &SearchKey) -> Option<String> {
    let join = key.semi_join.as_ref()?;
    let on: Vec<_> = join.by.iter().map(|column| format!("x{index}.{column} = t.{column}")).collect();
    let (relation, by, on) = (&join.relation, join.by.join(", "), on.join(" AND "));
    Some(format!("LEFT JOIN (SELECT DISTINCT ON ({by}) * FROM {relation}) AS x{index} ON {on}"))
}

/// The value of a sort key's column in a row named `t`, as a cursor has it.
fn cursor_value(column: &Column) -> String {
    match column.scalar {
        ScalarType::DateTime => format!("(extract(epoch FROM t.{}) * 1000000)::int8::text", column.name),
        _ => format!("t.{}::text", column.name),
    }
}
