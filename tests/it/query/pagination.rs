//! Walks through connections, page by page, in a database that changes meanwhile.
//!
//! What a walk must be is asked of PostgreSQL itself, with a statement of the test's own: every row that stood throughout
//! is seen exactly once and in order, and both flags of every page say what is there beyond it.

use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::database::loaded_database;
use crate::support::query_runner::QueryRunner;

/// A connection to walk through.
struct Walk {
    /// The query, with `PAGE` for the page's arguments. `a` and `b` of a node make the row's id.
    query: String,
    /// The way to the connection in the answer.
    pointer: &'static str,
    /// All ids in the walk's order.
    list: String,
    /// Adds a row like the one of id `$1`, with `$2` in its key; returns its id.
    insert: &'static str,
    /// Takes away the row of id `$1`.
    delete: &'static str,
}

const SIZES: [u32; 4] = [1, 3, 7, 100];

#[tokio::test]
async fn orders_by_date() {
    orders("ORDER_DATE", "order_date").await;
}

#[tokio::test]
async fn orders_by_id() {
    orders("ORDER_ID", "order_id").await;
}

#[tokio::test]
async fn orders_by_name() {
    orders("ORDER_NAME", "order_name").await;
}

#[tokio::test]
async fn orders_by_total() {
    orders("GRAND_TOTAL", "grand_total").await;
}

async fn orders(sort_key: &str, column: &str) {
    let walk = |reverse: bool| {
        let direction = if reverse { "DESC NULLS FIRST" } else { "ASC NULLS LAST" };
        Walk {
            query: format!("orders(sortKey: {sort_key}, reverse: {reverse}, PAGE) {{ CONTENT(a: orderId) }}"),
            pointer: "/orders",
            list: format!("SELECT order_id FROM order_header ORDER BY {column} {direction}, order_id {direction}"),
            insert: "INSERT INTO order_header (order_id, order_date, order_name, grand_total, status_id) \
                SELECT left($1, 15) || '~' || $2, order_date, order_name, grand_total, status_id \
                FROM order_header WHERE order_id = $1 RETURNING order_id",
            delete: "DELETE FROM order_header WHERE order_id = $1",
        }
    };
    every_way([walk(false), walk(true)]).await;
}

#[tokio::test]
async fn inventory_levels_by_both_keys() {
    let walk = |sort_key: &str, columns: &str| Walk {
        query: format!("inventoryLevels(sortKey: {sort_key}, PAGE) {{ CONTENT(a: productId b: facilityId) }}"),
        pointer: "/inventoryLevels",
        list: format!("SELECT product_id || '|' || facility_id FROM product_facility ORDER BY {columns}"),
        insert: "WITH product AS (INSERT INTO product (product_id) \
                VALUES (left(split_part($1, '|', 1), 15) || '~' || $2) RETURNING product_id) \
            INSERT INTO product_facility (product_id, facility_id) \
            SELECT product_id, split_part($1, '|', 2) FROM product RETURNING product_id || '|' || facility_id",
        delete: "DELETE FROM product_facility WHERE product_id || '|' || facility_id = $1",
    };
    every_way([walk("PRODUCT_ID", "product_id, facility_id"), walk("FACILITY_ID", "facility_id, product_id")]).await;
}

const INSERT_ITEM: &str = "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, external_id) \
    SELECT order_id, left(order_item_seq_id, 15) || '~' || $2, ship_group_seq_id, external_id \
    FROM order_item WHERE order_id = 'WALK_LONG' AND order_item_seq_id = $1 RETURNING order_item_seq_id";
const DELETE_ITEM: &str = "DELETE FROM order_item WHERE order_id = 'WALK_LONG' AND order_item_seq_id = $1";

#[tokio::test]
async fn items_of_an_order_known_by_its_id_and_of_one_among_others() {
    let list = "SELECT order_item_seq_id FROM order_item WHERE order_id = 'WALK_LONG' ORDER BY order_item_seq_id";
    let walk = |query: &str, pointer| Walk {
        query: query.to_owned(),
        pointer,
        list: list.to_owned(),
        insert: INSERT_ITEM,
        delete: DELETE_ITEM,
    };
    let known = r#"order(orderId: "WALK_LONG") { orderItems(PAGE) { CONTENT(a: orderItemSeqId) } }"#;
    let batched = r#"orders(first: 3, query: "orderId:WALK_LONG,WALK_01,WALK_02", sortKey: ORDER_ID, reverse: true)
        { edges { node { orderItems(PAGE) { CONTENT(a: orderItemSeqId) } } } }"#;
    every_way([walk(known, "/order/orderItems"), walk(batched, "/orders/edges/0/node/orderItems")]).await;
}

#[tokio::test]
async fn ship_groups_that_come_and_go_with_their_items() {
    let walk = Walk {
        query: r#"order(orderId: "WALK_GROUPS") { shipGroups(PAGE) { CONTENT(a: shipGroupSeqId) } }"#.to_owned(),
        pointer: "/order/shipGroups",
        list: "SELECT DISTINCT ship_group_seq_id FROM order_item WHERE order_id = 'WALK_GROUPS' \
            ORDER BY ship_group_seq_id"
            .to_owned(),
        insert: "WITH new AS (INSERT INTO order_item_ship_group (order_id, ship_group_seq_id) \
                VALUES ('WALK_GROUPS', left($1, 15) || '~' || $2) RETURNING ship_group_seq_id) \
            INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id) \
            SELECT 'WALK_GROUPS', ship_group_seq_id, ship_group_seq_id FROM new RETURNING ship_group_seq_id",
        // The group stays, and is empty.
        delete: "DELETE FROM order_item WHERE order_id = 'WALK_GROUPS' AND ship_group_seq_id = $1",
    };
    every_way_after(
        "INSERT INTO order_header (order_id, status_id) VALUES ('WALK_GROUPS', 'ORDER_APPROVED');
         INSERT INTO order_item_ship_group (order_id, ship_group_seq_id)
            SELECT 'WALK_GROUPS', lpad(n::text, 5, '0') FROM generate_series(1, 30) AS n;
         INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id)
            SELECT 'WALK_GROUPS', lpad((2 * n + i)::text, 5, '0'), lpad(n::text, 5, '0')
            FROM generate_series(1, 30) AS n, generate_series(0, 1) AS i WHERE n % 3 > 0",
        [walk],
    )
    .await;
}

async fn every_way<const N: usize>(walks: [Walk; N]) {
    every_way_after("", walks).await;
}

async fn every_way_after<const N: usize>(before: &str, walks: [Walk; N]) {
    let database = loaded_database().await;
    let client = database.connect().await;
    client.batch_execute(before).await.unwrap();
    let runner = QueryRunner::new(&database);
    for (number, walk) in (0..).zip(&walks) {
        // Keys of one walk stay out of the next one's way.
        let mut walker = Walker { runner: &runner, client: &client, walk, next: number * 1000 };
        for size in SIZES {
            for forward in [true, false] {
                walker.walk(size, forward).await;
            }
        }
        walker.between().await;
    }
}

struct Walker<'a> {
    runner: &'a QueryRunner,
    client: &'a Client,
    walk: &'a Walk,
    /// What the next row that is added has in its key.
    next: u32,
}

struct Page {
    ids: Vec<String>,
    has_next: bool,
    has_previous: bool,
    start: Option<String>,
    end: Option<String>,
}

impl Walker<'_> {
    /// Walks from one end to the other while rows come and go.
    async fn walk(&mut self, size: u32, forward: bool) {
        // Rows that will be taken away on the way.
        for place in [0, 3, 4, 9, 10, 11, 17] {
            let list = self.list().await;
            self.insert(&list[place % list.len()]).await;
        }
        let mut fleeting: Vec<String> = Vec::new();
        let mut standing = self.list().await;
        fleeting.extend(standing.iter().filter(|id| id.contains('~')).cloned());
        let (mut ahead, mut behind) = (Vec::new(), Vec::new());

        let mut seen: Vec<String> = Vec::new();
        let mut cursor = None;
        for number in 0.. {
            let name = format!("page {number} of {size}, {} through {}", direction(forward), self.walk.query);
            let page = self.page(size, forward, cursor.as_deref()).await;
            let list = self.list().await;
            Self::check(&page, &list, &name);
            assert!(page.ids.len() <= usize::try_from(size).unwrap(), "{name}");
            let far = if forward { page.ids.last() } else { page.ids.first() }.cloned();
            if forward {
                seen.extend(page.ids);
            } else {
                seen.splice(0..0, page.ids);
            }
            let (has_more, next) = if forward { (page.has_next, page.end) } else { (page.has_previous, page.start) };
            let Some(far) = far else { break };
            if !has_more {
                break;
            }
            cursor = next;
            // Rows come on both sides and right beside the cursor, as long as the walk can still end.
            if number < 6 {
                let here = list.iter().position(|id| *id == far).unwrap();
                for place in [here / 2, here, usize::midpoint(here, list.len())] {
                    let id = self.insert(&list[place.min(list.len() - 1)]).await;
                    let list = self.list().await;
                    let place = |id| list.iter().position(|other| other == id).unwrap();
                    let is_ahead = (place(&id) > place(&far)) == forward;
                    if is_ahead { ahead.push(id) } else { behind.push(id) }
                }
            }
            // Rows go: the one that the cursor was made of, one before it and one after it.
            let list = self.list().await;
            let here = list.iter().position(|id| *id == far).unwrap();
            let is_fleeting = |id: &&String| fleeting.contains(id);
            let (before, after) = (&list[..here], &list[here + 1..]);
            let mut gone = vec![before.iter().rfind(is_fleeting).cloned(), after.iter().find(is_fleeting).cloned()];
            gone.push(Some(far).filter(|id| fleeting.contains(id)));
            for id in gone.into_iter().flatten() {
                self.client.execute(self.walk.delete, &[&id]).await.unwrap();
                standing.retain(|other| *other != id);
                fleeting.retain(|other| *other != id);
            }
        }

        let name = format!("{size} {} through {}", direction(forward), self.walk.query);
        let mut once = seen.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), seen.len(), "a row came twice: {name}");
        let stood: Vec<_> = seen.iter().filter(|id| standing.contains(id)).cloned().collect();
        assert_eq!(stood, standing, "{name}");
        for id in &ahead {
            assert!(seen.contains(id), "{id} came ahead of the walk and was not seen: {name}");
        }
        for id in &behind {
            assert!(!seen.contains(id), "{id} came behind the walk and was seen: {name}");
        }
        for id in self.list().await.iter().filter(|id| id.contains('~')) {
            self.client.execute(self.walk.delete, &[id]).await.unwrap();
        }
    }

    /// Pages between any two places, from either end, however the places lie to each other.
    async fn between(&mut self) {
        let whole = self.page(10_000, true, None).await;
        let list = self.list().await;
        assert_eq!(whole.ids, list);
        Self::check(&whole, &list, "everything");
        let cursors = self.cursors().await;
        assert_eq!(cursors.len(), list.len());
        let places: Vec<_> = [0, 1, 2, list.len() / 2, list.len() / 2 + 4, list.len() - 2, list.len() - 1]
            .into_iter()
            .filter(|place| *place < list.len())
            .collect();
        for after in &places {
            for before in &places {
                for (end, size) in [("first", 3), ("last", 3), ("first", 1000), ("last", 1000)] {
                    let name = format!("{end} {size} after {after} before {before} of {}", self.walk.query);
                    let arguments = format!(
                        "{end}: {size}, after: {}, before: {}",
                        json!(cursors[*after]),
                        json!(cursors[*before])
                    );
                    let page = self.ask(&arguments, json!({})).await;
                    let window = list.get(after + 1..*before).unwrap_or_default();
                    let size = window.len().min(size);
                    let expected = if end == "first" { &window[..size] } else { &window[window.len() - size..] };
                    assert_eq!(page.ids, expected, "{name}");
                    if expected.is_empty() {
                        // The rows that the cursors were made of lie on either side of nothing.
                        assert_eq!((page.has_previous, page.has_next), (true, true), "{name}");
                        assert_eq!((page.start, page.end), (None, None), "{name}");
                    } else {
                        Self::check(&page, &list, &name);
                    }
                }
            }
        }
        // From the back, with nothing behind.
        let page = self.ask("last: 2", json!({})).await;
        assert_eq!(page.ids, list[list.len() - 2..]);
        assert_eq!((page.has_previous, page.has_next), (list.len() > 2, false));
        // Nothing is left beyond either end.
        for (arguments, previous, next) in [
            (format!("first: 2, after: {}", json!(cursors.last())), true, false),
            (format!("last: 2, after: {}", json!(cursors.last())), true, false),
            (format!("first: 2, before: {}", json!(cursors[0])), false, true),
            (format!("last: 2, before: {}", json!(cursors[0])), false, true),
        ] {
            let page = self.ask(&arguments, json!({})).await;
            assert!(page.ids.is_empty(), "{arguments}");
            assert_eq!((page.has_previous, page.has_next), (previous, next), "{arguments} {}", self.walk.query);
        }
    }

    /// The flags of a page that holds rows say what is there beyond it.
    fn check(page: &Page, rows: &[String], name: &str) {
        let (Some(first), Some(last)) = (page.ids.first(), page.ids.last()) else {
            panic!("an empty page: {name}");
        };
        let place = |id| rows.iter().position(|other| other == id).unwrap_or_else(|| panic!("{id}: {name}"));
        assert_eq!(page.has_previous, place(first) > 0, "hasPreviousPage of {name}");
        assert_eq!(page.has_next, place(last) + 1 < rows.len(), "hasNextPage of {name}");
        assert_eq!(page.ids, rows[place(first)..=place(last)], "{name}");
    }

    async fn page(&self, size: u32, forward: bool, cursor: Option<&str>) -> Page {
        if forward {
            self.ask("first: $size, after: $cursor", json!({ "size": size, "cursor": cursor })).await
        } else {
            self.ask("last: $size, before: $cursor", json!({ "size": size, "cursor": cursor })).await
        }
    }

    async fn ask(&self, arguments: &str, variables: Value) -> Page {
        let data = self.connection(arguments, variables).await;
        let edges = data["edges"].as_array().unwrap();
        let info = &data["pageInfo"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let page = Page {
            ids: edges.iter().map(id).collect(),
            has_next: info["hasNextPage"].as_bool().unwrap(),
            has_previous: info["hasPreviousPage"].as_bool().unwrap(),
            start: text(&info["startCursor"]),
            end: text(&info["endCursor"]),
        };
        assert_eq!(page.start, edges.first().and_then(|edge| text(&edge["cursor"])));
        assert_eq!(page.end, edges.last().and_then(|edge| text(&edge["cursor"])));
        page
    }

    async fn cursors(&self) -> Vec<String> {
        let data = self.connection("first: 10000", json!({})).await;
        data["edges"].as_array().unwrap().iter().map(|edge| edge["cursor"].as_str().unwrap().to_owned()).collect()
    }

    async fn connection(&self, arguments: &str, variables: Value) -> Value {
        let head = if arguments.contains('$') { "query Page($size: Int!, $cursor: String) " } else { "" };
        let content = "edges { cursor node { ";
        let info = " } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
        let query = self.walk.query.replace("PAGE", arguments);
        let query = query.replace("CONTENT(", content);
        // The content's closing parenthesis is the last one.
        let (open, close) = query.rsplit_once(')').unwrap();
        let Value::Object(variables) = variables else { panic!("variables are an object") };
        let answered = self.runner.run(&format!("{head}{{ {open}{info}{close} }}"), variables).await;
        assert_eq!(answered.nullability_violations, 0);
        assert!(answered.actual_cost() <= answered.compiled.estimate.cost());
        answered.data().pointer(self.walk.pointer).unwrap().clone()
    }

    async fn list(&self) -> Vec<String> {
        self.client.query(&self.walk.list, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    async fn insert(&mut self, beside: &str) -> String {
        self.next += 1;
        let number = self.next.to_string();
        self.client.query_one(self.walk.insert, &[&beside, &number]).await.unwrap().get(0)
    }
}

fn id(edge: &Value) -> String {
    let node = &edge["node"];
    let parts = ["a", "b"].into_iter().filter_map(|key| node[key].as_str());
    parts.collect::<Vec<_>>().join("|")
}

fn direction(forward: bool) -> &'static str {
    if forward { "forward" } else { "backward" }
}
