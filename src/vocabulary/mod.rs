//! The known values of search keys. A schema file names a relation that lists them, such as the table of all statuses. A term
//! with another value is answered like any other, and reported as a warning: it is probably misspelt.
//!
//! This file does no I/O. `reader`, of the feature `server`, reads the values from the database: at the start, and again after a request
//! with a value that is in none of the vocabularies.

#[cfg(feature = "server")]
#[allow(clippy::disallowed_methods, reason = "a time limit on reading, and a pause before reading again")]
pub(crate) mod reader;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use fnv::FnvHashMap;

use crate::catalog::Catalog;
use crate::catalog::search_key::SearchKey;
use crate::error::excerpt::excerpt;
use crate::nearest::nearest;
use crate::query::bind::search_terms::StepTerms;
use crate::query::operation::{Operation, Target};
use crate::search::Comparator;
use crate::value::Value;

/// Unknown values that one request reports at most. Finding the nearest known value takes time.
const MAX_UNKNOWN_VALUES: usize = 10;

/// A column that lists known values.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VocabularySource {
    /// The table or view.
    pub relation: String,
    /// The values, one a row.
    pub column: String,
}

impl VocabularySource {
    /// The source of a search key's known values, if the schema file names one.
    fn of(key: &SearchKey) -> Option<Self> {
        let relation = key.vocabulary.clone()?;
        Some(Self { relation, column: key.column.name.clone() })
    }

    /// The sources that a catalog names.
    pub fn all(catalog: &Catalog) -> BTreeSet<Self> {
        search_keys(catalog).filter_map(Self::of).collect()
    }
}

/// The known values of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    /// Sorted, without repetitions.
    values: Vec<Box<str>>,
}

impl Vocabulary {
    /// The vocabulary of these values.
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let values: BTreeSet<Box<str>> = values.into_iter().map(String::into_boxed_str).collect();
        Self { values: values.into_iter().collect() }
    }

    fn contains(&self, value: &str) -> bool {
        self.values.binary_search_by(|known| (**known).cmp(value)).is_ok()
    }
}

/// The vocabularies that search keys name. The keys of all views of a schema file find theirs here.
#[derive(Debug, Default)]
pub struct Vocabularies {
    /// By relation, each with its column.
    by_relation: FnvHashMap<String, Vec<(String, Arc<Vocabulary>)>>,
}

impl Vocabularies {
    /// The vocabularies of a catalog. `read` returns the vocabulary of a source; `None` if it is not known. An empty one counts as not
    /// known, because it would make every value a mistake.
    pub fn new(catalog: &Catalog, read: impl Fn(&VocabularySource) -> Option<Arc<Vocabulary>>) -> Self {
        let mut by_relation: FnvHashMap<_, Vec<_>> = FnvHashMap::default();
        for source in VocabularySource::all(catalog) {
            if let Some(vocabulary) = read(&source).filter(|vocabulary| !vocabulary.values.is_empty()) {
                by_relation.entry(source.relation).or_default().push((source.column, vocabulary));
            }
        }
        Self { by_relation }
    }

    /// The known values of a search key.
    fn of(&self, key: &SearchKey) -> Option<&Arc<Vocabulary>> {
        let mut columns = self.by_relation.get(key.vocabulary.as_deref()?)?.iter();
        columns.find(|(column, _)| *column == key.column.name).map(|(_, vocabulary)| vocabulary)
    }

    /// The values in the search strings of a request that are not in their keys' vocabularies, the first ten.
    pub(crate) fn unknown_values(
        &self,
        catalog: &Catalog,
        operation: &Operation,
        terms: &StepTerms,
    ) -> Vec<UnknownValue> {
        let mut unknown = Vec::new();
        for (selection, terms) in terms.of_selections() {
            // Only connections at the root have search strings.
            let selection = operation.selections.iter().find(|root| root.id == selection);
            let Some((selection, Target::Field(field))) = selection.map(|selection| (selection, selection.target))
            else {
                continue;
            };
            let Some(connection) = catalog.binding(field).searched() else { continue };
            let terms = terms.iter().filter(|term| matches!(term.comparator, Comparator::Equals | Comparator::In));
            for term in terms {
                let key = &connection.search_keys[term.key];
                let Some(vocabulary) = self.of(key) else { continue };
                for value in &term.values {
                    let Some(value) = id_text(value) else { continue };
                    if vocabulary.contains(&value) {
                        continue;
                    }
                    if unknown.len() == MAX_UNKNOWN_VALUES {
                        return unknown;
                    }
                    unknown.push(UnknownValue {
                        path: Arc::clone(&selection.key),
                        key: key.name.clone(),
                        value: excerpt(&value),
                        vocabulary: Arc::clone(vocabulary),
                    });
                }
            }
        }
        unknown
    }
}

/// A value in a search string that is not in its key's vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownValue {
    /// The response key of the connection.
    pub path: Arc<str>,
    /// The search key.
    pub key: String,
    /// The value, cut to a length fit for a message.
    pub value: String,
    vocabulary: Arc<Vocabulary>,
}

impl UnknownValue {
    /// The most similar known value, if one is similar.
    pub fn nearest(&self) -> Option<&str> {
        nearest(&self.value, self.vocabulary.values.iter().map(|known| &**known))
    }
}

/// The vocabularies in force, which one task replaces while others use them.
#[derive(Debug, Default)]
pub struct CurrentVocabularies(RwLock<Arc<Vocabularies>>);

impl CurrentVocabularies {
    /// The vocabularies in force.
    pub fn get(&self) -> Arc<Vocabularies> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the vocabularies.
    pub fn replace(&self, vocabularies: Vocabularies) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(vocabularies);
    }
}

/// An ID or a text as PostgreSQL writes it; `None` for other values.
fn id_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Text(text) => Some(text.into()),
        Value::Int(number) => Some(number.to_string().into()),
        Value::Decimal(number) => Some(number.to_string().into()),
        Value::Uuid(uuid) => Some(uuid.to_string().into()),
        _ => None,
    }
}

/// The search keys of the collection roots.
fn search_keys(catalog: &Catalog) -> impl Iterator<Item = &SearchKey> {
    let searched = catalog.root_fields().filter_map(|(_, binding)| binding.searched());
    searched.flat_map(|connection| &connection.search_keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compiler::Compiler;
    use crate::limits::Limits;
    use crate::query::Request;

    fn source(relation: &str, column: &str) -> VocabularySource {
        VocabularySource { relation: relation.to_owned(), column: column.to_owned() }
    }

    /// A compiler that knows two statuses and no types.
    fn compiler() -> Compiler {
        let catalog = Arc::new(Catalog::built_in().unwrap());
        let compiler = Compiler::new(Arc::clone(&catalog), 1 << 20);
        let statuses = Arc::new(Vocabulary::new(["ORDER_HELD", "ORDER_APPROVED"].map(str::to_owned)));
        let read = |wanted: &VocabularySource| {
            if *wanted == source("status_item", "status_id") {
                Some(Arc::clone(&statuses))
            } else {
                Some(Arc::new(Vocabulary::new([])))
            }
        };
        compiler.vocabularies().replace(Vocabularies::new(&catalog, read));
        compiler
    }

    /// Response key, key, value and nearest value of each unknown value of a query.
    fn unknown(compiler: &Compiler, fields: &str) -> Vec<String> {
        let query = format!("{{ {} }}", fields.replace('#', "{ edges { cursor } }"));
        let request = Request { query, ..Request::default() };
        let compiled = compiler.compile(&request, &Limits::UNLIMITED).unwrap();
        let describe = |unknown: &UnknownValue| {
            format!("{} {} {} {:?}", unknown.path, unknown.key, unknown.value, unknown.nearest().unwrap_or_default())
        };
        compiled.unknown_values.iter().map(describe).collect()
    }

    #[test]
    fn names_the_unknown_values_of_fresh_and_cached_requests() {
        let compiler = compiler();
        for (fields, expected) in [
            ("orders(first: 1) #", &[][..]),
            (r#"orders(first: 1, query: "statusId:ORDER_HELD,ORDER_APPROVED orderTypeId:NOPE orderId:NOPE") #"#, &[]),
            (
                r#"orders(first: 1, query: "statusId:ORDER_APROVED") #"#,
                &[r#"orders statusId ORDER_APROVED "ORDER_APPROVED""#],
            ),
            (
                r#"orders(first: 1) # held: returns(first: 1, query: "statusId:order_held,ORDER_HELD,NOPE") #"#,
                &[r#"held statusId order_held "ORDER_HELD""#, r#"held statusId NOPE """#],
            ),
        ] {
            for _ in 0..2 {
                assert_eq!(unknown(&compiler, fields), expected, "{fields}");
            }
        }
    }

    #[test]
    fn reports_ten_unknown_values_at_most() {
        let values: Vec<_> = (0..20).map(|number| format!("X{number}")).collect();
        let fields = format!("orders(first: 1, query: \"statusId:{}\") #", values.join(","));
        assert_eq!(unknown(&compiler(), &fields).len(), 10);
    }

    #[test]
    fn the_built_in_schema_names_its_vocabularies_once_each() {
        let sources = VocabularySource::all(&Catalog::built_in().unwrap());
        assert!(sources.contains(&source("status_item", "status_id")));
        assert!(sources.contains(&source("role_type", "role_type_id")));
    }
}
