//! `orderql user`: the users who may sign in.

use serde_json::json;

use crate::access::manage::users::{self, NewAccount};
use crate::access::password::Passwords;
use crate::cli::admin::{AdminArgs, new_password};
use crate::cli::outcome::Outcome;
use crate::cli::settings::warn;
use crate::cli::table::{Table, report};

/// Create, list, disable and remove the users who may sign in
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
    /// Create a user; the password is asked for, or read from standard input
    Add {
        /// The name to sign in with
        user: String,
        /// A group to join; may be given several times
        #[arg(long, value_name = "GROUP")]
        group: Vec<String>,
    },
    /// List the users
    List,
    /// Change a user's password, which is asked for, or read from standard input
    Passwd {
        /// The name of the user
        user: String,
    },
    /// Disable a user's account: it cannot sign in, and its tokens are rejected
    Disable {
        /// The name of the user
        user: String,
    },
    /// Enable a disabled account again
    Enable {
        /// The name of the user
        user: String,
    },
    /// Remove a user with its memberships and its profile
    Remove {
        /// The name of the user
        user: String,
    },
}

/// Runs the subcommand.
pub(crate) fn run(args: Args) -> Outcome {
    let Args { admin, command } = args;
    let json = admin.json;
    admin.run(async |operator| {
        match command {
            Command::Add { user, group } => {
                let password = new_password()?;
                let account = NewAccount { user_id: &user, password, groups: &group };
                users::add(operator, &Passwords::new(1)?, account).await?;
                report(json, &format!("{user} is a user"), true, &[("user", &user)])?;
                if group.is_empty() {
                    warn(&format!(
                        "{user} can sign in and is in no group, so may neither query nor update orders; `orderql group list` \
                         shows the groups, and `orderql group join GROUP {user}` makes {user} a member"
                    ));
                }
            }
            Command::List => {
                let rows = users::list(&operator.client).await?.into_iter().map(|account| {
                    [json!(account.user_id), json!(account.disabled), json!(account.groups), json!(account.created_at)]
                });
                Table { columns: ["user", "disabled", "groups", "createdAt"], rows: rows.collect() }.print(json)?;
            }
            Command::Passwd { user } => {
                // Checked before the password is asked for, so that a misspelt name is reported first.
                users::find(&operator.client, &user).await?;
                let password = new_password()?;
                users::set_password(operator, &Passwords::new(1)?, &user, password).await?;
                report(json, &format!("{user} has a new password"), true, &[("user", &user)])?;
            }
            Command::Disable { user } => {
                let changed = users::set_disabled(operator, &user, true).await?;
                report(json, &format!("{user} is disabled"), changed, &[("user", &user)])?;
            }
            Command::Enable { user } => {
                let changed = users::set_disabled(operator, &user, false).await?;
                report(json, &format!("{user} is enabled"), changed, &[("user", &user)])?;
            }
            Command::Remove { user } => {
                users::remove(operator, &user).await?;
                report(json, &format!("{user} is removed"), true, &[("user", &user)])?;
            }
        }
        Ok(())
    })
}
