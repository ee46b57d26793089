//! `orderql token`: a token for a service that has no password to send.

use std::time::Duration;

use serde_json::{Map, json};

use crate::access::audit::{self, Action, Entry};
use crate::access::jwt::Tokens;
use crate::access::manage::users;
use crate::cli::manage::operator;
use crate::cli::{Outcome, settings};
use crate::config::flags::Flags;
use crate::config::settings::Config;
use crate::config::value_parser::TIME;
use crate::database::connect::connect;

/// Print a token for a user, signed with the key of the servers whose settings are given.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The user
    user: String,

    /// How long the token is good for, such as 12h or 30d [default: the token-lifetime]
    #[arg(long, value_name = "TIME", value_parser = time)]
    lifetime: Option<Duration>,

    /// Answer in JSON, as the token operation does
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    flags: Flags,
}

/// The account is closed.
#[derive(Debug, thiserror::Error)]
#[error("{0} is disabled, and its tokens are refused; `orderql user enable {0}` opens it")]
pub(crate) struct Closed(String);

fn time(text: &str) -> Result<Duration, String> {
    (TIME.parse)(text).ok_or_else(|| format!("expected {}", TIME.wanted))
}

/// Makes the token, and prints it once the audit trail has it.
pub(crate) fn run(args: &Args) -> Outcome {
    let config = Config::read(&settings::gather(&args.flags)?)?;
    let database = config.database()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = connect(&database).await?;
        if !users::is_open(&client, &args.user).await? {
            return Err(Closed(args.user.clone()).into());
        }
        let tokens = Tokens::open(config.tokens()?)?;
        let minted = tokens.mint_for(&args.user, args.lifetime.unwrap_or(config.token_lifetime))?;
        let seconds = minted.expires_in.as_secs();
        let details = [("tokenId", json!(minted.token_id)), ("seconds", json!(seconds))];
        let entry = Entry {
            actor: operator().name,
            address: None,
            action: Action::TokenMinted,
            subject: Some(args.user.clone()),
            details: details.map(|(name, value)| (name.to_owned(), value)).into_iter().collect::<Map<_, _>>(),
        };
        audit::store(&client, &[entry]).await?;
        if args.json {
            let body = json!({"access_token": minted.token, "token_type": "Bearer", "expires_in": seconds});
            println!("{body:#}");
        } else {
            println!("{}", minted.token);
        }
        Ok(())
    })
}
