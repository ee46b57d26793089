//! The searches of daily work fill their pages, in the order of every sort key.

use std::sync::Arc;

use orderql::catalog::Catalog;
use orderql::catalog::search_window::SearchWindow;
use orderql::query::Variables;
use serde_json::{Value, json};

use crate::support::built_in::collection_roots;
use crate::support::database::sampled_database;
use crate::support::query_runner::QueryRunner;

/// The searches that `./dev bench cost --only daily` reads, too.
const SEARCHES: &str = include_str!("../../../benches/daily-searches.txt");

/// Pages and windows are smaller than usual by the same factor, so that 2,000 orders are as many as 60,000.
const PAGE: usize = 2;
const WINDOW: u32 = 300;

/// The most pages of rows that are read of one search.
const FULL_PAGES: usize = 10;

/// The most pages that are read for so many rows, beside one that may be empty: 1.2 for a page of rows.
fn most_pages(rows: usize) -> usize {
    rows.div_ceil(PAGE).max(1) * 6 / 5 + 1
}

#[tokio::test(flavor = "multi_thread")]
async fn the_searches_of_daily_work_fill_their_pages() {
    let database = sampled_database().await;
    let catalog = Catalog::built_in().unwrap().with_search_window(SearchWindow::new(WINDOW).unwrap());
    let runner = QueryRunner::with_catalog(&database.config(), 1, catalog);
    let catalog = Catalog::built_in().unwrap();
    let (mut failures, mut count) = (Vec::new(), 0);
    for line in SEARCHES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (root, search) = line.split_once(": ").unwrap();
        let (_, connection) = collection_roots(&catalog).into_iter().find(|(name, _)| *name == root).unwrap();
        for (number, sort_key) in connection.sort_keys.iter().enumerate() {
            let order = format!("sortKey: {}, reverse: {}", sort_key.name, number % 2 == 1);
            let (rows, pages) = page_through(&runner, root, search, &order).await;
            count += 1;
            if pages > most_pages(rows) {
                failures.push(format!("{pages} pages for {rows} rows: {line} {order}"));
            }
        }
    }
    assert!(count > 80, "{count} searches");
    assert!(failures.is_empty(), "{} of {count}\n{}", failures.len(), failures.join("\n"));
}

/// The rows and pages that were read of a search.
async fn page_through(runner: &QueryRunner, root: &str, search: &str, order: &str) -> (usize, usize) {
    let (mut rows, mut pages) = (0, 0);
    let mut after = String::new();
    loop {
        let query = format!(
            "{{ {root}(first: {PAGE}, {order}, query: {}{after}) {{ edges {{ cursor }} pageInfo {{ hasNextPage endCursor }} }} }}",
            json!(search)
        );
        let compiled = runner.compile(&query, Variables::new());
        let page = runner.read(&Arc::clone(&compiled.plan)).await[root].take();
        (rows, pages) = (rows + page["edges"].as_array().unwrap().len(), pages + 1);
        let is_last = page["pageInfo"]["hasNextPage"] != Value::Bool(true);
        if is_last || rows >= FULL_PAGES * PAGE || pages > most_pages(FULL_PAGES * PAGE) {
            return (rows, pages);
        }
        after = format!(", after: {}", page["pageInfo"]["endCursor"]);
    }
}
