//! Callers who see some rows only, against row-level security: each query has the same rows as for a role whose policies are the
//! scopes of the schema file, and so have all pages of a connection together.
//!
//! `SCOPED_QUERIES` sets the number of queries, `SCOPED_SEED` another seed.

mod callers;
mod cursors;
mod hidden_rows;
mod row_security;
mod unknown_counts;

use std::env;

use orderql::catalog::Catalog;
use orderql::catalog::scope::RowScope;
use orderql::catalog::search_window::SearchWindow;
use orderql::query::Variables;
use orderql::schema_file::{BUILT_IN, SchemaFile};
use orderql::seal::Secret;
use orderql_generator::choices::{Choices, bytes_of_seed};
use orderql_generator::generate::{Settings, generate};
use serde_json::{Value, json};

use crate::execute::random_queries::pagination::leaves;
use crate::execute::random_queries::row_values::RowValues;
use crate::execute::scoped_rows::callers::{Caller, Ids, Pair};
use crate::execute::scoped_rows::row_security::protect;
use crate::support::built_in::{self, collection_roots};
use crate::support::database::{loaded_database, sampled_database};
use crate::support::naive_resolver::tables::Tables;
use crate::support::query_plan::{PlanNode, connect_like_server, explain};
use crate::support::query_runner::QueryRunner;
use crate::support::random::Random;

/// The choices of a query.
const BYTES: usize = 1500;

/// Queries of one caller.
const QUERIES_OF_CALLER: u64 = 40;

/// Walks through all pages of a root, of one caller.
const WALKS_OF_CALLER: u64 = 6;

fn number(variable: &str, default: u64) -> u64 {
    let number = env::var(variable).map_or(default, |number| number.parse().unwrap());
    println!("{variable}={number}");
    number
}

/// The fields of a root's rows.
fn fields(catalog: &Catalog, root: &str) -> String {
    let (_, connection) = collection_roots(catalog).into_iter().find(|(name, _)| *name == root).unwrap();
    leaves(catalog, connection)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_shows_what_row_level_security_shows() {
    let (queries, seed) = (number("SCOPED_QUERIES", 600), number("SCOPED_SEED", 1));
    let file = SchemaFile::parse(BUILT_IN).unwrap();
    let catalog = built_in::catalog();
    let (database, protected) = (loaded_database().await, loaded_database().await);
    protect(&protected, BUILT_IN).await;
    let (ids, tables) = (Ids::read(&database).await, Tables::read(&database.connect().await, &catalog).await);
    let (values, settings) = (RowValues(&tables), Settings { introspection: false, ..Settings::default() });
    let (mut compared, mut walked, mut seen, mut unknown) = (0, 0, 0, 0);
    for caller_number in 0..queries.div_ceil(QUERIES_OF_CALLER) {
        let mut random = Random(seed << 32 | caller_number);
        let caller = Caller::random(&mut random, &ids);
        let pair = Pair::new(&file, [&database, &protected], &caller);
        for number in caller_number * QUERIES_OF_CALLER..((caller_number + 1) * QUERIES_OF_CALLER).min(queries) {
            let length = 20 + usize::try_from(number).unwrap() * 37 % BYTES;
            let bytes = bytes_of_seed(seed << 32 | number, length);
            let request = generate(&catalog, &values, settings, &mut Choices::new(&bytes)).request();
            if let Some([scoped, mut protected]) = pair.data(&request).await {
                unknown += unknown_counts::leave_out(&request.query, &scoped, &mut protected);
                assert_eq!(scoped, protected, "{caller:?}, query {number}: {}\n{:?}", request.query, request.variables);
                compared += 1;
                seen += scoped.to_string().len();
            }
        }
        for _ in 0..WALKS_OF_CALLER {
            let roots = collection_roots(&catalog);
            let (root, connection) = *random.pick(&roots);
            let (sort_key, size) = (&random.pick(&connection.sort_keys).name, *random.pick(&[3, 7, 20]));
            let arguments = format!("sortKey: {sort_key}, reverse: {}, first: {size}", random.chance(50));
            let node = fields(&catalog, root);
            let scoped = Pair::walk(&pair.scoped, root, &arguments, &node).await;
            let expected = Pair::walk(&pair.protected, root, &arguments, &node).await;
            assert_eq!(scoped, expected, "{caller:?}: {root}({arguments})");
            walked += 1;
        }
    }
    println!(
        "{compared} queries and {walked} walks are equal, {seen} bytes, but for {unknown} counts that a window did not find"
    );
    assert!(compared * 10 > queries * 5, "{compared} of {queries}");
    assert!(unknown as u64 * 100 < queries, "{unknown} of {queries}");
}

#[tokio::test(flavor = "multi_thread")]
async fn narrow_windows_leave_no_row_out_and_show_no_other() {
    let file = SchemaFile::parse(BUILT_IN).unwrap();
    let (database, protected) = (sampled_database().await, sampled_database().await);
    protect(&protected, BUILT_IN).await;
    let ids = Ids::read(&database).await;
    let catalog = built_in::catalog();
    let window = SearchWindow::new(SearchWindow::MIN).unwrap();
    for (number, root) in
        ["orders", "orderItems", "shipGroups", "shipments", "returns", "inventoryItemDetails"].into_iter().enumerate()
    {
        let mut random = Random(u64::try_from(number).unwrap());
        let stores = vec![random.pick(&ids.stores).clone()];
        let facilities = (number % 2 == 0).then(|| vec![random.pick(&ids.facilities).clone()]);
        let caller = Caller { facilities, stores: Some(stores) };
        let Pair { protected, .. } = Pair::new(&file, [&database, &protected], &caller);
        let rows = caller.rows();
        let narrow = file.limit(built_in::catalog().with_search_window(window), rows.limiting());
        let scoped = QueryRunner::with_catalog(&database.config(), 2, narrow).among(rows);
        let node = fields(&catalog, root);
        let seen = Pair::walk(&scoped, root, "first: 50", &node).await;
        let expected = Pair::walk(&protected, root, "first: 50", &node).await;
        assert_eq!(seen, expected, "{caller:?}: {root}");
    }
}

/// Pages through a list below a row, with the arguments for the next page. Returns the values of its nodes, and how many pages were short.
async fn walk_below(
    runner: &QueryRunner,
    party: &str,
    [list, flag]: [&str; 2],
    next: impl Fn(&Value) -> String,
) -> (Vec<Value>, usize) {
    let (mut nodes, mut short, mut arguments) = (Vec::new(), 0, String::new());
    loop {
        let query = format!(
            "{{ party(partyId: {party:?}) {{ orders({list}: 3{arguments}) {{ edges {{ node {{ orderId }} }} \
             pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }} }}"
        );
        let result = runner.run(&query, Variables::new()).await;
        let page = &result.data()["party"]["orders"];
        let rows = page["edges"].as_array().unwrap();
        nodes.extend(rows.iter().map(|edge| edge["node"]["orderId"].clone()));
        let is_cut = result.short_searches.iter().any(|search| search.key == "party.orders" && search.is_page_cut);
        let (is_short, goes_on) = (rows.len() < 3, page["pageInfo"][flag] == true);
        assert!(goes_on || !is_cut, "{page}");
        assert!(is_cut || !(is_short && goes_on), "{page}");
        // The window, its last row read again and the one after it, and the rows of the page.
        let examined = result.compiled.plan.row_bounds().examined;
        // Among rows that are not seen, 24 times as many on average, and a third more at most.
        assert!(examined < 50 * 32, "{examined}");
        short += usize::from(is_cut && is_short);
        if page["pageInfo"][flag] != true {
            return (nodes, short);
        }
        arguments = next(&page["pageInfo"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_below_a_row_ends_after_a_bounded_number_of_rows_and_pages_on() {
    let database = sampled_database().await;
    let client = database.connect().await;
    // One customer has nearly all orders, and another one a few.
    let customers =
        "SELECT min(party_id)::text, max(party_id)::text FROM order_role WHERE role_type_id = 'BILL_TO_CUSTOMER'";
    let customers = client.query_one(customers, &[]).await.unwrap();
    let [busy, other]: [String; 2] = [customers.get(0), customers.get(1)];
    let move_orders = "
        UPDATE order_role SET party_id = CASE WHEN number % 500 = 0 THEN $2 ELSE $1 END
        FROM (SELECT order_id, row_number() OVER (ORDER BY order_id) AS number FROM order_role
              WHERE role_type_id = 'BILL_TO_CUSTOMER' GROUP BY order_id
              HAVING count(*) = 1 AND min(party_id) <> $1) AS moved
        WHERE order_role.order_id = moved.order_id AND role_type_id = 'BILL_TO_CUSTOMER'";
    assert!(client.execute(move_orders, &[&busy, &other]).await.unwrap() > 1500);
    let stores = Ids::read(&database).await.stores;
    let (store, other_store) = (stores.last().unwrap(), &stores[0]);
    // Few of them are seen.
    let hide = "UPDATE order_header SET product_store_id = $2 WHERE product_store_id = $1 AND order_id NOT LIKE '%0'";
    assert!(client.execute(hide, &[store, other_store]).await.unwrap() > 100);
    let seen = "SELECT order_id::text FROM orderql.party_order
                WHERE bill_to_party_id = $1 AND product_store_id = $2 ORDER BY order_id";
    let expected: Vec<String> =
        client.query(seen, &[&busy, store]).await.unwrap().iter().map(|row| row.get(0)).collect();
    let caller = Caller { facilities: None, stores: Some(vec![store.clone()]) };
    let narrow = built_in::catalog().with_search_window(SearchWindow::new(SearchWindow::MIN).unwrap());
    let rows = caller.rows();
    let catalog = SchemaFile::parse(BUILT_IN).unwrap().limit(narrow, rows.limiting());
    let runner = QueryRunner::with_catalog(&database.config(), 2, catalog).among(rows);

    let after = |page: &Value| format!(", after: {}", page["endCursor"]);
    let (forward, short) = walk_below(&runner, &busy, ["first", "hasNextPage"], after).await;
    assert_eq!(json!(forward), json!(expected));
    assert!(short > 3, "{short} pages of {} rows were short", expected.len());
    let before = |page: &Value| format!(", before: {}", page["startCursor"]);
    let (backward, short) = walk_below(&runner, &busy, ["last", "hasPreviousPage"], before).await;
    let mut ids: Vec<_> = backward.iter().map(|id| id.as_str().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, expected);
    assert!(short > 3, "{short} pages were short");

    let query = format!("{{ party(partyId: {busy:?}) {{ orders(first: 3) {{ edges {{ cursor }} }} }} }}");
    let plan = runner.compile(&query, Variables::new()).plan;
    let explained = explain(&connect_like_server(&database).await, &plan).await;
    for scan in explained.all().iter().filter(|node| node.is_scan()) {
        // A window of 240 rows and the one after it, for each of which the view looks up to three roles.
        assert!(scan.rows() <= 723.0, "{}", explained.text());
    }

    // Each row of a page has a window of its own.
    let both = format!(
        "{{ parties(first: 2, query: \"partyId:{busy},{other}\") {{ edges {{ node {{ partyId orders(first: 10) {{
            pageInfo {{ hasNextPage }} edges {{ node {{ orderId }} }} }} }} }} }} }}"
    );
    let result = runner.run(&both, Variables::new()).await;
    let data = result.data();
    let pages = [0, 1].map(|index| &data["parties"]["edges"][index]["node"]);
    assert_eq!(pages.map(|page| &page["partyId"]), [&json!(busy), &json!(other)]);
    let next = pages.map(|page| &page["orders"]["pageInfo"]["hasNextPage"]);
    assert_eq!(next, [&json!(true), &json!(false)], "{data}");
    assert!(pages[0]["orders"]["edges"].as_array().unwrap().len() < 10, "{data}");
    let keys: Vec<_> = result.short_searches.iter().map(|search| search.key.as_str()).collect();
    assert_eq!(keys, ["parties.orders"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ranges_of_a_few_values_are_read_as_far_as_a_page_needs_them() {
    let database = sampled_database().await;
    let mut stores = Ids::read(&database).await.stores;
    stores.dedup();
    stores.truncate(3);
    assert_eq!(stores.len(), 3);
    let rows = Caller { facilities: None, stores: Some(stores) }.rows();
    let catalog = SchemaFile::parse(BUILT_IN).unwrap().limit(built_in::catalog(), rows.limiting());
    let runner = QueryRunner::with_catalog(&database.config(), 2, catalog).among(rows);
    let client = connect_like_server(&database).await;
    for arguments in [
        "",
        ", reverse: true",
        ", sortKey: ORDER_ID",
        ", query: \"statusId:ORDER_APPROVED\"",
        ", query: \"statusId:ORDER_APPROVED,ORDER_COMPLETED\"",
    ] {
        let query = format!("{{ orders(first: 50{arguments}) {{ edges {{ node {{ orderId }} }} }} }}");
        let explained = explain(&client, &runner.compile(&query, Variables::new()).plan).await;
        let nodes = explained.all();
        let read: f64 = nodes.iter().filter(|node| node.is_scan()).map(PlanNode::rows).sum();
        // The page, the row after it, and one row of each of the other ranges.
        assert!(read <= 56.0 && !nodes.iter().any(PlanNode::is_sort), "{arguments}: {}", explained.text());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_values_no_row_in_a_scope_is_seen() {
    let file = SchemaFile::parse(BUILT_IN).unwrap();
    let database = loaded_database().await;
    let none = [("facility", Some(Vec::new())), ("store", Some(Vec::new()))];
    let none = RowScope::new(none.into_iter(), Secret::default());
    let catalog = file.limit(built_in::catalog(), none.limiting());
    let scoped = QueryRunner::with_catalog(&database.config(), 2, catalog).among(none);
    let query = "{ orders(first: 5, countUpTo: 50) { edges { node { orderId } } count } facilities(first: 5) { edges { node { facilityId } } }
        order(orderId: \"10000\") { orderId } products(first: 1) { edges { node { inventoryLevels(first: 5) { edges { cursor } } } } }
        parties(first: 50) { edges { node { orders(first: 5) { edges { cursor } } } } } orderTotals(first: 1, groupBy: [DAY]) { rowCount } }";
    let data = scoped.data(query).await;
    assert_eq!(data["orders"], json!({ "edges": [], "count": 0 }));
    assert_eq!((&data["facilities"]["edges"], &data["order"]), (&json!([]), &Value::Null));
    let products = data["products"]["edges"].as_array().unwrap();
    assert!(!products.is_empty() && products[0]["node"]["inventoryLevels"]["edges"] == json!([]), "{data}");
    for party in data["parties"]["edges"].as_array().unwrap() {
        assert_eq!(party["node"]["orders"]["edges"], json!([]));
    }
    assert_eq!(data["orderTotals"]["rowCount"], 0);
}
