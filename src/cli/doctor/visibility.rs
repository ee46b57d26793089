//! Checks what groups see of the schema.

use crate::access::grants::{Artifact, may};
use crate::access::manage::grants::{by_group, list};
use crate::access::manage::scopes;
use crate::cli::doctor::finding::Finding;
use crate::cli::outcome::Outcome;
use crate::cli::schema;
use crate::cli::scope_hint::{ScopeHint, hints};
use crate::config::settings::Config;
use crate::schema_file::SchemaFile;
use tokio_postgres::Client;

/// Groups whose members see nothing, or no rows of a scope, and names of the schema file that no group has.
pub(super) async fn check(client: &Client, config: &Config) -> Vec<Finding> {
    // A schema that is none, and tables that are missing, were reported before.
    find(client, config).await.unwrap_or_default()
}

async fn find(client: &Client, config: &Config) -> Outcome<Vec<Finding>> {
    let file = schema::file(config.schema.as_deref())?;
    let mut findings = Vec::new();
    for group in by_group(client).await? {
        let name = &group.name;
        if group.paths.is_empty() {
            let text = format!("the members of {name} may do nothing by it: the group has no grant");
            findings.push(Finding::warning("grants", text, format!("orderql grant add {name} /graphql")));
        } else if may(&group.paths, Artifact::Graphql)
            && file.view(file.held(|grant| group.holds(grant)))?.root_fields().next().is_none()
        {
            let text = format!("the group {name} sees nothing: every root of the schema needs a grant that it lacks");
            let names = file.grants().join(", ");
            findings.push(Finding::warning(
                "grants",
                text,
                format!("orderql grant add {name} NAME, with one of {names}"),
            ));
        }
    }
    findings.extend(without_rows(client, &file).await?);
    let granted = list(client).await?;
    let is_granted = |name: &&String| granted.iter().any(|known| known.path == **name && !known.groups.is_empty());
    let unused: Vec<_> = file.grants().iter().filter(|name| !is_granted(name)).map(String::as_str).collect();
    if !unused.is_empty() {
        let text = format!("no group has what the schema calls {}, so nobody sees what it shows", unused.join(", "));
        findings.push(Finding::ok("grants", text));
    }
    Ok(findings)
}

/// Groups that may query, and have no values in a scope of the schema.
async fn without_rows(client: &Client, file: &SchemaFile) -> Outcome<Vec<Finding>> {
    let given = scopes::list(client, None, None).await?;
    let mut findings = Vec::new();
    for group in by_group(client).await?.iter().filter(|group| may(&group.paths, Artifact::Graphql)) {
        let hints = hints(file, &group.name, &given);
        findings.extend(hints.map(|ScopeHint { text, remedy }| Finding::warning("scopes", text, remedy)));
    }
    Ok(findings)
}
