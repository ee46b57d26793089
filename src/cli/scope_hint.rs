//! Groups without values in a scope of the schema: their members see none of its rows by them.

use tokio_postgres::Client;

use crate::access::manage::scopes::{self, GroupScope};
use crate::cli::outcome::Outcome;
use crate::cli::settings::warn;
use crate::schema_file::SchemaFile;

/// A scope in which a group has no values.
pub(crate) struct ScopeHint {
    /// The consequence for the group's members.
    pub(crate) text: String,
    /// The command that mends it.
    pub(crate) remedy: String,
}

/// The scopes of a file in which a group has none of the values that are given.
pub(crate) fn hints(file: &SchemaFile, group: &str, given: &[GroupScope]) -> impl Iterator<Item = ScopeHint> {
    let has = move |scope: &&String| given.iter().any(|given| given.group == group && given.scope == **scope);
    file.scopes().iter().filter(move |scope| !has(scope)).map(move |scope| ScopeHint {
        text: format!("the group {group} has no values in the scope {scope}, so it shows no rows that this limits"),
        remedy: format!("orderql group scope {group} {scope} VALUE…, or '*'"),
    })
}

/// Warns of each scope in which a group has no values.
pub(crate) async fn warn_of(client: &Client, file: &SchemaFile, group: &str) -> Outcome {
    let given = scopes::list(client, Some(group), None).await?;
    hints(file, group, &given).for_each(|ScopeHint { text, remedy }| warn(&format!("{text}: {remedy}")));
    Ok(())
}
