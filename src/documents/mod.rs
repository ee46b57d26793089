//! The documents of clients as their tools write them: files with operations and fragments, and manifests of persisted queries.
//!
//! - [`manifest`]: the formats of manifests
//! - [`document`]: an operation with the fragments that it needs, and the place of each of its lines

pub(crate) mod document;
pub(crate) mod manifest;

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use crate::documents::document::OperationDocument;
use crate::documents::manifest::{Entry, ManifestError};
use crate::error::graphql_error::GraphqlErrors;
use crate::query::parse::definitions::{Definition, definitions};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// Its name. One that ends with `.json` is a manifest.
    pub(crate) name: String,
    pub(crate) text: String,
}

#[derive(Debug, Error)]
pub(crate) enum DocumentError {
    #[error("{file} is no manifest of persisted queries: {reason}")]
    Manifest { file: String, reason: ManifestError },
    #[error("{place} is no GraphQL document: {errors}")]
    Syntax {
        /// The file's name, with the name of the manifest's entry.
        place: String,
        errors: GraphqlErrors,
    },
    #[error("{place} spreads the fragment {fragment}, which no file has")]
    UnknownFragment { place: String, fragment: String },
}

/// The operations of files, each with the fragments that it needs from any of them, in the order of the files. An entry of a manifest
/// is as it is.
pub(crate) fn read(files: &[File]) -> Result<Vec<OperationDocument>, DocumentError> {
    let (mut documents, mut read) = (Vec::new(), Vec::new());
    for File { name, text } in files {
        if name.to_ascii_lowercase().ends_with(".json") {
            let entries = manifest::entries(text);
            let entries = entries.map_err(|reason| DocumentError::Manifest { file: name.clone(), reason })?;
            for entry in entries {
                documents.extend(of_entry(name, entry)?);
            }
        } else {
            let syntax = |errors| DocumentError::Syntax { place: name.clone(), errors };
            read.push(ReadFile { name, text, definitions: definitions(text).map_err(syntax)? });
        }
    }
    let mut fragments: BTreeMap<&str, Vec<(&str, &Definition)>> = BTreeMap::new();
    let all = || read.iter().flat_map(|file| file.definitions.iter().map(move |definition| (file, definition)));
    for (file, definition) in all() {
        if let (false, Some(name)) = (definition.is_operation, &definition.name) {
            fragments.entry(name).or_default().push((file.name, definition));
        }
    }
    for (file, definition) in all().filter(|(_, definition)| definition.is_operation) {
        documents.push(with_fragments(file, definition, &fragments)?);
    }
    Ok(documents)
}

/// A file with its definitions.
struct ReadFile<'a> {
    name: &'a str,
    text: &'a str,
    definitions: Vec<Definition>,
}

/// The operations of a manifest's entry.
fn of_entry(file: &str, Entry { id, name, text }: Entry) -> Result<Vec<OperationDocument>, DocumentError> {
    let place = format!("{file}#{}", name.unwrap_or_else(|| id.clone()));
    let definitions = definitions(&text);
    let definitions = definitions.map_err(|errors| DocumentError::Syntax { place: place.clone(), errors })?;
    let operations = definitions.into_iter().filter(|definition| definition.is_operation);
    Ok(operations.map(|one| OperationDocument::whole(&place, Some(id.clone()), one.name, &text)).collect())
}

/// An operation with the fragments that it needs. If several fragments have a name, the fragment of the operation's own file is used.
fn with_fragments(
    file: &ReadFile<'_>,
    operation: &Definition,
    fragments: &BTreeMap<&str, Vec<(&str, &Definition)>>,
) -> Result<OperationDocument, DocumentError> {
    let is_only = file.definitions.iter().filter(|definition| definition.is_operation).count() == 1;
    let mut document = OperationDocument::new(operation.name.clone(), is_only.then(|| file.text.to_owned()));
    let file = file.name;
    document.add(file, operation);
    let mut pending: Vec<&String> = operation.spreads.iter().rev().collect();
    let mut spread = BTreeSet::new();
    while let Some(name) = pending.pop() {
        if !spread.insert(name) {
            continue;
        }
        let found = fragments.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        let Some((file, fragment)) = found.iter().find(|(other, _)| *other == file).or_else(|| found.first()) else {
            let (place, fragment) = (file.to_owned(), name.clone());
            return Err(DocumentError::UnknownFragment { place, fragment });
        };
        document.add(file, fragment);
        pending.extend(fragment.spreads.iter().rev());
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::graphql_error::Location;

    fn file(name: &str, text: &str) -> File {
        File { name: name.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn an_operation_takes_fragments_from_all_files_and_knows_its_places() {
        let files = [
            file("a.graphql", "query A {\n a { ...F }\n}\nquery B { b ...L } fragment L on Query { own }"),
            file("b.graphql", "\n\nfragment F on T {\n  f ...G\n}\nfragment L on Query { other }"),
            file("c.gql", "fragment G on T { g }"),
        ];
        let documents = read(&files).unwrap();
        assert_eq!(documents.iter().map(|one| one.operation.as_deref()).collect::<Vec<_>>(), [Some("A"), Some("B")]);
        let expected = "query A {\n a { ...F }\n}\nfragment F on T {\n  f ...G\n}\nfragment G on T { g }\n";
        assert_eq!(documents[0].text, expected);
        let place = |line, column| documents[0].place(Location { line, column }).to_string();
        assert_eq!([place(2, 2), place(5, 3), place(7, 1)], ["a.graphql:2:2", "b.graphql:4:3", "c.gql:1:1"]);
        assert_eq!(documents[1].text, "query B { b ...L }\n                   fragment L on Query { own }\n");
        let missing = read(&files[..2]).unwrap_err();
        assert_eq!(missing.to_string(), "a.graphql spreads the fragment G, which no file has");
    }

    #[test]
    fn reads_the_manifests_of_apollo_relay_and_codegen() {
        let apollo = r#"{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [
            {"id": "x1", "name": "A", "type": "query", "body": "query A { a }"}]}"#;
        let relay = r#"{"0b": "query B { b }", "0c": "{ c }"}"#;
        let documents = read(&[file("apollo.json", apollo), file("relay.json", relay)]).unwrap();
        let ids: Vec<_> = documents.iter().map(|one| (one.id.as_deref(), one.operation.as_deref())).collect();
        assert_eq!(ids, [(Some("x1"), Some("A")), (Some("0b"), Some("B")), (Some("0c"), None)]);
        let place = documents[0].place(Location { line: 1, column: 11 });
        assert_eq!(place.to_string(), "apollo.json#A:1:11");
        for (text, part) in [
            ("[]", "a JSON object is wanted"),
            ("{\"a\": 1}", "the entry \"a\" is no text"),
            ("{\"format\": \"x\", \"operations\": []}", "unknown format \"x\""),
            ("{", "EOF"),
        ] {
            let error = read(&[file("m.json", text)]).unwrap_err().to_string();
            assert!(error.starts_with("m.json is no manifest") && error.contains(part), "{error}");
        }
        let error = read(&[file("m.json", r#"{"a": "{"}"#)]).unwrap_err().to_string();
        assert!(error.starts_with("m.json#a is no GraphQL document: 1:2"), "{error}");
    }
}
