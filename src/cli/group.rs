//! `orderql group`: user groups, their members, and the rows that these see.

use std::path::{Path, PathBuf};

use serde_json::json;
use thiserror::Error;

use crate::access::manage::groups;
use crate::access::manage::operator::Operator;
use crate::access::manage::scopes::{self, ScopeValues};
use crate::cli::admin::AdminArgs;
use crate::cli::outcome::Outcome;
use crate::cli::schema;
use crate::cli::scope_hint::warn_of;
use crate::cli::table::{Table, report};

/// Create, list and remove user groups, and change their members and what these see
///
/// Running servers apply changes at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    admin: AdminArgs,

    /// The schema file that names scopes [default: the built-in schema]
    #[arg(long, env = "ORDERQL_SCHEMA", value_name = "FILE", global = true)]
    schema: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create a group
    Add {
        /// Its name
        group: String,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// List the groups with their members and grants
    List,
    /// Remove a group with its memberships and grants
    Remove {
        /// The name of the group
        group: String,
    },
    /// Let a group see the rows with these values in a scope of the schema file, or list what groups see
    ///
    /// A group without values in a scope sees none of its rows. Members see what any of their groups sees.
    Scope(ScopeArgs),
    /// Make a user a member
    Join {
        /// The name of the group
        group: String,
        /// The name of the user
        user: String,
    },
    /// End a user's membership
    Leave {
        /// The name of the group
        group: String,
        /// The name of the user
        user: String,
    },
}

#[derive(Debug, clap::Args)]
struct ScopeArgs {
    /// Take the values from the group
    #[arg(long, requires = "values")]
    remove: bool,

    /// The name of the group; all groups are listed without it
    group: Option<String>,
    /// The name of the scope in the schema file, such as facility; all are listed without it
    scope: Option<String>,
    /// Values of the scope's column, such as BROADWAY; `*` for every row. The group's are listed without them
    values: Vec<String>,
}

/// The schema has no such scope.
#[derive(Debug, Error)]
#[error("the schema has no scope `{scope}`; it has: {}", if .known.is_empty() { "none".to_owned() } else { .known.join(", ") })]
struct NoSuchScope {
    scope: String,
    known: Vec<String>,
}

/// Gives or takes values, or lists them.
async fn scope(operator: &mut Operator, args: ScopeArgs, schema: Option<&Path>, json: bool) -> Outcome {
    let ScopeArgs { remove, group, scope, values } = args;
    let (Some(group), Some(scope), false) = (&group, &scope, values.is_empty()) else {
        let listed = scopes::list(&operator.client, group.as_deref(), scope.as_deref()).await?.into_iter();
        let rows = listed.map(|scope| [json!(scope.group), json!(scope.scope), json!(scope.values)]);
        return Table { columns: ["group", "scope", "values"], rows: rows.collect() }.print(json);
    };
    let named = ScopeValues { group, scope, values: &values };
    let (changed, may) = if remove {
        // Also of a scope that the schema no longer has.
        (scopes::remove(operator, &named).await?, "does not see")
    } else {
        let file = schema::file(schema)?;
        if !file.scopes().contains(scope) {
            return Err(NoSuchScope { scope: scope.clone(), known: file.scopes().to_vec() }.into());
        }
        (scopes::add(operator, &named).await?, "sees")
    };
    let values = values.join(", ");
    let sentence = format!("{group} {may} {scope} {values}");
    report(json, &sentence, changed, &[("group", group), ("scope", scope), ("values", &values)])
}

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Outcome {
    let Args { admin, schema, command } = args;
    let (json, schema) = (admin.json, schema.as_deref().filter(|path| *path != Path::new("")));
    admin.run(async |operator| {
        match command {
            Command::Add { group, description } => {
                groups::add(operator, &group, description.as_deref()).await?;
                report(json, &format!("{group} is a group"), true, &[("group", &group)])?;
                warn_of(&operator.client, &schema::file(schema)?, &group).await?;
            }
            Command::List => {
                let rows = groups::list(&operator.client).await?.into_iter().map(|group| {
                    [json!(group.name), json!(group.members), json!(group.grants), json!(group.description)]
                });
                Table { columns: ["group", "members", "grants", "description"], rows: rows.collect() }.print(json)?;
            }
            Command::Remove { group } => {
                groups::remove(operator, &group).await?;
                report(json, &format!("{group} is removed"), true, &[("group", &group)])?;
            }
            Command::Scope(args) => scope(operator, args, schema, json).await?,
            Command::Join { group, user } => {
                let changed = groups::join(operator, &group, &user).await?;
                let sentence = format!("{user} is in {group}");
                report(json, &sentence, changed, &[("group", &group), ("user", &user)])?;
            }
            Command::Leave { group, user } => {
                let changed = groups::leave(operator, &group, &user).await?;
                let sentence = format!("{user} is not in {group}");
                report(json, &sentence, changed, &[("group", &group), ("user", &user)])?;
            }
        }
        Ok(())
    })
}
