//! The SQL for one batch of records. All of the loader's generated SQL is here; names come from PostgreSQL's catalogs.
//!
//! A batch's values are sent as one text array per column and cast to the columns' types. Existing rows are updated only
//! where something differs, so that unchanged rows keep their timestamps; new rows are inserted. `INSERT … ON CONFLICT`
//! would be shorter, but it checks NOT NULL before it looks for a conflict, so it rejects a row that names only the key and
//! one field of an existing row.
//!
//! Before a row is updated, its original content is saved in the temporary table `load_before`, so that `finish` can
//! find the rows whose content was restored.

use std::fmt::Write as _;

use crate::load::record::StatementKey;
use crate::load::row::RowAction;
use crate::load::tables::{STAMPS, TargetColumn, TargetTable};

/// Creates the table for the original content of updated rows. It lives until the load is finished; rolling a file back
/// removes that file's entries.
pub(super) const CREATE_ORIGINALS: &str = "CREATE TEMPORARY TABLE IF NOT EXISTS load_before \
    (relation text, key text[], content jsonb NOT NULL, PRIMARY KEY (relation, key))";

/// The statement for any number of records. Its parameters are a text array for each column. Returns one row with two
/// counts: inserted, and updated or deleted.
pub(super) fn batch_statement(table: &TargetTable, key: &StatementKey) -> String {
    let columns: Vec<&TargetColumn> = key.columns.iter().map(|index| &table.columns[*index]).collect();
    let name = qualified_name(table);
    let mut sql = input_rows(&columns);
    let same_key = keys_equal(table, "t", "i");
    if key.action == RowAction::Delete {
        let _ = write!(
            sql,
            ", gone AS (DELETE FROM {name} t USING input i WHERE {same_key} RETURNING 1) \
             SELECT 0::int8, (SELECT count(*) FROM gone)"
        );
        return sql;
    }
    let changing: Vec<&TargetColumn> =
        key.columns.iter().filter(|index| !table.key.contains(index)).map(|index| &table.columns[*index]).collect();
    let update = key.action != RowAction::Create && !changing.is_empty();
    if update {
        let differs = format!("({}) IS DISTINCT FROM ({})", list("t", &changing), list("i", &changing));
        let row_key =
            table.key.iter().map(|index| format!("t.{}::text", quote_identifier(&table.columns[*index].name)));
        let set = changing.iter().map(|column| format!("{0} = i.{0}", quote_identifier(&column.name)));
        let stamps = unnamed_stamps(table, &columns, &STAMPS[..2])
            .map(|stamp| format!("{} = {}", quote_identifier(stamp), clock(stamp)))
            .collect::<Vec<_>>();
        let _ = write!(
            sql,
            ", before AS (INSERT INTO load_before SELECT {}, ARRAY[{}], to_jsonb(t) FROM {name} t JOIN input i ON {same_key} \
             WHERE {differs} ON CONFLICT DO NOTHING), \
             updated AS (UPDATE {name} t SET {} FROM input i WHERE {same_key} AND {differs} RETURNING 1)",
            quote_literal(&table.name),
            joined(row_key),
            joined(set.chain(stamps)),
        );
    }
    let stamps: Vec<&str> = unnamed_stamps(table, &columns, &STAMPS).collect();
    let into = columns.iter().map(|column| column.name.as_str()).chain(stamps.iter().copied()).map(quote_identifier);
    let from = columns
        .iter()
        .map(|column| format!("i.{}", quote_identifier(&column.name)))
        .chain(stamps.iter().map(|stamp| clock(stamp).to_owned()));
    let _ = write!(
        sql,
        ", inserted AS (INSERT INTO {name} ({}) SELECT {} FROM input i \
         WHERE NOT EXISTS (SELECT FROM {name} t WHERE {same_key}) RETURNING 1) \
         SELECT (SELECT count(*) FROM inserted), {}",
        joined(into),
        joined(from),
        if update { "(SELECT count(*) FROM updated)" } else { "0::int8" },
    );
    sql
}

/// The statement that restores the timestamps of rows whose content is the same as before the load. `None` if the table
/// has no timestamps.
pub(super) fn restore_stamps(table: &TargetTable) -> Option<String> {
    let stamps: Vec<&str> = unnamed_stamps(table, &[], &STAMPS[..2]).collect();
    if stamps.is_empty() {
        return None;
    }
    let name = qualified_name(table);
    let set = stamps
        .iter()
        .map(|stamp| format!("{} = (b.content ->> {})::timestamptz", quote_identifier(stamp), quote_literal(stamp)));
    let key = table.key.iter().map(|index| {
        let column = &table.columns[*index];
        format!(
            "t.{} = (b.content ->> {})::{}",
            quote_identifier(&column.name),
            quote_literal(&column.name),
            column.cast
        )
    });
    let stamped = joined(STAMPS.iter().map(|stamp| quote_literal(stamp)));
    Some(format!(
        "UPDATE {name} t SET {} FROM load_before b WHERE b.relation = {} AND {} \
         AND to_jsonb(t) - ARRAY[{stamped}] = b.content - ARRAY[{stamped}] AND to_jsonb(t) <> b.content",
        joined(set),
        quote_literal(&table.name),
        key.collect::<Vec<_>>().join(" AND "),
    ))
}

/// `WITH input AS (…)`: the arrays as rows of the columns' types.
fn input_rows(columns: &[&TargetColumn]) -> String {
    let typed = columns
        .iter()
        .enumerate()
        .map(|(index, column)| format!("u.c{index}::{} AS {}", column.cast, quote_identifier(&column.name)));
    let arrays = (1..=columns.len()).map(|number| format!("${number}::text[]"));
    let names = (0..columns.len()).map(|index| format!("c{index}"));
    format!(
        "WITH input AS MATERIALIZED (SELECT {} FROM unnest({}) u({}))",
        joined(typed),
        joined(arrays),
        joined(names)
    )
}

fn keys_equal(table: &TargetTable, left: &str, right: &str) -> String {
    let parts = table.key.iter().map(|index| {
        let name = quote_identifier(&table.columns[*index].name);
        format!("{left}.{name} = {right}.{name}")
    });
    parts.collect::<Vec<_>>().join(" AND ")
}

/// The columns of `stamps` that the table has and that are not among the named columns.
fn unnamed_stamps<'a>(
    table: &'a TargetTable,
    named: &[&TargetColumn],
    stamps: &'static [&'static str],
) -> impl Iterator<Item = &'a str> {
    let named: Vec<String> = named.iter().map(|column| column.name.clone()).collect();
    table
        .stamps()
        .map(|column| column.name.as_str())
        .filter(move |stamp| stamps.contains(stamp) && !named.iter().any(|name| name == stamp))
}

/// The time of a timestamp column: of the transaction or of the statement.
fn clock(stamp: &str) -> &'static str {
    if stamp.ends_with("_tx_stamp") { "now()" } else { "statement_timestamp()" }
}

fn qualified_name(table: &TargetTable) -> String {
    format!("public.{}", quote_identifier(&table.name))
}

fn list(alias: &str, columns: &[&TargetColumn]) -> String {
    joined(columns.iter().map(|column| format!("{alias}.{}", quote_identifier(&column.name))))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A name as a text literal.
fn quote_literal(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''"))
}
