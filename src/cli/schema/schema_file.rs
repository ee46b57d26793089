//! Schema files in the file system, and the built-in one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::catalog::Catalog;
use crate::schema_file::error::SchemaError;
use crate::schema_file::{BUILT_IN, SchemaFile};

/// Why a schema file cannot be used.
#[derive(Debug, Error)]
pub(crate) enum SchemaFileError {
    /// It does not exist, or is not text.
    #[error("{} cannot be read", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// It is not a schema. The cause has the location.
    #[error("{} is no schema", .0.display())]
    NotASchema(PathBuf, #[source] SchemaError),
}

/// The catalog of a schema file, or of the built-in one.
pub(crate) fn read(file: Option<&Path>) -> Result<Catalog, SchemaFileError> {
    Ok(parse(&text(file)?, file)?.1)
}

/// A schema file, or the built-in one.
pub(crate) fn file(path: Option<&Path>) -> Result<SchemaFile, SchemaFileError> {
    Ok(parse(&text(path)?, path)?.0)
}

/// The text of a schema file, or of the built-in one.
pub(crate) fn text(file: Option<&Path>) -> Result<String, SchemaFileError> {
    match file {
        None => Ok(BUILT_IN.to_owned()),
        Some(path) => fs::read_to_string(path).map_err(|error| SchemaFileError::Unreadable(path.to_owned(), error)),
    }
}

/// A text, which comes from that file, or is the built-in one, as a schema file with the catalog of the whole.
pub(crate) fn parse(text: &str, path: Option<&Path>) -> Result<(SchemaFile, Catalog), SchemaFileError> {
    let path = path.unwrap_or(Path::new("the built-in schema"));
    let read = SchemaFile::parse(text).and_then(|file| Ok((file.catalog()?, file)));
    let (catalog, file) = read.map_err(|error| SchemaFileError::NotASchema(path.to_owned(), error))?;
    Ok((file, catalog))
}
