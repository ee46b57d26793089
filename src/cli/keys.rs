//! `orderql keys`: the keys that sign tokens.

use std::path::PathBuf;

use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::access::keys::{self, Algorithm};
use crate::cli::table::{Table, tell};
use crate::cli::{Outcome, settings};
use crate::config::flags::Flags;
use crate::config::settings::Config;

/// Make, list and retire the keys that sign tokens. Running servers on the same folder notice within a second.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a key that signs from now on; the others go on verifying until they are retired
    Rotate(Folder),
    /// List the keys, the one that signs last
    List(Folder),
    /// Remove a key, once the tokens that it signed have expired: what is left of them is refused
    Retire {
        /// The key's id
        id: String,
        #[command(flatten)]
        folder: Folder,
    },
}

#[derive(Debug, clap::Args)]
struct Folder {
    /// Answer in JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    flags: Flags,
}

/// Why there are no keys to rule.
#[derive(Debug, thiserror::Error)]
#[error("the signing key is given by the setting signing-key, not kept in a folder; put a new one before it there")]
pub(crate) struct Given;

/// Does what is asked.
pub(crate) fn run(args: &Args) -> Outcome {
    match &args.command {
        Command::Rotate(folder) => {
            let (path, algorithm) = folder.find()?;
            let id = keys::make(&path, algorithm)?;
            tell(folder.json, &format!("{id} signs from now on"), true, &[("key", &id)])?;
        }
        Command::List(folder) => {
            let (path, algorithm) = folder.find()?;
            let all = keys::read(&path)?;
            let signs = keys::signing(&all, algorithm).map(keys::Key::id);
            let rows = all.iter().map(|key| {
                let made = OffsetDateTime::from(key.made()).replace_nanosecond(0).ok();
                let made = made.and_then(|made| made.format(&Rfc3339).ok());
                [json!(key.id()), json!(key.algorithm().as_str()), json!(made), json!(signs == Some(key.id()))]
            });
            Table { columns: ["key", "algorithm", "made", "signs"], rows: rows.collect() }.print(folder.json)?;
        }
        Command::Retire { id, folder } => {
            let (path, algorithm) = folder.find()?;
            keys::retire(&path, id, algorithm)?;
            tell(folder.json, &format!("{id} is retired"), true, &[("key", id)])?;
        }
    }
    Ok(())
}

impl Folder {
    fn find(&self) -> Result<(PathBuf, Algorithm), Box<dyn std::error::Error + Send + Sync>> {
        let config = Config::read(&settings::gather(&self.flags)?)?;
        if config.signing_key.is_some() {
            return Err(Given.into());
        }
        Ok((config.key_folder, config.token_algorithm))
    }
}
