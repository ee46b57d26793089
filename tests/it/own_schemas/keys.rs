//! Keys, collations and partitions: what identifies rows fits and is read as in SQL, and what does not is refused by name.

use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::own_schemas::{OwnSchema, rows};
use crate::support::server::connection_string;

const TABLES: &str = r#"
    CREATE TABLE nullable (code text UNIQUE, n integer);
    INSERT INTO nullable SELECT CASE WHEN n % 2 = 0 THEN 'c' || n END, n FROM generate_series(1, 6) AS n;
    CREATE TABLE pair (a text NOT NULL, b integer, UNIQUE (a, b));
    CREATE TABLE partly (a text UNIQUE NOT NULL, b integer);
    CREATE INDEX ON partly (a, b);
    CREATE TABLE parent (code text PRIMARY KEY, n integer);
    CREATE TABLE child (PRIMARY KEY (code)) INHERITS (parent);
    INSERT INTO parent VALUES ('a', 1);
    INSERT INTO child VALUES ('a', 2);
    CREATE TABLE bytes (code text NOT NULL, n integer);
    CREATE UNIQUE INDEX bytes_code ON bytes (code COLLATE "POSIX");
    CREATE INDEX ON bytes (code);
    CREATE TABLE pattern (code text NOT NULL, n integer);
    CREATE UNIQUE INDEX ON pattern (code text_pattern_ops);
    CREATE INDEX ON pattern (code);
    CREATE TABLE fit (code text COLLATE "POSIX" NOT NULL, n integer, UNIQUE (code));
    INSERT INTO fit SELECT chr(64 + n) || chr(97 + n % 3), n FROM generate_series(1, 50) AS n;
    CREATE TABLE posix (posix_id integer PRIMARY KEY, code text COLLATE "POSIX", plain text);
    CREATE TABLE c (code text COLLATE "C" PRIMARY KEY);
    CREATE TABLE plain (code text PRIMARY KEY);
    INSERT INTO c VALUES ('x');
    INSERT INTO posix VALUES (1, 'x', 'x');
    CREATE TABLE empty (at date NOT NULL, code text NOT NULL, n integer, PRIMARY KEY (at, code)) PARTITION BY RANGE (at);
    CREATE TABLE empty_part PARTITION OF empty FOR VALUES FROM ('2026-01-01') TO ('2027-01-01') PARTITION BY HASH (code);
    CREATE TABLE whole (code numeric(38, 0) PRIMARY KEY, n integer);
    INSERT INTO whole VALUES (12345678901234567890123456789012345678, 1), (-7, 2), (99999999999999999999999999999999999999, 3);"#;

/// A file with a list and a lookup of a relation by a key.
fn keyed(relation: &str, key: &str, fields: &str) -> String {
    let columns: Vec<_> = key.split(", ").map(|column| format!("\"{column}\"")).collect();
    let first = key.split(", ").next().unwrap_or_default();
    format!(
        r#"type Query {{ things: [Thing] @search(key: "{first}") @sort(key: "{}") }}
        type Thing @relation(name: "{relation}", key: [{}]) {{ {fields} }}"#,
        first.to_uppercase(),
        columns.join(", ")
    )
}

/// A file with an object that is joined by a column.
fn joined(by: &str, target: &str) -> String {
    format!(
        r#"type Query {{ posix(posixId: ID!): Posix @point }}
        type Posix @relation(name: "posix", key: ["posix_id"]) {{ posixId: ID! other: Other @one(by: ["{by}"], to: ["code"]) }}
        type Other @relation(name: "{target}", key: ["code"]) {{ code: ID! }}"#
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_identifies_rows_or_is_refused_with_the_reason_of_the_draft() {
    let own = OwnSchema::create("keys", TABLES, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    let code = "code: ID";
    for (relation, file, fault) in [
        (
            "nullable",
            keyed("nullable", "code", code),
            "(code) may be null, and a unique index allows any number of nulls",
        ),
        ("nullable", keyed("nullable", "code", "code: ID!"), "(code) may be null"),
        (
            "pair",
            keyed("pair", "a, b", "a: ID! b: Int"),
            "(b) may be null, and a unique index allows any number of nulls",
        ),
        (
            "",
            keyed("partly", "a, b", "a: ID! b: Int"),
            "(b) may be null, and a unique index allows any number of nulls",
        ),
        ("parent", keyed("parent", "code", code), "other tables inherit from it, so its key is not unique"),
        (
            "bytes",
            keyed("bytes", "code", code),
            "its unique index on (code) compares by another collation or operator class than the columns",
        ),
        (
            "pattern",
            keyed("pattern", "code", code),
            "its unique index on (code) compares by another collation or operator class than the columns",
        ),
        (
            "",
            joined("code", "c"),
            r#"posix.code of type text COLLATE "POSIX" with c.code of type text COLLATE "C", which do not compare: "#,
        ),
        (
            "",
            joined("code", "plain"),
            r#"posix.code of type text COLLATE "POSIX" with plain.code of type text, which do not compare by an index: "#,
        ),
        ("", joined("plain", "c"), ""),
        ("", joined("plain", "plain"), ""),
        ("", keyed("child", "code", code), ""),
        ("", keyed("fit", "code", code), ""),
        ("", keyed("empty", "at, code", "at: Date code: ID!"), ""),
        ("", keyed("empty", "code, at", "at: Date code: ID!"), "no index serves things(sortKey: CODE)"),
        ("", keyed("whole", "code", code), ""),
    ] {
        own.write(&file);
        let errors = own.check();
        assert!(errors.contains(fault) && errors.is_empty() == fault.is_empty(), "{file}\n{errors}");
        assert!(!errors.contains("make the field nullable"), "{errors}");
        let line = format!("# {relation}: {fault}");
        assert!(relation.is_empty() || draft.contains(&line), "{line}\n{draft}");
    }
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    let served = own.serve(&[]);
    for (root, table, field) in
        [("fits", "fit", "n"), ("wholes", "whole", "n"), ("empties", "empty", "n"), ("children", "child", "n")]
    {
        let expected = rows(
            &own.client,
            &format!("SELECT {field} FROM {table} ORDER BY {}", if table == "empty" { "at, code" } else { "code" }),
        )
        .await;
        for (size, backward) in [(1, false), (7, true), (100, false)] {
            if draft.contains(&format!("  {root}: [")) {
                assert_eq!(served.pages(root, "", field, size, backward).values, expected, "{root} by {size}");
            }
        }
    }
    for (code, n) in [
        ("12345678901234567890123456789012345678", json!({ "n": 1 })),
        ("-7", json!({ "n": 2 })),
        ("12345678901234567890123456789012345679", json!(null)),
    ] {
        let found = served.query(&format!("{{ whole(code: \"{code}\") {{ n }} }}"));
        assert_eq!(found["data"]["whole"], n, "{code}: {found}");
    }
}

async fn has_icu(client: &Client) -> bool {
    let icu = "SELECT EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i')";
    client.query_one(icu, &[]).await.unwrap().get(0)
}

const IGNORING_CASE: &str = "
    CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TABLE word (word_id integer PRIMARY KEY, word text COLLATE ci NOT NULL);
    CREATE INDEX ON word (word, word_id);
    CREATE TABLE name (word text COLLATE ci PRIMARY KEY, n integer);
    CREATE TABLE use (use_id integer PRIMARY KEY, word text COLLATE ci REFERENCES name);
    CREATE INDEX ON use (word, use_id);
    INSERT INTO word SELECT n, CASE WHEN n % 2 = 0 THEN 'a' ELSE 'A' END FROM generate_series(1, 18) AS n";

#[tokio::test(flavor = "multi_thread")]
async fn a_column_whose_collation_ignores_case_is_shown_and_never_compared() {
    let own = OwnSchema::create("nondeterministic", "", "").await;
    if !has_icu(&own.client).await {
        return;
    }
    own.client.batch_execute(IGNORING_CASE).await.unwrap();
    let word = r#"type Word @relation(name: "word", key: ["word_id"]) { wordId: ID! word: String!"#;
    let name = r#"type Name @relation(name: "name", key: ["word"]) { word: ID! n: Int }"#;
    let list = |directives: &str, more: &str| {
        format!("type Query {{ words: [Word] {directives} @sort(key: \"WORD_ID\") }} {word} {more}")
    };
    for (file, path) in [
        (list("", "}"), ""),
        (
            list("@search(key: \"word\")", "}"),
            "word.word has the collation public.ci, in which different texts are equal, and words(query: \"word:…\") compares it",
        ),
        (
            list("@sort(key: \"WORD\")", "}"),
            "word.word has the collation public.ci, in which different texts are equal, and words(sortKey: WORD) compares it",
        ),
        (
            list("", &format!("name: Name @one(by: [\"word\"]) }} {name}")),
            "name.word has the collation public.ci, in which different texts are equal, and Name compares it",
        ),
        (
            list("", "}").replace("{ words:", "{ find(word: ID!): Word @point words:"),
            "word.word has the collation public.ci, in which different texts are equal, and find(word:) compares it",
        ),
    ] {
        own.write(&file);
        let errors = own.check();
        assert!(errors.contains(path) && errors.is_empty() == path.is_empty(), "{file}\n{errors}");
    }
    let draft = own.run(&["schema", "draft"]).stdout;
    for line in [
        "# name: its key has columns that cannot be read in order: word: different texts are equal in its collation public.ci\n",
        "    # no search and no order by word: different texts are equal in its collation public.ci\n",
    ] {
        assert!(draft.contains(line), "{line}\n{draft}");
    }
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    let expected = rows(&own.client, "SELECT word FROM word ORDER BY word_id").await;
    let served = own.serve(&[]);
    for size in [1, 5, 18] {
        assert_eq!(served.pages("words", "", "word", size, false).values, expected);
    }
}

const PADDED: &str = "
    CREATE TABLE item (item_id integer PRIMARY KEY, code char(6), place char(3) NOT NULL);
    CREATE INDEX ON item (code, item_id);
    CREATE INDEX ON item (place, code, item_id);
    INSERT INTO item SELECT n, CASE WHEN n % 7 > 0 THEN 'c' || n % 40 END, 'p' || n % 3 FROM generate_series(1, 400) AS n";

#[tokio::test(flavor = "multi_thread")]
async fn a_padded_text_is_compared_in_its_own_type() {
    let own = OwnSchema::create("padded", PADDED, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    let served = own.serve(&["--bucket-size", "1000000000"]);
    for (search, condition) in [
        ("code:c5", "code = 'c5'"),
        ("code:c5,c6,'c6 ',c39", "code IN ('c5', 'c6', 'c39')"),
        ("place:p1,p2 code:c5,c8", "place IN ('p1', 'p2') AND code IN ('c5', 'c8')"),
        ("place:p1", "place = 'p1'"),
    ] {
        for (sort_key, order) in [("ITEM_ID", "item.item_id"), ("CODE", "code, item.item_id")] {
            let sql = format!("SELECT item_id::text FROM item WHERE {condition} ORDER BY {order}");
            let expected = rows(&own.client, &sql).await;
            for (size, backward) in [(3, false), (7, true), (100, false)] {
                let arguments = format!("sortKey: {sort_key}, query: \"{search}\"");
                let found = served.pages("items", &arguments, "itemId", size, backward).values;
                assert_eq!(found, expected, "{arguments} by {size}");
            }
        }
    }
    let query = "{ items(first: 5, sortKey: CODE, query: \"code:c5,c6\") { edges { node { itemId } } } }";
    let address = connection_string(&own.database.config());
    let explained = own.run(&["explain", "--analyze", "--schema", &own.file(), "--database-url", &address, query]);
    assert!(explained.stdout.contains("::bpchar[]") && !explained.stdout.contains("::text[]"), "{}", explained.stdout);
}

/// Columns of types that PostgreSQL compares by casting one of the two. `code` and `whole` are found by the others and not the other way round.
const CAST: &str = "
    CREATE TABLE country (code char(3) PRIMARY KEY, whole numeric(10, 0) NOT NULL UNIQUE);
    CREATE TABLE town (
        town_id integer PRIMARY KEY,
        country varchar(3) REFERENCES country,
        whole integer REFERENCES country (whole)
    );
    CREATE INDEX ON town (country, town_id);
    CREATE INDEX ON town (whole, town_id);
    INSERT INTO country SELECT 'c' || n, n FROM generate_series(1, 9) AS n;
    INSERT INTO town SELECT n, 'c' || 1 + n % 9, 1 + n % 9 FROM generate_series(1, 90) AS n";

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_joined_where_the_index_of_the_found_one_serves_that() {
    let own = OwnSchema::create("cast", CAST, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    for part in [
        "countryCountry: Country @one(by: [\"country\"], to: [\"code\"])",
        "wholeCountry: Country @one(by: [\"whole\"])",
        "country.code of type character(3) with town.country of type character varying(3), which do not compare by an index",
        "country.whole of type numeric(10,0) with town.whole of type integer, which do not compare by an index",
    ] {
        assert!(draft.contains(part), "{part}: {draft}");
    }
    let query = "{ towns(first: 2) { edges { node { townId countryCountry { code } } } } }";
    let response = own.serve(&[]).query(query);
    assert_eq!(response["data"]["towns"]["edges"][1]["node"]["countryCountry"]["code"], "c3 ", "{response}");
    let address = connection_string(&own.database.config());
    own.client.batch_execute("ANALYZE").await.unwrap();
    let explained = own.run(&["explain", "--analyze", "--schema", &own.file(), "--database-url", &address, query]);
    assert!(explained.succeeded, "{}", explained.stderr);
    for (list, left, right) in [
        (
            "by: [\"code\"], to: [\"country\"]",
            "country.code of type character(3)",
            "town.country of type character varying(3)",
        ),
        ("by: [\"whole\"], to: [\"whole\"]", "country.whole of type numeric(10,0)", "town.whole of type integer"),
    ] {
        let schema = format!(
            "type Query {{ country(code: ID!): Country @point }}
             type Country @relation(name: \"country\", key: [\"code\"]) {{ code: ID! whole: ID! towns: [Town] @many({list}) }}
             type Town @relation(name: \"town\", key: [\"town_id\"]) {{ townId: ID! country: ID whole: ID }}"
        );
        own.write(&schema);
        let refused = format!("Country.towns joins {left} with {right}, which do not compare by an index");
        let found = own.check();
        assert!(found.contains(&refused), "{found}");
    }
}

/// A key, and unique columns that are none: those of a country are referred to by a town, those of a region by one, too.
const UNIQUE: &str = "
    CREATE TABLE country (country_id integer PRIMARY KEY, code text NOT NULL UNIQUE, name text);
    CREATE TABLE region (region_id integer PRIMARY KEY, code text NOT NULL, place integer NOT NULL, UNIQUE (place, code));
    CREATE TABLE town (
        town_id integer PRIMARY KEY,
        code text REFERENCES country (code),
        place integer,
        FOREIGN KEY (code, place) REFERENCES region (code, place)
    );
    INSERT INTO country SELECT n, 'c' || n % 7, n FROM generate_series(1, 7) AS n;
    INSERT INTO region SELECT n, 'c' || n % 7, n / 7 FROM generate_series(1, 20) AS n;
    INSERT INTO town SELECT n, CASE WHEN n % 5 > 0 THEN 'c' || n % 7 END, n / 7 FROM generate_series(1, 20) AS n";

#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_found_by_unique_columns_that_are_no_key() {
    let own = OwnSchema::create("unique", UNIQUE, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    assert!(draft.contains("  country: Country @one(by: [\"code\"])\n"), "{draft}");
    assert!(draft.contains("  region: Region @one(by: [\"code\", \"place\"])\n"), "{draft}");
    let served = own.serve(&["--bucket-size", "1000000000"]);
    let query = "{ towns(first: 20) { edges { node { townId country { countryId } region { regionId } } } } }";
    let response = served.query(query);
    let edges = response["data"]["towns"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    let id = |edge: &Value, object: &str, id: &str| edge["node"][object][id].clone();
    let found: Vec<_> =
        edges.iter().map(|edge| json!([id(edge, "country", "countryId"), id(edge, "region", "regionId")])).collect();
    let sql = "SELECT jsonb_build_array(country_id::text, region_id::text) FROM town LEFT JOIN country USING (code) \
               LEFT JOIN region USING (code, place) ORDER BY town_id";
    assert_eq!(found, rows(&own.client, sql).await);
    // No other index finds the first of several countries.
    own.client
        .batch_execute("ALTER TABLE country DROP CONSTRAINT country_code_key CASCADE; CREATE INDEX ON country (code)")
        .await
        .unwrap();
    let refused = "no index serves Town.country: CREATE INDEX CONCURRENTLY ON \"country\" (\"code\", \"country_id\");";
    assert!(own.check().contains(refused), "{}", own.check());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_without_a_primary_key_is_served_by_a_declared_key() {
    let tables = "
        CREATE TABLE line (number integer NOT NULL, place text, note text);
        CREATE INDEX ON line (number, place);
        INSERT INTO line SELECT n / 3, 'p' || n % 3, n FROM generate_series(1, 30) AS n";
    let own = OwnSchema::create("no-key", tables, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    assert!(draft.contains("# line: it has no primary key; declare one: --key line=COLUMN,…\n"), "{draft}");
    let drafted = own.run(&["schema", "draft", "--key", "line=number,place"]).stdout;
    assert!(
        drafted.contains("# no unique index guarantees its key: serve it with --schema-constraints trusted\n"),
        "{drafted}"
    );
    own.write(&drafted);
    assert!(own.check().contains("has no unique index or constraint"), "{}", own.check());
    let expected = rows(&own.client, "SELECT note FROM line ORDER BY number, place").await;
    let trusted = own.serve(&["--schema-constraints", "trusted", "--bucket-size", "1000000000"]);
    assert_eq!(trusted.pages("lines", "", "note", 4, false).values, expected);
    let again = own.run(&["schema", "draft", "--update", &own.file()]);
    assert_eq!(again.stdout, drafted, "{}", again.stderr);
}

/// Indexes that have the rows of a shop, and those of a day, read from their ends; and one that has nulls at the wrong end.
const DESCENDING: &str = "
    CREATE TABLE shop (shop_id integer PRIMARY KEY);
    CREATE TABLE sale (sale_id integer PRIMARY KEY, shop_id integer REFERENCES shop, day date, place text);
    CREATE INDEX ON sale (shop_id DESC, sale_id DESC);
    CREATE INDEX ON sale (day DESC, sale_id DESC);
    CREATE INDEX ON sale (place NULLS FIRST, sale_id);
    INSERT INTO shop SELECT generate_series(1, 3);
    INSERT INTO sale
    SELECT n, n % 3 + 1, '2026-01-01'::date + n % 4, CASE WHEN n % 5 > 0 THEN 'p' || n % 5 END FROM generate_series(1, 40) AS n";

#[tokio::test(flavor = "multi_thread")]
async fn the_draft_and_the_check_take_indexes_that_are_read_from_their_ends() {
    let own = OwnSchema::create("descending", DESCENDING, "").await;
    let draft = own.run(&["schema", "draft"]).stdout;
    own.write(&draft);
    assert_eq!(own.check(), "", "{draft}");
    for part in [
        "  sales: [Sale] @many(by: [\"shop_id\"])\n",
        "    @sort(key: \"DAY\")\n",
        "# no index begins with place, to search and sort by: CREATE INDEX",
    ] {
        assert!(draft.contains(part), "{part}\n{draft}");
    }
    let served = own.serve(&["--bucket-size", "1000000000"]);
    for (order, backward) in [("DAY", false), ("SHOP_ID", true)] {
        let expected =
            rows(&own.client, &format!("SELECT sale_id::text FROM sale ORDER BY {order}, sale.sale_id")).await;
        assert_eq!(
            served.pages("sales", &format!("sortKey: {order}"), "saleId", 7, backward).values,
            expected,
            "{order}"
        );
    }
    own.write(&draft.replace("    @sort(key: \"DAY\")\n", "    @sort(key: \"DAY\")\n    @sort(key: \"PLACE\")\n"));
    assert!(own.check().contains("no index serves sales(sortKey: PLACE)"), "{}", own.check());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_constraint_that_was_never_checked_rules_out_no_nulls() {
    let own = OwnSchema::create("not-valid", "CREATE TABLE thing (id integer PRIMARY KEY, name text)", "").await;
    let alter = "INSERT INTO thing VALUES (1, NULL); ALTER TABLE thing ADD CONSTRAINT named NOT NULL name NOT VALID";
    let version: i32 =
        own.client.query_one("SELECT current_setting('server_version_num')::int", &[]).await.unwrap().get(0);
    if version < 180_000 {
        return;
    }
    own.client.batch_execute(alter).await.unwrap();
    let draft = own.run(&["schema", "draft"]).stdout;
    assert!(draft.contains("  name: String\n"), "{draft}");
    own.write(&draft.replace("name: String", "name: String!"));
    assert!(own.check().contains("thing.name may be null"), "{}", own.check());
}
