//! The search string's terms, checked against the search keys of the connection.

use crate::catalog::binding::{Connection, SearchKey};
use crate::catalog::schema::ArgumentRole;
use crate::error::excerpt::excerpt;
use crate::nearest::nearest;
use crate::query::bind::argument::Arguments;
use crate::query::bind::error::BindError;
use crate::query::operation::Literal;
use crate::search::{self, Comparator, SearchError, SearchErrorKind, Term};
use crate::value::Value;

/// A search term whose key is known and whose values are typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundTerm {
    /// The index of the key among the connection's search keys.
    pub key: usize,
    /// How it is compared. The key accepts this comparator.
    pub comparator: Comparator,
    /// The values: several with [`Comparator::In`], else one.
    pub values: Vec<Value>,
}

/// Reads the search string. Every term that cannot be used adds an error.
pub(super) fn terms(arguments: &Arguments<'_>, connection: &Connection, errors: &mut Vec<BindError>) -> Vec<BoundTerm> {
    let Some(Literal::String(text)) = arguments.get(ArgumentRole::Query) else { return Vec::new() };
    match search::parse(text) {
        Err(malformed) => {
            errors.extend(malformed.into_iter().map(|malformed| self::malformed(arguments, connection, malformed)));
            Vec::new()
        }
        Ok(terms) => {
            let mut bound = Vec::with_capacity(terms.len());
            for term in &terms {
                match bind(arguments, connection, term) {
                    Ok(term) => bound.push(term),
                    Err(error) => errors.push(error),
                }
            }
            bound
        }
    }
}

fn bind(arguments: &Arguments<'_>, connection: &Connection, term: &Term<'_>) -> Result<BoundTerm, BindError> {
    let index = connection.search_key(term.key).ok_or_else(|| {
        let keys = connection.search_keys.iter().map(|key| key.name.as_str());
        BindError::NotFilterable {
            field: arguments.field.name.clone(),
            key: excerpt(term.key),
            offset: term.offset,
            nearest: nearest(term.key, keys.clone()).map(str::to_owned),
            allowed: keys.map(str::to_owned).collect(),
        }
    })?;
    let key = &connection.search_keys[index];
    if !key.comparators.contains(&term.comparator) {
        return Err(BindError::OperatorNotAllowed {
            field: arguments.field.name.clone(),
            key: term.key.to_owned(),
            offset: term.offset,
            comparator: term.comparator,
            allowed: key.comparators.clone(),
        });
    }
    let values = values(key, term).map_err(|bad| malformed(arguments, connection, bad))?;
    Ok(BoundTerm { key: index, comparator: term.comparator, values })
}

/// If the term has no key, the error lists the keys, and suggests the one that the term begins with or nearly names.
fn malformed(arguments: &Arguments<'_>, connection: &Connection, malformed: SearchError) -> BindError {
    let (mut suggestion, mut allowed) = (None, None);
    if matches!(malformed.kind, SearchErrorKind::NoColon | SearchErrorKind::InvalidKey) {
        let keys = || connection.search_keys.iter().map(|key| key.name.as_str());
        let word = malformed.term.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        // As in `statusId=A` or `-statusId:A`. A word without a colon that only resembles a key is probably a value.
        let is_begun = |key: &&str| word.get(..key.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(key));
        let begun = keys().filter(is_begun).max_by_key(|key| key.len());
        let near = word.split_once(':').and_then(|(word, _)| nearest(word, keys()));
        suggestion = begun.or(near).map(str::to_owned);
        allowed = Some(keys().map(str::to_owned).collect());
    }
    BindError::SearchError {
        field: arguments.field.name.clone(),
        malformed: Box::new(malformed),
        nearest: suggestion,
        allowed,
    }
}

fn values(key: &SearchKey, term: &Term<'_>) -> Result<Vec<Value>, SearchError> {
    let value = |element: &&str| key.column.scalar.parse(element);
    term.elements
        .iter()
        .map(value)
        .collect::<Result<_, _>>()
        .map_err(|bad| SearchError::new(term.text, term.offset, SearchErrorKind::InvalidValue(bad.expected)))
}
