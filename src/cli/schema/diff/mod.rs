//! `orderql schema diff`: what a change of a schema file means for the operations of clients.
//!
//! - `words`: changes in words
//! - `text`, `json`, `github`: prints them for people, for programs, and as annotations of a pull request

mod github;
mod json;
mod text;
mod words;

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::cli::document_files::documents;
use crate::cli::limit_flags::LimitFlags;
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::cli::schema::schema_file::{parse, text as schema_text};
use crate::limits::default_of;
use crate::schema_diff::schema::{DiffCaller, Schema};
use crate::schema_diff::{Diff, diff};

/// What stands for the built-in schema in place of a file.
const BUILT_IN: &str = "built-in";

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The schema file that is served, or `built-in`
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The schema file that is to be served, or `built-in`
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// The operations: folders and files of .graphql documents, and manifests (.json) of Apollo, Relay or GraphQL Code Generator
    #[arg(long, value_name = "PATH", num_args = 1..)]
    documents: Vec<PathBuf>,

    /// How the report is written
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ReportFormat,

    /// Exit with 1 if the credits of an operation rise by more than so much
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    max_increase: Option<u32>,

    #[command(flatten)]
    limits: LimitFlags,

    /// Credits that the caller's bucket regains every second
    #[arg(long, value_name = "N", default_value = default_of("restore-rate"))]
    restore_rate: u64,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ReportFormat {
    /// Lines for people
    Text,
    /// One JSON object
    Json,
    /// Annotations of the files, as a workflow of GitHub prints them
    Github,
}

/// An operation breaks, changes silently or becomes too expensive.
#[derive(Debug, Error)]
#[error("the change of the schema is not acceptable for all operations")]
struct Unacceptable;

pub(super) fn run(args: &Args) -> Outcome {
    let (old, new) = (schema(&args.old)?, schema(&args.new)?);
    let documents = documents(&args.documents)?;
    let caller = DiffCaller { limits: args.limits.0, restore_rate: args.restore_rate };
    let diff: Diff = diff(&old, &new, &documents, &caller);
    let is_unacceptable = diff.is_unacceptable(args.max_increase);
    write(&match args.format {
        ReportFormat::Text => text::render(&diff, documents.len()),
        ReportFormat::Json => format!("{:#}\n", json::render(&diff, documents.len(), is_unacceptable)),
        ReportFormat::Github => github::render(&diff),
    })?;
    if is_unacceptable { Err(Unacceptable.into()) } else { Ok(()) }
}

fn schema(path: &Path) -> Outcome<Schema> {
    let path = (path != Path::new(BUILT_IN)).then_some(path);
    let (file, catalog) = parse(&schema_text(path)?, path)?;
    Ok(Schema::new(&file, catalog))
}

fn percent(text: &str) -> Result<u32, String> {
    text.strip_suffix('%')
        .unwrap_or(text)
        .parse()
        .map_err(|_| "a whole number of percent, such as 20%, is wanted".to_owned())
}
