//! How PostgreSQL answers a query: the statements of its plan with the time that each takes, and how it runs the dearest.

use orderql::database::connect::connect;
use orderql::database::parameter::SqlParam;
use orderql::database::session::reader_settings;
use orderql::plan::request_plan::Plan;
use serde::Serialize;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, SimpleQueryMessage, Statement};

use crate::measure::Fault;
use crate::measure::steps::{rows, values};
use crate::measure::store::Store;

/// A statement of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct Ran {
    /// Its text.
    pub sql: String,
    /// How long it ran, in milliseconds, watched and therefore slower than alone.
    pub ms: f64,
    /// What `EXPLAIN (ANALYZE, BUFFERS)` says.
    pub explained: Vec<String>,
}

/// A connection that is set up as those of the server are.
pub async fn client(store: &Store) -> Result<Client, Fault> {
    let mut config = store.config.clone();
    config.options(reader_settings(""));
    Ok(connect(&config).await?)
}

/// Runs the statements of a plan one after the other, and has each explained.
pub async fn run(client: &Client, plan: &Plan) -> Result<Vec<Ran>, Fault> {
    let (mut fetched, mut ran) = (Vec::new(), Vec::new());
    for (place, step) in plan.steps().iter().enumerate() {
        let statement = client.prepare(&step.sql).await?;
        let values = values(plan, place, &fetched)?;
        let rows = rows(client, plan, place, &statement, &values).await?;
        ran.push(explain(client, &step.sql, &statement, &values).await?);
        fetched.push(rows);
    }
    Ok(ran)
}

/// Has a statement explained as it is run when it is prepared, for any values: an EXPLAIN with parameters of its own would
/// be planned for theirs.
async fn explain(client: &Client, sql: &str, statement: &Statement, values: &[SqlParam<'_>]) -> Result<Ran, Fault> {
    let literals = literals(client, statement, values).await?;
    let arguments = if literals.is_empty() { String::new() } else { format!("({})", literals.join(", ")) };
    client.batch_execute(&format!("PREPARE explained AS {sql}")).await?;
    // The first time it is planned.
    let text = format!("EXPLAIN (ANALYZE, BUFFERS) EXECUTE explained{arguments}");
    client.simple_query(&text).await?;
    let told = client.simple_query(&text).await?;
    client.batch_execute("DEALLOCATE explained").await?;
    let explained: Vec<_> = told
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })
        .collect();
    let time =
        explained.iter().find_map(|line| line.strip_prefix("Execution Time: ")?.strip_suffix(" ms")?.parse().ok());
    Ok(Ran { sql: sql.to_owned(), ms: time.unwrap_or_default(), explained })
}

/// The values as SQL writes them.
async fn literals(client: &Client, statement: &Statement, values: &[SqlParam<'_>]) -> Result<Vec<String>, Fault> {
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let types = statement.params().iter().enumerate();
    let written: Vec<_> =
        types.map(|(place, ty)| format!("quote_nullable(${}::{}::text)", place + 1, ty.name())).collect();
    let values: Vec<_> = values.iter().map(|value| value as &(dyn ToSql + Sync)).collect();
    let row = client.query_one(&format!("SELECT {}", written.join(", ")), &values).await?;
    Ok((0..values.len()).map(|place| row.try_get(place)).collect::<Result<_, _>>()?)
}
