//! The documents that clients name: read, and checked against the schema before anybody sends one.

use std::fmt;
use std::path::Path;

use crate::api::named_documents::NamedDocuments;
use crate::catalog::Catalog;
use crate::cli::document_files::documents;
use crate::cli::outcome::Outcome;
use crate::documents::document::OperationDocument;
use crate::error::graphql_error::GraphqlErrors;
use crate::schema_diff::refusal;

/// Documents that the schema refuses, whoever sends them.
#[derive(Debug, thiserror::Error)]
struct BrokenDocuments(Vec<(OperationDocument, GraphqlErrors)>);

impl fmt::Display for BrokenDocuments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the schema refuses documents that clients name")?;
        self.0.iter().try_for_each(|(document, errors)| {
            let error = errors.first();
            let place = error.locations.first().map_or_else(|| document.start(), |at| document.place(*at));
            let name = document.operation.as_deref().unwrap_or("an operation without a name");
            write!(f, "\n- {place}: {name}: {}: {}", error.code, error.message)
        })
    }
}

/// The documents of a folder or manifest; none without one. Fails if the schema refuses one.
pub(crate) fn read(path: Option<&Path>, catalog: &Catalog) -> Outcome<NamedDocuments> {
    let Some(path) = path else { return Ok(NamedDocuments::default()) };
    let documents = documents(&[path.to_owned()])?;
    let broken = documents.iter().filter_map(|document| Some((document.clone(), refusal(catalog, document)?)));
    let broken: Vec<_> = broken.collect();
    if !broken.is_empty() {
        return Err(BrokenDocuments(broken).into());
    }
    Ok(NamedDocuments::new(&documents)?)
}
