//! `orderql schema draft`: a draft fits the database that it was made for, is the same each time, and its queries have the rows that
//! whole tables have.
//!
//! `MADE_UP_DATABASES` sets the number of made-up databases.

mod made_up;

use std::env;

use orderql::catalog::Catalog;
use orderql::preflight::stored_types;
use orderql_generator::choices::{Choices, bytes_of_seed};
use orderql_generator::generate::{Settings, generate};

use crate::cli::schema_draft::made_up::made_up;
use crate::execute::random_queries::check::Checker;
use crate::execute::random_queries::row_values::RowValues;
use crate::support::command::{orderql_on, run};
use crate::support::database::{Database, empty_database, migrated_database};
use crate::support::naive_resolver::tables::Tables;
use crate::support::random::Random;
use crate::support::test_folder::TestFolder;

/// The draft of a database.
fn draft(database: &Database) -> String {
    let drafted = run(orderql_on(database).args(["schema", "draft"]), "");
    assert!(drafted.succeeded, "{}", drafted.stderr);
    drafted.stdout
}

/// Panics unless the draft passes the check, and is the same again.
fn check(database: &Database, name: &str, draft_text: &str) {
    let folder = TestFolder::create(&format!("draft-{name}"));
    let file = folder.path().join("draft.graphql");
    std::fs::write(&file, draft_text).unwrap();
    let checked = run(orderql_on(database).args(["schema", "check"]).arg(&file), "");
    assert!(checked.succeeded, "{}\n{draft_text}", checked.stderr);
    assert_eq!(draft(database), draft_text);
}

/// Panics unless random queries over a draft have the responses of a resolver that has whole tables in memory.
async fn query(database: &Database, text: &str, queries: u64, seed: u64) {
    let client = database.connect().await;
    let catalog = Catalog::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let stored = stored_types(&client, &catalog).await.unwrap();
    let catalog = catalog.with_stored_types(&stored);
    let tables = Tables::read(&client, &catalog).await;
    let checker =
        Checker::with_catalog(database, &tables, Catalog::parse(text).unwrap().with_stored_types(&stored)).await;
    let (values, settings) = (RowValues(&tables), Settings { introspection: false, ..Settings::default() });
    for number in 0..queries {
        let length = 20 + usize::try_from(number).unwrap() * 53 % 900;
        let bytes = bytes_of_seed(seed << 32 | number, length);
        let generated = generate(&catalog, &values, settings, &mut Choices::new(&bytes));
        checker.check(&generated.request()).await.unwrap_or_else(|error| panic!("{seed} {number}: {error}\n{text}"));
    }
}

/// The draft with bounded lists so short that some rows have more.
fn bounded(draft: &str) -> String {
    draft.replace("atMost: 200", "atMost: 2")
}

/// Panics unless an update of the draft follows a change of the database, and fits it.
async fn update(database: &Database, draft_text: &str) {
    let folder = TestFolder::create("draft-update");
    let file = folder.path().join("draft.graphql");
    std::fs::write(&file, draft_text).unwrap();
    let updated = || run(orderql_on(database).args(["schema", "draft", "--update"]).arg(&file), "").stdout;
    assert_eq!(updated(), draft_text);
    let change = r#"CREATE TABLE "Genre" ("GenreId" integer PRIMARY KEY, "Name" text);
        ALTER TABLE "Track" ADD "GenreId" integer REFERENCES "Genre";
        CREATE INDEX ON "Track" ("GenreId", "TrackId");"#;
    let client = database.connect().await;
    client.batch_execute(change).await.unwrap();
    std::fs::write(&file, updated()).unwrap();
    let checked = run(orderql_on(database).args(["schema", "check"]).arg(&file), "");
    assert!(checked.succeeded, "{}", checked.stderr);
    for line in [
        "  genre: Genre @one(",
        "  tracks: [Track] @many(by: [\"GenreId\"])",
        "  genres: [Genre]",
        "    @sort(key: \"GENRE_ID\"",
    ] {
        assert!(updated().contains(line), "{line}\n{}", updated());
    }
    client.batch_execute("ALTER TABLE \"Track\" DROP \"GenreId\"; DROP TABLE \"Genre\"").await.unwrap();
    assert_eq!(updated().matches("# vanished:").count(), 2, "{}", updated());
}

#[tokio::test(flavor = "multi_thread")]
async fn drafts_a_shop_for_music() {
    let database = empty_database().await;
    database.connect().await.batch_execute(include_str!("draft/chinook.sql")).await.unwrap();
    let text = draft(&database);
    insta::assert_snapshot!(text);
    check(&database, "music", &text);
    update(&database, &text).await;
    query(&database, &text, 60, 1).await;
    query(&database, &bounded(&text), 60, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drafts_a_shop_for_films() {
    let database = empty_database().await;
    database.connect().await.batch_execute(include_str!("draft/pagila.sql")).await.unwrap();
    let text = draft(&database);
    insta::assert_snapshot!(text);
    check(&database, "films", &text);
    query(&database, &text, 60, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn drafts_the_tables_of_this_service() {
    let database = migrated_database().await;
    let text = draft(&database);
    let catalog = Catalog::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(catalog.entities().count() > 50, "{text}");
    for line in [
        "type OrderHeader @relation(name: \"order_header\", key: [\"order_id\"]) {",
        "  orderId: ID!",
        "    @search(key: \"statusId\", inOrderOf: [",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    check(&database, "service", &text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_of_a_made_up_database_fits_and_answers_as_its_tables_do() {
    let schemas = env::var("MADE_UP_DATABASES").map_or(4, |number| number.parse().unwrap());
    for seed in 0..schemas {
        let database = empty_database().await;
        let sql = made_up(&mut Random(seed));
        let client = database.connect().await;
        client.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{seed}: {error:?}\n{sql}"));
        let text = draft(&database);
        check(&database, &format!("made-up-{seed}"), &text);
        if text.contains("type Query") {
            query(&database, &text, 25, seed).await;
            query(&database, &bounded(&text), 25, seed).await;
        }
    }
}
