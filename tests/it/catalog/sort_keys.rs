//! Every sort key, walked from either end in either direction: the order that PostgreSQL says, each row once.

use serde_json::Value;

use crate::catalog::collection_roots::{ROOTS, Root, sort_column};
use crate::catalog::sample;
use crate::support::query_runner::QueryRunner;

/// Rows of a page: a number that divides nothing.
const SIZE: usize = 17;

#[tokio::test]
async fn every_sort_key_walks_all_rows_in_its_order() {
    let database = sample().await;
    let client = database.connect().await;
    let runner = QueryRunner::new(&database);
    for root in ROOTS {
        for sort_key in root.sort.split(' ') {
            let column = sort_column(sort_key);
            for (reverse, direction) in [(false, "ASC NULLS LAST"), (true, "DESC NULLS FIRST")] {
                let mut order = vec![format!("t.{column} {direction}")];
                order.extend(root.id_columns().iter().map(|column| format!("t.{column} {direction}")));
                let sql = format!("SELECT {} FROM {} ORDER BY {}", root.id_sql(), root.from, order.join(", "));
                let expected: Vec<String> =
                    client.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
                assert!(!expected.is_empty(), "{sql}");
                let order = format!("sortKey: {sort_key}, reverse: {reverse}");
                assert_eq!(walk(&runner, root, &order, true).await, expected, "{} {order}", root.name);
                assert_eq!(walk(&runner, root, &order, false).await, expected, "{} {order} from the back", root.name);
            }
        }
    }
}

#[tokio::test]
async fn without_a_sort_key_it_is_the_first() {
    let database = sample().await;
    let runner = QueryRunner::new(&database);
    for root in ROOTS {
        let first = root.sort.split(' ').next().unwrap();
        let explicit = walk(&runner, root, &format!("sortKey: {first}, reverse: false"), true).await;
        assert_eq!(walk(&runner, root, "sortKey: null", true).await, explicit, "{}", root.name);
    }
}

/// The ids of all rows, page by page.
async fn walk(runner: &QueryRunner, root: &Root, order: &str, forward: bool) -> Vec<String> {
    let (size, from, to, flag) = if forward {
        ("first", "after", "endCursor", "hasNextPage")
    } else {
        ("last", "before", "startCursor", "hasPreviousPage")
    };
    let mut walked = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let query = format!(
            "{{ root: {}({order}, {size}: {SIZE}, {from}: {cursor}) {{ edges {{ node {{ {} }} }} pageInfo {{ {flag} {to} }} }} }}",
            root.name, root.id
        );
        let data = runner.data(&query).await;
        let page: Vec<_> = data["root"]["edges"].as_array().unwrap().iter().map(|edge| root.id_of(edge)).collect();
        walked = if forward { [walked, page].concat() } else { [page, walked].concat() };
        let info = &data["root"]["pageInfo"];
        if info[flag] == false {
            return walked;
        }
        cursor = info[to].clone();
    }
}
