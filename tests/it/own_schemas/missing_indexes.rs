//! The indexes that a draft lacks, as one script, and the comments about them that an update removes.

use crate::own_schemas::OwnSchema;

const TABLES: &str = "
    CREATE TABLE shop (shop_id integer PRIMARY KEY, name text);
    CREATE TABLE sale (sale_id integer PRIMARY KEY, shop_id integer REFERENCES shop, note text);
    CREATE TABLE receipt (receipt_id integer PRIMARY KEY, sale_id integer REFERENCES sale, words tsvector);
    CREATE INDEX ON receipt (sale_id);
    CREATE VIEW names AS SELECT shop_id, name FROM shop";

#[tokio::test(flavor = "multi_thread")]
async fn a_script_makes_what_a_draft_lacks_and_an_update_drops_its_comments() {
    let own = OwnSchema::create("missing-indexes", TABLES, "").await;
    let script = |purpose| {
        let run = own.run(&["schema", "draft", "--key", "names=shop_id", "--indexes", purpose]);
        assert!(run.succeeded, "{}", run.stderr);
        run.stdout
    };
    let lists = "CREATE INDEX CONCURRENTLY ON \"receipt\" (\"sale_id\", \"receipt_id\");\n\
                 CREATE INDEX CONCURRENTLY ON \"sale\" (\"shop_id\", \"sale_id\");\n";
    let mut sorted: Vec<_> = script("lists").lines().map(|line| format!("{line}\n")).collect();
    sorted.sort();
    assert_eq!(sorted.concat(), lists);
    let searches = script("searches");
    for statement in [
        "CREATE INDEX CONCURRENTLY ON \"receipt\" USING gin (\"words\");\n",
        "CREATE INDEX CONCURRENTLY ON \"sale\" (\"note\", \"sale_id\");\n",
        "CREATE INDEX CONCURRENTLY ON \"sale\" (\"shop_id\", \"sale_id\");\n",
        "CREATE INDEX CONCURRENTLY ON \"shop\" (\"name\", \"shop_id\");\n",
    ] {
        assert_eq!(searches.matches(statement).count(), 1, "{statement}\n{searches}");
    }
    let all = script("all");
    assert_eq!(all.lines().count(), 5, "{all}");

    let draft = own.run(&["schema", "draft"]).stdout;
    let mine = format!("{draft}# Mine: an index of my own: CREATE INDEX …;\n");
    own.write(
        &mine.replace("  name: String\n", "  name: String\n  # vanished: the role reads no column gone of shop\n"),
    );
    let updated = || own.run(&["schema", "draft", "--update", &own.file()]).stdout;
    assert_eq!(updated(), mine, "a mark of what is there again goes");
    for statement in all.lines() {
        own.client.batch_execute(statement).await.unwrap();
    }
    let text = updated();
    assert!(!text.contains("CREATE INDEX CONCURRENTLY") && text.contains("# Mine: an index"), "{text}");
    assert!(text.contains("    @search(key: \"words\", compare: [MATCHES])\n"), "{text}");
    own.write(&text);
    assert_eq!((own.check(), updated()), (String::new(), text));
    assert_eq!(script("all"), "");
    let both = own.run(&["schema", "draft", "--indexes", "all", "--update", &own.file()]);
    assert!(!both.succeeded && both.stderr.contains("cannot be used with"), "{}", both.stderr);
}
