//! Checks whether what migrations made is still as they made it: indexes, and the triggers that keep the table of parties.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use crate::cli::doctor::finding::Finding;
use crate::database::migrate::{has_order_tables, pending};
use crate::database::{indexes, parties};

/// The triggers that should be there, in whichever state they are. Those that run in a session of replication too have the state A.
const TRIGGERS: &str = "
    SELECT relation, name, tgenabled
    FROM (VALUES ('party'), ('person'), ('party_group')) AS tables (relation)
    CROSS JOIN (VALUES ('orderql_keep'), ('orderql_keep_none')) AS triggers (name)
    LEFT JOIN pg_trigger ON tgrelid = to_regclass('public.' || relation) AND tgname = name
    WHERE tgenabled IS DISTINCT FROM 'A'
    ORDER BY relation, name";

/// Whether there are tables of orders that are migrated completely. The rest was reported before.
async fn is_migrated(client: &Client) -> Result<bool, Error> {
    Ok(has_order_tables(client).await? && pending(client).await?.is_empty())
}

/// The indexes that were dropped, changed, or not finished.
pub(super) async fn indexes(client: &Client) -> Result<Vec<Finding>, Error> {
    if !is_migrated(client).await? {
        return Ok(Vec::new());
    }
    let missing = indexes::missing(client).await?;
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
    for row in client.query(TRIGGERS, &[]).await? {
        let (relation, name): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let state: Option<i8> = row.try_get(2)?;
        let (how, remedy) = match state.map(i8::cast_unsigned) {
            None => ("missing", "orderql migrate --undo, and orderql migrate, as the owner of the tables".to_owned()),
            Some(b'D') => ("off", enable(&relation, &name)),
            Some(_) => ("not ALWAYS, so that replicated rows pass it by", enable(&relation, &name)),
        };
        findings.push(Finding::warning("triggers", format!("{name} on {relation} is {how}"), remedy));
    }
    if findings.is_empty() {
        findings.push(Finding::ok("triggers", "the table of parties follows OFBiz's"));
    }
    Ok(findings)
}

fn enable(relation: &str, name: &str) -> String {
    format!("ALTER TABLE public.{relation} ENABLE ALWAYS TRIGGER {name}; then orderql parties --repair")
}

/// Whether the table of parties equals OFBiz's. Reads all parties, as long as that takes ten seconds at most.
pub(super) async fn parties(client: &Client) -> Result<Vec<Finding>, Error> {
    if !is_migrated(client).await? {
        return Ok(Vec::new());
    }
    client.batch_execute("SET statement_timeout = '10s'").await?;
    let differing = parties::differing(client).await;
    client.batch_execute("RESET statement_timeout").await?;
    Ok(vec![match differing {
        Ok(0) => Finding::ok("parties", "all equal OFBiz's tables"),
        Ok(differing) => {
            Finding::warning("parties", format!("{differing} differ from OFBiz's tables"), "orderql parties --repair")
        }
        Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => {
            Finding::ok("parties", "too many to compare in 10 s; orderql parties compares them")
        }
        // Only the owner of OFBiz's tables may read all of them.
        Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            Finding::ok("parties", "this role may not compare them; orderql parties does, as the owner of the tables")
        }
        Err(error) => return Err(error),
    }])
}
