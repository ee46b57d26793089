//! The types of columns in made-up databases, each with an expression for the value of row `n`.

/// Types of columns.
pub const TYPES: [(&str, &str); 52] = [
    ("integer", "n % 7"),
    ("smallint", "n"),
    ("bigint", "n * 10000000000"),
    ("numeric(12, 0)", "n % 5"),
    ("numeric(8, 3)", "n / 8.0"),
    ("numeric", "n / 16.0"),
    ("double precision", "n / 4.0"),
    ("text", "'text ' || n % 6"),
    ("text COLLATE \"C\"", "(ARRAY['b', 'B', 'é', 'a b', ''])[1 + n % 5]"),
    ("text COLLATE same", "(ARRAY['b', 'B', 'a'])[1 + n % 3]"),
    ("varchar(20)", "'v' || n"),
    ("char(6)", "'c' || n % 4"),
    ("\"char\"", "'x'"),
    ("name", "'name ' || n % 3"),
    ("uuid", "('00000000-0000-0000-0000-' || lpad((n % 9)::text, 12, '0'))::uuid"),
    ("boolean", "n % 3 = 0"),
    ("timestamptz", "'2020-02-28'::timestamptz + n * interval '7 hours 1 microsecond'"),
    ("timestamp", "'2020-02-28'::timestamp + n % 8 * interval '1 day'"),
    ("timestamp(0)", "'2020-02-28'::timestamp + n % 8 * interval '1 day 0.6 seconds'"),
    ("date", "'2020-02-28'::date + n"),
    ("real", "n / 10.0"),
    ("time", "'09:30'::time + n % 9 * interval '1 minute 1 microsecond'"),
    ("timetz", "'09:30+02'::timetz"),
    ("interval", "n % 8 * interval '1 day 25 hours'"),
    ("bytea", "decode(lpad(n::text, 8, '0'), 'hex')"),
    ("json", "('{\"a\": [' || n || E',\\n 0.5]}')::json"),
    ("jsonb", "'{}'::jsonb"),
    ("integer[]", "array_fill(n, ARRAY[n % 3])"),
    ("text[]", "ARRAY['a' || n, NULL, '\"']"),
    ("char(3)[]", "ARRAY['a', NULL]::char(3)[]"),
    ("boolean[]", "ARRAY[n % 2 = 0, NULL]"),
    ("uuid[]", "ARRAY[md5(n::text)::uuid]"),
    ("mood", "(enum_range(NULL::mood))[1 + n % 3]"),
    ("feeling", "(enum_range(NULL::mood))[1 + n % 2]"),
    ("mood[]", "ARRAY[(enum_range(NULL::mood))[1 + n % 3], NULL]"),
    ("feeling[]", "ARRAY[(enum_range(NULL::mood))[1 + n % 3]]::feeling[]"),
    ("code", "'code ' || n % 4"),
    ("short_code", "'short ' || n % 5"),
    ("inet", "'10.0.0.0'::inet + n % 5"),
    ("int4range", "int4range(n % 3, n)"),
    ("int4range[]", "ARRAY[int4range(n % 3, n), NULL]"),
    ("int4multirange", "int4multirange(int4range(n, n + 2))"),
    ("macaddr", "('08:00:2b:01:02:' || lpad(n::text, 2, '0'))::macaddr"),
    ("day[]", "ARRAY['2020-02-28'::date + n, NULL]::day[]"),
    ("money", "n::money"),
    ("point", "point(n, 0.5)"),
    ("bit(4)", "B'1010'"),
    ("oid", "n::oid"),
    ("pair", "ROW(n, 'a \"b\"')::pair"),
    ("tsquery", "plainto_tsquery('simple', 'a b')"),
    ("xml", "('<a>' || n || '</a>')::xml"),
    ("int2vector", "'1 2'::int2vector"),
];

/// Types that keys can have, with an expression for the value of row `n`, which no other row has.
pub const KEY_TYPES: [(&str, &str); 17] = [
    ("integer", "n"),
    ("bigint", "n"),
    ("smallint", "n"),
    ("text", "'k' || n"),
    ("text COLLATE \"C\"", "'k' || n"),
    ("text COLLATE same", "'k' || n"),
    ("varchar(20)", "'k' || n"),
    ("char(6)", "'k' || n"),
    ("code", "'k' || n"),
    ("uuid", "('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid"),
    ("numeric(9, 0)", "n"),
    ("timestamptz", "'2020-01-01'::timestamptz + n * interval '1 second'"),
    ("date", "'2020-01-01'::date + n"),
    ("time", "'09:30'::time + n * interval '1 second'"),
    ("interval", "n * interval '25 hours'"),
    ("bytea", "decode(lpad(n::text, 8, '0'), 'hex')"),
    ("level", "(enum_range(NULL::level))[n]"),
];

/// Types of columns that may refer to a key of a type.
pub fn referring(key: &'static str) -> &'static [&'static str] {
    match key {
        "integer" | "bigint" | "smallint" => &["integer", "bigint", "smallint"],
        "numeric(9, 0)" => &["numeric(9, 0)", "numeric(9, 0)", "integer"],
        "text" => &["text", "text", "varchar(20)", "text COLLATE \"C\""],
        "varchar(20)" => &["varchar(20)", "text"],
        "text COLLATE \"C\"" => &["text COLLATE \"C\"", "text"],
        _ => &[],
    }
}

/// Enums whose labels are not in alphabetical order, domains, also of domains, a composite type, and a collation in which different texts
/// are equal.
pub const MADE_TYPES: &str = "
    CREATE COLLATION same (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TYPE mood AS ENUM ('so-so', 'fine', 'BAD');
    CREATE DOMAIN feeling AS mood;
    CREATE DOMAIN day AS date;
    CREATE DOMAIN code AS text CHECK (VALUE <> 'none');
    CREATE DOMAIN short_code AS code CHECK (length(VALUE) < 20);
    CREATE TYPE pair AS (a integer, b text);
    DO $$ BEGIN EXECUTE (
        SELECT 'CREATE TYPE level AS ENUM (' || string_agg(quote_literal('level ' || n), ', ' ORDER BY n) || ')'
        FROM generate_series(1, 30) AS n
    ); END $$;
";
