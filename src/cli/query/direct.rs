//! Asks a database without a server: compiles the query and runs its statements.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::cli::database::{address, connect};
use crate::cli::outcome::Outcome;
use crate::cli::query::response::{Fields, Ordered};
use crate::cli::schema;
use crate::compile::compile;
use crate::database::address::connection_string::ConnectionString;
use crate::database::pool::options::PoolOptions;
use crate::database::pool::reader_pool::Pool;
use crate::execute::statement_log::StatementLog;
use crate::execute::{constant, execute};
use crate::limits::Limits;
use crate::preflight::stored_types;
use crate::query::Request;

/// How long connecting may take.
const WAIT: Duration = Duration::from_secs(10);

/// The response of a server without limits.
pub(super) async fn ask(database: &ConnectionString, file: Option<&Path>, request: &Request) -> Outcome<Ordered> {
    let catalog = schema::read(file)?;
    let database = address(database)?;
    // This error says what to do, and that of a pool does not.
    let client = connect(&database).await?;
    let stored = stored_types(&client, &catalog).await?;
    let catalog = catalog.with_stored_types(&stored);
    drop(client);
    let limits = Limits { max_page_size: 10_000, max_depth: 50, ..Limits::UNLIMITED };
    let compiled = match compile(&catalog, request, &limits) {
        Ok(compiled) => compiled,
        Err(errors) => return Ok(serde_json::from_str(&json!({ "errors": errors }).to_string())?),
    };
    let mut writer = if compiled.plan.needs_database() {
        let options = PoolOptions { database, size: 1, shared: 0, wait: WAIT };
        let connection = Pool::new(&options)?.connection().await?;
        execute(connection.into(), &compiled.plan, &StatementLog::default()).await?
    } else {
        constant(&compiled.plan)
    };
    let mut data = Vec::new();
    writer.write(&mut data, usize::MAX)?;
    let cost = json!({
        "requestedQueryCost": compiled.estimate.cost(),
        "actualQueryCost": compiled.estimate.actual(&writer.row_counts()),
    });
    Ok(Ordered::Object(Fields::from_iter([
        ("data".to_owned(), serde_json::from_slice(&data)?),
        ("extensions".to_owned(), serde_json::from_value(json!({ "cost": cost }))?),
    ])))
}
