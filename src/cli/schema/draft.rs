//! `orderql schema draft`: writes a schema file for a database.

use crate::cli::database::{address, connect};
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::database::address::connection_string::ConnectionString;
use crate::schema_draft::{draft, reader};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The database, such as `postgresql://owner@localhost/music`
    #[arg(long, env = "ORDERQL_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: ConnectionString,
}

pub(super) fn run(args: &Args) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let database = runtime.block_on(async {
        let client = connect(&address(&args.database_url)?).await?;
        Outcome::Ok(reader::read(&client).await?)
    })?;
    write(&draft(&database))
}
