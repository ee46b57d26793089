//! How PostgreSQL runs a statement of a plan, as the service has it run: with a generic plan, on a connection of the
//! test's own.

use orderql::database::connect::connect;
use orderql::database::session::reader_settings;
use orderql::plan::request_plan::{Parameter, Plan};
use orderql::value::Value;
use serde_json::Value as Json;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::support::database::Database;

/// A connection that is set as those of the service's pool.
pub async fn connect_as_served(database: &Database) -> Client {
    connect(database.config().options(reader_settings(""))).await.unwrap()
}

/// A node of PostgreSQL's plan, with everything beneath it.
pub struct Node(Json);

/// Runs a step and returns the plan's root. The step's parents must be known.
pub async fn explained(client: &Client, plan: &Plan, step: usize) -> Node {
    client.batch_execute("DEALLOCATE ALL").await.unwrap();
    let sql = &plan.steps()[step].sql;
    client.batch_execute(&format!("PREPARE step AS {sql}")).await.unwrap();
    let arguments: Vec<_> = plan.parameters(step).map(literal).collect();
    let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
    let explain = format!("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE step{arguments}");
    let rows = client.simple_query(&explain).await.unwrap_or_else(|error| panic!("{error:?}\n{sql}"));
    let text = rows.iter().find_map(|row| match row {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    let plans: Json = serde_json::from_str(text.unwrap()).unwrap();
    Node(plans[0]["Plan"].clone())
}

impl Node {
    /// The node and all beneath it.
    pub fn all(&self) -> Vec<Node> {
        let beneath = self.0["Plans"].as_array().cloned().unwrap_or_default();
        let beneath = beneath.into_iter().flat_map(|node| Node(node).all());
        std::iter::once(Node(self.0.clone())).chain(beneath).collect()
    }

    /// What it does, such as `Index Scan`.
    pub fn kind(&self) -> &str {
        self.0["Node Type"].as_str().unwrap()
    }

    /// Whether it reads a table.
    pub fn is_scan(&self) -> bool {
        self.0["Relation Name"].is_string()
    }

    /// The index that it reads along.
    pub fn index(&self) -> Option<&str> {
        self.0["Index Name"].as_str()
    }

    /// How many rows it came to, or threw away, over all its runs.
    pub fn rows(&self) -> f64 {
        let number = |name: &str| self.0[name].as_f64().unwrap_or_default();
        let each = number("Actual Rows") + number("Rows Removed by Filter") + number("Rows Removed by Index Recheck");
        each * number("Actual Loops")
    }

    /// All of it, to be read by somebody who has to mend something.
    pub fn text(&self) -> String {
        format!("{:#}", self.0)
    }
}

fn literal(parameter: Parameter<'_>) -> String {
    match parameter {
        Parameter::Value(None) => "NULL".to_owned(),
        Parameter::Value(Some(value)) => literal_value(value),
        Parameter::Values(values) => {
            let values: Vec<_> = values.iter().map(literal_value).collect();
            format!("ARRAY[{}]", values.join(", "))
        }
        Parameter::Limit(rows) => rows.to_string(),
        Parameter::ParentKeys(_) => panic!("the parents of the step are not known"),
    }
}

fn literal_value(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Int(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::Boolean(truth) => format!("'{}'", if *truth { 'Y' } else { 'N' }),
        Value::DateTime(moment) => format!("timestamptz 'epoch' + {} * interval '1 microsecond'", moment.0),
    }
}
