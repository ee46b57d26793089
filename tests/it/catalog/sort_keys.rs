//! Every sort key in both directions, paged from either end: PostgreSQL's order, each row once.

use serde_json::Value;

use crate::catalog::collection_roots::{Root, roots};
use crate::catalog::sample;
use crate::support::query_runner::QueryRunner;

/// The page size. It divides no number of rows.
const SIZE: usize = 17;

#[tokio::test]
async fn every_sort_key_pages_through_all_rows_in_its_order() {
    let database = sample().await;
    let client = database.connect().await;
    let runner = QueryRunner::new(&database);
    for root in &roots() {
        for sort_key in &root.sort_keys {
            let column = root.sort_column(sort_key);
            for (reverse, direction) in [(false, "ASC NULLS LAST"), (true, "DESC NULLS LAST")] {
                let mut order = vec![format!("t.{column} {direction}")];
                order.extend(root.id_columns().iter().map(|column| format!("t.{column} {direction}")));
                let sql = format!("SELECT {} FROM {} ORDER BY {}", root.id_sql(), root.from, order.join(", "));
                let expected: Vec<String> =
                    client.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
                assert!(!expected.is_empty(), "{sql}");
                let order = format!("sortKey: {sort_key}, reverse: {reverse}");
                assert_eq!(page_through(&runner, root, &order, true).await, expected, "{} {order}", root.name);
                assert_eq!(
                    page_through(&runner, root, &order, false).await,
                    expected,
                    "{} {order} from the back",
                    root.name
                );
            }
        }
    }
}

#[tokio::test]
async fn the_first_sort_key_is_the_default() {
    let database = sample().await;
    let runner = QueryRunner::new(&database);
    for root in &roots() {
        let first = &root.sort_keys[0];
        let explicit = page_through(&runner, root, &format!("sortKey: {first}, reverse: false"), true).await;
        assert_eq!(page_through(&runner, root, "sortKey: null", true).await, explicit, "{}", root.name);
    }
}

/// Pages through all rows and returns their ids.
async fn page_through(runner: &QueryRunner, root: &Root, order: &str, forward: bool) -> Vec<String> {
    let (size, from, to, flag) = if forward {
        ("first", "after", "endCursor", "hasNextPage")
    } else {
        ("last", "before", "startCursor", "hasPreviousPage")
    };
    let mut ids = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let query = format!(
            "{{ root: {}({order}, {size}: {SIZE}, {from}: {cursor}) {{ edges {{ node {{ {} }} }} pageInfo {{ {flag} {to} }} }} }}",
            root.name, root.id
        );
        let data = runner.data(&query).await;
        let page: Vec<_> = data["root"]["edges"].as_array().unwrap().iter().map(|edge| root.id_of(edge)).collect();
        ids = if forward { [ids, page].concat() } else { [page, ids].concat() };
        let info = &data["root"]["pageInfo"];
        if info[flag] == false {
            return ids;
        }
        cursor = info[to].clone();
    }
}
