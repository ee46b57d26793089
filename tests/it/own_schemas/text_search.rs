//! Searches in text: the same rows as in SQL, whatever finds them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::own_schemas::{OwnSchema, Served, rows};
use crate::support::random::Random;

// Without autovacuum, the table has no statistics before the test makes them.
const TABLES: &str = "
    CREATE TABLE article (
        article_id integer PRIMARY KEY,
        shelf text NOT NULL,
        body text,
        words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED
    ) WITH (autovacuum_enabled = off);
    INSERT INTO article
        SELECT n, 'S' || n % 5, CASE WHEN n % 11 <> 0 THEN concat_ws(' ', 'The common article', 'word' || n % 7, 'runs to', 'shelves',
            CASE WHEN n % 400 = 3 THEN 'red shoes, and O''Neill''s rare-books' END, 'unique' || n) END
        FROM generate_series(1, 3000) AS n;
    CREATE INDEX article_words ON article USING gin (words);
    CREATE INDEX ON article (shelf, article_id);
    CREATE VIEW shelved AS SELECT article_id, shelf, body, words FROM article";

const SCHEMA: &str = r#"
type Query {
  articles: [Article]
    @search(key: "shelf", inOrderOf: ["ARTICLE_ID"])
    @search(key: "text", column: "words", compare: [MATCHES], language: "english", example: "\"red shoes\"")
    @search(key: "plain", column: "words", compare: [MATCHES])
    @sort(key: "ARTICLE_ID")
    @sort(key: "SHELF")
  articleTotals: [Article] @totals(of: "articles") @group(key: "shelf")
  shelved: [Shelved]
    @search(key: "shelf", indexed: false)
    @search(key: "text", column: "words", compare: [MATCHES], language: "pg_catalog.english")
    @sort(key: "ARTICLE_ID")
}
type Article @relation(name: "article", key: ["article_id"]) { articleId: ID!, shelf: String!, body: String }
type Shelved @relation(name: "public.shelved", key: ["article_id"]) { articleId: ID!, shelf: String! }
"#;

/// What is searched for, with the configuration's name in SQL and the key's.
const WORDS: [&str; 14] = [
    "common",
    "The Running",
    "word3",
    "shelf word5",
    "red shoes",
    "RED",
    "rare-books",
    "unique77",
    "unique1204 common",
    "unique12 unique13",
    "nothing",
    "the",
    "O'Neill",
    "common, article & !(shelves)",
];

/// Panics unless random searches have the rows that SQL has. Returns of how many pages a search ended before they were full.
async fn compare(own: &OwnSchema, served: &Served, root: &str, random: &mut Random) -> usize {
    let mut short = 0;
    for _ in 0..40 {
        let words = *random.pick(&WORDS);
        let (key, language) =
            if root == "articles" && random.chance(30) { ("plain", "simple") } else { ("text", "english") };
        let shelf = if random.chance(40) { Some(random.below(6)) } else { None };
        let (order, sort_key) = match (root, random.chance(30)) {
            ("articles", true) => ("shelf, article_id", "SHELF"),
            _ => ("article_id", "ARTICLE_ID"),
        };
        let reverse = random.chance(50);
        let of_shelf = shelf.map_or_else(String::new, |shelf| format!("shelf:S{shelf}"));
        let arguments = format!("query: \"{of_shelf} {key}:\\\"{words}\\\"\", sortKey: {sort_key}, reverse: {reverse}");
        let condition = shelf.map_or_else(String::new, |shelf| format!("AND shelf = 'S{shelf}'"));
        let direction = if reverse { " DESC" } else { "" };
        let sql = format!(
            "SELECT article_id::text AS value FROM article WHERE words @@ plainto_tsquery('{language}', '{}') {condition}
             ORDER BY {}",
            words.replace('\'', "''"),
            order.split(", ").map(|column| format!("{column}{direction}")).collect::<Vec<_>>().join(", ")
        );
        let expected = rows(&own.client, &sql).await;
        let size = *random.pick(&[7, 60, 100]);
        let pages = served.pages(root, &arguments, "articleId", size, random.chance(50));
        assert_eq!(pages.values, expected, "{root}({arguments}) by {size}");
        short += pages.short;
    }
    short
}

#[tokio::test(flavor = "multi_thread")]
async fn finds_the_rows_that_sql_finds() {
    let own = OwnSchema::create("text", TABLES, SCHEMA).await;
    assert_eq!(own.check(), "");
    let served = own.serve(&["--search-window", "2000", "--bucket-size", "1000000000"]);
    let random = &mut Random(7);
    let rare = || served.pages("articles", r#"query: "text:\"red shoes\"""#, "articleId", 5, false);
    // As long as PostgreSQL has no statistics of a table, none of its words is known to be rare.
    assert!(compare(&own, &served, "articles", random).await > 0);
    assert!(rare().short > 0);
    own.client.batch_execute("ANALYZE article").await.unwrap();
    compare(&own, &served, "articles", random).await;
    assert_eq!((rare().short, rare().count), (0, 2));
    // Of a view it never has.
    assert!(compare(&own, &served, "shelved", random).await > 0);
    // As if there were so many rows that a word has to be rare.
    let many = "UPDATE pg_class SET reltuples = 1e8 WHERE oid = 'article'::regclass";
    own.client.batch_execute(many).await.unwrap();
    assert!(compare(&own, &served, "articles", random).await > 0);
    let common = served.pages("articles", r#"query: "text:word3 shelf:S9""#, "articleId", 100, false);
    assert_eq!(common.values.len(), 0);
    let count = |words: &str| {
        let query = format!("{{ articles(first: 1, query: \"text:{words}\", countUpTo: 1000) {{ count }} }}");
        served.query(&query)["data"]["articles"]["count"].clone()
    };
    own.client.batch_execute("ANALYZE article").await.unwrap();
    assert_eq!(count("red"), rows(&own.client, "SELECT count(*) FROM article WHERE body LIKE '%red %'").await[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn adds_up_the_rows_that_sql_finds() {
    let own = OwnSchema::create("text-totals", TABLES, SCHEMA).await;
    own.client.batch_execute("ANALYZE article").await.unwrap();
    let served = own.serve(&["--search-window", "2000", "--bucket-size", "1000000000"]);
    for words in WORDS {
        let (mut counts, mut after, mut requests) = (BTreeMap::new(), Value::Null, 0);
        loop {
            let found = served.query(&format!(
                "{{ articleTotals(first: 9, groupBy: SHELF, query: \"text:\\\"{words}\\\"\", rows: 500, after: {after}) {{
                     groups {{ shelf count }} rowCount complete endCursor }} }}"
            ));
            requests += 1;
            let totals = &found["data"]["articleTotals"];
            for group in totals["groups"].as_array().unwrap_or_else(|| panic!("{found}")) {
                *counts.entry(group["shelf"].as_str().unwrap().to_owned()).or_insert(0) +=
                    group["count"].as_i64().unwrap();
            }
            if totals["complete"] == true {
                break;
            }
            assert_ne!(totals["endCursor"], after, "{found}");
            after = totals["endCursor"].clone();
        }
        let sql = format!(
            "SELECT shelf || ' ' || count(*) AS value FROM article
             WHERE words @@ plainto_tsquery('english', '{}') GROUP BY shelf ORDER BY shelf",
            words.replace('\'', "''")
        );
        let counts: Vec<Value> = counts.iter().map(|(shelf, count)| format!("{shelf} {count}").into()).collect();
        assert_eq!(counts, rows(&own.client, &sql).await, "{words}");
        let is_rare = ["red shoes", "RED", "rare-books", "unique77", "nothing", "O'Neill"].contains(&words);
        assert!(!is_rare || requests == 1, "{words}: {requests} requests");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_what_is_no_search_for_words() {
    let own = OwnSchema::create("text-refusals", TABLES, SCHEMA).await;
    let served = own.serve(&[]);
    let error = |term: &str| {
        let (code, message) =
            served.error(&format!("{{ articles(first: 1, query: \"{term}\") {{ edges {{ cursor }} }} }}"));
        format!("{code}: {message}")
    };
    let many = ["word"; 17].join(" ");
    for (term, expected) in [
        ("text:>red", "OPERATOR_NOT_ALLOWED: `text` does not take the comparator >; it takes matches"),
        ("text:red,blue", "OPERATOR_NOT_ALLOWED: `text` does not take the comparator in; it takes matches"),
        (
            "text:",
            "MALFORMED_QUERY: the search term `text:` at offset 0 has no value; write key:value or leave the term out",
        ),
        (
            "text:red*",
            "MALFORMED_QUERY: the search term `text:red*` at offset 0 has a `*`, and there is no pattern matching; a value in quotes is taken literally",
        ),
        (
            "text:'- &'",
            "MALFORMED_QUERY: the search term `text:'- &'` at offset 0 has a value that its key cannot take; expected words",
        ),
        (&format!("text:'{many}'"), "BAD_USER_INPUT: "),
        ("shelf:S1 red", "MALFORMED_QUERY: "),
    ] {
        let error = error(term);
        assert!(error.starts_with(expected), "{term}: {error}");
    }
    let query =
        format!("{{ articles(first: 1, query: \"text:'{}'\") {{ edges {{ cursor }} }} }}", ["word"; 16].join(" "));
    assert!(served.query(&query)["errors"].is_null());
    // Each term costs as much as one without a selective index.
    let cost = |search: &str| {
        let query = format!("{{ articles(first: 10, query: \"{search}\") {{ edges {{ node {{ articleId }} }} }} }}");
        served.query(&query)["extensions"]["cost"]["requestedQueryCost"].clone()
    };
    assert_eq!((cost("shelf:S1"), cost("shelf:S1 text:red")), (20.into(), 70.into()));
    let sdl = served.server.get("/rest/s1/graphql/sdl").body;
    let line = "- `text`: matches; `text:\"red shoes\"` (all words, in any order, by the text search configuration `english`) (costs 50 \
                more; pages may come short)";
    assert!(sdl.contains(line), "{sdl}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_names_what_a_search_for_words_lacks() {
    let own = OwnSchema::create("text-check", TABLES, SCHEMA).await;
    own.client.batch_execute("DROP INDEX article_words").await.unwrap();
    own.write(
        &SCHEMA.replace("pg_catalog.english", "klingon").replace(r#"key: "plain", column: "words""#, r#"key: "body""#),
    );
    let mut errors: Vec<_> = own.check().lines().skip(1).map(str::to_owned).collect();
    errors.sort_unstable();
    let expected = [
        "- article.body is of type text, which articles(query: \"body:…\") cannot search for words, as it is no tsvector: correct the \
         field's type or column in the schema file",
        "- no index serves articles(query: \"text:…\"): CREATE INDEX CONCURRENTLY ON \"article\" USING gin (\"words\");",
        "- there is no text search configuration `klingon`, by which shelved(query: \"text:…\") searches: correct `language` in the \
         schema file, or CREATE TEXT SEARCH CONFIGURATION \"klingon\" (…);",
    ];
    assert_eq!(errors, expected);
    own.write(&SCHEMA.replace(r#"language: "english","#, "indexed: true,"));
    assert!(own.check().contains("the search key `text`: `compare: [MATCHES]` searches a tsvector"), "{}", own.check());
}

const DRAFTED: &str = "
    CREATE TABLE letter (
        letter_id integer PRIMARY KEY,
        body text,
        title text,
        words tsvector GENERATED ALWAYS AS
            (setweight(to_tsvector('english', coalesce(title, '')), 'A') || to_tsvector('english', coalesce(body, ''))) STORED,
        \"Body Words\" tsvector,
        plain tsvector,
        hidden tsvector
    );
    CREATE TRIGGER letter_words BEFORE INSERT OR UPDATE ON letter
        FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger('Body Words', 'pg_catalog.german', 'body');
    CREATE INDEX ON letter USING gin (words);
    CREATE INDEX ON letter USING gin (\"Body Words\", plain);
    CREATE INDEX ON letter USING gin (hidden) WHERE letter_id > 7;
    INSERT INTO letter (letter_id, title, body, plain)
        VALUES (1, 'Running', 'Häuser und Schuhe', 'red:1'), (2, 'Walks', 'the shoes run', 'running:1');
    CREATE VIEW letters_view AS SELECT letter_id, words FROM letter";

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_searches_the_words_that_have_an_index() {
    let own = OwnSchema::create("text-draft", DRAFTED, "").await;
    let draft = own.run(&["schema", "draft", "--key", "letters_view=letter_id"]).stdout;
    for line in [
        "    @search(key: \"words\", compare: [MATCHES], language: \"english\")\n",
        "    @search(key: \"bodyWords\", column: \"Body Words\", compare: [MATCHES], language: \"german\")\n",
        "    @search(key: \"plain\", compare: [MATCHES])\n",
        "    # the words of plain are searched as they are; add `language` to plain if a text search configuration made them\n",
        "    # no index has the words of hidden: CREATE INDEX CONCURRENTLY ON \"letter\" USING gin (\"hidden\");\n",
        "    # no index has the words of words: declare the search where the table of the column has one (words)\n",
    ] {
        assert!(draft.contains(line), "{line}\n{draft}");
    }
    assert!(!draft.contains("no scalar for tsvector") && draft.matches("[MATCHES]").count() == 3, "{draft}");
    own.write(&draft);
    assert_eq!(own.check(), "");
    let updated = || own.run(&["schema", "draft", "--update", &own.file()]).stdout;
    assert_eq!(updated(), draft);
    let served = own.serve(&[]);
    for (term, id) in [("words:running", ["1", "2"].as_slice()), ("bodyWords:Haus", &["1"]), ("plain:running", &["2"])]
    {
        assert_eq!(served.pages("letters", &format!("query: \"{term}\""), "letterId", 5, false).values, id, "{term}");
    }
    // An update adds what is missing, and what has an index now.
    own.write(&draft.replace("    @search(key: \"words\", compare: [MATCHES], language: \"english\")\n", ""));
    own.client.batch_execute("CREATE INDEX ON letter USING gin (hidden)").await.unwrap();
    let added = updated();
    for key in ["words\", compare: [MATCHES], language: \"english\"", "hidden\", compare: [MATCHES]"] {
        assert_eq!(added.matches(&format!("@search(key: \"{key})")).count(), 1, "{key}\n{added}");
    }
    own.write(&added);
    assert_eq!((own.check(), updated()), (String::new(), added));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_is_the_same_where_a_backslash_escapes() {
    let own = OwnSchema::create("text-strings", DRAFTED, "").await;
    let draft = || own.run(&["schema", "draft"]);
    let before = draft().stdout;
    let setting = format!("ALTER DATABASE \"{}\" SET standard_conforming_strings = off", own.database.name());
    own.client.batch_execute(&setting).await.unwrap();
    let after = draft();
    assert_eq!((after.stderr.as_str(), after.stdout), ("", before));
}
