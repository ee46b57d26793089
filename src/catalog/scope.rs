//! The rows that a caller sees of the types that a schema file limits by `@scope`.

use std::sync::Arc;

use crate::catalog::hidden_rows::Breadth;
use crate::cursor::{self, CursorScope};
use crate::seal::Secret;
use crate::value::Value;

/// The most names of scopes in a schema file.
pub const MAX_SCOPES: usize = 64;

/// Some of the scopes that one schema file names, by their index among its names. Means nothing for another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ScopeSet(u64);

impl ScopeSet {
    /// The set of one scope.
    pub(crate) fn of(scope: usize) -> Self {
        Self(u32::try_from(scope).ok().and_then(|scope| 1u64.checked_shl(scope)).unwrap_or_default())
    }

    /// Whether it has the scope.
    pub(crate) fn has(self, scope: usize) -> bool {
        self.0 & Self::of(scope).0 != 0
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The scopes of both.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The rows that a caller sees: the values of each scope that limits them. By default nothing limits them.
///
/// Two are equal if the same rows are seen.
#[derive(Debug, Clone)]
pub struct RowScope {
    limits: Option<Arc<ScopeLimits>>,
    breadth: Breadth,
}

impl Default for RowScope {
    fn default() -> Self {
        Self::all().clone()
    }
}

impl PartialEq for RowScope {
    fn eq(&self, other: &Self) -> bool {
        self.limits == other.limits
    }
}

impl Eq for RowScope {}

#[derive(Debug, PartialEq, Eq)]
struct ScopeLimits {
    /// By the index of the scope.
    scopes: Vec<ScopeLimit>,
    secret: Secret,
}

/// A scope, and what the caller has in it.
#[derive(Debug, PartialEq, Eq)]
struct ScopeLimit {
    name: String,
    /// `None` if it does not limit the caller.
    values: Option<Vec<Value>>,
    /// A hash of name and values.
    fingerprint: u32,
}

impl RowScope {
    /// All rows.
    pub(crate) fn all() -> &'static Self {
        static ALL: RowScope = RowScope { limits: None, breadth: Breadth::AVERAGE };
        &ALL
    }

    /// The scopes of a schema file, in the order of its names, each with the values that a caller has in it; `None` if it does not limit the
    /// caller. The secret seals cursors, which may be of rows that the caller does not see.
    pub fn new<'n>(scopes: impl Iterator<Item = (&'n str, Option<Vec<&'n str>>)>, secret: Secret) -> Self {
        let scopes: Vec<_> = scopes.collect();
        if scopes.iter().all(|(_, values)| values.is_none()) {
            return Self::default();
        }
        let scopes = scopes.into_iter().map(|(name, values)| ScopeLimit::new(name, values)).collect();
        Self { limits: Some(ScopeLimits { scopes, secret }.into()), breadth: Breadth::AVERAGE }
    }

    /// The same rows for another request, whose searches among hidden rows examine another number of them.
    #[must_use]
    pub fn for_request(self) -> Self {
        Self { breadth: Breadth::random(), ..self }
    }

    /// How far searches go among rows that the caller does not see.
    pub(crate) fn breadth(&self) -> Breadth {
        self.breadth
    }

    /// The scopes that limit the caller.
    pub fn limiting(&self) -> ScopeSet {
        self.limits(|_| true).fold(ScopeSet::default(), |set, (index, _)| set.and(ScopeSet::of(index)))
    }

    /// The values of a scope. None if the caller was not known to be limited by it: then no row is seen.
    pub(crate) fn values(&self, scope: usize) -> &[Value] {
        let limit = self.limits.as_ref().and_then(|limits| limits.scopes.get(scope));
        limit.and_then(|limit| limit.values.as_deref()).unwrap_or_default()
    }

    /// A hash of the values that limit rows in these scopes, for cursors; `None` if nothing limits them. It is stable between builds.
    pub(crate) fn of_cursors(&self, scopes: ScopeSet) -> Option<CursorScope> {
        let limits = self.limits(|index| scopes.has(index));
        let fingerprint = limits.map(|(_, limit)| limit.fingerprint).reduce(|one, other| one.rotate_left(5) ^ other)?;
        Some(CursorScope { fingerprint, secret: self.limits.as_ref()?.secret })
    }

    /// The scopes of a set that limit the caller, and their values.
    pub fn describe(&self, scopes: ScopeSet) -> impl Iterator<Item = (&str, Vec<&str>)> {
        let limits = self.limits(move |index| scopes.has(index));
        limits.map(|(_, limit)| {
            let values = limit.values.iter().flatten();
            let texts =
                values.filter_map(|value| if let Value::Text(text) = value { Some(text.as_str()) } else { None });
            (limit.name.as_str(), texts.collect())
        })
    }

    fn limits(&self, is_asked: impl Fn(usize) -> bool) -> impl Iterator<Item = (usize, &ScopeLimit)> {
        let limits = self.limits.iter().flat_map(|limits| &limits.scopes).enumerate();
        limits.filter(move |(index, limit)| limit.values.is_some() && is_asked(*index))
    }
}

impl ScopeLimit {
    fn new(name: &str, values: Option<Vec<&str>>) -> Self {
        let mut values = values;
        if let Some(values) = &mut values {
            values.sort_unstable();
            values.dedup();
        }
        // No name and no value has a NUL.
        let text = values.iter().flatten().fold(name.to_owned(), |text, value| text + "\0" + value);
        let values = values.map(|values| values.into_iter().map(|value| Value::Text(value.to_owned())).collect());
        Self { name: name.to_owned(), values, fingerprint: cursor::checksum(text.as_bytes()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(stores: Option<Vec<&'static str>>) -> RowScope {
        RowScope::new([("facility", None), ("store", stores)].into_iter(), Secret::default())
    }

    #[test]
    fn what_limits_nothing_is_the_default() {
        assert_eq!(scope(None), RowScope::default());
        assert!(scope(None).limiting().is_empty());
        assert_eq!(scope(Some(Vec::new())).limiting(), ScopeSet::of(1));
    }

    #[test]
    fn a_scope_that_is_not_known_to_limit_the_caller_has_no_values() {
        assert!(RowScope::default().values(1).is_empty());
        assert!(scope(Some(vec!["A"])).values(0).is_empty());
        assert_eq!(scope(Some(vec!["B", "A", "B"])).values(1), [Value::Text("A".into()), Value::Text("B".into())]);
    }

    #[test]
    fn the_fingerprint_tells_values_apart_and_not_their_order() {
        let (store, of) = (ScopeSet::of(1), |stores| scope(Some(stores)).of_cursors(ScopeSet::of(1)));
        assert_eq!(of(vec!["A", "B"]), of(vec!["B", "A"]));
        assert_ne!(of(vec!["A", "B"]), of(vec!["AB"]));
        assert_ne!(of(vec!["A"]), of(Vec::new()));
        assert_eq!(scope(None).of_cursors(store), None);
        assert_eq!(scope(Some(vec!["A"])).of_cursors(ScopeSet::of(0)), None);
    }
}
