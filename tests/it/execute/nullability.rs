//! Nulls in non-null fields: which part of the response becomes null, and which errors it has.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use orderql::access::profile::Profile;
use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::database::pool::options::PoolOptions;
use orderql::database::pool::reader_pool::ReaderPool;
use orderql::execute::execute;
use orderql::execute::field_error::{MAX_FIELD_ERRORS, PathPart};
use orderql::execute::response_stream::{LastPart, Part, ResponseStream, StreamError, StreamedResponse};
use orderql::execute::response_writer::Progress;
use orderql::execute::row_limits::{Memory, RowLimits};
use orderql::execute::statement_log::StatementLog;
use orderql::limits::Limits;
use orderql::query::Request;
use serde_json::{Value, json};

use crate::support::database::{Database, migrated_database};
use crate::support::http::{GRAPHQL_JSON, JSON};
use crate::support::server::Server;
use crate::support::test_folder::TestFolder;
use crate::support::users::create_users;

/// Two orders with two items each, of which the first has no status; and stock with too large values of `days_to_ship`.
const ROWS: &str = "
    SET session_replication_role = replica;
    INSERT INTO order_header (order_id, status_id) VALUES ('BROKEN', NULL), ('WHOLE', 'ORDER_APPROVED');
    INSERT INTO order_item (order_id, order_item_seq_id, product_id) VALUES
        ('BROKEN', '00001', 'P'), ('BROKEN', '00002', 'P'), ('WHOLE', '00001', NULL), ('WHOLE', '00002', NULL);
    INSERT INTO facility (facility_id) VALUES ('F');
    INSERT INTO product_facility (product_id, facility_id, days_to_ship)
        SELECT 'P' || lpad(n::text, 2, '0'), 'F', CASE n % 2 WHEN 0 THEN n ELSE 3000000000 END
        FROM generate_series(0, 49) AS n;";

/// The built-in schema with a non-null `Order.statusId`.
fn order_status_non_null() -> String {
    let (before, order) = orderql::schema_file::BUILT_IN.split_once("type Order\n").unwrap();
    format!("{before}type Order\n{}", order.replacen("  statusId: ID\n", "  statusId: ID!\n", 1))
}

/// The result of a query.
struct QueryResult {
    data: Value,
    /// The path and the message of each error.
    errors: Vec<(Value, String)>,
    nullability_violations: u64,
    chunks: usize,
}

impl QueryResult {
    fn paths(&self) -> Vec<Value> {
        self.errors.iter().map(|(path, _)| path.clone()).collect()
    }
}

/// A schema and a database.
struct Fixture {
    catalog: Catalog,
    pool: ReaderPool,
    database: Database,
}

impl Fixture {
    async fn new(schema: &str) -> Self {
        let database = migrated_database().await;
        database.connect().await.batch_execute(ROWS).await.unwrap();
        let options =
            PoolOptions { database: database.config().into(), size: 1, shared: 0, wait: Duration::from_mins(1) };
        Self { catalog: Catalog::parse(schema).unwrap(), pool: ReaderPool::new(&options).unwrap(), database }
    }

    /// With the built-in schema, but for an order's status: non-null, although its column may be null.
    async fn built_in() -> Self {
        Self::new(&order_status_non_null()).await
    }

    /// Runs a query and writes the response in chunks of that many bytes.
    async fn run_in_chunks(&self, query: &str, chunk: usize) -> QueryResult {
        let request = Request { query: query.to_owned(), ..Request::default() };
        let compiled = compile(&self.catalog, &request, &Limits::default()).unwrap();
        let connection = self.pool.connection().await.unwrap();
        let mut limits = RowLimits { bytes: u64::MAX, memory: &mut |_| Memory::Held };
        let mut writer =
            execute(connection.into(), &compiled.plan, &StatementLog::default(), &mut limits).await.unwrap();
        let (mut bytes, mut chunks) = (Vec::new(), 1);
        loop {
            let mut out = Vec::new();
            let progress = writer.write(&mut out, chunk).unwrap();
            bytes.extend(out);
            match progress {
                Progress::More => chunks += 1,
                Progress::Done => break,
            }
        }
        let part = |part: &PathPart| match part {
            PathPart::Key(key) => json!(key),
            PathPart::Index(index) => json!(index),
        };
        let errors = writer.field_errors().iter();
        let errors = errors.map(|error| (error.path.iter().map(part).collect(), error.cause.to_string()));
        QueryResult {
            data: serde_json::from_slice(&bytes).unwrap(),
            errors: errors.collect(),
            nullability_violations: writer.field_error_count(),
            chunks,
        }
    }

    /// Runs a query whose response is written while so many rows of each step are in memory, in parts of a byte.
    async fn stream(&self, query: &str, rows: u16) -> Result<(Value, u64), StreamError> {
        let request = Request { query: query.to_owned(), ..Request::default() };
        let plan = compile(&self.catalog, &request, &Limits::default()).unwrap().plan;
        let mut stream = ResponseStream::new(StreamedResponse {
            connection: self.pool.connection().await.unwrap(),
            plan,
            log: Arc::default(),
            start: Vec::new(),
            first_part: 1,
            part: 1,
            rows: Some(rows),
            memory: Box::new(|_| Memory::Held),
        });
        let mut bytes = Vec::new();
        loop {
            match stream.next().await? {
                Part::More(part) => bytes.extend(part),
                Part::Last(LastPart { text, written }) => {
                    bytes.extend(text);
                    return Ok((serde_json::from_slice(&bytes).unwrap(), written.field_error_count()));
                }
            }
        }
    }

    /// Runs a query and writes the response at once.
    async fn run(&self, query: &str) -> QueryResult {
        let result = self.run_in_chunks(query, usize::MAX).await;
        assert_eq!(result.chunks, 1);
        result
    }
}

#[tokio::test]
async fn a_null_in_a_lookup_field_nulls_the_field_only() {
    let fixture = Fixture::built_in().await;
    let query = r#"{ a: order(orderId: "BROKEN") { orderId s: statusId } b: order(orderId: "WHOLE") { statusId } }"#;
    let result = fixture.run(query).await;
    assert_eq!(result.data, json!({"a": null, "b": {"statusId": "ORDER_APPROVED"}}));
    assert_eq!(result.paths(), [json!(["a", "s"])]);
    assert!(result.errors[0].1.contains("the schema declares a non-null value"), "{:?}", result.errors);
    let whole = fixture.run(r#"{ order(orderId: "BROKEN") { orderId } }"#).await;
    assert_eq!((whole.data, whole.nullability_violations), (json!({"order": {"orderId": "BROKEN"}}), 0));
}

#[tokio::test]
async fn a_null_in_a_row_of_a_root_connection_nulls_all_data() {
    let fixture = Fixture::built_in().await;
    let query =
        "{ __typename o: orders(first: 9, sortKey: ORDER_ID, reverse: true) { edges { n: node { statusId } } } }";
    let result = fixture.run(query).await;
    assert_eq!(result.data, Value::Null);
    assert_eq!(result.paths(), [json!(["o", "edges", 1, "n", "statusId"])]);
}

#[tokio::test]
async fn a_null_in_a_joined_object_nulls_the_object_in_its_row() {
    let fixture = Fixture::built_in().await;
    let query = "{ orders(first: 9, sortKey: ORDER_ID, reverse: true) { edges { node {
        orderId orderItems(first: 9) { edges { node { seq: orderItemSeqId order { orderId statusId } } } } } } } }";
    let result = fixture.run(query).await;
    let edges = &result.data["orders"]["edges"];
    let items = |order: usize| &edges[order]["node"]["orderItems"]["edges"];
    assert_eq!(
        items(0)[1]["node"],
        json!({"seq": "00002", "order": {"orderId": "WHOLE", "statusId": "ORDER_APPROVED"}})
    );
    for (index, seq) in ["00001", "00002"].into_iter().enumerate() {
        assert_eq!(items(1)[index]["node"], json!({"seq": seq, "order": null}));
    }
    let path = |item| json!(["orders", "edges", 1, "node", "orderItems", "edges", item, "node", "order", "statusId"]);
    assert_eq!(result.paths(), [path(0), path(1)]);
}

#[tokio::test]
async fn a_value_beyond_its_type_becomes_null_and_errors_are_limited() {
    let fixture = Fixture::built_in().await;
    let query = "{ inventoryLevels(first: 50) { edges { node { daysToShip } } } }";
    let result = fixture.run(query).await;
    let days = |index: usize| &result.data["inventoryLevels"]["edges"][index]["node"]["daysToShip"];
    assert_eq!((days(0), days(1), days(48), days(49)), (&json!(0), &Value::Null, &json!(48), &Value::Null));
    assert_eq!((result.nullability_violations, result.errors.len()), (25, MAX_FIELD_ERRORS));
    assert_eq!(result.paths()[19], json!(["inventoryLevels", "edges", 39, "node", "daysToShip"]));
    assert!(result.errors[0].1.contains("not a whole number of 32 bits"), "{:?}", result.errors);
}

#[tokio::test]
async fn nullable_fields_are_written_in_chunks_and_violations_are_found_before_the_first() {
    let fixture = Fixture::built_in().await;
    let nullable = "{ inventoryLevels(first: 50) { edges { node { productId daysToShip } } } }";
    let (whole, chunked) = (fixture.run(nullable).await, fixture.run_in_chunks(nullable, 100).await);
    assert!(chunked.chunks > 10, "{}", chunked.chunks);
    assert_eq!((chunked.data, chunked.errors, chunked.nullability_violations), (whole.data, whole.errors, 25));

    // The row with the null is the last one. The first chunk would be sent before it is written.
    let non_null = "{ orders(first: 9, sortKey: ORDER_ID, reverse: true) { edges { node { orderId statusId } } } }";
    let result = fixture.run_in_chunks(non_null, 1).await;
    assert_eq!((result.chunks, &result.data), (1, &Value::Null));
    assert_eq!(result.paths(), [json!(["orders", "edges", 1, "node", "statusId"])]);

    // Columns of a missing object are no violation.
    let missing = "{ orders(first: 9, sortKey: ORDER_ID) { edges { node { orderItems(first: 1) { edges { node {
        product { productId } order { orderId } } } } } } } }";
    let result = fixture.run_in_chunks(missing, 1).await;
    assert_eq!((result.chunks, result.nullability_violations), (2, 0), "{}", result.data);

    let correct = "UPDATE order_header SET status_id = 'ORDER_HELD' WHERE status_id IS NULL";
    fixture.database.connect().await.execute(correct, &[]).await.unwrap();
    let query = "{ orders(first: 9) { edges { node { statusId orderItems(first: 9) { edges { cursor } } } } } }";
    assert_eq!(fixture.run_in_chunks(query, 1).await.chunks, 4, "two orders of two items, with a chunk after each row");
}

#[tokio::test]
async fn a_streamed_response_is_right_or_breaks_off() {
    let fixture = Fixture::built_in().await;
    // The row with the null is the last one.
    let query = "{ orders(first: 9, sortKey: ORDER_ID, reverse: true) { edges { node { orderId statusId } } } }";
    assert_eq!(fixture.stream(query, 9).await.unwrap(), (Value::Null, 1));
    assert_eq!(fixture.stream(query, 1).await.unwrap(), (Value::Null, 1), "it is there before the first part is sent");
    // The order's items are written before its status, and are held back.
    let query = "{ a: orders(first: 9, sortKey: ORDER_ID) { edges { node {
        orderId orderItems(first: 9) { edges { node { orderItemSeqId } } } statusId } } } }";
    assert_eq!(fixture.stream(query, 1).await.unwrap(), (Value::Null, 1));
    // A null below a nullable object breaks nothing.
    let query = "{ orders(first: 9, sortKey: ORDER_ID, reverse: true) { edges { node {
        orderId orderItems(first: 9) { edges { node { seq: orderItemSeqId order { orderId statusId } } } } } } } }";
    let whole = fixture.run(query).await;
    assert_eq!(fixture.stream(query, 1).await.unwrap(), (whole.data, 2));
    let another = "INSERT INTO order_header (order_id, status_id) VALUES ('X', 'ORDER_HELD')";
    fixture.database.connect().await.execute(another, &[]).await.unwrap();
    let query = "{ orders(first: 9, sortKey: ORDER_ID, reverse: true) { edges { node { statusId } } } }";
    assert!(matches!(fixture.stream(query, 1).await, Err(StreamError::Write(_))));
    assert_eq!(fixture.stream(query, 9).await.unwrap(), (Value::Null, 1));
}

/// A schema with non-null objects and a non-null number of 32 bits.
const NON_NULL_SCHEMA: &str = r#"
type Query {
  order(orderId: ID!): Order! @point
  level(productId: ID!, facilityId: ID!): Level @point
}
type Order @relation(name: "order_header", key: ["order_id"]) {
  orderId: ID!
  items: [Item] @many(by: ["order_id"])
}
type Item @relation(name: "order_item", key: ["order_id", "order_item_seq_id"]) {
  orderId: ID!
  orderItemSeqId: ID!
  product: Product! @one(by: ["product_id"])
  order: Order! @one(by: ["order_id"])
}
type Product @relation(name: "product", key: ["product_id"]) { productId: ID! }
type Facility @relation(name: "facility", key: ["facility_id"]) { facilityId: ID! }
type Level @relation(name: "orderql.inventory_level", key: ["product_id", "facility_id"]) {
  productId: ID!
  facilityId: ID!
  daysToShip: Int!
  facility: Facility! @one(by: ["facility_id"])
  product: Product! @one(by: ["product_id"])
}
"#;

#[tokio::test]
async fn a_null_propagates_through_non_null_objects() {
    let fixture = Fixture::new(NON_NULL_SCHEMA).await;
    let result = fixture.run(r#"{ order(orderId: "NONE") { orderId } }"#).await;
    assert_eq!((result.data.clone(), result.paths()), (Value::Null, vec![json!(["order"])]));

    let items = r#"{ order(orderId: "WHOLE") { items(first: 9) { edges { node { order { orderId } } } } } }"#;
    let result = fixture.run(items).await;
    assert_eq!(result.data["order"]["items"]["edges"][1]["node"]["order"]["orderId"], "WHOLE");
    for chunk in [usize::MAX, 1] {
        let products = r#"{ order(orderId: "WHOLE") { items(first: 9) { edges { node {
            orderItemSeqId product { productId } } } } } }"#;
        let result = fixture.run_in_chunks(products, chunk).await;
        assert_eq!((result.chunks, result.data.clone()), (1, Value::Null));
        assert_eq!(result.paths(), [json!(["order", "items", "edges", 0, "node", "product"])]);
    }

    // The first violation decides the path. The rest of the nullable root is skipped.
    let level = r#"{ __typename level(productId: "P01", facilityId: "F") {
        facility { facilityId } days: daysToShip product { productId } } }"#;
    let result = fixture.run(level).await;
    assert_eq!(result.data, json!({"__typename": "Query", "level": null}));
    assert_eq!(result.paths(), [json!(["level", "days"])]);
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_with_field_errors_have_data_and_the_status_200() {
    let database = migrated_database().await;
    let client = database.connect().await;
    client.batch_execute(ROWS).await.unwrap();
    // Some 200 bytes for each order, so that the response has several chunks.
    let more = "INSERT INTO order_header (order_id, order_name, status_id)
        SELECT 'M' || lpad(n::text, 3, '0'), repeat('x', 100), 'ORDER_APPROVED' FROM generate_series(0, 99) AS n";
    client.batch_execute(more).await.unwrap();
    let profile = Profile { bucket_size: Some(10_000), max_cost: Some(10_000), ..Profile::default() };
    create_users(&mut database.connect().await, &[("demo", profile)]).await;
    let folder = TestFolder::create("nullable-status");
    let schema = folder.path().join("schema.graphql");
    fs::write(&schema, order_status_non_null()).unwrap();
    let flags = ["--schema", schema.to_str().unwrap(), "--schema-constraints", "trusted"];
    let server = Server::start(&database, &flags);
    let token = server.token("demo");
    for accept in [JSON, GRAPHQL_JSON] {
        let response = server.query_as(accept, &token, r#"{ order(orderId: "BROKEN") { statusId } }"#);
        assert_eq!(response.status, 200);
        let body = response.json();
        assert_eq!(body["data"], json!({"order": null}));
        let error = &body["errors"][0];
        assert_eq!(
            (&error["path"], &error["extensions"]),
            (&json!(["order", "statusId"]), &json!({"code": "INTERNAL_SERVER_ERROR"}))
        );
        assert_eq!(body["extensions"]["cost"]["requestedQueryCost"], 2);

        let response = server.query_as(
            accept,
            &token,
            "{ orders(first: 100, sortKey: ORDER_ID) { edges { node { statusId } } } }",
        );
        assert_eq!((response.status, &response.json()["data"]), (200, &Value::Null));
    }
    // With each name eight times, a page has several chunks. The order with the null is the first in ascending order, and not
    // on the page in descending order.
    let fields = (0..8).fold(String::new(), |fields, copy| fields + &format!(" n{copy}: orderName i{copy}: orderId"));
    let page = |first: u32, reverse| {
        let query = format!(
            "{{ orders(first: {first}, sortKey: ORDER_ID, reverse: {reverse}) {{ edges {{ node {{ statusId{fields} }} }} }} }}"
        );
        server.query(&token, &query)
    };
    let (with_null, without) = (page(100, false), page(100, true));
    assert_eq!(with_null.json()["data"], Value::Null);
    assert_eq!(with_null.json()["errors"][0]["path"], json!(["orders", "edges", 0, "node", "statusId"]));
    assert!(without.body.len() > 64 * 1024 && without.header("content-length").is_none());
    assert_eq!(
        (&without.json()["errors"], without.json()["data"]["orders"]["edges"][99].is_object()),
        (&Value::Null, true)
    );

    client.batch_execute("UPDATE order_header SET status_id = NULL WHERE order_id = 'M001'").await.unwrap();
    let last = page(100, true);
    assert_eq!((last.status, &last.json()["data"]), (200, &Value::Null), "the last row of the page has the null");
    let log = server.stop();
    let warnings = log.lines().filter(|line| line.contains("nulls in non-null fields")).count();
    assert_eq!(warnings, 6, "{log}");
    let promise = "Order.statusId is non-null, but order_header.status_id may be null";
    assert!(log.contains("a promise of the schema is trusted") && log.contains(promise), "{log}");
}
