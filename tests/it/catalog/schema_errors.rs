//! Errors in schema files.

use std::fmt::Write as _;

use orderql::catalog::Catalog;
use orderql::compile::explanation::explain;
use orderql::limits::Limits;
use orderql::query::Request;

const SCHEMA: &str = r#"type Query {
  thing(thingId: ID, name: String): Thing @point
  things: [Thing] @search(key: "name") @sort(key: "NAME")
}
type Thing @relation(name: "thing", key: ["thing_id"]) {
  thingId: ID!
  name: String
  count: Int @aggregate(countDistinct: "part_id", over: "parts")
  parts: [Part] @many(by: ["thing_id"])
  whole: Thing @one(by: ["name"], to: ["thing_id"])
}
type Part @relation(name: "part", key: ["thing_id", "part_id"]) {
  partId: ID!
}
"#;

#[test]
fn compiles_queries_for_a_schema_of_its_own() {
    let catalog = Catalog::parse(SCHEMA).unwrap();
    let query = r#"{ things(first: 2, query: "name:x") { edges { node { count parts(last: 1) { edges { cursor } } whole { whole { name } } } } } }"#;
    let request = Request { query: query.to_owned(), ..Request::default() };
    let explanation = explain(&catalog, &request, &Limits::default()).unwrap();
    assert_eq!(explanation.estimate.cost(), 2 * (1 + 5 + 1 + (1 + 1 + 1)));
    assert_eq!(explanation.plan.steps().len(), 2);
}

#[test]
fn reports_errors_with_their_location() {
    let mut report = String::new();
    for (right, wrong) in [
        ("type Query {", "type Query {{"),
        ("type Query {", "type Root {"),
        ("type Part @relation", "interface Part @relation"),
        ("type Part @relation", "input More { a: Int }\ntype Part @relation"),
        ("type Part @relation", "extend type Thing { more: Int }\ntype Part @relation"),
        ("type Part @relation", "schema { query: Query }\ntype Part @relation"),
        ("type Part @relation", "type Thing @relation"),
        ("  partId: ID!", "  partId: ID!\n  partId: ID!"),
        ("  partId: ID!", "  partId: ID!\n  part: Piece"),
        ("  partId: ID!", "  partId: ID!\n  pieces: [Piece] @many(by: [\"part_id\"])"),
        ("  partId: ID!", "  partId: ID!\n  pieces: [[Thing]] @many(by: [\"part_id\"])"),
        ("  partId: ID!", "  partId: ID!\n  thing: Thing"),
        ("  partId: ID!", "  partId: ID!\n  thing: Thing @one(by: [\"thing_id\"]) @column(name: \"x\")"),
        ("  partId: ID!", "  partId: ID!\n  thing: Thing @joined"),
        (" @relation(name: \"part\", key: [\"thing_id\", \"part_id\"])", ""),
        ("@relation(name: \"part\", key: [\"thing_id\", \"part_id\"])", "@relation(name: \"part\")"),
        ("@relation(name: \"part\",", "@relation(name: 5,"),
        ("type Part @relation", "type Part @part(of: \"Whole\", by: \"thing_id\") @relation"),
        ("type Part @relation", "type Part @part(of: \"Part\", by: \"thing_id\") @relation"),
        ("type Part @relation", "type Part @part(of: \"Query\", by: \"thing_id\") @relation"),
        ("type Part @relation", "type Part @part(of: \"Thing\") @relation"),
        ("type Part @relation", "type Part @part(of: \"Thing\", by: \"thing_id\", key: \"thing_id\") @relation"),
        ("type Part @relation", "type Part @part(of: \"Thing\", by: \"thing_id\") @relation"),
        ("key: [\"thing_id\", \"part_id\"]", "key: []"),
        ("key: [\"thing_id\", \"part_id\"]", "key: [5]"),
        ("@many(by: [\"thing_id\"])", "@many(to: [\"thing_id\"])"),
        ("to: [\"thing_id\"])", "to: [\"thing_id\", \"name\"])"),
        ("countDistinct: \"part_id\"", "countDistinct: \"colour\""),
        ("over: \"parts\"", "over: \"whole\""),
        ("over: \"parts\"", "over: \"pieces\""),
        ("count: Int", "count: Decimal"),
        ("@search(key: \"name\")", "@search(key: \"colour\")"),
        ("@search(key: \"name\")", "@search(key: \"name\", compare: [LIKE])"),
        ("@search(key: \"name\")", "@search(key: \"name\", indexed: 1)"),
        ("@sort(key: \"NAME\")", "@sort(key: \"COLOUR\")"),
        ("@sort(key: \"NAME\")", ""),
        ("  partId: ID!", "  partId: ID! @sort(key: \"PART_ID\")"),
        ("(thingId: ID, name: String)", ""),
        ("(thingId: ID, name: String)", "(thingId: ID!, name: String)"),
        ("(thingId: ID, name: String)", "(thingId: Thing, name: String)"),
        ("thing(thingId: ID, name: String): Thing @point", "thing(thingId: ID, name: String): Thing"),
    ] {
        assert!(SCHEMA.contains(right), "{right}");
        let result = match Catalog::parse(&SCHEMA.replacen(right, wrong, 1)) {
            Ok(_) => "valid".to_owned(),
            Err(error) => error.to_string(),
        };
        let (wrong, result) = (wrong.trim().replace('\n', "⏎"), result.replace('\n', "⏎"));
        let _ = writeln!(report, "{} → {wrong}\n    {result}", right.trim());
    }
    insta::assert_snapshot!(report);
}

#[test]
fn a_vocabulary_lists_text() {
    let schema = SCHEMA.replace("@search(key: \"name\")", "@search(key: \"name\", vocabulary: \"names\")");
    assert!(Catalog::parse(&schema).is_ok());
    let error = Catalog::parse(&schema.replace("  name: String\n", "  name: Boolean\n")).unwrap_err();
    assert_eq!(error.to_string(), "3:3: `vocabulary` is for keys of the type ID or String; `name` has another");
}

#[test]
fn names_the_place_of_a_syntax_error_once() {
    let error = Catalog::parse("type Query {\n  things: [Thing").unwrap_err().to_string();
    assert!(error.starts_with("2:") && error.contains(": not a schema document: Unexpected"), "{error}");
    assert!(!error.contains(" at ") && !error.contains("1:1"), "{error}");
}
