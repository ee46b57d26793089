//! `orderql group`: user groups and their members.

use serde_json::json;

use crate::access::manage::groups;
use crate::cli::admin::AdminArgs;
use crate::cli::outcome::Outcome;
use crate::cli::table::{Table, report};

/// Create, list and remove user groups, and change their members
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

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Outcome {
    let Args { admin, command } = args;
    let json = admin.json;
    admin.run(async |client, operator| {
        match command {
            Command::Add { group, description } => {
                groups::add(client, operator, &group, description.as_deref()).await?;
                report(json, &format!("{group} is a group"), true, &[("group", &group)])?;
            }
            Command::List => {
                let rows = groups::list(client).await?.into_iter().map(|group| {
                    [json!(group.name), json!(group.members), json!(group.grants), json!(group.description)]
                });
                Table { columns: ["group", "members", "grants", "description"], rows: rows.collect() }.print(json)?;
            }
            Command::Remove { group } => {
                groups::remove(client, operator, &group).await?;
                report(json, &format!("{group} is removed"), true, &[("group", &group)])?;
            }
            Command::Join { group, user } => {
                let changed = groups::join(client, operator, &group, &user).await?;
                let sentence = format!("{user} is in {group}");
                report(json, &sentence, changed, &[("group", &group), ("user", &user)])?;
            }
            Command::Leave { group, user } => {
                let changed = groups::leave(client, operator, &group, &user).await?;
                let sentence = format!("{user} is not in {group}");
                report(json, &sentence, changed, &[("group", &group), ("user", &user)])?;
            }
        }
        Ok(())
    })
}
