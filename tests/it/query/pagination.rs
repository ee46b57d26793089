//! Pagination through connections while rows are inserted and deleted.
//!
//! The expected rows come from PostgreSQL. Every row that exists all the time is seen exactly once and in order, and both flags
//! of every page are correct.

use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::support::database::loaded_database;
use crate::support::query_runner::QueryRunner;

/// A connection to page through.
struct Case {
    /// The query, with `PAGE` for the arguments of the page. `a` and `b` of a node are the parts of the row's id.
    query: String,
    /// The JSON pointer of the connection in `data`.
    pointer: &'static str,
    /// SQL for all ids in order.
    list: String,
    /// SQL that inserts a copy of the row with id `$1`, with `$2` in its key, and returns its id.
    insert: &'static str,
    /// SQL that deletes the row with id `$1`.
    delete: &'static str,
}

const SIZES: [u32; 4] = [1, 3, 7, 100];

#[tokio::test]
async fn pages_through_orders_by_date() {
    orders("ORDER_DATE", "order_date").await;
}

#[tokio::test]
async fn pages_through_orders_by_id() {
    orders("ORDER_ID", "order_id").await;
}

#[tokio::test]
async fn pages_through_orders_by_name() {
    orders("ORDER_NAME", "order_name").await;
}

#[tokio::test]
async fn pages_through_orders_by_total() {
    orders("GRAND_TOTAL", "grand_total").await;
}

async fn orders(sort_key: &str, column: &str) {
    let case = |reverse: bool| {
        let direction = if reverse { "DESC NULLS LAST" } else { "ASC NULLS LAST" };
        Case {
            query: format!("orders(sortKey: {sort_key}, reverse: {reverse}, PAGE) {{ CONTENT(a: orderId) }}"),
            pointer: "/orders",
            list: format!("SELECT order_id FROM order_header ORDER BY {column} {direction}, order_id {direction}"),
            insert: "INSERT INTO order_header (order_id, order_date, order_name, grand_total, status_id) \
                SELECT left($1, 15) || '~' || $2, order_date, order_name, grand_total, status_id \
                FROM order_header WHERE order_id = $1 RETURNING order_id",
            delete: "DELETE FROM order_header WHERE order_id = $1",
        }
    };
    assert_pages([case(false), case(true)]).await;
}

#[tokio::test]
async fn pages_through_inventory_levels_by_both_sort_keys() {
    let case = |sort_key: &str, columns: &str| Case {
        query: format!("inventoryLevels(sortKey: {sort_key}, PAGE) {{ CONTENT(a: productId b: facilityId) }}"),
        pointer: "/inventoryLevels",
        list: format!("SELECT product_id || '|' || facility_id FROM product_facility ORDER BY {columns}"),
        insert: "WITH product AS (INSERT INTO product (product_id) \
                VALUES (left(split_part($1, '|', 1), 15) || '~' || $2) RETURNING product_id) \
            INSERT INTO product_facility (product_id, facility_id) \
            SELECT product_id, split_part($1, '|', 2) FROM product RETURNING product_id || '|' || facility_id",
        delete: "DELETE FROM product_facility WHERE product_id || '|' || facility_id = $1",
    };
    assert_pages([case("PRODUCT_ID", "product_id, facility_id"), case("FACILITY_ID", "facility_id, product_id")]).await;
}

const INSERT_ITEM: &str = "INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id, external_id) \
    SELECT order_id, left(order_item_seq_id, 15) || '~' || $2, ship_group_seq_id, external_id \
    FROM order_item WHERE order_id = 'WALK_LONG' AND order_item_seq_id = $1 RETURNING order_item_seq_id";
const DELETE_ITEM: &str = "DELETE FROM order_item WHERE order_id = 'WALK_LONG' AND order_item_seq_id = $1";

#[tokio::test]
async fn pages_through_the_items_of_one_order_and_of_several() {
    let list = "SELECT order_item_seq_id FROM order_item WHERE order_id = 'WALK_LONG' ORDER BY order_item_seq_id";
    let case = |query: &str, pointer| Case {
        query: query.to_owned(),
        pointer,
        list: list.to_owned(),
        insert: INSERT_ITEM,
        delete: DELETE_ITEM,
    };
    let single = r#"order(orderId: "WALK_LONG") { orderItems(PAGE) { CONTENT(a: orderItemSeqId) } }"#;
    let batched = r#"orders(first: 3, query: "orderId:WALK_LONG,WALK_01,WALK_02", sortKey: ORDER_ID, reverse: true)
        { edges { node { orderItems(PAGE) { CONTENT(a: orderItemSeqId) } } } }"#;
    assert_pages([case(single, "/order/orderItems"), case(batched, "/orders/edges/0/node/orderItems")]).await;
}

#[tokio::test]
async fn pages_through_ship_groups_that_appear_and_disappear_with_their_items() {
    let case = Case {
        query: r#"order(orderId: "WALK_GROUPS") { shipGroups(PAGE) { CONTENT(a: shipGroupSeqId) } }"#.to_owned(),
        pointer: "/order/shipGroups",
        list: "SELECT DISTINCT ship_group_seq_id FROM order_item WHERE order_id = 'WALK_GROUPS' \
            ORDER BY ship_group_seq_id"
            .to_owned(),
        insert: "WITH new AS (INSERT INTO order_item_ship_group (order_id, ship_group_seq_id) \
                VALUES ('WALK_GROUPS', left($1, 15) || '~' || $2) RETURNING ship_group_seq_id) \
            INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id) \
            SELECT 'WALK_GROUPS', ship_group_seq_id, ship_group_seq_id FROM new RETURNING ship_group_seq_id",
        // The group itself remains, without items.
        delete: "DELETE FROM order_item WHERE order_id = 'WALK_GROUPS' AND ship_group_seq_id = $1",
    };
    assert_pages_after(
        "INSERT INTO order_header (order_id, status_id) VALUES ('WALK_GROUPS', 'ORDER_APPROVED');
         INSERT INTO order_item_ship_group (order_id, ship_group_seq_id)
            SELECT 'WALK_GROUPS', lpad(n::text, 5, '0') FROM generate_series(1, 30) AS n;
         INSERT INTO order_item (order_id, order_item_seq_id, ship_group_seq_id)
            SELECT 'WALK_GROUPS', lpad((2 * n + i)::text, 5, '0'), lpad(n::text, 5, '0')
            FROM generate_series(1, 30) AS n, generate_series(0, 1) AS i WHERE n % 3 > 0",
        [case],
    )
    .await;
}

async fn assert_pages<const N: usize>(cases: [Case; N]) {
    assert_pages_after("", cases).await;
}

async fn assert_pages_after<const N: usize>(before: &str, cases: [Case; N]) {
    let database = loaded_database().await;
    let client = database.connect().await;
    client.batch_execute(before).await.unwrap();
    let runner = QueryRunner::new(&database);
    for (number, case) in (0..).zip(&cases) {
        // The keys of inserted rows are different in each case.
        let mut paginator = Paginator { runner: &runner, client: &client, case, next: number * 1000 };
        for size in SIZES {
            for forward in [true, false] {
                paginator.page_through(size, forward).await;
            }
        }
        paginator.pages_between_cursors().await;
    }
}

/// Reads pages of a case, and inserts and deletes rows.
struct Paginator<'a> {
    runner: &'a QueryRunner,
    client: &'a Client,
    case: &'a Case,
    /// The number in the key of the next inserted row.
    next: u32,
}

struct Page {
    ids: Vec<String>,
    has_next: bool,
    has_previous: bool,
    start: Option<String>,
    end: Option<String>,
}

impl Paginator<'_> {
    /// Pages from one end to the other while rows are inserted and deleted.
    async fn page_through(&mut self, size: u32, forward: bool) {
        // Rows that are deleted later.
        for index in [0, 3, 4, 9, 10, 11, 17] {
            let list = self.list().await;
            self.insert(&list[index % list.len()]).await;
        }
        let mut deletable: Vec<String> = Vec::new();
        let mut permanent = self.list().await;
        deletable.extend(permanent.iter().filter(|id| id.contains('~')).cloned());
        let (mut ahead, mut behind) = (Vec::new(), Vec::new());

        let mut seen: Vec<String> = Vec::new();
        let mut cursor = None;
        for number in 0.. {
            let name = format!("page {number} of {size}, {} through {}", direction(forward), self.case.query);
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
            // Inserts rows on both sides of the cursor and next to it; only a few, so that the pagination ends.
            if number < 6 {
                let here = list.iter().position(|id| *id == far).unwrap();
                for index in [here / 2, here, usize::midpoint(here, list.len())] {
                    let id = self.insert(&list[index.min(list.len() - 1)]).await;
                    let list = self.list().await;
                    let index = |id| list.iter().position(|other| other == id).unwrap();
                    let is_ahead = (index(&id) > index(&far)) == forward;
                    if is_ahead { ahead.push(id) } else { behind.push(id) }
                }
            }
            // Deletes the cursor's row, one before it and one after it.
            let list = self.list().await;
            let here = list.iter().position(|id| *id == far).unwrap();
            let is_deletable = |id: &&String| deletable.contains(id);
            let (before, after) = (&list[..here], &list[here + 1..]);
            let mut deleted =
                vec![before.iter().rfind(is_deletable).cloned(), after.iter().find(is_deletable).cloned()];
            deleted.push(Some(far).filter(|id| deletable.contains(id)));
            for id in deleted.into_iter().flatten() {
                self.client.execute(self.case.delete, &[&id]).await.unwrap();
                permanent.retain(|other| *other != id);
                deletable.retain(|other| *other != id);
            }
        }

        let name = format!("{size} {} through {}", direction(forward), self.case.query);
        let mut once = seen.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), seen.len(), "a row was seen twice: {name}");
        let found: Vec<_> = seen.iter().filter(|id| permanent.contains(id)).cloned().collect();
        assert_eq!(found, permanent, "{name}");
        for id in &ahead {
            assert!(seen.contains(id), "{id} was inserted ahead and not seen: {name}");
        }
        for id in &behind {
            assert!(!seen.contains(id), "{id} was inserted behind and seen: {name}");
        }
        for id in self.list().await.iter().filter(|id| id.contains('~')) {
            self.client.execute(self.case.delete, &[id]).await.unwrap();
        }
    }

    /// Reads pages between any two cursors, from either end, also if the cursors are in the wrong order.
    async fn pages_between_cursors(&mut self) {
        let whole = self.page(10_000, true, None).await;
        let list = self.list().await;
        assert_eq!(whole.ids, list);
        Self::check(&whole, &list, "everything");
        let cursors = self.cursors().await;
        assert_eq!(cursors.len(), list.len());
        let indexes: Vec<_> = [0, 1, 2, list.len() / 2, list.len() / 2 + 4, list.len() - 2, list.len() - 1]
            .into_iter()
            .filter(|index| *index < list.len())
            .collect();
        for after in &indexes {
            for before in &indexes {
                for (end, size) in [("first", 3), ("last", 3), ("first", 1000), ("last", 1000)] {
                    let name = format!("{end} {size} after {after} before {before} of {}", self.case.query);
                    let arguments = format!(
                        "{end}: {size}, after: {}, before: {}",
                        json!(cursors[*after]),
                        json!(cursors[*before])
                    );
                    let page = self.page_with(&arguments, json!({})).await;
                    let window = list.get(after + 1..*before).unwrap_or_default();
                    let size = window.len().min(size);
                    let expected = if end == "first" { &window[..size] } else { &window[window.len() - size..] };
                    assert_eq!(page.ids, expected, "{name}");
                    if expected.is_empty() {
                        // The rows of the cursors are on both sides of the empty page.
                        assert_eq!((page.has_previous, page.has_next), (true, true), "{name}");
                        assert_eq!((page.start, page.end), (None, None), "{name}");
                    } else {
                        Self::check(&page, &list, &name);
                    }
                }
            }
        }
        // From the back, without a cursor.
        let page = self.page_with("last: 2", json!({})).await;
        assert_eq!(page.ids, list[list.len() - 2..]);
        assert_eq!((page.has_previous, page.has_next), (list.len() > 2, false));
        // Beyond either end.
        for (arguments, previous, next) in [
            (format!("first: 2, after: {}", json!(cursors.last())), true, false),
            (format!("last: 2, after: {}", json!(cursors.last())), true, false),
            (format!("first: 2, before: {}", json!(cursors[0])), false, true),
            (format!("last: 2, before: {}", json!(cursors[0])), false, true),
        ] {
            let page = self.page_with(&arguments, json!({})).await;
            assert!(page.ids.is_empty(), "{arguments}");
            assert_eq!((page.has_previous, page.has_next), (previous, next), "{arguments} {}", self.case.query);
        }
    }

    /// Checks the rows and flags of a page that is not empty.
    fn check(page: &Page, rows: &[String], name: &str) {
        let (Some(first), Some(last)) = (page.ids.first(), page.ids.last()) else {
            panic!("an empty page: {name}");
        };
        let index = |id| rows.iter().position(|other| other == id).unwrap_or_else(|| panic!("{id}: {name}"));
        assert_eq!(page.has_previous, index(first) > 0, "hasPreviousPage of {name}");
        assert_eq!(page.has_next, index(last) + 1 < rows.len(), "hasNextPage of {name}");
        assert_eq!(page.ids, rows[index(first)..=index(last)], "{name}");
    }

    async fn page(&self, size: u32, forward: bool, cursor: Option<&str>) -> Page {
        if forward {
            self.page_with("first: $size, after: $cursor", json!({ "size": size, "cursor": cursor })).await
        } else {
            self.page_with("last: $size, before: $cursor", json!({ "size": size, "cursor": cursor })).await
        }
    }

    async fn page_with(&self, arguments: &str, variables: Value) -> Page {
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
        let query = self.case.query.replace("PAGE", arguments);
        let query = query.replace("CONTENT(", content);
        // The content's closing parenthesis is the last one.
        let (open, close) = query.rsplit_once(')').unwrap();
        let Value::Object(variables) = variables else { panic!("variables are an object") };
        let result = self.runner.run(&format!("{head}{{ {open}{info}{close} }}"), variables).await;
        assert_eq!(result.nullability_violations, 0);
        assert!(result.actual_cost() <= result.compiled.estimate.cost());
        result.data().pointer(self.case.pointer).unwrap().clone()
    }

    async fn list(&self) -> Vec<String> {
        self.client.query(&self.case.list, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    async fn insert(&mut self, beside: &str) -> String {
        self.next += 1;
        let number = self.next.to_string();
        self.client.query_one(self.case.insert, &[&beside, &number]).await.unwrap().get(0)
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
