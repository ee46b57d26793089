//! The search string's terms with their values.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::catalog::connection::Connection;
use crate::catalog::scope::RowScope;
use crate::catalog::search_key::{ScopeKey, SearchKey};
use crate::query::bind::column_value;
use crate::query::bind::error::BindError;
use crate::query::bind::search_budget::SearchBudget;
use crate::query::bind::search_keys::SearchArgument;
use crate::query::bind::search_size::SearchSize;
use crate::query::bind::shape::{TermShape, TermShapes};
use crate::query::bind::step_id::StepId;
use crate::query::operation::SelectionId;
use crate::search::bounds::{MAX_VALUES, MAX_WORDS};
use crate::search::{self, Comparator, SearchError, SearchErrorKind, Term};
use crate::value::Value;

/// A search term with a known key and typed values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoundTerm {
    /// The index of the key among the connection's search keys.
    pub(crate) key: usize,
    /// How it is compared. The key accepts this comparator.
    pub(crate) comparator: Comparator,
    /// The values, all distinct: several with [`Comparator::In`], else one.
    pub(crate) values: Vec<Value>,
}

/// The terms of a request's search strings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepTerms {
    /// All of them that statements depend on.
    pub shapes: TermShapes,
    /// By [`StepId`], up to the last step that has some. Steps of the same root that take their search string from one variable
    /// share them.
    by_step: Vec<Arc<[BoundTerm]>>,
    /// The steps that have some, and what they are of.
    steps: Vec<(StepId, SelectionId)>,
}

impl StepTerms {
    /// The terms of a step.
    pub(crate) fn of(&self, step: StepId) -> &[BoundTerm] {
        self.by_step.get(step).map_or(&[], |terms| terms)
    }

    /// The selections that have terms.
    pub(crate) fn of_selections(&self) -> impl Iterator<Item = (SelectionId, &[BoundTerm])> {
        self.steps.iter().map(|(step, selection)| (*selection, self.of(*step)))
    }

    pub(super) fn insert(&mut self, step: StepId, selection: SelectionId, terms: Arc<[BoundTerm]>) {
        if !terms.is_empty() {
            self.steps.push((step, selection));
        }
        let shapes = terms.iter().map(|term| TermShape::new(term.key, term.comparator, term.values.len()));
        self.shapes.insert(step, shapes.collect());
        self.by_step.resize_with(step, Arc::default);
        self.by_step.push(terms);
    }
}

/// The terms of a search with the terms that limit its rows to the caller's.
pub(super) fn limited(terms: Arc<[BoundTerm]>, connection: &Connection, scope: &RowScope) -> Arc<[BoundTerm]> {
    let Some(search) = &connection.scope else { return terms };
    let mut terms = terms.to_vec();
    for keys in &search.keys {
        let asks_within = |key: &&usize| {
            let (limit, values) = limit(connection, **key, scope);
            let asking: Vec<_> = terms.iter().filter(|term| is_replaced(term, connection, limit)).collect();
            let seen: HashSet<_> = if asking.is_empty() { HashSet::new() } else { values.iter().collect() };
            asking.iter().any(|term| term.values.iter().all(|value| seen.contains(value)))
        };
        let Some(&key) = keys.iter().skip(1).find(asks_within).or_else(|| keys.first()) else { continue };
        let (limit, values) = limit(connection, key, scope);
        let mut values = values.to_vec();
        terms.retain(|term| {
            let is_replaced = is_replaced(term, connection, limit);
            if is_replaced {
                let asked: HashSet<_> = term.values.iter().collect();
                values.retain(|value| asked.contains(value));
            }
            !is_replaced
        });
        let comparator = if values.len() == 1 { Comparator::Equals } else { Comparator::In };
        terms.push(BoundTerm { key, comparator, values });
    }
    terms.into()
}

/// A key that limits the rows, and the values that the caller has for it.
fn limit<'c>(connection: &'c Connection, key: usize, scope: &'c RowScope) -> (&'c SearchKey, &'c [Value]) {
    let key = &connection.search_keys[key];
    let values = match key.scope {
        Some(ScopeKey::Values(of)) => scope.values(of),
        Some(ScopeKey::Row(_)) | None => &[],
    };
    (key, values)
}

/// Whether a term of the request asks for values of the column of a scope. The values that the caller has take its place, so that the
/// search has the plan of a caller who sees all rows.
fn is_replaced(term: &BoundTerm, connection: &Connection, limit: &SearchKey) -> bool {
    let key = &connection.search_keys[term.key];
    matches!(limit.scope, Some(ScopeKey::Values(_)))
        && matches!(term.comparator, Comparator::Equals | Comparator::In)
        && key.scope.is_none()
        && key.compares(&limit.column.name)
}

/// Reads the search strings of a request.
#[derive(Debug, Default)]
pub(super) struct Searches {
    budget: SearchBudget,
    /// The terms of variables, by the variable's index and the name of the root. A variable is parsed once for a root, however
    /// many places use it.
    of_variables: HashMap<(usize, String), Arc<[BoundTerm]>>,
}

impl Searches {
    /// Reads the search string of a connection. Every term that cannot be used adds an error, in the string's order.
    pub(super) fn terms(&mut self, search: SearchArgument<'_>, errors: &mut Vec<BindError>) -> Arc<[BoundTerm]> {
        let Some(text) = search.text() else { return Arc::default() };
        let source = search.variable();
        if let Some(known) = source.as_ref().and_then(|source| self.of_variables.get(source)).map(Arc::clone) {
            return self.again(known, errors);
        }
        let before = errors.len();
        let terms = read(text, search, &mut self.budget, errors);
        let terms: Arc<[BoundTerm]> = terms.map_err(|error| errors.push(error)).unwrap_or_default().into();
        if let Some(source) = source.filter(|_| errors.len() == before && !self.budget.is_exceeded()) {
            self.of_variables.insert(source, Arc::clone(&terms));
        }
        terms
    }

    /// The terms of a variable in one more place. They are not parsed again, but are conditions of one more statement.
    fn again(&mut self, terms: Arc<[BoundTerm]>, errors: &mut Vec<BindError>) -> Arc<[BoundTerm]> {
        if self.budget.is_exceeded() {
            return Arc::default();
        }
        let values = terms.iter().map(|term| term.values.len()).sum();
        let counted = self.budget.add(SearchSize::Terms, terms.len());
        match counted.and_then(|()| self.budget.add(SearchSize::Values, values)) {
            Ok(()) => terms,
            Err(error) => {
                errors.push(error);
                Arc::default()
            }
        }
    }
}

/// Fails if the request has more terms or values than it may.
fn read(
    text: &str,
    search: SearchArgument<'_>,
    budget: &mut SearchBudget,
    errors: &mut Vec<BindError>,
) -> Result<Vec<BoundTerm>, BindError> {
    if budget.is_exceeded() {
        return Ok(Vec::new());
    }
    budget.add(SearchSize::Bytes, text.len())?;
    let parsed = search::parse(text);
    budget.add(SearchSize::Terms, parsed.len())?;
    let mut bound = Vec::with_capacity(parsed.len());
    for term in parsed {
        let term = term.map_err(|malformed| search.malformed(malformed));
        match term.and_then(|term| bind(search, &term)) {
            Ok(term) => {
                budget.add(SearchSize::Values, term.values.len())?;
                bound.push(term);
            }
            Err(error) => errors.push(error),
        }
    }
    Ok(bound)
}

fn bind(search: SearchArgument<'_>, term: &Term<'_>) -> Result<BoundTerm, BindError> {
    let (index, comparator) = search.key(term)?;
    let key = &search.connection.search_keys[index];
    let values = values(term, |text| column_value::parse(&key.column, text).and_then(|value| key.normalize(value)))
        .and_then(
            |values| if comparator == Comparator::Matches { check_words(term).map(|()| values) } else { Ok(values) },
        )
        .map_err(|bad| search.malformed(bad))?;
    if values.len() > MAX_VALUES {
        return Err(BindError::TooManyValues {
            field: search.arguments.field.name.clone(),
            key: key.name.clone(),
            offset: term.offset,
            values: values.len(),
        });
    }
    let is_one = comparator == Comparator::In && values.len() == 1 && key.comparators.contains(&Comparator::Equals);
    Ok(BoundTerm { key: index, comparator: if is_one { Comparator::Equals } else { comparator }, values })
}

/// Fails if a search in text has no words, or too many. PostgreSQL finds at least as many in it.
fn check_words(term: &Term<'_>) -> Result<(), SearchError> {
    let words = term.elements.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    let kind = match words.filter(|word| !word.is_empty()).count() {
        0 => SearchErrorKind::InvalidValue("words"),
        1..=MAX_WORDS => return Ok(()),
        _ => SearchErrorKind::TooManyWords,
    };
    Err(SearchError::new(term.text, term.offset, kind))
}

/// The distinct values of a term, in its order.
fn values(term: &Term<'_>, parse: impl Fn(&str) -> Result<Value, &'static str>) -> Result<Vec<Value>, SearchError> {
    let values: Result<Vec<_>, _> = term.elements.iter().map(|element| parse(element)).collect();
    let mut values =
        values.map_err(|expected| SearchError::new(term.text, term.offset, SearchErrorKind::InvalidValue(expected)))?;
    if values.len() > 1 {
        let mut seen = HashSet::with_capacity(values.len());
        let is_first: Vec<_> = values.iter().map(|value| seen.insert(value)).collect();
        let mut is_first = is_first.into_iter();
        values.retain(|_| is_first.next().unwrap_or_default());
    }
    Ok(values)
}
