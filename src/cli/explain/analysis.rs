//! Runs the statement of an explained query on a database, by `EXPLAIN (ANALYZE)`.

use crate::catalog::Catalog;
use crate::catalog::scope::RowScope;
use crate::cli::database::fitted;
use crate::cli::explain::explained::Explained;
use crate::cli::outcome::Outcome;
use crate::compile::explanation::explain;
use crate::database::address::connection_string::ConnectionString;
use crate::execute::plan_analysis::analyze;
use crate::execute::statement_log::StatementLog;
use crate::limits::Limits;
use crate::query::Request;
use crate::query::bind::caller::Caller;
use crate::schema_file::SchemaFile;

/// The explanation with what the query took, unless it would be rejected.
pub(super) async fn analyzed<'a>(
    database: &ConnectionString,
    catalog: Catalog,
    (file, rows): (&SchemaFile, &RowScope),
    request: &'a Request,
    limits: Limits,
) -> Outcome<Explained<'a>> {
    let (catalog, pool) = fitted(database, catalog).await?;
    let catalog = file.limit(catalog, rows.limiting());
    let result = explain(&catalog, request, Caller { limits: &limits, rows });
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
