//! Catalogs for callers who see some rows only: every statement that reads a relation in a scope reads their rows only.

use std::fs;
use std::path::Path;

use orderql::catalog::Catalog;
use orderql::catalog::scope::RowScope;
use orderql::compile::explanation::explain;
use orderql::limits::Limits;
use orderql::query::bind::caller::Caller;
use orderql::query::{Request, Variables};
use orderql::schema_file::{BUILT_IN, SchemaFile};
use orderql::seal::Secret;
use orderql_generator::redaction::without_scopes;

use crate::support::built_in::collection_roots;

const FILE: &str = r#"
type Query {
  shop(shopId: ID!): Shop @point
  shopByName(name: String!): Shop @point(through: "app.shop_by_name")
  shops: [Shop] @sort(key: "SHOP_ID")
  sales: [Sale] @search(key: "name", column: "name", within: "public.shop", by: ["shop_id"]) @sort(key: "SALE_ID")
  goods: [Good] @search(key: "saleId", column: "sale_id", within: "sale_good", by: ["good_id"])
    @search(key: "shopId", within: "shop", by: ["good_id"]) @sort(key: "GOOD_ID")
}
type Shop @relation(name: "shop", key: ["shop_id"]) @scope(name: "region", by: "region") {
  shopId: ID!
  name: String
  sales: [Sale] @many(by: ["shop_id"])
}
type Sale @relation(name: "sale", key: ["sale_id"]) @scope(through: "Shop", by: "shop_id") {
  saleId: ID!
  shop: Shop @one(by: ["shop_id"])
}
"The same table by another name."
type OtherShop @relation(name: "public.shop", key: ["shop_id"]) { shopId: ID! name: String }
type Good @relation(name: "good", key: ["good_id"]) @scope(name: "region", open: true) {
  goodId: ID!
  best: OtherShop @one(by: ["best_shop_id"], to: ["shop_id"])
  first: Shop @one(by: ["first_shop_id"], to: ["shop_id"])
  shopCount: Int! @aggregate(countDistinct: "shop_id", over: "shops")
  shops: [Shop] @many(by: ["good_id"], through: "app.shop_of_good")
}
"#;

/// The statement of a query for a caller of one region.
fn statement(query: &str) -> String {
    let file = SchemaFile::parse(FILE).unwrap();
    let rows = RowScope::new([("region", Some(vec!["NORTH"]))].into_iter(), Secret::default());
    let catalog = file.limit(Catalog::parse(FILE).unwrap(), rows.limiting());
    let request = Request { query: query.to_owned(), ..Request::default() };
    explain(&catalog, &request, Caller { limits: &Limits::default(), rows: &rows }).unwrap().plan.sql().to_owned()
}

#[test]
fn every_relation_that_shows_rows_in_a_scope_is_limited() {
    for query in [
        "{ shop(shopId: 1) { name } }",
        "{ shopByName(name: \"x\") { name } }",
        "{ goods(first: 1) { edges { node { best { name } } } } }",
        "{ goods(first: 1) { edges { node { first { name } } } } }",
        "{ goods(first: 1) { edges { node { shopCount } } } }",
        // The sales of a shop that is seen.
        "{ shop(shopId: 1) { sales(first: 1) { edges { node { saleId } } } } }",
    ] {
        let sql = statement(query);
        let names = ["\"shop\"", "\"public\".\"shop\"", "\"app\".\"shop_by_name\"", "\"app\".\"shop_of_good\""];
        let read: usize = names.iter().map(|name| sql.matches(&format!("FROM {name} AS")).count()).sum();
        // Each relation once: where its rows are limited.
        let limited = sql.matches("AS NOT MATERIALIZED (SELECT * FROM").count();
        assert!(limited > 0 && read == limited, "{query}: {sql}");
    }
    // The shop of a sale that is seen, also if it is searched.
    for query in [
        "{ sales(first: 1) { edges { node { shop { name } } } } }",
        "{ sales(first: 1, query: \"name:x\") { edges { node { saleId } } } }",
    ] {
        let sql = statement(query);
        assert!(sql.contains("(SELECT TRUE FROM \"scope 2 shop\" AS x"), "{sql}");
    }
    assert!(!statement("{ goods(first: 1) { edges { node { goodId } } } }").contains("region"));
    // A root, and a list below a row, read all rows up to their windows, and return those that are searched for.
    for (query, relation) in [
        ("{ shops(first: 1) { edges { node { name } } } }", "\"shop\""),
        (
            "{ goods(first: 1) { edges { node { shops(first: 1) { edges { node { name } } } } } } }",
            "\"app\".\"shop_of_good\"",
        ),
    ] {
        let sql = statement(query);
        let read = sql.matches(&format!("FROM {relation} AS t")).count();
        assert!(
            read == 3 && sql.matches("t.\"region\" = $").count() == 1 && !sql.contains("\"scope "),
            "{query}: {sql}"
        );
    }
    // A look-up counts rows that are not seen, so that it ends, and reads those that are.
    let searched = statement("{ goods(first: 1, query: \"shopId:1\") { edges { node { goodId } } } }");
    let counted = "SELECT count(*) AS n FROM (\nSELECT FROM \"shop\" AS x";
    assert!(searched.contains(counted) && searched.matches("FROM \"shop\" AS").count() == 2, "{searched}");
}

/// The queries of `tests/plans` without scopes, the answers of docs/examples.md, and the searches of daily work in every order.
fn queries(catalog: &Catalog) -> Vec<Request> {
    let mut requests = Vec::new();
    for folder in ["tests/plans", "tests/questions"] {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "graphql") {
                let variables = fs::read_to_string(path.with_extension("variables.json"));
                let variables =
                    variables.map_or_else(|_| Variables::new(), |json| serde_json::from_str(&json).unwrap());
                let query = fs::read_to_string(&path).unwrap();
                requests.push(Request { query, variables, ..Request::default() });
            }
        }
    }
    let searches = include_str!("../../../benches/daily-searches.txt").lines();
    for (root, search) in searches.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": ")) {
        let (_, connection) = collection_roots(catalog).into_iter().find(|(name, _)| *name == root).unwrap();
        for sort_key in &connection.sort_keys {
            let arguments = format!("first: 50, sortKey: {}, query: {search:?}", sort_key.name);
            let query = format!("{{ {root}({arguments}) {{ edges {{ cursor }} pageInfo {{ endCursor }} }} }}");
            requests.push(Request { query, ..Request::default() });
        }
    }
    requests
}

#[test]
fn callers_whom_no_scope_limits_have_the_prices_and_statements_of_a_file_without_scopes() {
    let (whole, without) = (Catalog::built_in().unwrap(), Catalog::parse(&without_scopes(BUILT_IN)).unwrap());
    let requests = queries(&whole);
    assert!(requests.len() > 300, "{} queries", requests.len());
    let mut accepted = 0;
    for request in &requests {
        let explained = |catalog| explain(catalog, request, &Limits::UNLIMITED);
        let (of_whole, of_other) = (explained(&whole), explained(&without));
        assert_eq!(format!("{of_whole:#?}"), format!("{of_other:#?}"), "{}", request.query);
        accepted += usize::from(of_whole.is_ok());
    }
    assert!(accepted > 250, "{accepted} of {} queries", requests.len());
}

#[test]
fn rejects_files_whose_scopes_leave_rows_open() {
    for (right, wrong, expected) in [
        (" @scope(through: \"Shop\", by: \"shop_id\")", "", "rows of `Sale` belong to rows of `Shop`"),
        ("shop: Shop @one", "shop: Shop! @one", "`shop` is null for callers who do not see its `Shop`"),
        (
            "@scope(name: \"region\", by: \"region\")",
            "@scope(through: \"Sale\", by: \"sale_id\")",
            "leads to no type whose rows are limited",
        ),
        ("column: \"name\", within", "vocabulary: \"public.shop\", column: \"name\", within", "leave `vocabulary` out"),
    ] {
        assert!(FILE.contains(right), "{right}");
        let error = SchemaFile::parse(&FILE.replacen(right, wrong, 1)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(
        SchemaFile::parse(&FILE.replacen("through: \"Shop\", by: \"shop_id\"", "name: \"region\", open: true", 1))
            .is_ok()
    );
}
