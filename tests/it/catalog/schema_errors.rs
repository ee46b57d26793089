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
        ("parts: [Part] @many(by: [\"thing_id\"])", "parts: [Part] @many(by: [\"thing_id\"], atMost: 0)"),
        ("parts: [Part] @many(by: [\"thing_id\"])", "parts: [Part] @many(by: [\"thing_id\"], atMost: 1001)"),
        ("parts: [Part] @many(by: [\"thing_id\"])", "parts: [Part]! @many(by: [\"thing_id\"], atMost: 7)"),
        (
            "parts: [Part] @many(by: [\"thing_id\"])",
            "parts: [Part] @many(by: [\"thing_id\"]) @sort(key: \"PART_ID\", ties: 0)",
        ),
        (
            "parts: [Part] @many(by: [\"thing_id\"])",
            "parts: [Part] @many(by: [\"thing_id\"], atMost: 7) @sort(key: \"PART_ID\", ties: 7)",
        ),
        (
            "parts: [Part] @many(by: [\"thing_id\"])",
            "parts: [Part]! @many(by: [\"thing_id\"]) @sort(key: \"PART_ID\", ties: 7)",
        ),
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
        ("type Part @relation", "type Part @scope(name: \"a\") @relation"),
        ("type Part @relation", "type Part @scope(name: \"a\", by: 5) @relation"),
        ("type Part @relation", "type Part @scope(name: \"a b\", by: \"part_id\") @relation"),
        ("type Part @relation", "type Part @scope(name: \"a\", by: \"part_id\", open: true) @relation"),
        ("type Part @relation", "type Part @scope(through: \"Thing\", name: \"a\", by: \"thing_id\") @relation"),
        ("type Part @relation", "type Part @scope(through: \"Whole\", by: \"thing_id\") @relation"),
        ("type Part @relation", "type Part @scope(through: \"Thing\", by: \"thing_id\") @relation"),
        ("type Part @relation", "type Part @scope(through: \"Part\", by: [\"thing_id\", \"part_id\"]) @relation"),
        ("type Thing @relation", "type Thing @scope(name: \"a\", by: \"name\") @relation"),
        ("type Thing @relation", "type Thing @scope(through: \"Part\", by: \"name\") @relation"),
        ("type Query {", "type Query @scope(name: \"a\", by: \"name\") {"),
        ("key: [\"thing_id\", \"part_id\"]", "key: []"),
        ("key: [\"thing_id\", \"part_id\"]", "key: [5]"),
        ("@many(by: [\"thing_id\"])", "@many(to: [\"thing_id\"])"),
        ("to: [\"thing_id\"])", "to: [\"thing_id\", \"name\"])"),
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
        ("thing(thingId: ID, name: String)", "thing(thingId: ID, name: JSON)"),
        ("  name: String", "  name: JSON"),
        ("  partId: ID!", "  partId: JSON!"),
        ("type Part @relation", "type Date @relation"),
        ("  partId: ID!", "  partId: ID!\n  thing: Date"),
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

#[test]
fn reports_errors_of_totals() {
    const TOTALS: &str = r#"type Query {
  sales: [Sale] @sort(key: "SALE_ID")
  shop(shopId: ID!): Shop @point
  saleTotals: [Sale] @totals(of: "sales", currency: "shop.currency")
    @group(key: "day", field: "soldAt", unit: DAY)
    @group(key: "name", field: "shop.name")
    @sum(key: "quantity")
    @sum(key: "amount", field: "quantity", times: "price", money: true)
}
type Sale @relation(name: "sale", key: ["sale_id"]) {
  saleId: ID!
  soldAt: DateTime
  quantity: Int
  price: Decimal
  shopId: ID
  shop: Shop @one(by: ["shop_id"])
}
type Shop @relation(name: "shop", key: ["shop_id"]) {
  shopId: ID!
  name: String
  currency: ID
}
"#;
    let catalog = Catalog::parse(TOTALS).unwrap();
    let query = "{ saleTotals(first: 3, groupBy: DAY, rows: 20) { groups { day currency amount } complete } }";
    let request = Request { query: query.to_owned(), ..Request::default() };
    // The shop is read for its currency.
    assert_eq!(explain(&catalog, &request, &Limits::default()).unwrap().estimate.cost(), 1 + 3 + 1 + 2 * 2);

    for (right, wrong, expected) in [
        (
            "of: \"sales\"",
            "of: \"sale\"",
            "4:3: @totals sums up the rows of `sale`, and there is no such list of `Sale` among the fields of Query",
        ),
        (
            "[Sale] @totals",
            "[Shop] @totals",
            "4:3: @totals sums up the rows of `sales`, and there is no such list of `Shop` among the fields of Query",
        ),
        ("[Sale] @totals", "Sale @totals", "4:3: lists are bound by @many"),
        ("of: \"sales\", ", "", "4:22: @totals needs the argument `of`"),
        ("field: \"soldAt\"", "field: \"sold\"", "4:3: `sold` leads from `Sale` to no column that is a moment"),
        ("field: \"soldAt\"", "field: \"price\"", "4:3: `price` leads from `Sale` to no column that is a moment"),
        ("unit: DAY", "unit: YEAR", "5:5: @group(unit:) takes DAY, WEEK or MONTH"),
        ("\"shop.name\"", "\"shop\"", "4:3: `shop` leads from `Sale` to no column that can be a key"),
        ("\"shop.name\"", "\"shopId.name\"", "4:3: `shopId.name` leads from `Sale` to no column that can be a key"),
        (
            "@sum(key: \"quantity\")",
            "@sum(key: \"soldAt\")",
            "4:3: `soldAt` leads from `Sale` to no column that is a number",
        ),
        (
            ", currency: \"shop.currency\"",
            "",
            "4:3: `amount` is a sum of money; @totals needs a `currency`, by which it is grouped",
        ),
        ("key: \"name\"", "key: \"day\"", "`saleTotals: day` is defined twice"),
        ("@sum(key: \"quantity\")", "@sort(key: \"DAY\")", "4:3: @search and @index are for collection roots"),
        (": [Sale] @sort", ": [Sale] @group(key: \"day\") @sort", "2:3: @search and @index are for collection roots"),
    ] {
        assert!(TOTALS.contains(right), "{right}");
        let error = Catalog::parse(&TOTALS.replacen(right, wrong, 1)).map(drop).unwrap_err().to_string();
        assert!(error.contains(expected), "{wrong}: {error}");
    }
    let keys =
        (0..32).map(|number| format!("@group(key: \"k{number}\", field: \"shopId\") ")).collect::<Vec<_>>().concat();
    let many = TOTALS.replacen("@group(key: \"name\"", &format!("{keys} @group(key: \"name\""), 1);
    let error = Catalog::parse(&many).map(drop).unwrap_err().to_string();
    assert_eq!(error, "4:3: @totals needs 1 to 32 group keys, that of the currency included");
}
