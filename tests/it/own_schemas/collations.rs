//! Columns whose texts are compared by another collation than the database's: pages are in its order, and lose no row.

use crate::own_schemas::{OwnSchema, rows};

/// Capitals come before all small letters, or beside their own.
const COLLATIONS: [&str; 2] = ["C", "en-x-icu"];

#[tokio::test(flavor = "multi_thread")]
async fn searches_in_the_order_of_a_named_collation_find_each_row_once() {
    for (number, collation) in COLLATIONS.iter().enumerate() {
        let tables = format!(
            "CREATE TABLE word (word_id integer PRIMARY KEY, text text COLLATE \"{collation}\");
             CREATE INDEX ON word (text, word_id);
             INSERT INTO word SELECT n, (ARRAY['a', 'B', 'c', 'D', 'e', 'F'])[1 + n % 6] FROM generate_series(1, 30) AS n"
        );
        let schema = r#"
            type Query { words: [Word] @sort(key: "TEXT") @search(key: "text", compare: [EQUALS, IN, RANGE]) }
            type Word @relation(name: "word", key: ["word_id"]) { wordId: ID! text: String }"#;
        let own = OwnSchema::create(&format!("collation-{number}"), &tables, schema).await;
        assert_eq!(own.check(), "");
        let served = own.serve(&["--bucket-size", "1000000000"]);
        for (query, condition) in [
            ("text:>=B", "text >= 'B'"),
            ("text:>a text:<F", "text > 'a' AND text < 'F'"),
            ("text:<=c", "text <= 'c'"),
            ("text:D", "text = 'D'"),
            ("text:a,B,e,F", "text IN ('a', 'B', 'e', 'F')"),
        ] {
            for (reverse, backward, size) in [(false, false, 4), (true, false, 3), (false, true, 7), (true, true, 4)] {
                let direction = if reverse { "DESC" } else { "ASC" };
                let sql = format!(
                    "SELECT word_id::text FROM word WHERE {condition} ORDER BY word.text {direction}, word.word_id {direction}"
                );
                let arguments = format!("sortKey: TEXT, reverse: {reverse}, query: \"{query}\"");
                let pages = served.pages("words", &arguments, "wordId", size, backward);
                assert_eq!(pages.values, rows(&own.client, &sql).await, "{collation}: {query} {reverse} {backward}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collation_of_another_version_is_reported_with_what_mends_it() {
    let tables = r#"
        CREATE COLLATION public."of words" (provider = icu, locale = 'en');
        CREATE COLLATION unused (provider = icu, locale = 'de');
        CREATE TABLE word (word_id integer PRIMARY KEY, text text COLLATE "of words", other text COLLATE unused);
        CREATE INDEX ON word (text, word_id);
        CREATE INDEX "of one" ON word (text)"#;
    let schema = r#"
        type Query { words: [Word] @sort(key: "WORD_ID") }
        type Word @relation(name: "word", key: ["word_id"]) { wordId: ID! text: String }"#;
    let own = OwnSchema::create("collation-versions", tables, schema).await;
    let doctor = || own.run(&["doctor", "--schema", &own.file()]).stdout;
    let has = |text: &str, part: &str| assert!(text.contains(part), "{part} is not in {text}");
    has(&doctor(), "they sort as when the indexes were built");
    own.client
        .batch_execute("UPDATE pg_collation SET collversion = '0' WHERE collname IN ('of words', 'unused')")
        .await
        .unwrap();
    let of_collation = "the collation \"of words\" had the version 0 when its indexes were built";
    let remedy = "REINDEX INDEX CONCURRENTLY \"of one\"; REINDEX INDEX CONCURRENTLY word_text_word_id_idx; \
                  ALTER COLLATION \"of words\" REFRESH VERSION;";
    let found = doctor();
    has(&found, of_collation);
    has(&found, remedy);
    assert!(!found.contains("unused"), "{found}");
    let log = own.serve(&[]).server.stop();
    let warning = log.lines().find(|line| line.contains("had the version")).unwrap_or_else(|| panic!("{log}"));
    has(warning, &of_collation.replace('"', "\\\""));
    has(warning, &remedy.replace('"', "\\\""));
    for statement in remedy.split_inclusive("; ") {
        own.client.batch_execute(statement).await.unwrap();
    }
    has(&doctor(), "they sort as when the indexes were built");
    if rows(&own.client, "SELECT current_setting('server_version_num')::int >= 150000").await == [true] {
        let name = own.database.name();
        let update = format!("UPDATE pg_database SET datcollversion = '0' WHERE datname = '{name}'");
        own.client.batch_execute(&update).await.unwrap();
        let (of_database, remedy) = (
            "the database's collation had the version 0 when its indexes were built",
            format!("REINDEX DATABASE CONCURRENTLY {name}; ALTER DATABASE {name} REFRESH COLLATION VERSION;"),
        );
        let found = doctor();
        has(&found, of_database);
        has(&found, &remedy);
        has(&own.serve(&[]).server.stop(), of_database);
    }
}
