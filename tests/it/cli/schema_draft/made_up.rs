//! Databases that nobody designed.

mod types;

use std::fmt::Write as _;

use crate::cli::schema_draft::made_up::types::{KEY_TYPES, MADE_TYPES, TYPES, referring};
use crate::support::random::Random;

const NAMES: [&str; 22] = [
    "order",
    "Order Item",
    "status",
    "statuses",
    "user",
    "query",
    "type",
    "PageInfo",
    "addresses",
    "2nd",
    "a_b",
    "aB",
    "series",
    "edge",
    "Straße",
    "日本",
    "§",
    "say \"hi\"",
    "select",
    "_",
    "user_connection",
    "a_name_that_is_as_long_as_postgresql_lets_names_be_63_characters",
];

const COLUMN_NAMES: [&str; 12] =
    ["ID", "Id", "id", "node", "__type", "cursor", "größe", "größe 2", "select", "first", "100%", "tableoid_"];

const ROWS: usize = 30;

/// The column that has a value in deleted rows.
const DELETED: &str = "deletedAt";

/// The name of a type, and an expression for the value of row `n`.
type TypeAndValue = (&'static str, &'static str);

/// A column.
struct Column {
    name: String,
    /// With constraints.
    ty: String,
    /// An expression for the value of row `n`. None if the column is generated.
    value: Option<String>,
}

/// Columns that identify rows.
struct Key {
    columns: Vec<(String, TypeAndValue)>,
    /// Whether some rows have nulls in it.
    is_nullable: bool,
}

struct Table {
    /// With its schema, as SQL.
    name: String,
    /// The keys that others may refer to.
    keys: Vec<Key>,
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// Statements that make some tables with keys, foreign keys and indexes, and some rows.
pub fn made_up(random: &mut Random) -> String {
    let mut sql = format!("CREATE SCHEMA other;{MADE_TYPES}");
    let mut tables: Vec<Table> = Vec::new();
    for number in 0..2 + random.below(5) {
        let schema = if random.chance(25) { "other." } else { "" };
        let own_name: &str = random.pick::<&str>(&NAMES);
        let mut name = format!("{schema}{}", quoted(own_name));
        if tables.iter().any(|table| table.name == name) {
            name = format!("{schema}\"table_{number}\"");
        }
        tables.push(table(random, name, &tables, &mut sql));
    }
    sql
}

fn table(random: &mut Random, name: String, others: &[Table], sql: &mut String) -> Table {
    let has_key = random.chance(90);
    let (mut columns, mut keys): (Vec<Column>, Vec<Key>) = (Vec::new(), Vec::new());
    keys.push(key(random, &mut columns));
    columns_without_keys(random, &mut columns);
    keys.extend(random.chance(20).then(|| nullable_key(random, &mut columns)));
    let mut constraints = Vec::new();
    for index in 0..random.below(3) {
        let Some(target) = (!others.is_empty()).then(|| random.pick(others)) else { break };
        let key = random.pick(&target.keys);
        constraints.push(reference(random, (index, &target.name), key, &mut columns));
    }
    if random.chance(15) {
        constraints.push(reference(random, (9, &name), &keys[0], &mut columns));
    }
    let marks_deleted = !constraints.is_empty() && random.chance(40);
    if marks_deleted {
        let value = Some("CASE WHEN n % 3 = 0 THEN now() END".to_owned());
        columns.push(Column { name: DELETED.to_owned(), ty: "timestamptz".to_owned(), value });
    }
    for (index, key) in keys.iter().enumerate() {
        let constraint = if index == 0 && has_key { "PRIMARY KEY" } else { "UNIQUE" };
        constraints.push(format!("{constraint} ({})", list(key.columns.iter().map(|(column, _)| column.as_str()))));
    }
    let is_dropped = random.chance(10);
    let dropped = if is_dropped { "dropped integer, " } else { "" };
    let defined: Vec<_> = columns.iter().map(|column| format!("{} {}", quoted(&column.name), column.ty)).collect();
    // All unique constraints of a partitioned table have its partition key.
    let is_partitioned = keys.len() == 1 && random.chance(10);
    let partition_key = quoted(&keys[0].columns[0].0);
    let by = if is_partitioned { format!(" PARTITION BY HASH ({partition_key})") } else { String::new() };
    let _ = writeln!(sql, "CREATE TABLE {name} ({dropped}{}, {}){by};", defined.join(", "), constraints.join(", "));
    for remainder in (0..2).filter(|_| is_partitioned) {
        let part = format!("other.\"part {remainder} of {}\"", name.replace('"', ""));
        let rows = format!("FOR VALUES WITH (MODULUS 2, REMAINDER {remainder})");
        let _ = writeln!(sql, "CREATE TABLE {part} PARTITION OF {name} {rows};");
    }
    if is_dropped {
        let _ = writeln!(sql, "ALTER TABLE {name} DROP dropped;");
    }
    let inserted: Vec<_> = columns.iter().filter(|column| column.value.is_some()).collect();
    let into = list(inserted.iter().map(|column| column.name.as_str()));
    let values: Vec<_> = inserted.iter().filter_map(|column| column.value.as_deref()).collect();
    let values = values.join(", ");
    let _ = writeln!(sql, "INSERT INTO {name} ({into}) OVERRIDING SYSTEM VALUE");
    let _ = writeln!(sql, "SELECT {values} FROM generate_series(1, {ROWS}) AS n;");
    indexes(random, &name, &columns, &keys[0], sql);
    if marks_deleted {
        indexes_without_deleted(random, &name, &columns, &keys[0], sql);
    }
    // Rows of an heir may have keys of others.
    let has_heir = !is_partitioned && random.chance(5);
    if has_heir {
        let heir = format!("other.\"heir of {}\"", name.replace('"', ""));
        let _ = writeln!(sql, "CREATE TABLE {heir} (of_heir integer PRIMARY KEY) INHERITS ({name});");
        let _ =
            writeln!(sql, "INSERT INTO {heir} ({into}, of_heir) SELECT {values}, n FROM generate_series(1, 5) AS n;");
    }
    let key = &keys[0].columns;
    if !has_heir && random.chance(10) {
        let (view, key) = (format!("\"stored {}\"", name.replace('"', "")), list(key.iter().map(|one| one.0.as_str())));
        let _ = writeln!(sql, "CREATE MATERIALIZED VIEW {view} AS SELECT * FROM {name};");
        let _ = writeln!(sql, "CREATE UNIQUE INDEX ON {view} ({key});");
    }
    if random.chance(15) {
        let _ = writeln!(sql, "COMMENT ON TABLE {name} IS E'All \"\"\" of # it \\\\\\n{{ }} «日本» ';");
        let _ = writeln!(sql, "COMMENT ON COLUMN {name}.{} IS E'\\tA \"key\"\\\\';", quoted(&key[0].0));
    }
    Table { name, keys }
}

/// A key of one column or two.
fn key(random: &mut Random, columns: &mut Vec<Column>) -> Key {
    let mut key = Vec::new();
    for index in 0..=usize::from(random.chance(30)) {
        let (ty, value) = *random.pick(&KEY_TYPES);
        let name = if random.chance(50) { format!("k{index}_id") } else { format!("key{index}") };
        let is_identity = ty == "integer" && random.chance(30);
        let identity = if is_identity { " GENERATED ALWAYS AS IDENTITY" } else { "" };
        columns.push(Column {
            name: name.clone(),
            ty: format!("{ty} NOT NULL{identity}"),
            value: Some(value.to_owned()),
        });
        key.push((name, (ty, value)));
    }
    Key { columns: key, is_nullable: false }
}

/// A unique column with nulls.
fn nullable_key(random: &mut Random, columns: &mut Vec<Column>) -> Key {
    let (ty, value) = *random.pick(&KEY_TYPES);
    let name = "unique_".to_owned();
    let value_or_null = format!("CASE WHEN n % 4 <> 1 THEN {value} END");
    columns.push(Column { name: name.clone(), ty: ty.to_owned(), value: Some(value_or_null) });
    Key { columns: vec![(name, (ty, value))], is_nullable: true }
}

fn columns_without_keys(random: &mut Random, columns: &mut Vec<Column>) {
    for index in 0..random.below(6) {
        let (ty, value) = *random.pick(&TYPES);
        let (null, value) = if random.chance(30) {
            (" NOT NULL", value.to_owned())
        } else {
            ("", format!("CASE WHEN n % 4 <> 1 THEN {value} END"))
        };
        let mut name = match random.below(10) {
            0 | 1 => format!("Col {index}"),
            2..=4 => (*random.pick(&COLUMN_NAMES)).to_owned(),
            _ => format!("col_{index}"),
        };
        if columns.iter().any(|column| column.name == name) {
            name = format!("col_{index}");
        }
        columns.push(Column { name, ty: format!("{ty}{null}"), value: Some(value) });
    }
    if random.chance(15) {
        let of = quoted(&columns[random.below(columns.len())].name);
        let ty = format!("integer GENERATED ALWAYS AS (CASE WHEN {of} IS NULL THEN 1 ELSE 2 END) STORED");
        columns.push(Column { name: "generated".to_owned(), ty, value: None });
    }
}

/// Adds columns that refer to a key, and returns the constraint. Many rows refer to few, or each to one.
fn reference(random: &mut Random, to: (usize, &str), key: &Key, columns: &mut Vec<Column>) -> String {
    let (index, target) = to;
    let referred = *random.pick(&[2, 5, ROWS]);
    let (mut own, has_nulls) = (Vec::new(), random.chance(40));
    for (position, (column, (ty, value))) in key.columns.iter().enumerate() {
        let name = format!("f{index}_{position}_{column}");
        let types = referring(ty);
        let ty = if types.is_empty() { *ty } else { *random.pick(types) };
        // Of a key with nulls, rows 2 to 4 have values.
        let row = if key.is_nullable { "2 + n % 3".to_owned() } else { format!("1 + n % {referred}") };
        let mut value = format!("(SELECT {value} FROM (SELECT {row}) AS other (n))");
        if has_nulls && position == 0 {
            value = format!("CASE WHEN n % 5 <> 2 THEN {value} END");
        }
        columns.push(Column { name: name.clone(), ty: ty.to_owned(), value: Some(value) });
        own.push(name);
    }
    let columns = list(key.columns.iter().map(|(column, _)| column.as_str()));
    format!("FOREIGN KEY ({}) REFERENCES {target} ({columns})", list(own.iter().map(String::as_str)))
}

/// An index of the rows that are not deleted for each foreign key, in the order of the key or not.
fn indexes_without_deleted(random: &mut Random, name: &str, columns: &[Column], key: &Key, sql: &mut String) {
    let reference = |column: &Column| column.name.split_once('_').map(|(reference, _)| reference.to_owned());
    for number in ["f0", "f1", "f2", "f9"] {
        let own = columns.iter().filter(|column| reference(column).as_deref() == Some(number));
        let mut own: Vec<_> = own.map(|column| column.name.as_str()).collect();
        if own.is_empty() {
            continue;
        }
        let not_null = format!(" AND {} IS NOT NULL", quoted(own[0]));
        let filter = if random.chance(30) { not_null.as_str() } else { "" };
        if random.chance(50) {
            own.extend(key.columns.iter().map(|(column, _)| column.as_str()));
        }
        let own = list(own);
        let _ = writeln!(sql, "CREATE INDEX ON {name} ({own}) WHERE {} IS NULL{filter};", quoted(DELETED));
    }
}

/// Indexes that serve something, and indexes that serve nothing.
fn indexes(random: &mut Random, name: &str, columns: &[Column], key: &Key, sql: &mut String) {
    const UNSORTED: [&str; 4] = ["json", "point", "xml", "int2vector"];
    let is_sorted = |column: &&Column| {
        let ty = column.ty.split(' ').next().unwrap_or_default();
        !ty.contains("[]") && !UNSORTED.contains(&ty)
    };
    let indexed: Vec<_> = columns.iter().filter(is_sorted).collect();
    let key: Vec<_> = key.columns.iter().map(|(column, _)| column.as_str()).collect();
    for _ in 0..random.below(6) {
        let first = *random.pick(&indexed);
        let mut chosen = vec![first.name.as_str()];
        if random.chance(40) {
            chosen.push(&random.pick(&indexed).name);
        }
        if random.chance(70) {
            chosen.extend(&key);
        }
        let mut distinct: Vec<&str> = Vec::new();
        for column in chosen {
            if !distinct.contains(&column) {
                distinct.push(column);
            }
        }
        let direction = *random.pick(&["", "", "", "", "", "", "", "", " DESC", " NULLS FIRST"]);
        let filter =
            if random.chance(10) { format!(" WHERE {} IS NOT NULL", quoted(distinct[0])) } else { String::new() };
        let columns: Vec<_> = distinct.iter().map(|column| format!("{}{direction}", quoted(column))).collect();
        let columns = columns.join(", ");
        let is_text = first.ty.starts_with("text") || first.ty.starts_with("varchar");
        let _ = match random.below(12) {
            0 => writeln!(sql, "CREATE INDEX ON {name} (({} IS NULL), {columns}){filter};", quoted(distinct[0])),
            1 => writeln!(sql, "CREATE INDEX ON {name} ({columns}) INCLUDE ({}){filter};", list(key.iter().copied())),
            2 if is_text => {
                writeln!(sql, "CREATE INDEX ON {name} ({} COLLATE \"POSIX\"){filter};", quoted(distinct[0]))
            }
            3 if is_text && !first.ty.contains("same") => {
                writeln!(sql, "CREATE INDEX ON {name} ({} text_pattern_ops){filter};", quoted(distinct[0]))
            }
            _ => writeln!(sql, "CREATE INDEX ON {name} ({columns}){filter};"),
        };
    }
}
