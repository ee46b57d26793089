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
