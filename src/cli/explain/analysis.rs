//! Runs the statement of an explained query on a database, by `EXPLAIN (ANALYZE)`.

use crate::catalog::Catalog;
use crate::cli::database::fitted;
use crate::cli::explain::explained::Explained;
use crate::cli::outcome::Outcome;
use crate::compile::explanation::explain;
use crate::database::address::connection_string::ConnectionString;
use crate::execute::plan_analysis::analyze;
use crate::execute::statement_log::StatementLog;
use crate::limits::Limits;
use crate::query::Request;

/// The explanation with what the query took, unless it would be rejected.
pub(super) async fn analyzed<'a>(
    database: &ConnectionString,
    catalog: Catalog,
    request: &'a Request,
    limits: Limits,
) -> Outcome<Explained<'a>> {
    let (catalog, pool) = fitted(database, catalog).await?;
    let result = explain(&catalog, request, &limits);
    let mut explained = Explained { query: &request.query, limits, result, analysis: None };
    if explained.errors().is_none()
        && let Ok(explanation) = &explained.result
        && explanation.plan.needs_database()
    {
        let connection = pool.connection().await?;
        explained.analysis = Some(analyze(connection, &explanation.plan, &StatementLog::default()).await?);
    }
    Ok(explained)
}
