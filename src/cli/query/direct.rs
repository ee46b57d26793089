//! Asks a database without a server: compiles the query and runs its statements.

use std::path::Path;

use serde_json::json;

use crate::api::graphql::response::response_envelope;
use crate::cli::database::fitted;
use crate::cli::outcome::Outcome;
use crate::cli::query::nesting;
use crate::cli::query::response::{Fields, Ordered};
use crate::cli::schema;
use crate::compile::compile;
use crate::database::address::connection_string::ConnectionString;
use crate::execute::row_limits::{Memory, RowLimits};
use crate::execute::statement_log::StatementLog;
use crate::execute::{constant, execute};
use crate::limits::Limits;
use crate::query::Request;

/// The response of a server without limits. A request that is not run has errors, or nothing.
pub(super) async fn ask(
    database: &ConnectionString,
    file: Option<&Path>,
    request: &Request,
    is_run: bool,
) -> Outcome<Ordered> {
    let (catalog, pool) = fitted(database, schema::read(file)?).await?;
    let limits = Limits { max_page_size: 10_000, max_depth: 50, ..Limits::UNLIMITED };
    let compiled = match compile(&catalog, request, &limits) {
        Ok(compiled) => compiled,
        Err(errors) => return Ok(serde_json::from_str(&json!({ "errors": errors }).to_string())?),
    };
    if !is_run {
        return Ok(Ordered::Object(Fields::new()));
    }
    let mut writer = if compiled.plan.needs_database() {
        let connection = pool.connection().await?;
        let mut limits = RowLimits { bytes: u64::MAX, memory: &mut |_| Memory::Held };
        execute(connection.into(), &compiled.plan, &StatementLog::default(), &mut limits).await?
    } else {
        constant(&compiled.plan)
    };
    let mut data = Vec::new();
    writer.write(&mut data, usize::MAX)?;
    let cost = json!({
        "requestedQueryCost": compiled.estimate.cost(),
        "actualQueryCost": compiled.estimate.actual(&writer.row_counts()),
    });
    let mut response = Fields::from_iter([("data".to_owned(), serde_json::from_slice(&nesting::cut(&data))?)]);
    let errors: serde_json::Value = writer.field_errors().iter().map(response_envelope::error).collect();
    if writer.field_error_count() > 0 {
        response.insert("errors".to_owned(), serde_json::from_value(errors)?);
    }
    response.insert("extensions".to_owned(), serde_json::from_value(json!({ "cost": cost }))?);
    Ok(Ordered::Object(response))
}
