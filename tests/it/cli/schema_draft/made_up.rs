//! Databases that nobody designed.

use std::fmt::Write as _;

use crate::support::random::Random;

/// Types of columns, each with an expression for the value of row `n`.
const TYPES: [(&str, &str); 30] = [
    ("integer", "n % 7"),
    ("smallint", "n"),
    ("bigint", "n * 10000000000"),
    ("numeric(12, 0)", "n % 5"),
    ("numeric(8, 3)", "n / 8.0"),
    ("double precision", "n / 4.0"),
    ("text", "'text ' || n % 6"),
    ("varchar(20)", "'v' || n"),
    ("uuid", "('00000000-0000-0000-0000-' || lpad((n % 9)::text, 12, '0'))::uuid"),
    ("boolean", "n % 3 = 0"),
    ("timestamptz", "'2020-02-28'::timestamptz + n * interval '7 hours 1 microsecond'"),
    ("timestamp", "'2020-02-28'::timestamp + n % 8 * interval '1 day'"),
    ("date", "'2020-02-28'::date + n"),
    ("real", "n / 10.0"),
    ("time", "'09:30'::time + n % 9 * interval '1 minute 1 microsecond'"),
    ("interval", "n % 8 * interval '1 day 25 hours'"),
    ("bytea", "decode(lpad(n::text, 8, '0'), 'hex')"),
    ("json", "('{\"a\": [' || n || E',\\n 0.5]}')::json"),
    ("jsonb", "'{}'::jsonb"),
    ("integer[]", "array_fill(n, ARRAY[n % 3])"),
    ("text[]", "ARRAY['a' || n, NULL, '\"']"),
    ("mood", "(enum_range(NULL::mood))[1 + n % 3]"),
    ("feeling", "(enum_range(NULL::mood))[1 + n % 2]"),
    ("mood[]", "ARRAY[(enum_range(NULL::mood))[1 + n % 3], NULL]"),
    ("feeling[]", "ARRAY[(enum_range(NULL::mood))[1 + n % 3]]::feeling[]"),
    ("inet", "'10.0.0.0'::inet + n % 5"),
    ("int4range", "int4range(n % 3, n)"),
    ("int4range[]", "ARRAY[int4range(n % 3, n), NULL]"),
    ("macaddr", "('08:00:2b:01:02:' || lpad(n::text, 2, '0'))::macaddr"),
    ("day[]", "ARRAY['2020-02-28'::date + n, NULL]::day[]"),
];

/// Types that keys can have, with an expression for the value of row `n`, which no other row has.
const KEY_TYPES: [(&str, &str); 10] = [
    ("integer", "n"),
    ("bigint", "n"),
    ("text", "'k' || n"),
    ("uuid", "('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid"),
    ("numeric(9, 0)", "n"),
    ("timestamptz", "'2020-01-01'::timestamptz + n * interval '1 second'"),
    ("date", "'2020-01-01'::date + n"),
    ("time", "'09:30'::time + n * interval '1 second'"),
    ("bytea", "decode(lpad(n::text, 8, '0'), 'hex')"),
    ("level", "(enum_range(NULL::level))[n]"),
];

/// Enums whose labels are not in alphabetical order, and domains.
const MADE_TYPES: &str = "
    CREATE TYPE mood AS ENUM ('so-so', 'fine', 'BAD');
    CREATE DOMAIN feeling AS mood;
    CREATE DOMAIN day AS date;
    DO $$ BEGIN EXECUTE (
        SELECT 'CREATE TYPE level AS ENUM (' || string_agg(quote_literal('level ' || n), ', ' ORDER BY n) || ')'
        FROM generate_series(1, 30) AS n
    ); END $$;
";

const NAMES: [&str; 14] = [
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
];

const ROWS: usize = 30;

struct Table {
    name: String,
    key: Vec<(String, &'static str, &'static str)>,
}

/// Statements that make some tables with keys, foreign keys and indexes, and some rows.
pub fn made_up(random: &mut Random) -> String {
    let mut sql = format!("CREATE SCHEMA other;{MADE_TYPES}");
    let mut tables: Vec<Table> = Vec::new();
    for number in 0..2 + random.below(5) {
        let schema = if random.chance(25) { "other." } else { "" };
        let mut name = format!("{schema}\"{}\"", random.pick(&NAMES));
        if tables.iter().any(|table| table.name == name) {
            name = format!("{schema}\"table_{number}\"");
        }
        tables.push(table(random, name, &tables, &mut sql));
    }
    sql
}

fn table(random: &mut Random, name: String, others: &[Table], sql: &mut String) -> Table {
    let has_key = random.chance(90);
    let mut columns: Vec<(String, String, String)> = Vec::new();
    let mut key = Vec::new();
    for index in 0..=usize::from(random.chance(30)) {
        let (ty, value) = *random.pick(&KEY_TYPES);
        let column = if random.chance(50) { format!("k{index}_id") } else { format!("key{index}") };
        columns.push((column.clone(), format!("{ty} NOT NULL"), value.to_owned()));
        key.push((column, ty, value));
    }
    for index in 0..random.below(6) {
        let (ty, value) = *random.pick(&TYPES);
        let (null, value) = if random.chance(30) {
            (" NOT NULL", value.to_owned())
        } else {
            ("", format!("CASE WHEN n % 4 <> 1 THEN {value} END"))
        };
        let column = if random.chance(20) { format!("Col {index}") } else { format!("col_{index}") };
        columns.push((column, format!("{ty}{null}"), value));
    }
    let mut constraints = Vec::new();
    for index in 0..random.below(3) {
        let Some(target) = (!others.is_empty()).then(|| random.pick(others)) else { break };
        let mut own = Vec::new();
        for (position, (column, ty, value)) in target.key.iter().enumerate() {
            let column_name = format!("f{index}_{position}_{column}");
            columns.push((column_name.clone(), (*ty).to_owned(), (*value).to_owned()));
            own.push((column_name, column.clone()));
        }
        let list = |names: Vec<String>| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let (by, to) = own.iter().cloned().unzip::<_, _, Vec<_>, Vec<_>>();
        constraints.push(format!("FOREIGN KEY ({}) REFERENCES {} ({})", list(by), target.name, list(to)));
    }
    let quoted = |columns: &[String]| columns.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let key_columns: Vec<_> = key.iter().map(|(column, _, _)| column.clone()).collect();
    // Others may refer to it.
    constraints.push(format!("{} ({})", if has_key { "PRIMARY KEY" } else { "UNIQUE" }, quoted(&key_columns)));
    let defined: Vec<_> = columns.iter().map(|(column, ty, _)| format!("\"{column}\" {ty}")).collect();
    let _ = writeln!(sql, "CREATE TABLE {name} ({}, {});", defined.join(", "), constraints.join(", "));
    let values: Vec<_> = columns.iter().map(|(_, _, value)| value.clone()).collect();
    let _ = writeln!(sql, "INSERT INTO {name} SELECT {} FROM generate_series(1, {ROWS}) AS n;", values.join(", "));
    indexes(random, &name, &columns, &key_columns, sql);
    Table { name, key }
}

fn indexes(random: &mut Random, name: &str, columns: &[(String, String, String)], key: &[String], sql: &mut String) {
    let indexed: Vec<_> = columns
        .iter()
        .filter(|(_, ty, _)| !ty.contains("[]") && ty.split(' ').next() != Some("json"))
        .map(|one| one.0.as_str())
        .collect();
    for _ in 0..random.below(6) {
        let mut chosen = vec![*random.pick(&indexed)];
        if random.chance(40) {
            chosen.push(*random.pick(&indexed));
        }
        if random.chance(70) {
            chosen.extend(key.iter().map(String::as_str));
        }
        let mut distinct: Vec<&str> = Vec::new();
        for column in chosen {
            if !distinct.contains(&column) {
                distinct.push(column);
            }
        }
        let direction = if random.chance(10) { " DESC" } else { "" };
        let filter = if random.chance(10) { format!(" WHERE \"{}\" IS NOT NULL", distinct[0]) } else { String::new() };
        let list: Vec<_> = distinct.iter().map(|column| format!("\"{column}\"{direction}")).collect();
        let _ = writeln!(sql, "CREATE INDEX ON {name} ({}){filter};", list.join(", "));
    }
}
