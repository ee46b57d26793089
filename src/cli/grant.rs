//! `orderql grant`: which groups may use what.

use serde_json::json;

use crate::access::manage::grants;
use crate::cli::Outcome;
use crate::cli::manage::Common;
use crate::cli::table::{Table, tell};

/// Say which groups may use what. Running servers follow at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Let a group use a path
    Add(Grant),
    /// List the paths, the groups that may use them, and the users in these
    List,
    /// Let a group use a path no longer
    Remove(Grant),
}

#[derive(Debug, clap::Args)]
struct Grant {
    /// The group
    group: String,
    /// The path: /graphql or /api/updateOrder
    path: String,
}

/// Does what is asked.
pub(crate) fn run(args: Args) -> Outcome {
    let Args { common, command } = args;
    let json = common.json;
    common.run(async |client, operator| {
        match command {
            Command::Add(Grant { group, path }) => {
                let changed = grants::add(client, operator, &group, &path).await?;
                tell(json, &format!("{group} may use {path}"), changed, &[("group", &group), ("path", &path)])?;
            }
            Command::List => {
                let rows = grants::list(client).await?.into_iter();
                let rows = rows.map(|granted| [json!(granted.path), json!(granted.groups), json!(granted.users)]);
                Table { columns: ["path", "groups", "users"], rows: rows.collect() }.print(json)?;
            }
            Command::Remove(Grant { group, path }) => {
                let changed = grants::remove(client, operator, &group, &path).await?;
                tell(json, &format!("{group} may not use {path}"), changed, &[("group", &group), ("path", &path)])?;
            }
        }
        Ok(())
    })
}
