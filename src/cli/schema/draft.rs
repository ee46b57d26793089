//! `orderql schema draft`: writes a schema file for a database.

use std::path::PathBuf;

use crate::cli::database::{address, connect};
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::cli::schema::schema_file::{SchemaFileError, text};
use crate::database::address::connection_string::ConnectionString;
use crate::schema_draft::{draft, reader, updated};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The database, such as `postgresql://owner@localhost/music`
    #[arg(long, env = "ORDERQL_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: ConnectionString,

    /// Print this schema file instead, with what a draft has and the file has not, and with marks at what the database has no more
    #[arg(long, value_name = "FILE")]
    update: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let database = runtime.block_on(async {
        let client = connect(&address(&args.database_url)?).await?;
        Outcome::Ok(reader::read(&client).await?)
    })?;
    write(&match &args.update {
        None => draft(&database),
        Some(file) => {
            let text = text(Some(file))?;
            updated(&text, &database).map_err(|error| SchemaFileError::NotASchema(file.clone(), error))?
        }
    })
}
