//! PostgreSQL's plan for the statement of a query, with a generic plan as in the server, on a connection of the test.

use orderql::database::connection::connect::connect;
use orderql::database::connection::session::reader_settings;
use orderql::execute::sql_literal::arguments;
use orderql::plan::request_plan::Plan;
use serde_json::Value as Json;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::support::database::Database;

/// A connection with the settings of the server's pool.
pub async fn connect_like_server(database: &Database) -> Client {
    connect(database.config().options(reader_settings(""))).await.unwrap()
}

/// A node of PostgreSQL's plan, with its descendants.
pub struct PlanNode(Json);

/// Runs the statement of a plan with `EXPLAIN (ANALYZE)` and returns the root of PostgreSQL's plan.
pub async fn explain(client: &Client, plan: &Plan) -> PlanNode {
    explained(client, plan, "ANALYZE, TIMING OFF").await
}

/// The root of PostgreSQL's plan for the statement of a plan, which is not run.
pub async fn plan_of(client: &Client, plan: &Plan) -> PlanNode {
    explained(client, plan, "COSTS OFF").await
}

async fn explained(client: &Client, plan: &Plan, options: &str) -> PlanNode {
    let sql = plan.sql();
    let execute = format!("EXPLAIN ({options}, FORMAT JSON) EXECUTE statement{}", arguments(plan));
    let batch = format!("DEALLOCATE ALL; PREPARE statement AS {sql}; {execute}");
    let rows = client.simple_query(&batch).await.unwrap_or_else(|error| panic!("{error:?}\n{sql}"));
    PlanNode::parse(values(&rows)[0])
}

/// PostgreSQL's plan for a statement, and the number of index entries and rows that its scans read.
pub struct MeasuredStatement {
    pub plan: PlanNode,
    /// The entries that index scans returned and the rows that sequential scans returned. Exact, while a plan's row counts
    /// are rounded averages of loops.
    pub rows: u64,
}

/// Runs the statement of a plan with `EXPLAIN (ANALYZE, BUFFERS)`, and counts what the scans of these relations read. They are
/// the object ids of tables and indexes.
pub async fn measure(client: &Client, plan: &Plan, relations: &str) -> MeasuredStatement {
    let sql = plan.sql();
    let execute = format!("EXECUTE statement{}", arguments(plan));
    let count =
        format!("SELECT sum(pg_stat_get_xact_tuples_returned(id)) FROM unnest('{relations}'::oid[]) AS relation (id)");
    // The first EXPLAIN plans the statement, for which PostgreSQL may read the ends of indexes.
    let batch = format!(
        "DEALLOCATE ALL; PREPARE statement AS {sql}; EXPLAIN {execute}; BEGIN; {count}; \
         EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {execute}; {count}; COMMIT"
    );
    let rows = client.simple_query(&batch).await.unwrap_or_else(|error| panic!("{error:?}\n{sql}"));
    let values = values(&rows);
    let [.., before, plan, after] = values.as_slice() else { panic!("{values:?}") };
    let count = |text: &str| text.parse::<u64>().unwrap();
    MeasuredStatement { plan: PlanNode::parse(plan), rows: count(after) - count(before) }
}

/// The first column of each row.
fn values<'a>(messages: &'a [SimpleQueryMessage]) -> Vec<&'a str> {
    let value = |message: &'a SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    };
    messages.iter().filter_map(value).collect()
}

impl PlanNode {
    fn parse(text: &str) -> Self {
        let plans: Json = serde_json::from_str(text).unwrap();
        Self(plans[0]["Plan"].clone())
    }

    /// The node as PostgreSQL reports it.
    pub fn json(&self) -> &Json {
        &self.0
    }

    /// The node and its descendants.
    pub fn all(&self) -> Vec<PlanNode> {
        let children = self.0["Plans"].as_array().cloned().unwrap_or_default();
        let descendants = children.into_iter().flat_map(|node| PlanNode(node).all());
        std::iter::once(PlanNode(self.0.clone())).chain(descendants).collect()
    }

    /// The node type, such as `Index Scan`.
    pub fn kind(&self) -> &str {
        self.0["Node Type"].as_str().unwrap()
    }

    /// Whether it sorts rows that it reads. The rows of a page that is read from its back are sorted by their numbers.
    pub fn is_sort(&self) -> bool {
        self.kind().contains("Sort") && !self.0["Sort Key"].to_string().contains("row_number()")
    }

    /// Whether it reads a table.
    pub fn is_scan(&self) -> bool {
        self.0["Relation Name"].is_string()
    }

    /// The name of the index that the node scans.
    pub fn index(&self) -> Option<&str> {
        self.0["Index Name"].as_str()
    }

    /// The number of rows that the node returned or discarded.
    pub fn rows(&self) -> f64 {
        self.returned_rows() + self.discarded_rows()
    }

    /// The number of rows that the node returned, in all its loops.
    pub fn returned_rows(&self) -> f64 {
        self.number("Actual Rows") * self.number("Actual Loops")
    }

    /// The number of rows that the node read and discarded, in all its loops.
    pub fn discarded_rows(&self) -> f64 {
        let per_loop = self.number("Rows Removed by Filter") + self.number("Rows Removed by Index Recheck");
        per_loop * self.number("Actual Loops")
    }

    fn number(&self, name: &str) -> f64 {
        self.0[name].as_f64().unwrap_or_default()
    }

    /// The whole plan, for messages of failed tests.
    pub fn text(&self) -> String {
        format!("{:#}", self.0)
    }
}
