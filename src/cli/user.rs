//! `orderql user`: the users who may ask for tokens.

use serde_json::json;

use crate::access::manage::users;
use crate::access::password::Passwords;
use crate::cli::Outcome;
use crate::cli::manage::{Common, new_password};
use crate::cli::table::{Table, tell};

/// Make, list, close and remove the users who may ask for tokens. Running servers follow at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a user; the password is asked for, or read from standard input
    Add {
        /// The name to sign in with
        user: String,
        /// A group to join; may be given several times
        #[arg(long, value_name = "GROUP")]
        group: Vec<String>,
    },
    /// List the users
    List,
    /// Give a user another password, which is asked for, or read from standard input
    Passwd {
        /// The user
        user: String,
    },
    /// Close a user's account: it gives no tokens, and those that it has given stop working
    Disable {
        /// The user
        user: String,
    },
    /// Open a closed account again
    Enable {
        /// The user
        user: String,
    },
    /// Remove a user with its memberships and its profile
    Remove {
        /// The user
        user: String,
    },
}

/// Does what is asked.
pub(crate) fn run(args: Args) -> Outcome {
    let Args { common, command } = args;
    let json = common.json;
    common.run(async |client, operator| {
        match command {
            Command::Add { user, group } => {
                let password = new_password()?;
                users::add(client, operator, &Passwords::new(1)?, &user, password, &group).await?;
                tell(json, &format!("{user} is a user"), true, &[("user", &user)])?;
            }
            Command::List => {
                let rows = users::list(client).await?.into_iter().map(|account| {
                    [json!(account.user_id), json!(account.disabled), json!(account.groups), json!(account.created_at)]
                });
                Table { columns: ["user", "disabled", "groups", "createdAt"], rows: rows.collect() }.print(json)?;
            }
            Command::Passwd { user } => {
                // Asked before the password is, so that a slip in the name is told first.
                users::is_open(client, &user).await?;
                let password = new_password()?;
                users::set_password(client, operator, &Passwords::new(1)?, &user, password).await?;
                tell(json, &format!("{user} has a new password"), true, &[("user", &user)])?;
            }
            Command::Disable { user } => {
                let changed = users::set_disabled(client, operator, &user, true).await?;
                tell(json, &format!("{user} is disabled"), changed, &[("user", &user)])?;
            }
            Command::Enable { user } => {
                let changed = users::set_disabled(client, operator, &user, false).await?;
                tell(json, &format!("{user} is enabled"), changed, &[("user", &user)])?;
            }
            Command::Remove { user } => {
                users::remove(client, operator, &user).await?;
                tell(json, &format!("{user} is removed"), true, &[("user", &user)])?;
            }
        }
        Ok(())
    })
}
