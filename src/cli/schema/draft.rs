//! `orderql schema draft`: writes a schema file for a database.

use std::path::PathBuf;

use crate::cli::database::connect;
use crate::cli::database_flags::DatabaseFlags;
use crate::cli::outcome::Outcome;
use crate::cli::output::write;
use crate::cli::schema::schema_file::{SchemaFileError, text};
use crate::relations::reader;
use crate::schema_draft::declared_key::DeclaredKey;
use crate::schema_draft::view_orders::add_orders;
use crate::schema_draft::{draft, missing_indexes, updated};

/// The indexes that are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Indexes {
    /// Those that lists and objects lack, or that lift the limit of a list.
    Lists,
    /// Those that searches and sort orders lack.
    Searches,
    All,
}

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    database: DatabaseFlags,

    /// Print this schema file instead, with what a draft has and the file has not, and with marks at what the database has no more
    #[arg(long, value_name = "FILE")]
    update: Option<PathBuf>,

    /// Columns that identify the rows of a view, of a table of another server, or of a table without a primary key; can be given several
    /// times. With `--update`, those that the file declares need not be given
    #[arg(long, value_name = "RELATION=COLUMN,…")]
    key: Vec<DeclaredKey>,

    /// Print the statements that make the indexes that the draft lacks instead: for lists and objects, for searches and sort orders, or all.
    /// Such a statement runs outside a transaction, and nobody waits for it
    #[arg(long, value_name = "PURPOSE", conflicts_with = "update")]
    indexes: Option<Indexes>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let update = args.update.as_ref().map(|file| Ok::<_, SchemaFileError>((file, text(Some(file))?))).transpose()?;
    let not_a_schema = |file: &PathBuf, error| SchemaFileError::NotASchema(file.clone(), error);
    let database = runtime.block_on(async {
        let client = connect(&args.database.address()?).await?;
        let mut database = reader::read(&client).await?;
        database.declare(&args.key)?;
        if let Some((file, text)) = &update {
            database.declare_as(text).map_err(|error| not_a_schema(file, error))?;
        }
        add_orders(&client, &mut database).await?;
        Outcome::Ok(database)
    })?;
    write(&match (update, args.indexes) {
        (None, None) => draft(&database),
        (None, Some(wanted)) => missing_indexes(&database, wanted != Indexes::Searches, wanted != Indexes::Lists),
        (Some((file, text)), _) => updated(&text, &database).map_err(|error| not_a_schema(file, error))?,
    })
}
