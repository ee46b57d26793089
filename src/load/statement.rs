//! The SQL of one group of records. The only place of the loader that writes any; names come from the catalogs.
//!
//! A group's values arrive as one text array a column and are cast to their columns' types. Rows that are there are
//! changed only where something differs, so that what stays the same keeps its stamps; rows that are not there are
//! inserted. `INSERT … ON CONFLICT` would be shorter, but it checks NOT NULL before it looks for a conflict, and so
//! refuses a row that names the key and one field of a row that is whole in the table.
//!
//! Before a row is changed its old self is kept in the temporary table `load_before`, so that the end of a load can see
//! which rows are again what they were (see `finish.rs`).

use std::fmt::Write as _;

use crate::load::queue::Shape;
use crate::load::read::Action;
use crate::load::tables::{Column, STAMPS, Table};

/// Where rows' old selves are kept until the load is finished. One a connection; a rolled-back file leaves none.
pub const BEFORE: &str = "CREATE TEMPORARY TABLE IF NOT EXISTS load_before \
    (relation text, key text[], content jsonb NOT NULL, PRIMARY KEY (relation, key))";

/// One statement for any number of rows: a text array for each column. Answers one row of two counts: inserted, and
/// updated or deleted.
pub fn statement(table: &Table, shape: &Shape) -> String {
    let columns: Vec<&Column> = shape.columns.iter().map(|at| &table.columns[*at]).collect();
    let name = relation(table);
    let mut sql = input(&columns);
    let same = same_key(table, "t", "i");
    if shape.action == Action::Delete {
        let _ = write!(
            sql,
            ", gone AS (DELETE FROM {name} t USING input i WHERE {same} RETURNING 1) \
             SELECT 0::int8, (SELECT count(*) FROM gone)"
        );
        return sql;
    }
    let changing: Vec<&Column> =
        shape.columns.iter().filter(|at| !table.key.contains(at)).map(|at| &table.columns[*at]).collect();
    let update = shape.action != Action::Create && !changing.is_empty();
    if update {
        let differs = format!("({}) IS DISTINCT FROM ({})", list("t", &changing), list("i", &changing));
        let key = table.key.iter().map(|at| format!("t.{}::text", quoted(&table.columns[*at].name)));
        let set = changing.iter().map(|column| format!("{0} = i.{0}", quoted(&column.name)));
        let stamps = unnamed_stamps(table, &columns, &STAMPS[..2])
            .map(|stamp| format!("{} = {}", quoted(stamp), clock(stamp)))
            .collect::<Vec<_>>();
        let _ = write!(
            sql,
            ", before AS (INSERT INTO load_before SELECT {}, ARRAY[{}], to_jsonb(t) FROM {name} t JOIN input i ON {same} \
             WHERE {differs} ON CONFLICT DO NOTHING), \
             updated AS (UPDATE {name} t SET {} FROM input i WHERE {same} AND {differs} RETURNING 1)",
            literal(&table.name),
            joined(key),
            joined(set.chain(stamps)),
        );
    }
    let stamps: Vec<&str> = unnamed_stamps(table, &columns, &STAMPS).collect();
    let into = columns.iter().map(|column| column.name.as_str()).chain(stamps.iter().copied()).map(quoted);
    let from = columns
        .iter()
        .map(|column| format!("i.{}", quoted(&column.name)))
        .chain(stamps.iter().map(|stamp| clock(stamp).to_owned()));
    let _ = write!(
        sql,
        ", inserted AS (INSERT INTO {name} ({}) SELECT {} FROM input i \
         WHERE NOT EXISTS (SELECT FROM {name} t WHERE {same}) RETURNING 1) \
         SELECT (SELECT count(*) FROM inserted), {}",
        joined(into),
        joined(from),
        if update { "(SELECT count(*) FROM updated)" } else { "0::int8" },
    );
    sql
}

/// Gives rows that are again what they were before the load their old stamps back.
pub fn restore_stamps(table: &Table) -> Option<String> {
    let stamps: Vec<&str> = unnamed_stamps(table, &[], &STAMPS[..2]).collect();
    if stamps.is_empty() {
        return None;
    }
    let name = relation(table);
    let set = stamps.iter().map(|stamp| format!("{} = (b.content ->> {})::timestamptz", quoted(stamp), literal(stamp)));
    let key = table.key.iter().map(|at| {
        let column = &table.columns[*at];
        format!("t.{} = (b.content ->> {})::{}", quoted(&column.name), literal(&column.name), column.cast)
    });
    let stamped = joined(STAMPS.iter().map(|stamp| literal(stamp)));
    Some(format!(
        "UPDATE {name} t SET {} FROM load_before b WHERE b.relation = {} AND {} \
         AND to_jsonb(t) - ARRAY[{stamped}] = b.content - ARRAY[{stamped}] AND to_jsonb(t) <> b.content",
        joined(set),
        literal(&table.name),
        key.collect::<Vec<_>>().join(" AND "),
    ))
}

/// `WITH input AS (…)`: the arrays as typed rows.
fn input(columns: &[&Column]) -> String {
    let typed =
        columns.iter().enumerate().map(|(at, column)| format!("u.c{at}::{} AS {}", column.cast, quoted(&column.name)));
    let arrays = (1..=columns.len()).map(|number| format!("${number}::text[]"));
    let names = (0..columns.len()).map(|at| format!("c{at}"));
    format!(
        "WITH input AS MATERIALIZED (SELECT {} FROM unnest({}) u({}))",
        joined(typed),
        joined(arrays),
        joined(names)
    )
}

fn same_key(table: &Table, left: &str, right: &str) -> String {
    let parts = table.key.iter().map(|at| {
        let name = quoted(&table.columns[*at].name);
        format!("{left}.{name} = {right}.{name}")
    });
    parts.collect::<Vec<_>>().join(" AND ")
}

/// Those of `stamps` that the table has and the rows do not name.
fn unnamed_stamps<'a>(
    table: &'a Table,
    named: &[&Column],
    stamps: &'static [&'static str],
) -> impl Iterator<Item = &'a str> {
    let named: Vec<String> = named.iter().map(|column| column.name.clone()).collect();
    table
        .stamps()
        .map(|column| column.name.as_str())
        .filter(move |stamp| stamps.contains(stamp) && !named.iter().any(|name| name == stamp))
}

/// A transaction's stamp is its beginning; a row's own is the statement's time.
fn clock(stamp: &str) -> &'static str {
    if stamp.ends_with("_tx_stamp") { "now()" } else { "statement_timestamp()" }
}

fn relation(table: &Table) -> String {
    format!("public.{}", quoted(&table.name))
}

fn list(alias: &str, columns: &[&Column]) -> String {
    joined(columns.iter().map(|column| format!("{alias}.{}", quoted(&column.name))))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A catalog's name as a text constant.
fn literal(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''"))
}
