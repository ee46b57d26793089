//! The searches of daily work fill their pages and are counted exactly, in the order of every sort key.

use std::sync::Arc;

use orderql::catalog::Catalog;
use orderql::catalog::connection::Connection;
use orderql::catalog::search_window::SearchWindow;
use orderql::query::Variables;
use serde_json::{Value, json};

use crate::support::built_in::{self, collection_roots};
use crate::support::database::{Database, sampled_database};
use crate::support::query_runner::QueryRunner;

/// The searches that `./dev bench cost --only daily` reads, too.
const SEARCHES: &str = include_str!("../../../benches/daily-searches.txt");

/// Pages and windows are smaller than usual by the same factor, so that 2,000 orders are as many as 60,000.
const PAGE: usize = 2;
const WINDOW: u32 = 300;

/// How many rows are counted at most: the usual 1,000 by that factor.
const COUNTED: usize = 40;

/// Not counted here: so small a sample has so few products that one has more lines than the count's part of the window. Among
/// 300,000 orders it has fewer (`./dev bench cost --only daily`).
const UNCOUNTED: [(&str, &str); 1] = [("orderItems", "productId:SK00010 statusId:ITEM_APPROVED")];

/// The most pages of rows that are read of one search.
const FULL_PAGES: usize = 10;

/// The most pages that are read for so many rows, beside one that may be empty: 1.2 for a page of rows.
fn most_pages(rows: usize) -> usize {
    rows.div_ceil(PAGE).max(1) * 6 / 5 + 1
}

#[tokio::test(flavor = "multi_thread")]
async fn the_searches_of_daily_work_fill_their_pages() {
    let database = sampled_database().await;
    let runner = runner(&database);
    let catalog = Catalog::built_in().unwrap();
    let (mut failures, mut count) = (Vec::new(), 0);
    for (root, search, connection) in searches(&catalog) {
        for (number, sort_key) in connection.sort_keys.iter().enumerate() {
            let order = format!("sortKey: {}, reverse: {}", sort_key.name, number % 2 == 1);
            let (rows, pages, is_last_empty) = page_through(&runner, root, search, &order).await;
            count += 1;
            if pages > most_pages(rows) {
                failures.push(format!("{pages} pages for {rows} rows: {root} {search} {order}"));
            }
            if is_last_empty && pages > 1 {
                failures.push(format!("{rows} rows, and then an empty page: {root} {search} {order}"));
            }
        }
    }
    assert!(count > 80, "{count} searches");
    assert!(failures.is_empty(), "{} of {count}\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_searches_of_daily_work_are_counted_exactly() {
    let database = sampled_database().await;
    let client = database.connect().await;
    let runner = runner(&database);
    let catalog = Catalog::built_in().unwrap();
    let (mut failures, mut exact) = (Vec::new(), 0);
    for (root, search, connection) in searches(&catalog) {
        let conditions: Vec<_> = search.split(' ').map(|term| condition(connection, term)).collect();
        let sql = format!("SELECT count(*) FROM {} AS t WHERE {}", connection.relation, conditions.join(" AND "));
        let matching = client.query_one(&sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        let expected = usize::try_from(matching.get::<_, i64>(0)).unwrap().min(COUNTED);
        exact += usize::from((1..COUNTED).contains(&expected));
        for sort_key in &connection.sort_keys {
            let arguments = format!("first: {PAGE}, sortKey: {}, countUpTo: {COUNTED}", sort_key.name);
            let query = format!("{{ {root}({arguments}, query: {}) {{ count edges {{ cursor }} }} }}", json!(search));
            let compiled = runner.compile(&query, Variables::new());
            let count = runner.read(&Arc::clone(&compiled.plan)).await[root]["count"].take();
            let may_be_unknown = count.is_null() && UNCOUNTED.contains(&(root, search));
            if count != json!(expected) && !may_be_unknown {
                failures.push(format!("{count} of {expected}: {root} {search} {}", sort_key.name));
            }
        }
    }
    assert!(exact > 10, "{exact} searches match fewer rows");
    assert!(failures.is_empty(), "{}\n{}", failures.len(), failures.join("\n"));
}

fn runner(database: &Database) -> QueryRunner {
    let catalog = built_in::catalog().with_search_window(SearchWindow::new(WINDOW).unwrap());
    QueryRunner::with_catalog(&database.config(), 1, catalog)
}

/// The searches of the list, each with its root.
fn searches(catalog: &Catalog) -> impl Iterator<Item = (&str, &'static str, &Connection)> {
    let roots = collection_roots(catalog);
    SEARCHES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(move |line| {
        let (root, search) = line.split_once(": ").unwrap();
        let (name, connection) = roots.iter().find(|(name, _)| *name == root).unwrap();
        (*name, search, *connection)
    })
}

/// A term of a search in SQL.
fn condition(connection: &Connection, term: &str) -> String {
    let (name, value) = term.split_once(':').unwrap();
    let key = &connection.search_keys[connection.search_key(name).unwrap()];
    let column = &key.column.name;
    let range = [">=", "<"].iter().find_map(|operator| Some((operator, value.strip_prefix(operator)?)));
    let compared = match range {
        Some((operator, value)) => format!("{column} {operator} '{value}'"),
        None => format!("{column} IN ('{}')", value.replace(',', "', '")),
    };
    match &key.semi_join {
        None => format!("t.{compared}"),
        Some(semi_join) => {
            let joined: Vec<_> = semi_join.by.iter().map(|column| format!("x.{column} = t.{column}")).collect();
            format!("EXISTS (SELECT FROM {} AS x WHERE x.{compared} AND {})", semi_join.relation, joined.join(" AND "))
        }
    }
}

/// The rows and pages that were read of a search, and whether it ended with an empty page.
async fn page_through(runner: &QueryRunner, root: &str, search: &str, order: &str) -> (usize, usize, bool) {
    let (mut rows, mut pages) = (0, 0);
    let mut after = String::new();
    loop {
        let query = format!(
            "{{ {root}(first: {PAGE}, {order}, query: {}{after}) {{ edges {{ cursor }} pageInfo {{ hasNextPage endCursor }} }} }}",
            json!(search)
        );
        let compiled = runner.compile(&query, Variables::new());
        let page = runner.read(&Arc::clone(&compiled.plan)).await[root].take();
        let found = page["edges"].as_array().unwrap().len();
        (rows, pages) = (rows + found, pages + 1);
        let is_last = page["pageInfo"]["hasNextPage"] != Value::Bool(true);
        if is_last || rows >= FULL_PAGES * PAGE || pages > most_pages(FULL_PAGES * PAGE) {
            return (rows, pages, is_last && found == 0);
        }
        after = format!(", after: {}", page["pageInfo"]["endCursor"]);
    }
}
