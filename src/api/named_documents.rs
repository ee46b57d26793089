//! The documents that clients name in place of a text: by their id in a manifest, by the name of their operation, or by the hash of
//! their text.

use std::collections::HashMap;
use std::sync::Arc;

use crate::api::query_texts::QueryHash;
use crate::documents::document::OperationDocument;

/// The prefix that GraphQL-over-HTTP puts before an id that is a hash.
const HASH_PREFIX: &str = "sha256:";

/// Two operations that clients would name alike.
#[derive(Debug, thiserror::Error)]
#[error("the documents at {first} and {second} are both named {name}")]
pub(crate) struct AmbiguousName {
    name: String,
    first: String,
    second: String,
}

/// Documents by what clients name them.
#[derive(Debug, Default)]
pub(crate) struct NamedDocuments {
    by_id: HashMap<String, Arc<str>>,
    by_hash: HashMap<QueryHash, Arc<str>>,
}

impl NamedDocuments {
    /// The documents of a manifest by their ids, and others by the names of their operations. Fails if two have one name.
    pub(crate) fn new(documents: &[OperationDocument]) -> Result<Self, AmbiguousName> {
        let mut named = Self::default();
        let mut places: HashMap<&str, &OperationDocument> = HashMap::new();
        for document in documents {
            let text: Arc<str> = document.text.as_str().into();
            for hashed in document.hashed_texts() {
                named.by_hash.entry(QueryHash::of(&hashed)).or_insert_with(|| Arc::clone(&text));
            }
            let Some(name) = document.id.as_deref().or(document.operation.as_deref()) else { continue };
            if let Some(other) = places.insert(name, document).filter(|other| other.text != document.text) {
                let (first, second) = (other.start().to_string(), document.start().to_string());
                return Err(AmbiguousName { name: name.to_owned(), first, second });
            }
            named.by_id.insert(name.to_owned(), text);
        }
        Ok(named)
    }

    /// The document that a client names so.
    pub(crate) fn named(&self, id: &str) -> Option<&Arc<str>> {
        let hash = || self.hashed(&QueryHash::parse(id.strip_prefix(HASH_PREFIX).unwrap_or(id))?);
        self.by_id.get(id).or_else(hash)
    }

    /// The document whose text has that hash.
    pub(crate) fn hashed(&self, hash: &QueryHash) -> Option<&Arc<str>> {
        self.by_hash.get(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{File, read};

    #[test]
    fn documents_are_named_by_id_operation_and_hash() {
        let manifest = r#"{"ecf4": "{__typename}"}"#;
        let files = [("m.json", manifest), ("a.graphql", "query A { a }")];
        let files = files.map(|(name, text)| File { name: name.to_owned(), text: text.to_owned() });
        let documents = NamedDocuments::new(&read(&files).unwrap()).unwrap();
        let text = |name: &str| documents.named(name).map(|text| &**text);
        assert_eq!(text("ecf4"), Some("{__typename}"));
        assert_eq!(text("A"), Some("query A { a }\n"));
        let hash = "ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38";
        assert_eq!([text(hash), text(&format!("sha256:{hash}"))], [Some("{__typename}"); 2]);
        assert_eq!([text("B"), text("sha256:A"), text("")], [None; 3]);
    }

    #[test]
    fn the_hash_of_a_file_is_that_of_its_text_trimmed_or_not_or_as_graphql_js_prints_it() {
        let file = |name: &str, text: &str| File { name: name.to_owned(), text: text.to_owned() };
        let own = "# The first.\nquery A { a ...F }\n\n";
        let files = [file("a.graphql", own), file("f.graphql", "fragment F on T { f }"), file("b.gql", "{ a } {b}")];
        let documents = NamedDocuments::new(&read(&files).unwrap()).unwrap();
        let named = |hashed: &str| documents.named(&format!("sha256:{}", QueryHash::of(hashed))).map(|text| &**text);
        let printed = "query A {\n  a\n  ...F\n}";
        let with_fragment = format!("{printed}\n\nfragment F on T {{\n  f\n}}");
        for hashed in [own, own.trim(), printed, &with_fragment] {
            assert_eq!(named(hashed), Some("query A { a ...F }\nfragment F on T { f }\n"), "{hashed}");
        }
        assert_eq!(named("{\n  b\n}"), Some("      {b}\n"));
        assert_eq!(named("{ a } {b}"), None, "it is not said which operation");
    }

    #[test]
    fn two_documents_have_two_names() {
        let file = |name: &str, text: &str| File { name: name.to_owned(), text: text.to_owned() };
        let files = [file("a.graphql", "query A { a }"), file("b.graphql", "query A { b }")];
        let error = NamedDocuments::new(&read(&files).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "the documents at a.graphql:1:1 and b.graphql:1:1 are both named A");
    }
}
