//! How PostgreSQL runs a query: the statement of its plan, its time and PostgreSQL's plan for it.

use orderql::database::parameter::BinaryParameter;
use orderql::plan::request_plan::Plan;
use serde::Serialize;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, SimpleQueryMessage, Statement};

use crate::error::Result;
use crate::plan_parameters::parameters;

/// The statement of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct Explained {
    pub sql: String,
    /// Its time in milliseconds, which is longer than without EXPLAIN.
    pub ms: f64,
    /// The lines of `EXPLAIN (ANALYZE, BUFFERS)`.
    pub plan: Vec<String>,
}

/// Runs and explains PostgreSQL's generic plan for the statement. An EXPLAIN with parameters would be planned for their values.
pub async fn explain(client: &Client, plan: &Plan) -> Result<Explained> {
    let sql = plan.sql();
    let statement = client.prepare(sql).await?;
    let literals = literals(client, &statement, &parameters(plan)).await?;
    let arguments = if literals.is_empty() { String::new() } else { format!("({})", literals.join(", ")) };
    client.batch_execute(&format!("PREPARE explained AS {sql}")).await?;
    let execute = format!("EXPLAIN (ANALYZE, BUFFERS) EXECUTE explained{arguments}");
    // The first time includes planning.
    client.simple_query(&execute).await?;
    let messages = client.simple_query(&execute).await?;
    client.batch_execute("DEALLOCATE explained").await?;
    let lines = messages.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    let plan: Vec<_> = lines.collect();
    let time = |line: &String| line.strip_prefix("Execution Time: ")?.strip_suffix(" ms")?.parse().ok();
    Ok(Explained { sql: sql.to_owned(), ms: plan.iter().find_map(time).unwrap_or_default(), plan })
}

/// The parameters as SQL literals.
async fn literals(client: &Client, statement: &Statement, parameters: &[BinaryParameter<'_>]) -> Result<Vec<String>> {
    if parameters.is_empty() {
        return Ok(Vec::new());
    }
    let types = statement.params().iter().enumerate();
    let columns: Vec<_> =
        types.map(|(index, ty)| format!("quote_nullable(${}::{}::text)", index + 1, ty.name())).collect();
    let parameters: Vec<_> = parameters.iter().map(|parameter| parameter as &(dyn ToSql + Sync)).collect();
    let row = client.query_one(&format!("SELECT {}", columns.join(", ")), &parameters).await?;
    Ok((0..parameters.len()).map(|column| row.try_get(column)).collect::<Result<_, _>>()?)
}
