//! `orderql token`: a token for a service that has no password to send.

use std::time::Duration;

use serde_json::{Map, json};

use crate::access::audit::{self, Action, AuditEvent};
use crate::access::manage::users;
use crate::access::tokens::jwt::Tokens;
use crate::cli::admin::operator;
use crate::cli::database::{address, connect};
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::cli::settings;
use crate::cli::token_flags::TokenFlags;
use crate::config::settings::Config;
use crate::config::value_parser::TIME;

/// Print a token for a user, such as a service that has no password to send
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The token is signed with the key of the servers that have these settings. Run it with the server's key \
    folder, as the server's user: it makes no key of its own. The server's other settings, such as --issuer and --audience, are \
    taken as well."
)]
pub(crate) struct Args {
    /// The name of the user
    user: String,

    /// How long it is valid, such as 30d [default: the token-lifetime]
    #[arg(long, value_name = "TIME", value_parser = |text: &str| TIME.read(text))]
    lifetime: Option<Duration>,

    /// Print JSON, as the token operation responds
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    flags: TokenFlags,
}

/// The account is disabled.
#[derive(Debug, thiserror::Error)]
#[error("{0} is disabled, and its tokens are rejected; `orderql user enable {0}` enables it")]
struct Disabled(String);

/// Issues the token, and prints it once its audit event is stored.
pub(crate) fn run(args: &Args) -> Outcome {
    let config = Config::read(&settings::gather(&args.flags.0)?)?;
    let database = address(&config.database()?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = connect(&database).await?;
        let tokens_from = users::tokens_from(&client, &args.user, config.revoke_on_password_change).await?;
        let tokens_from = tokens_from.ok_or_else(|| Disabled(args.user.clone()))?;
        let tokens = Tokens::open_existing(config.tokens()?)?;
        let lifetime = args.lifetime.unwrap_or(config.token_lifetime);
        let issued = tokens.issue_with_lifetime(&args.user, tokens_from, lifetime)?;
        let seconds = issued.expires_in.as_secs();
        let details = [("tokenId", json!(issued.token_id)), ("seconds", json!(seconds))];
        let event = AuditEvent {
            actor: operator(),
            address: None,
            action: Action::TokenIssued,
            subject: Some(args.user.clone()),
            details: details.map(|(name, value)| (name.to_owned(), value)).into_iter().collect::<Map<_, _>>(),
        };
        audit::store(&client, &[event]).await?;
        if args.json {
            let body = json!({"access_token": issued.token, "token_type": "Bearer", "expires_in": seconds});
            write(&format!("{body:#}\n"))
        } else {
            write(&format!("{}\n", issued.token))
        }
    })
}
