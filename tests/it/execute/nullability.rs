//! Rows that break the schema's promises: what becomes null, and what is told.

use std::time::Duration;

use orderql::access::accounts::{User, ensure_user};
use orderql::access::password::Passwords;
use orderql::access::profile::Profile;
use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::database::options::PoolOptions;
use orderql::database::pool::Pool;
use orderql::execute::execute;
use orderql::execute::field_error::{MAX_FIELD_ERRORS, PathPart};
use orderql::execute::response_writer::Progress;
use orderql::limits::Limits;
use orderql::query::Request;
use serde_json::{Value, json};

use crate::support::database::{Database, migrated_database};
use crate::support::server::Server;

/// Two orders, of which the first has no status, with two items each; and stock that takes too many days to ship.
const ROWS: &str = "
    SET session_replication_role = replica;
    INSERT INTO order_header (order_id, status_id) VALUES ('BROKEN', NULL), ('WHOLE', 'ORDER_APPROVED');
    INSERT INTO order_item (order_id, order_item_seq_id, product_id) VALUES
        ('BROKEN', '00001', 'P'), ('BROKEN', '00002', 'P'), ('WHOLE', '00001', NULL), ('WHOLE', '00002', NULL);
    INSERT INTO facility (facility_id) VALUES ('F');
    INSERT INTO product_facility (product_id, facility_id, days_to_ship)
        SELECT 'P' || lpad(n::text, 2, '0'), 'F', CASE n % 2 WHEN 0 THEN n ELSE 3000000000 END
        FROM generate_series(0, 49) AS n;";

/// What a query came to.
struct Answered {
    data: Value,
    /// Path and message of each fault that is told.
    faults: Vec<(Value, String)>,
    nullability_violations: u64,
    parts: usize,
}

impl Answered {
    fn paths(&self) -> Vec<Value> {
        self.faults.iter().map(|(path, _)| path.clone()).collect()
    }
}

struct Bench {
    catalog: Catalog,
    pool: Pool,
    database: Database,
}

impl Bench {
    async fn new(schema: &str) -> Self {
        let database = migrated_database().await;
        database.connect().await.batch_execute(ROWS).await.unwrap();
        let options = PoolOptions { config: database.config(), size: 1, wait: Duration::from_mins(1) };
        Self { catalog: Catalog::parse(schema).unwrap(), pool: Pool::new(&options).unwrap(), database }
    }

    async fn built_in() -> Self {
        Self::new(orderql::catalog::BUILT_IN).await
    }

    /// Runs a query, and takes the answer in parts of that many bytes.
    async fn ask(&self, query: &str, part: usize) -> Answered {
        let request = Request { query: query.to_owned(), ..Request::default() };
        let compiled = compile(&self.catalog, &request, &Limits::default()).unwrap();
        let mut answer = execute(self.pool.snapshot().await.unwrap(), &compiled.plan).await.unwrap();
        let (mut bytes, mut parts) = (Vec::new(), 1);
        loop {
            let mut out = Vec::new();
            let progress = answer.write(&mut out, part).unwrap();
            bytes.extend(out);
            match progress {
                Progress::More => parts += 1,
                Progress::Done => break,
            }
        }
        let part = |part: &PathPart| match part {
            PathPart::Key(key) => json!(key),
            PathPart::Index(index) => json!(index),
        };
        let faults = answer.field_errors().iter();
        let faults = faults.map(|fault| (fault.path.iter().map(part).collect(), fault.cause.to_string()));
        Answered {
            data: serde_json::from_slice(&bytes).unwrap(),
            faults: faults.collect(),
            nullability_violations: answer.field_error_count(),
            parts,
        }
    }

    async fn ask_whole(&self, query: &str) -> Answered {
        let answered = self.ask(query, usize::MAX).await;
        assert_eq!(answered.parts, 1);
        answered
    }
}

#[tokio::test]
async fn a_point_root_that_breaks_a_promise_is_null_and_its_neighbours_are_not() {
    let bench = Bench::built_in().await;
    let query = r#"{ a: order(orderId: "BROKEN") { orderId s: statusId } b: order(orderId: "WHOLE") { statusId } }"#;
    let answered = bench.ask_whole(query).await;
    assert_eq!(answered.data, json!({"a": null, "b": {"statusId": "ORDER_APPROVED"}}));
    assert_eq!(answered.paths(), [json!(["a", "s"])]);
    assert!(answered.faults[0].1.contains("the schema declares a non-null value"), "{:?}", answered.faults);
    let whole = bench.ask_whole(r#"{ order(orderId: "BROKEN") { orderId } }"#).await;
    assert_eq!((whole.data, whole.nullability_violations), (json!({"order": {"orderId": "BROKEN"}}), 0));
}

#[tokio::test]
async fn a_row_of_a_root_connection_makes_everything_null() {
    let bench = Bench::built_in().await;
    let query =
        "{ __typename o: orders(first: 9, sortKey: ORDER_ID, reverse: true) { edges { n: node { statusId } } } }";
    let answered = bench.ask_whole(query).await;
    assert_eq!(answered.data, Value::Null);
    assert_eq!(answered.paths(), [json!(["o", "edges", 1, "n", "statusId"])]);
}

#[tokio::test]
async fn a_joined_object_is_null_in_its_row_and_the_path_has_every_index() {
    let bench = Bench::built_in().await;
    let query = "{ orders(first: 9, sortKey: ORDER_ID, reverse: true) { edges { node {
        orderId orderItems(first: 9) { edges { node { seq: orderItemSeqId order { orderId statusId } } } } } } } }";
    let answered = bench.ask_whole(query).await;
    let edges = &answered.data["orders"]["edges"];
    let items = |order: usize| &edges[order]["node"]["orderItems"]["edges"];
    assert_eq!(
        items(0)[1]["node"],
        json!({"seq": "00002", "order": {"orderId": "WHOLE", "statusId": "ORDER_APPROVED"}})
    );
    for (place, seq) in ["00001", "00002"].into_iter().enumerate() {
        assert_eq!(items(1)[place]["node"], json!({"seq": seq, "order": null}));
    }
    let path = |item| json!(["orders", "edges", 1, "node", "orderItems", "edges", item, "node", "order", "statusId"]);
    assert_eq!(answered.paths(), [path(0), path(1)]);
}

#[tokio::test]
async fn a_value_beyond_its_type_is_null_and_told_twenty_times_at_most() {
    let bench = Bench::built_in().await;
    let query = "{ inventoryLevels(first: 50) { edges { node { daysToShip } } } }";
    let answered = bench.ask_whole(query).await;
    let days = |place: usize| &answered.data["inventoryLevels"]["edges"][place]["node"]["daysToShip"];
    assert_eq!((days(0), days(1), days(48), days(49)), (&json!(0), &Value::Null, &json!(48), &Value::Null));
    assert_eq!((answered.nullability_violations, answered.faults.len()), (25, MAX_FIELD_ERRORS));
    assert_eq!(answered.paths()[19], json!(["inventoryLevels", "edges", 39, "node", "daysToShip"]));
    assert!(answered.faults[0].1.contains("Int cannot hold"), "{:?}", answered.faults);
}

#[tokio::test]
async fn what_may_be_null_is_so_in_parts_and_what_may_not_is_found_before_the_first() {
    let bench = Bench::built_in().await;
    let nullable = "{ inventoryLevels(first: 50) { edges { node { productId daysToShip } } } }";
    let (whole, parts) = (bench.ask_whole(nullable).await, bench.ask(nullable, 100).await);
    assert!(parts.parts > 10, "{}", parts.parts);
    assert_eq!((parts.data, parts.faults, parts.nullability_violations), (whole.data, whole.faults, 25));

    // The broken row is the last, and the first part would be out by then.
    let promised = "{ orders(first: 9, sortKey: ORDER_ID, reverse: true) { edges { node { orderId statusId } } } }";
    let answered = bench.ask(promised, 1).await;
    assert_eq!((answered.parts, &answered.data), (1, &Value::Null));
    assert_eq!(answered.paths(), [json!(["orders", "edges", 1, "node", "statusId"])]);

    // Columns of an object that is not there break nothing.
    let absent = "{ orders(first: 9, sortKey: ORDER_ID) { edges { node { orderItems(first: 1) { edges { node {
        product { productId } order { orderId } } } } } } } }";
    let answered = bench.ask(absent, 1).await;
    assert_eq!((answered.parts, answered.nullability_violations), (2, 0), "{}", answered.data);

    let mended = "UPDATE order_header SET status_id = 'ORDER_HELD' WHERE status_id IS NULL";
    bench.database.connect().await.execute(mended, &[]).await.unwrap();
    let query = "{ orders(first: 9) { edges { node { statusId orderItems(first: 9) { edges { cursor } } } } } }";
    assert_eq!(bench.ask(query, 1).await.parts, 4, "two orders of two items, cut at each comma between rows");
}

/// A schema in which objects are promised, and a number of 32 bits.
const PROMISING: &str = r#"
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
async fn promised_objects_pass_a_null_on() {
    let bench = Bench::new(PROMISING).await;
    let answered = bench.ask_whole(r#"{ order(orderId: "NONE") { orderId } }"#).await;
    assert_eq!((answered.data.clone(), answered.paths()), (Value::Null, vec![json!(["order"])]));

    let items = r#"{ order(orderId: "WHOLE") { items(first: 9) { edges { node { order { orderId } } } } } }"#;
    let answered = bench.ask_whole(items).await;
    assert_eq!(answered.data["order"]["items"]["edges"][1]["node"]["order"]["orderId"], "WHOLE");
    for part in [usize::MAX, 1] {
        let products = r#"{ order(orderId: "WHOLE") { items(first: 9) { edges { node {
            orderItemSeqId product { productId } } } } } }"#;
        let answered = bench.ask(products, part).await;
        assert_eq!((answered.parts, answered.data.clone()), (1, Value::Null));
        assert_eq!(answered.paths(), [json!(["order", "items", "edges", 0, "node", "product"])]);
    }

    // The first null of a root that may be one decides; what stands behind it is skipped.
    let level = r#"{ __typename level(productId: "P01", facilityId: "F") {
        facility { facilityId } days: daysToShip product { productId } } }"#;
    let answered = bench.ask_whole(level).await;
    assert_eq!(answered.data, json!({"__typename": "Query", "level": null}));
    assert_eq!(answered.paths(), [json!(["level", "days"])]);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_stand_beside_the_data_and_the_status_is_200() {
    let database = migrated_database().await;
    let client = database.connect().await;
    client.batch_execute(ROWS).await.unwrap();
    // Some 200 bytes an order, so that a page of them is answered in parts.
    let more = "INSERT INTO order_header (order_id, order_name, status_id)
        SELECT 'M' || lpad(n::text, 3, '0'), repeat('x', 100), 'ORDER_APPROVED' FROM generate_series(0, 99) AS n";
    client.batch_execute(more).await.unwrap();
    let profile = Profile { bucket_size: Some(10_000), max_cost: Some(10_000), ..Profile::default() };
    let user = User { user_id: "demo", password: "demo", groups: &["API"], profile };
    ensure_user(&mut database.connect().await, &Passwords::new(1).unwrap(), &user).await.unwrap();
    let server = Server::start(&database, &[]);
    let token = server.token("demo");
    let ask = |query: &str, accept: &str| {
        let body = json!({ "query": query }).to_string();
        let length = body.len();
        let mut answers = server.exchange(format!(
            "POST /rest/s1/graphql HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: \
             application/json\r\nAccept: {accept}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}",
        ));
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers.remove(0)
    };
    for accept in ["application/json", "application/graphql-response+json"] {
        let answer = ask(r#"{ order(orderId: "BROKEN") { statusId } }"#, accept);
        assert_eq!(answer.status, 200);
        let body = answer.json();
        assert_eq!(body["data"], json!({"order": null}));
        let error = &body["errors"][0];
        assert_eq!(
            (&error["path"], &error["extensions"]),
            (&json!(["order", "statusId"]), &json!({"code": "INTERNAL_SERVER_ERROR"}))
        );
        assert_eq!(body["extensions"]["cost"]["requestedQueryCost"], 2);

        let answer = ask("{ orders(first: 100, sortKey: ORDER_ID) { edges { node { statusId } } } }", accept);
        assert_eq!((answer.status, &answer.json()["data"]), (200, &Value::Null));
    }
    // With every name eight times, a page is more than goes out in one part. The broken order is the first of one walk and
    // not in the page of the other.
    let fields = (0..8).fold(String::new(), |fields, copy| fields + &format!(" n{copy}: orderName i{copy}: orderId"));
    let page = |first: u32, reverse| {
        let query = format!(
            "{{ orders(first: {first}, sortKey: ORDER_ID, reverse: {reverse}) {{ edges {{ node {{ statusId{fields} }} }} }} }}"
        );
        ask(&query, "application/json")
    };
    let (broken, sound) = (page(100, false), page(100, true));
    assert_eq!(broken.json()["data"], Value::Null);
    assert_eq!(broken.json()["errors"][0]["path"], json!(["orders", "edges", 0, "node", "statusId"]));
    assert!(sound.body.len() > 64 * 1024 && sound.header("content-length").is_none());
    assert_eq!(
        (&sound.json()["errors"], sound.json()["data"]["orders"]["edges"][99].is_object()),
        (&Value::Null, true)
    );

    client.batch_execute("UPDATE order_header SET status_id = NULL WHERE order_id = 'M001'").await.unwrap();
    let last = page(100, true);
    assert_eq!((last.status, &last.json()["data"]), (200, &Value::Null), "the last row of the page is broken");
    let log = server.stop();
    let told = log.lines().filter(|line| line.contains("nulls in non-null fields")).count();
    assert_eq!(told, 6, "{log}");
}
