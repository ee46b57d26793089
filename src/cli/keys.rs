//! `orderql keys`: the keys that sign tokens.

use std::path::{self, PathBuf};

use serde_json::{Map, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::access::audit::{self, Action, AuditEvent};
use crate::access::key_retirement::{self, Unconfirmed};
use crate::access::tokens::key_folder;
use crate::access::tokens::signing_key::{Algorithm, KeyError, SigningKey, signing};
use crate::cli::admin::operator;
use crate::cli::database::{address, connect};
use crate::cli::outcome::Outcome;
use crate::cli::settings;
use crate::cli::table::{Table, report};
use crate::cli::token_flags::TokenFlags;
use crate::config::error::ConfigError;
use crate::config::settings::Config;

/// Create, list and retire the keys that sign tokens
///
/// Running servers with the same folder notice within a second. A key that is created or retired leaves a row in the audit
/// trail, so these commands need the database.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Create a key that signs from now on; the others still verify until they are retired
    Rotate(Folder),
    /// List the keys, the newest last, and which one signs
    List(Folder),
    /// Remove a key; tokens that it signed are rejected, so wait until they have expired
    ///
    /// Waits until all running servers say that they reject it, for some seconds at most. If that is not known then, exits with 1
    /// and says how many did not.
    Retire {
        /// The key's id
        id: String,
        #[command(flatten)]
        folder: Folder,
    },
}

#[derive(Debug, clap::Args)]
struct Folder {
    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    flags: TokenFlags,
}

/// There is no folder of keys.
#[derive(Debug, thiserror::Error)]
#[error("the signing key is given by the setting signing-key, not stored in a folder; put a new one before it there")]
struct NoFolder;

/// A key is removed, and not all running servers are known to reject it.
#[derive(Debug, thiserror::Error)]
#[error("{id} is removed from the folder, but it may still be accepted")]
struct NotConfirmed {
    id: String,
    #[source]
    cause: Unconfirmed,
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Outcome {
    match &args.command {
        Command::Rotate(folder) => {
            let (path, algorithm) = folder.find()?;
            let id = folder.audited(Action::KeyAdded, || key_folder::create(&path, algorithm))?;
            // A folder that no server uses is noticed here.
            let path = path::absolute(&path)?.display().to_string();
            report(
                folder.json,
                &format!("{id} in {path} signs from now on"),
                true,
                &[("key", &id), ("folder", &path)],
            )?;
        }
        Command::List(folder) => {
            let (path, algorithm) = folder.find()?;
            let all = key_folder::read(&path)?;
            let signs = signing(&all, algorithm).map(SigningKey::id);
            let rows = all.iter().map(|key| {
                let created = OffsetDateTime::from(key.created()).replace_nanosecond(0).ok();
                let created = created.and_then(|created| created.format(&Rfc3339).ok());
                [json!(key.id()), json!(key.algorithm().as_str()), json!(created), json!(signs == Some(key.id()))]
            });
            Table { columns: ["key", "algorithm", "made", "signs"], rows: rows.collect() }.print(folder.json)?;
        }
        Command::Retire { id, folder } => {
            let (path, algorithm) = folder.find()?;
            folder.audited(Action::KeyRetired, || key_folder::retire(&path, id, algorithm).map(|()| id.clone()))?;
            folder.confirm(id)?;
            report(folder.json, &format!("{id} is retired"), true, &[("key", id)])?;
        }
    }
    Ok(())
}

impl Folder {
    /// Makes the change, and stores its audit event. Connects first: nothing is changed that cannot be recorded. `change`
    /// returns the key's id.
    fn audited(&self, action: Action, change: impl FnOnce() -> Result<String, KeyError>) -> Outcome<String> {
        let database = address(&self.config()?.database()?)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let client = connect(&database).await?;
            let id = change()?;
            let (actor, subject) = (operator(), Some(id.clone()));
            let event = AuditEvent { actor, address: None, action, subject, details: Map::new() };
            audit::store(&client, &[event]).await?;
            Ok(id)
        })
    }

    /// Waits until all running servers reject the key.
    fn confirm(&self, id: &str) -> Outcome {
        let config = self.config()?;
        let listen = address(config.listen_url.as_ref().unwrap_or(&config.database()?))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let confirmed = runtime.block_on(key_retirement::confirm(&listen, id));
        Ok(confirmed.map_err(|cause| NotConfirmed { id: id.to_owned(), cause })?)
    }

    fn config(&self) -> Result<Config, ConfigError> {
        Config::read(&settings::gather(&self.flags.0)?)
    }

    fn find(&self) -> Outcome<(PathBuf, Algorithm)> {
        let config = self.config()?;
        if config.signing_key.is_some() {
            return Err(NoFolder.into());
        }
        Ok((config.key_folder, config.token_algorithm))
    }
}
