//! Reads the files that have documents.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::documents::document::OperationDocument;
use crate::documents::{DocumentError, File, read};

/// Why documents cannot be read.
#[derive(Debug, Error)]
pub(crate) enum DocumentFileError {
    /// A file or folder does not exist, or is not text.
    #[error("{} cannot be read", .0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    /// It has no documents.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

/// The documents of manifests and `.graphql` files. Of a folder, the `.graphql` and `.gql` files in it and in the folders below.
pub(crate) fn documents(paths: &[PathBuf]) -> Result<Vec<OperationDocument>, DocumentFileError> {
    let mut files = Vec::new();
    for path in paths {
        add(path, true, &mut files)?;
    }
    Ok(read(&files)?)
}

fn add(path: &Path, is_named: bool, files: &mut Vec<File>) -> Result<(), DocumentFileError> {
    let unreadable = |error| DocumentFileError::Unreadable(path.to_owned(), error);
    if path.is_dir() {
        let entries = fs::read_dir(path).map_err(unreadable)?;
        let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
        // So that reports are the same everywhere.
        paths.sort();
        return paths.iter().try_for_each(|path| add(path, false, files));
    }
    let is_document = path.extension().is_some_and(|extension| extension == "graphql" || extension == "gql");
    if is_named || is_document {
        let text = fs::read_to_string(path).map_err(unreadable)?;
        files.push(File { name: path.display().to_string(), text });
    }
    Ok(())
}
