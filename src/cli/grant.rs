//! `orderql grant`: which groups may use the GraphQL API and the order update, and see plans of queries.

use serde_json::json;

use crate::access::manage::grants;
use crate::cli::admin::AdminArgs;
use crate::cli::outcome::Outcome;
use crate::cli::table::{Table, report};

/// Grant groups access, and list who has it
///
/// Running servers apply changes at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    admin: AdminArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Grant a group access to a path
    Add(Grant),
    /// List the paths, the groups that may use them, and the members of these groups
    List,
    /// Withdraw a group's access to a path
    Remove(Grant),
}

#[derive(Debug, clap::Args)]
struct Grant {
    /// The name of the group
    group: String,
    /// The path: /graphql, /graphql/plan or /api/updateOrder
    path: String,
}

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Outcome {
    let Args { admin, command } = args;
    let json = admin.json;
    admin.run(async |client, operator| {
        match command {
            Command::Add(Grant { group, path }) => {
                let changed = grants::add(client, operator, &group, &path).await?;
                report(json, &format!("{group} may use {path}"), changed, &[("group", &group), ("path", &path)])?;
            }
            Command::List => {
                let rows = grants::list(client).await?.into_iter();
                let rows = rows.map(|granted| [json!(granted.path), json!(granted.groups), json!(granted.users)]);
                Table { columns: ["path", "groups", "users"], rows: rows.collect() }.print(json)?;
            }
            Command::Remove(Grant { group, path }) => {
                let changed = grants::remove(client, operator, &group, &path).await?;
                report(json, &format!("{group} may not use {path}"), changed, &[("group", &group), ("path", &path)])?;
            }
        }
        Ok(())
    })
}
