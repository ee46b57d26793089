//! The missing objects of a database and its changed triggers, for roles that cannot migrate it.

use tokio_postgres::{Client, Error};

use crate::migration::declaration::{Declaration, TableScope};
use crate::migration::difference::Difference;
use crate::migration::record::has_order_tables;

/// The declared tables, columns and objects that the database lacks, by name.
pub(crate) async fn pending(client: &Client) -> Result<Vec<String>, Error> {
    let scope = if has_order_tables(client).await? { TableScope::All } else { TableScope::Service };
    let difference = Difference::read(client, Declaration::of(scope), None).await?;
    Ok(difference.names())
}

/// A trigger that is missing, or in another state of `pg_trigger` than migrations bring it to.
#[derive(Debug)]
pub(crate) struct ChangedTrigger {
    /// With its schema.
    pub(crate) relation: &'static str,
    pub(crate) name: &'static str,
    /// None if it is missing.
    pub(crate) state: Option<String>,
    pub(crate) declared_state: &'static str,
}

/// The changed triggers of a database with order tables.
pub(crate) async fn changed_triggers(client: &Client) -> Result<Vec<ChangedTrigger>, Error> {
    let Difference { triggers, present, .. } = Difference::read(client, Declaration::of(TableScope::All), None).await?;
    let mut changed = Vec::new();
    for object in triggers {
        for name in &object.parts {
            let found = present.triggers.get(&(object.name.to_owned(), (*name).to_owned()));
            let (state, declared_state) = (found.map(|(state, _)| state.clone()), object.trigger_state(name));
            if state.as_deref() != Some(declared_state) {
                changed.push(ChangedTrigger { relation: object.name, name, state, declared_state });
            }
        }
    }
    Ok(changed)
}
