//! Checks whether what migrations made is still as they made it: indexes, triggers, and what these keep.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use crate::change_feed::check::{ForeignIds, TriggerFault, exist, faults, has_foreign_ids};
use crate::cli::doctor::finding::Finding;
use crate::migration::indexes;
use crate::migration::kept_tables::{KEPT_TABLES, KeptTable};
use crate::migration::pending::{ChangedTrigger, changed_triggers, pending};
use crate::migration::record::has_order_tables;

/// Whether there are tables of orders that are migrated completely. The rest was reported before.
async fn is_migrated(client: &Client) -> Result<bool, Error> {
    Ok(has_order_tables(client).await? && pending(client).await?.is_empty())
}

/// The indexes that were dropped, changed, or not finished.
pub(super) async fn indexes(client: &Client) -> Result<Vec<Finding>, Error> {
    if !is_migrated(client).await? {
        return Ok(Vec::new());
    }
    let missing = indexes::missing(client, &[]).await?;
    let names: Vec<_> = missing.iter().map(|missing| missing.index.name).collect();
    Ok(vec![if names.is_empty() {
        Finding::ok("indexes", "all are there, with the columns that they include")
    } else {
        let text = format!("dropped, invalid or without a column that they include: {}", names.join(", "));
        Finding::warning("indexes", text, "orderql migrate --concurrently, as the owner of the tables")
    }])
}

/// The triggers that are missing, off, or skipped where rows are replicated.
pub(super) async fn triggers(client: &Client) -> Result<Vec<Finding>, Error> {
    if !is_migrated(client).await? {
        return Ok(Vec::new());
    }
    let mut findings = Vec::new();
    for ChangedTrigger { relation, name, state, declared_state } in changed_triggers(client).await? {
        let (how, remedy) = match (state.as_deref(), declared_state) {
            (None, _) => ("missing", "orderql migrate, as the owner of the tables".to_owned()),
            (Some("D"), state) => ("off", enable(relation, name, state)),
            (Some(_), "A") => ("not ALWAYS, so that replicated rows pass it by", enable(relation, name, "A")),
            (Some(_), state) => ("in another mode than it was made with", enable(relation, name, state)),
        };
        let table = relation.trim_start_matches("public.");
        findings.push(Finding::warning("triggers", format!("{name} on {table} is {how}"), remedy));
    }
    if findings.is_empty() {
        findings.push(Finding::ok("triggers", "the kept tables follow OFBiz's"));
    }
    Ok(findings)
}

/// The statement that brings a trigger to a state.
fn enable(relation: &str, name: &str, state: &str) -> String {
    let mode = match state {
        "A" => "ALWAYS ",
        "R" => "REPLICA ",
        _ => "",
    };
    format!("ALTER TABLE {relation} ENABLE {mode}TRIGGER {name}; -- and then: orderql tables --repair")
}

/// Whether the change feeds can be relied on.
pub(super) async fn change_feeds(client: &Client) -> Result<Vec<Finding>, Error> {
    if !exist(client).await? {
        return Ok(Vec::new());
    }
    let mut findings = Vec::new();
    if has_foreign_ids(client).await? {
        findings.push(Finding::error("changes", &ForeignIds));
    }
    for TriggerFault { feed, relation, name, exists } in faults(client).await? {
        let how = if exists { "off, or not ALWAYS" } else { "missing" };
        let text = format!("{name} on {relation} is {how}, so that {feed} misses changes");
        let remedy = "orderql migrate, then orderql sync reset, as the owner of the tables";
        findings.push(Finding::warning("changes", text, remedy));
    }
    if findings.is_empty() {
        findings.push(Finding::ok("changes", "the triggers of the change feeds are there and on"));
    }
    Ok(findings)
}

/// Whether what triggers keep equals OFBiz's tables. Reads all rows of a table, as long as that takes ten seconds at most.
pub(super) async fn kept_tables(client: &Client) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for table in &KEPT_TABLES {
        if !table.exists(client).await? {
            continue;
        }
        client.batch_execute("SET statement_timeout = '10s'").await?;
        let differing = table.differing(client).await;
        client.batch_execute("RESET statement_timeout").await?;
        let KeptTable { name, rows, .. } = table;
        findings.push(match differing {
            Ok(0) => Finding::ok("tables", format!("{rows} equal OFBiz's tables")),
            Ok(differing) => Finding::warning(
                "tables",
                format!("{differing} {rows} in {name} differ from OFBiz's tables"),
                "orderql tables --repair --database-url …, as the owner of the tables",
            ),
            Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => {
                let text = format!("not compared: there are more {rows} than can be read in 10 s");
                Finding::warning("tables", text, "orderql tables --database-url …, as the owner of the tables")
            }
            Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => Finding::warning(
                "tables",
                format!("this role may not compare {rows}"),
                "orderql tables --database-url …, as the owner of the tables; orderql migrate --print-grants ROLE prints what is missing",
            ),
            Err(error) => return Err(error),
        });
    }
    Ok(findings)
}
