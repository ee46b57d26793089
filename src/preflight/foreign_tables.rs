//! Whether the tables of other servers can be read. PostgreSQL's catalogs do not say it, so a row of each is read. A server that is away
//! takes nothing but its own tables away, so that is no reason not to start.

use std::collections::HashSet;

use tokio_postgres::{Client, Error};

use crate::catalog::Catalog;
use crate::plan::sql::{Identifier, List, Relation};
use crate::preflight::mismatch::Mismatch;
use crate::preflight::requirements::Requirements;
use crate::relations::reader::read_named;
use crate::relations::relation::DescribedRelation;

/// How long a server may take.
const BEGIN: &str = "BEGIN READ ONLY; SET LOCAL statement_timeout TO '10s'; SET LOCAL search_path TO public";

/// Selects the tables of other servers by their schemas and names. Few databases have any.
const FOREIGN_TABLES: &str = "
    SELECT namespace.nspname::text, relation.relname::text
    FROM pg_catalog.pg_foreign_table AS foreign_table
    JOIN pg_catalog.pg_class AS relation ON relation.oid = foreign_table.ftrelid
    JOIN pg_catalog.pg_namespace AS namespace ON namespace.oid = relation.relnamespace";

/// Reads a row of each foreign table that a catalog names, and returns the tables that fail. The connection must be outside a transaction.
pub(crate) async fn unreachable(client: &Client, catalog: &Catalog) -> Result<Vec<Mismatch>, Error> {
    let requirements = Requirements::of(catalog);
    let foreign = client.query(FOREIGN_TABLES, &[]).await?;
    let foreign = foreign.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    let foreign = foreign.collect::<Result<HashSet<(String, String)>, Error>>()?;
    let mut relations = requirements.relations();
    relations.retain(|name| {
        let (schema, name) = name.split_once('.').unwrap_or(("public", name));
        foreign.contains(&(schema.to_owned(), name.to_owned()))
    });
    if relations.is_empty() {
        return Ok(Vec::new());
    }
    let database = read_named(client, &relations).await?;
    let mut unreachable = Vec::new();
    for relation in relations {
        let Some(found) = database.relation(relation) else { continue };
        let Some(server) = found.server.clone() else { continue };
        let columns = requirements.columns.iter().filter(|required| required.column.relation == relation);
        let names = columns.clone().map(|required| required.column.name);
        if let Some(message) = failure(client, relation, found, names).await?
            && let Some(first) = columns.clone().next()
        {
            unreachable.push(Mismatch::UnreachableForeignTable {
                relation: relation.to_owned(),
                server,
                required_by: first.required_by.to_string(),
                message,
            });
        }
    }
    Ok(unreachable)
}

/// PostgreSQL's message, if the required columns that exist cannot be read.
async fn failure<'a>(
    client: &Client,
    relation: &str,
    found: &DescribedRelation,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<Option<String>, Error> {
    let columns = List(names.filter(|name| found.column(name).is_some()).map(Identifier));
    let read = format!("{BEGIN}; SELECT {columns} FROM {} LIMIT 1", Relation(relation));
    let read = client.simple_query(&read).await;
    client.batch_execute("ROLLBACK").await?;
    match read {
        Ok(_) => Ok(None),
        Err(error) => error.as_db_error().map(|report| Some(report.message().to_owned())).ok_or(error),
    }
}
