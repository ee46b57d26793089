//! `orderql doctor`: checks a deployment, and says what to do.
//!
//! - `finding`: what a check found
//! - `machine`: settings, files, keys, encryption
//! - `certificates`: when certificates expire
//! - `migrated`: what migrations made
//! - `database`: the database and what the role may do there
//! - `connections`: whether the server gets the connections that it needs
//! - `role`: whether the role may do too much, or sees too little
//! - `replicas`: whether replicas follow it
//! - `visibility`: what groups see of the schema
//! - `store`: the store that nodes share

mod certificates;
mod connections;
mod database;
mod finding;
mod machine;
mod migrated;
mod replicas;
mod role;
mod store;
mod visibility;

use std::io::{self, Write as _};

use serde_json::{Value, json};

use crate::cli::doctor::finding::{Finding, Level};
use crate::cli::outcome::Outcome;
use crate::cli::settings;
use crate::config::flags::Flags;
use crate::config::settings::Config;

/// Check a deployment: settings, database, grants, keys, certificates, clock and limits of the system
///
/// Takes the server's settings; run it as the server's user, before the server or beside it. Nothing is changed. Exits with 1
/// if something is wrong that keeps the server from working.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    flags: Flags,
}

/// Something is wrong, which was printed.
#[derive(Debug, thiserror::Error)]
#[error("the server would not work as it is")]
struct Unwell;

/// Checks everything, and prints what was found.
pub(crate) fn run(args: &Args) -> Outcome {
    let values = settings::gather(&args.flags)?;
    let config = Config::read(&values)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut findings = machine::check(&config);
    findings.extend(runtime.block_on(machine::addresses(&config)));
    findings.extend(runtime.block_on(database::check(&config)));
    findings.extend(runtime.block_on(store::check(&config)));
    let text = if args.json {
        format!("{:#}\n", findings.iter().map(Finding::to_json).collect::<Value>())
    } else {
        findings.iter().map(Finding::to_text).collect()
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    if findings.iter().any(|finding| finding.level == Level::Failure) { Err(Unwell.into()) } else { Ok(()) }
}

impl Finding {
    fn to_json(&self) -> Value {
        json!({ "area": self.area, "level": self.level.name(), "text": self.text, "remedy": self.remedy })
    }

    fn to_text(&self) -> String {
        let remedy = self.remedy.as_ref().map(|remedy| format!("{:21}→ {remedy}\n", "")).unwrap_or_default();
        format!("{:8} {:11} {}\n{remedy}", self.level.name(), self.area, self.text)
    }
}
