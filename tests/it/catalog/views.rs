//! What callers see who do not hold all grants of a schema file: nothing else than callers of a file that never had the rest.

use std::env;
use std::fmt::Write as _;
use std::sync::Arc;

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::compile::compiler::Compiler;
use orderql::compile::explanation::explain;
use orderql::limits::Limits;
use orderql::query::Request;
use orderql::schema_file::{BUILT_IN, SchemaFile};
use orderql_generator::choices::{Choices, bytes_of_seed};
use orderql_generator::generate::{Settings, generate};
use orderql_generator::mistake::make_mistakes;
use orderql_generator::redaction::{decorated, redacted, without_scopes};
use orderql_generator::values::Invented;

/// Random schema files, and random documents for each. `VIEW_FILES` sets another number of files.
const FILES: u64 = 24;
const DOCUMENTS: u64 = 60;

/// A schema whose fields need grants in every way.
const FILE: &str = r#"
type Query {
  order(orderId: ID, externalId: String): Order @point
  orderByNumber(number: ID! @column(name: "external_id")): Order @point
  orders: [Order]
    @search(key: "orderId") @search(key: "externalId", inOrderOf: ["TOTAL"]) @search(key: "total", compare: [RANGE], indexed: false)
    @search(key: "noteText", within: "note", by: ["order_id"], column: "text")
    @search(key: "email", within: "contact", by: ["order_id"], grant: ["CONTACTS"])
    @index(keys: ["orderId", "externalId"], inOrderOf: ["TOTAL"])
    @sort(key: "TOTAL") @sort(key: "ORDER_ID")
  notes: [Note] @search(key: "noteId") @sort(key: "TEXT")
  orderTotals: [Order] @totals(of: "orders", currency: "currency")
    @group(key: "orderId") @group(key: "partyName", field: "party.name") @sum(key: "total") @sum(key: "paid", money: true)
  "Nobody else sees it."
  secrets: [Secret] @sort(key: "ID") @grant(to: ["SECRETS", "NOTES"])
}
type Order @relation(name: "order", key: ["order_id"]) {
  orderId: ID!
  externalId: String @grant(to: ["IDS"])
  total: Decimal @grant(to: ["TOTALS"])
  partyId: ID @grant(to: ["IDS"])
  currency: ID @grant(to: ["TOTALS"])
  paid: Decimal
  party: Party @one(by: ["party_id"])
  noteCount: Int! @aggregate(countDistinct: "note_id", over: "notes")
  notes: [Note] @many(by: ["order_id"]) @sort(key: "TEXT")
}
type Note @relation(name: "note", key: ["note_id"]) {
  noteId: ID!
  text: String @grant(to: ["NOTES"])
  author: Author @one(by: ["author_id"])
}
type Author @relation(name: "author", key: ["author_id"]) { name: String @grant(to: ["NOTES"]) }
type Party @relation(name: "party", key: ["party_id"]) { partyId: ID! name: String }
type Secret @relation(name: "secret", key: ["id"]) { id: ID! }
"#;

fn view(file: &SchemaFile, held: &[&str]) -> Catalog {
    file.view(file.held(|name| held.contains(&name))).unwrap()
}

/// Everything that a client can learn of a request, and the statement that it runs.
fn outcome(catalog: &Catalog, request: &Request, limits: &Limits) -> String {
    format!("{:?}\n{:?}", compile(catalog, request, limits), explain(catalog, request, limits))
}

/// Everything that a catalog says, but for indexes by name, whose order is random.
fn contents(catalog: &Catalog) -> String {
    let mut text = catalog.sdl().to_owned();
    for (object, entity) in catalog.entities() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} {entity:#?}", object.name);
    }
    for (object, field, binding) in catalog.fields() {
        let _ = writeln!(text, "{} {field:#?} {binding:#?}", object.name);
    }
    text
}

#[test]
fn what_tells_of_a_hidden_column_is_hidden_too() {
    let file = SchemaFile::parse(FILE).unwrap();
    assert_eq!(file.grants(), ["CONTACTS", "IDS", "NOTES", "SECRETS", "TOTALS"]);
    let public = view(&file, &[]);
    for gone in [
        "externalId",
        "total:",
        "TOTAL\n",
        "party:",
        "type Party",
        "noteText",
        "email",
        "Author",
        "orderByNumber",
        "secrets",
        "Secret",
        "notes(",
        "partyName",
        "PAID",
    ] {
        assert!(!public.sdl().contains(gone), "{gone} is in\n{}", public.sdl());
    }
    for left in ["order(orderId: ID): Order", "enum OrderSortKey", "`orderId`: equals", "orderTotals("] {
        assert!(public.sdl().contains(left), "{left} is not in\n{}", public.sdl());
    }
    assert!(!public.sdl().contains("noteCount"), "{}", public.sdl());
    let notes = view(&file, &["NOTES"]);
    for left in ["notes(", "noteCount", "noteText", "author: Author", "secrets("] {
        assert!(notes.sdl().contains(left), "{left} is not in\n{}", notes.sdl());
    }
    let ids = view(&file, &["IDS", "CONTACTS"]);
    for left in ["orderByNumber(", "externalId: String", "party: Party", "`email`"] {
        assert!(ids.sdl().contains(left), "{left} is not in\n{}", ids.sdl());
    }
    let all = file.view(file.all_grants()).unwrap();
    assert_eq!(contents(&all), contents(&Catalog::parse(FILE).unwrap()));
}

#[test]
fn a_view_may_have_no_roots() {
    let file = "type Query { a: [A] @sort(key: \"ID\") @grant(to: [\"X\"]) } type A @relation(name: \"a\", key: [\"id\"]) { id: ID! }";
    let file = SchemaFile::parse(file).unwrap();
    let none = view(&file, &[]);
    let request = |query: &str| Request { query: query.to_owned(), ..Request::default() };
    assert!(
        compile(&none, &request("{ __typename __schema { queryType { fields { name } } } }"), &Limits::default())
            .is_ok()
    );
    assert!(compile(&none, &request("{ a(first: 1) { edges { cursor } } }"), &Limits::default()).is_err());
}

#[test]
fn rejects_a_schema_that_hides_a_column_of_a_key_or_misspells_grants() {
    let file = |fields: &str| {
        format!(
            "type Query {{ a: [A] @sort(key: \"ID\") }}\ntype A @relation(name: \"a\", key: [\"id\"]) {{\n  {fields}\n}}"
        )
    };
    for (fields, expected) in [
        ("id: ID! @grant(to: [\"X\"])", "3:3: `A.id` has the key's column `id`"),
        ("key: ID! @column(name: \"id\") @grant(to: [\"X\"])", "`A.key` has the key's column `id`"),
        ("id: ID! b: Int @grant", "@grant needs the argument `to`"),
        ("id: ID! b: Int @grant(to: [])", "@grant(to:) takes a list of strings, not empty"),
        ("id: ID! b: Int @grant(to: [\"/graphql\"])", "`/graphql` is no name"),
        ("id: ID! b: Int @grant(to: [\"X\"]) @grant(to: [\"Y\"])", "`@grant` is defined twice"),
        ("id: ID! b: Int @grants(to: [\"X\"])", "did you mean @grant?"),
    ] {
        let error = SchemaFile::parse(&file(fields)).unwrap_err().to_string();
        assert!(error.contains(expected), "{fields}: {error}");
    }
    let many =
        (0..65).map(|number| format!("f{number}: Int @grant(to: [\"X{number}\"]) ")).collect::<Vec<_>>().concat();
    let error = SchemaFile::parse(&file(&format!("id: ID! {many}"))).unwrap_err().to_string();
    assert!(error.contains("more than 64 names"), "{error}");
}

#[test]
fn a_view_equals_the_catalog_of_a_redacted_file_for_every_document() {
    let files = env::var("VIEW_FILES").map_or(FILES, |number| number.parse().unwrap());
    for seed in 0..files {
        let bytes = bytes_of_seed(seed, 4096);
        let mut choices = Choices::new(&bytes);
        let text = match seed % 3 {
            0 => without_scopes(BUILT_IN),
            1 => decorated(BUILT_IN, &mut choices),
            _ => decorated(FILE, &mut choices),
        };
        let file = SchemaFile::parse(&text).unwrap();
        let held: Vec<_> = file.grants().iter().filter(|_| choices.chance(40)).cloned().collect();
        if held.len() == file.grants().len() {
            continue;
        }
        let holds = |name: &str| held.iter().any(|held| held == name);
        let (whole, view) = (file.catalog().unwrap(), file.view(file.held(holds)).unwrap());
        let Some(redacted) = redacted(&text, holds) else {
            assert!(!view.fields().any(|(object, ..)| object.name == "Query"), "{seed}");
            continue;
        };
        let other = Catalog::parse(&redacted).unwrap_or_else(|error| panic!("{seed}: {error}\n{redacted}"));
        assert_eq!(contents(&view), contents(&other), "{seed}: {held:?}");
        for number in 0..DOCUMENTS {
            let bytes = bytes_of_seed(seed << 32 | number | 1 << 63, 600);
            let mut choices = Choices::new(&bytes);
            // Documents of the whole file name what is hidden.
            let source = if number % 3 == 0 { &view } else { &whole };
            let mut generated = generate(source, &Invented, Settings::default(), &mut choices);
            if number % 2 == 0 {
                make_mistakes(source, &mut generated, &mut Choices::new(&bytes[300..]));
            }
            let (request, limits) = (generated.request(), generated.limits);
            let of_view = outcome(&view, &request, &limits);
            assert_eq!(of_view, outcome(&other, &request, &limits), "{seed} {number}: {}", request.query);
        }
    }
}

#[test]
fn views_share_a_cache_and_not_its_operations() {
    let file = SchemaFile::parse(BUILT_IN).unwrap();
    let whole = Compiler::new(Arc::new(file.catalog().unwrap()), 1 << 20);
    let (notes, public) =
        (whole.for_view(Arc::new(view(&file, &["NOTES"]))), whole.for_view(Arc::new(view(&file, &[]))));
    let query = "{ order(orderId: 1) { notes(first: 1) { edges { node { noteInfo } } } } }";
    let request = Request { query: query.to_owned(), ..Request::default() };
    for _ in 0..2 {
        assert!(whole.compile(&request, &Limits::default()).is_ok());
        assert!(notes.compile(&request, &Limits::default()).is_ok());
        let error = public.compile(&request, &Limits::default()).unwrap_err().to_string();
        assert!(error.contains("notes"), "{error}");
    }
    let statistics = whole.cache_statistics();
    assert_eq!((statistics.texts.hits, statistics.bytes), (2, public.cache_statistics().bytes));
}

#[test]
fn the_specification_s_part_of_the_built_in_schema_needs_no_grant() {
    let public = view(&SchemaFile::parse(BUILT_IN).unwrap(), &[]);
    for query in [
        "{ order(orderId: 1) { orderName statusId orderDate grandTotal currencyUomId orderItemCount
             billToCustomer { firstName lastName } orderItems(first: 1) { edges { node { orderId } } }
             shipGroups(first: 1) { edges { node { shipFromAddress { address1 } shippingMethod { description }
               orderItems(first: 1) { edges { node { statusId } } } } } } } }",
        "{ inventoryLevels(first: 1, query: \"productId:1,2\") { edges { node { availableToPromise quantityOnHand } } } }",
        "{ order(externalId: \"1\") { orderId } shipment(externalId: \"1\") { shipmentId } return(externalId: \"1\") { returnId }
           facility(externalId: \"1\") { facilityId } party(externalId: \"1\") { partyId firstName } }",
    ] {
        let request = Request { query: query.to_owned(), ..Request::default() };
        compile(&public, &request, &Limits::default()).unwrap_or_else(|errors| panic!("{errors}"));
    }
    for hidden in [
        "OrderNote",
        "type Payment",
        "OrderContactMech",
        "shipToAddress",
        "giftMessage",
        "emailAddress",
        "paymentPreference",
    ] {
        assert!(!public.sdl().contains(hidden), "{hidden}");
    }
}
