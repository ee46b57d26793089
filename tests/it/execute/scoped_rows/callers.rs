//! Callers who see some rows only, and the same callers as roles of PostgreSQL.

use orderql::catalog::scope::RowScope;
use orderql::catalog::search_window::SearchWindow;
use orderql::query::{Request, Variables};
use orderql::schema_file::SchemaFile;
use orderql::seal::Secret;
use serde_json::Value;

use crate::execute::scoped_rows::cursors;
use crate::execute::scoped_rows::row_security::ROLE;
use crate::support::built_in;
use crate::support::database::Database;
use crate::support::query_runner::QueryRunner;
use crate::support::random::Random;

/// What a caller has in the scopes of the built-in schema; `None` for all.
#[derive(Debug)]
pub struct Caller {
    pub facilities: Option<Vec<String>>,
    pub stores: Option<Vec<String>>,
}

/// The ids that callers can have, each as often as rows have it: those of a caller shall have some.
pub struct Ids {
    pub facilities: Vec<String>,
    pub stores: Vec<String>,
}

impl Ids {
    pub async fn read(database: &Database) -> Self {
        let client = database.connect().await;
        let ids = async |select: &str| -> Vec<String> {
            client.query(select, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
        };
        Self {
            facilities: ids("SELECT facility_id::text FROM facility
                UNION ALL SELECT facility_id FROM order_item_ship_group WHERE facility_id IS NOT NULL
                UNION ALL SELECT origin_facility_id FROM shipment WHERE origin_facility_id IS NOT NULL
                ORDER BY 1")
            .await,
            stores: ids(
                "SELECT product_store_id::text FROM order_header WHERE product_store_id IS NOT NULL ORDER BY 1",
            )
            .await,
        }
    }
}

impl Caller {
    pub fn random(random: &mut Random, ids: &Ids) -> Self {
        let mut some = |all: &[String]| -> Option<Vec<String>> {
            let count = *random.pick(&[0, 1, 1, 2, 3, 6]);
            random.chance(70).then(|| (0..count).map(|_| random.pick(all).clone()).collect())
        };
        let (facilities, stores) = (some(&ids.facilities), some(&ids.stores));
        Self { facilities, stores }
    }

    pub fn rows(&self) -> RowScope {
        fn values(values: Option<&Vec<String>>) -> Option<Vec<&str>> {
            values.map(|values| values.iter().map(String::as_str).collect())
        }
        let scopes = [("facility", values(self.facilities.as_ref())), ("store", values(self.stores.as_ref()))];
        RowScope::new(scopes.into_iter(), Secret::default())
    }
}

/// Runs the queries of a caller, and those of a role with the same policies.
pub struct Pair {
    pub scoped: QueryRunner,
    pub protected: QueryRunner,
}

impl Pair {
    pub fn new(file: &SchemaFile, [database, protected]: [&Database; 2], caller: &Caller) -> Self {
        let rows = caller.rows();
        let limited = file.limit(built_in::catalog(), rows.limiting());
        let scoped = QueryRunner::with_catalog(&database.config(), 2, limited);
        let setting = |name: &str, values: &Option<Vec<String>>| {
            let values = values.as_ref().map_or_else(|| "*".to_owned(), |values| values.join(","));
            format!("-c scopes.{name}={}", values.replace(' ', "\\ "))
        };
        let mut config = protected.config();
        config.user(ROLE).options(format!(
            "{} {}",
            setting("facility", &caller.facilities),
            setting("store", &caller.stores)
        ));
        // Wide enough for every search to end: PostgreSQL leaves rows out before the window does.
        let whole = built_in::catalog().with_search_window(SearchWindow::new(SearchWindow::MAX).unwrap());
        let protected = QueryRunner::with_catalog(&config, 2, whole);
        Self { scoped: scoped.among(rows), protected }
    }

    /// The data of both; `None` where the request is rejected, or a window ends before its search: among rows that all are seen, windows are
    /// narrow.
    pub async fn data(&self, request: &Request) -> Option<[Value; 2]> {
        let (scoped, protected) = (self.scoped.try_compile(request).ok()?, self.protected.try_compile(request).ok()?);
        let scoped = self.scoped.execute(scoped).await.unwrap_or_else(|error| panic!("{error:?}\n{}", request.query));
        let protected = self.protected.execute(protected).await;
        let protected = protected.unwrap_or_else(|error| panic!("{error:?}\n{}", request.query));
        if !scoped.short_searches.is_empty() || !protected.short_searches.is_empty() {
            return None;
        }
        Some([cursors::unscoped(scoped.data()), cursors::unscoped(protected.data())])
    }

    /// All nodes of a root, page by page.
    pub async fn walk(runner: &QueryRunner, root: &str, arguments: &str, node: &str) -> Vec<Value> {
        let (mut nodes, mut after) = (Vec::new(), String::new());
        loop {
            let query = format!(
                "{{ found: {root}({arguments}{after}) {{ nodes: edges {{ node {{ {node} }} }} pageInfo {{ hasNextPage endCursor }} }} }}"
            );
            let page = &runner.run(&query, Variables::new()).await.data()["found"];
            nodes.extend(page["nodes"].as_array().unwrap().iter().cloned());
            if page["pageInfo"]["hasNextPage"] != true {
                return nodes;
            }
            after = format!(", after: {}", page["pageInfo"]["endCursor"]);
        }
    }
}
