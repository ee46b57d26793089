//! `orderql schema diff`: its formats, its exit codes, and the built-in schema.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::command;
use crate::support::test_folder::TestFolder;

const OLD: &str = r#"type Query {
  cards: [Card] @search(key: "holder") @search(key: "number", compare: [EQUALS, RANGE]) @sort(key: "NUMBER")
}
type Card @relation(name: "card", key: ["card_id"]) {
  cardId: ID!
  number: Int!
  holder: String
  points: Decimal!
}
"#;

fn diff(arguments: &[&str]) -> Output {
    command::orderql().args(["schema", "diff"]).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A folder with the files of `documents` and a new schema, in which an edit is made.
fn folder(name: &str, from: &str, to: &str, documents: &[(&str, &str)]) -> (TestFolder, [String; 3]) {
    let folder = TestFolder::create(name);
    assert!(OLD.contains(from), "{from}");
    let path = |file: &str| folder.path().join(file).display().to_string();
    fs::write(path("old.graphql"), OLD).unwrap();
    fs::write(path("new.graphql"), OLD.replacen(from, to, 1)).unwrap();
    fs::create_dir(path("app")).unwrap();
    for (file, content) in documents {
        fs::write(folder.path().join("app").join(file), content).unwrap();
    }
    let paths = [path("old.graphql"), path("new.graphql"), path("app")];
    (folder, paths)
}

#[test]
fn reports_what_breaks_at_its_place_in_three_formats() {
    let documents = [
        ("a.graphql", "query Cards {\n  cards(first: 5) { edges { node { ...Card } } }\n}\n"),
        ("card.graphql", "fragment Card on Card {\n  cardId\n  points\n}\n"),
    ];
    let (_folder, [old, new, app]) = folder("schema-diff-breaks", "points: Decimal!", "score: Decimal!", &documents);
    let output = diff(&[&old, &new, "--documents", &app]);
    assert_eq!(output.status.code(), Some(1));
    let expected = format!(
        "Breaks\n  Cards ({app}/a.graphql:1:1)\n    {app}/card.graphql:3:3 GRAPHQL_VALIDATION_FAILED: Type \"Card\" has no field \
         \"points\"; it has holder, cardId, number, score, __typename\n    {app}/card.graphql:3 corrected: \
         __typename\nSchema\n  - Card.points\n  + Card.score: type Decimal!, column score\n"
    );
    assert_eq!(text(&output.stdout), expected);
    assert_eq!(text(&output.stderr), "orderql: the change of the schema is not acceptable for all operations\n");

    let output = diff(&[&old, &new, "--documents", &app, "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["acceptable"], &report["compared"]), (&json!(false), &json!(1)));
    let corrected = report["operations"][0]["corrected"].as_str().unwrap();
    assert!(corrected.contains("cardId\n") && !corrected.contains("points"), "{corrected}");
    let change = &report["operations"][0]["changes"][0];
    assert_eq!(change["class"], "breaks");
    assert_eq!(change["place"], json!({ "file": format!("{app}/card.graphql"), "line": 3, "column": 3 }));
    assert_eq!(change["error"]["extensions"]["fields"], json!(["holder", "cardId", "number", "score", "__typename"]));

    let output = diff(&[&old, &new, "--documents", &app, "--format", "github"]);
    let annotation =
        format!("::error file={app}/card.graphql,line=3,col=3,title=Breaks%3A Cards::GRAPHQL_VALIDATION_FAILED: ");
    assert!(text(&output.stdout).starts_with(&annotation), "{}", text(&output.stdout));
}

#[test]
fn fails_beyond_the_increase_that_is_allowed() {
    let manifest =
        r#"{"0a": "query Held($n: Int!) { cards(first: $n, query: \"holder:Ada\") { edges { node { cardId } } } }"}"#;
    let edit = ("@search(key: \"holder\")", "@search(key: \"holder\", indexed: false)");
    let (_folder, [old, new, app]) = folder("schema-diff-price", edit.0, edit.1, &[("relay.json", manifest)]);
    let manifest = format!("{app}/relay.json");
    let run = |more: &[&str]| diff(&[&[old.as_str(), &new, "--documents", &manifest], more].concat());
    let output = run(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let expected = format!(
        "More expensive\n  Held ({manifest}#0a:1:1)\n    2 to 200 → 52 to 250 credits; the bucket pays 15 → 12 polls a minute\n"
    );
    assert!(text(&output.stdout).starts_with(&expected), "{}", text(&output.stdout));
    assert!(!run(&["--max-increase", "20%"]).status.success());
    assert!(run(&["--max-increase", "2500%"]).status.success());
    let output = run(&["--max-cost", "210"]);
    assert!(
        text(&output.stdout).contains("over the limit of 210 for some values of its variables"),
        "{}",
        text(&output.stdout)
    );
    let back = diff(&[&new, &old, "--documents", &manifest, "--max-increase", "0"]);
    assert!(back.status.success() && text(&back.stdout).starts_with("Less expensive\n"), "{}", text(&back.stdout));
}

#[test]
fn nothing_changes_between_the_built_in_schema_and_itself() {
    let documents = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/questions");
    let output = diff(&["built-in", "built-in", "--documents", documents]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).starts_with("Nothing changes: "), "{}", text(&output.stdout));
    let missing = diff(&["built-in", "built-in", "--documents", "/no/such/folder"]);
    assert_eq!(
        text(&missing.stderr).lines().next(),
        Some("orderql: /no/such/folder cannot be read: No such file or directory (os error 2)")
    );
}
