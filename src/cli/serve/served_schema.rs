//! The schema that is served: read, checked against the database, and what the service makes of it.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use tokio_postgres::Client;

use crate::api::named_documents::NamedDocuments;
use crate::api::views::Views;
use crate::catalog::Catalog;
use crate::catalog::search_window::SearchWindow;
use crate::cli::outcome::Outcome;
use crate::cli::schema;
use crate::cli::serve::served_documents;
use crate::config::settings::Config;
use crate::database::address::server_addresses::ServerAddresses;
use crate::preflight::{Constraints, Inspection};
use crate::schema_file::SchemaFile;
use crate::telemetry::emit;
use crate::telemetry::event::Event;
use crate::vocabulary::reader::VocabularyReader;

/// All that a served schema follows from, but the database.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct SchemaSource {
    text: String,
    search_window: SearchWindow,
    constraints: Constraints,
    query_cache: usize,
}

/// A schema file that is to be served, with the catalog of the whole file.
pub(super) struct ReadSchema {
    file: SchemaFile,
    catalog: Catalog,
}

/// The parts that the service makes of a schema.
pub(super) struct ServedSchema {
    pub(super) catalog: Arc<Catalog>,
    pub(super) constraints: Constraints,
    pub(super) views: Arc<Views>,
    pub(super) vocabularies: Arc<VocabularyReader>,
}

impl SchemaSource {
    /// Reads the schema file and the documents. Fails if it is none, or if one of them is refused.
    pub(super) fn read(config: &Config) -> Outcome<(Self, ReadSchema, Arc<NamedDocuments>)> {
        let path = config.schema.as_deref();
        let source = Self {
            text: schema::text(path)?,
            search_window: config.search_window,
            constraints: config.schema_constraints,
            query_cache: config.query_cache,
        };
        let schema = source.parse(path)?;
        let documents = served_documents::read(config.documents.as_deref(), &schema.catalog)?.into();
        Ok((source, schema, documents))
    }

    /// The schema of the text that was read from there.
    pub(super) fn parse(&self, path: Option<&Path>) -> Outcome<ReadSchema> {
        let (file, catalog) = schema::parse(&self.text, path)?;
        Ok(ReadSchema { file, catalog: catalog.with_search_window(self.search_window) })
    }

    /// Checks the schema against the database, so that a table that is missing does not show in the responses to clients, and
    /// prepares to serve it.
    pub(super) async fn open(
        &self,
        schema: ReadSchema,
        client: &Client,
        servers: &ServerAddresses,
    ) -> Result<ServedSchema, Box<dyn Error + Send + Sync>> {
        let ReadSchema { file, catalog } = schema;
        let Inspection { mismatches, stored } = schema::check_to_serve(client, &catalog, self.constraints).await?;
        for mismatch in &mismatches {
            emit(&if mismatch.is_missing_guarantee() {
                Event::ConstraintMissing { mismatch }
            } else {
                Event::IndexMissing { mismatch }
            });
        }
        let catalog = Arc::new(catalog.with_stored_types(&stored));
        let views = Views::new(file, Arc::clone(&catalog), stored, self.query_cache)?;
        let known = Arc::clone(views.whole().compiler.vocabularies());
        let vocabularies = Arc::new(VocabularyReader::start(servers, Arc::clone(&catalog), known).await?);
        Ok(ServedSchema { catalog, constraints: self.constraints, views: views.into(), vocabularies })
    }
}
