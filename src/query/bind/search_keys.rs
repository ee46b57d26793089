//! The facts about a request's search strings that its price depends on: how many terms they have, and on which keys. No value is read,
//! because the request may turn out to cost too much.

use std::collections::HashMap;

use crate::catalog::Catalog;
use crate::catalog::connection::Connection;
use crate::catalog::schema::ArgumentRole;
use crate::catalog::search_key::ScopeKey;
use crate::error::excerpt::excerpt;
use crate::nearest::{clearly_meant, meant};
use crate::query::bind::argument::Arguments;
use crate::query::bind::error::BindError;
use crate::query::bind::search_budget::SearchBudget;
use crate::query::bind::search_size::SearchSize;
use crate::query::operation::Literal;
use crate::search::{self, Comparator, SearchError, SearchErrorKind, Term, TermOperator};

/// The search string of a connection, as its field's arguments have it.
#[derive(Clone, Copy)]
pub(super) struct SearchArgument<'a> {
    pub(super) arguments: &'a Arguments<'a>,
    pub(super) connection: &'a Connection,
}

/// The search strings of a request, without their values.
#[derive(Debug, Default)]
pub(super) struct SearchKeys {
    budget: SearchBudget,
    /// The searches of variables, by the variable's index and the name of the root.
    of_variables: HashMap<(usize, String), SearchedKeys>,
}

/// The facts about a search string that do not depend on its values.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SearchedKeys {
    /// How many terms it has.
    terms: usize,
    /// How many search terms no selective index serves, also of the terms that limit the rows for the caller.
    pub(super) unindexed: u64,
    /// The first sort key of whose column it has a range: its index among the connection's.
    pub(super) range_order: Option<usize>,
}

/// How many limits of a connection's rows no selective index serves. All limits that look at each row count as one.
fn unindexed_limits(connection: &Connection) -> u64 {
    let keys = connection.scope.iter().flat_map(|scope| &scope.keys).filter_map(|keys| keys.first());
    let unindexed = keys.map(|key| &connection.search_keys[*key]).filter(|key| !key.indexed);
    let (of_row, of_values): (Vec<_>, Vec<_>) = unindexed.partition(|key| matches!(key.scope, Some(ScopeKey::Row(_))));
    (of_values.len() + of_row.len().min(1)) as u64
}

impl SearchKeys {
    /// Reads the search of a connection. Every term with an error that its value does not cause adds this error, in the string's order.
    pub(super) fn read(&mut self, search: SearchArgument<'_>, errors: &mut Vec<BindError>) -> SearchedKeys {
        let of_scope = SearchedKeys { unindexed: unindexed_limits(search.connection), ..SearchedKeys::default() };
        let Some(text) = search.text() else { return of_scope };
        if self.budget.is_exceeded() {
            return SearchedKeys::default();
        }
        let source = search.variable();
        let known = source.as_ref().and_then(|source| self.of_variables.get(source)).copied();
        let keys = match known {
            Some(known) => self.budget.add(SearchSize::Terms, known.terms).map(|()| known),
            None => self.read_terms(text, search, errors),
        };
        let keys = keys.map_err(|error| errors.push(error)).unwrap_or_default();
        if let Some(source) = source {
            self.of_variables.insert(source, keys);
        }
        SearchedKeys { unindexed: keys.unindexed + of_scope.unindexed, ..keys }
    }

    /// Fails if the request has more terms than it may.
    fn read_terms(
        &mut self,
        text: &str,
        search: SearchArgument<'_>,
        errors: &mut Vec<BindError>,
    ) -> Result<SearchedKeys, BindError> {
        let connection = search.connection;
        self.budget.add(SearchSize::Bytes, text.len())?;
        let terms = search::parse(text);
        self.budget.add(SearchSize::Terms, terms.len())?;
        let mut keys = SearchedKeys { terms: terms.len(), ..SearchedKeys::default() };
        for term in terms {
            let term = term.map_err(|bad| search.malformed(bad));
            match term.and_then(|term| search.key(&term)) {
                Ok((index, comparator)) => {
                    let key = &connection.search_keys[index];
                    keys.unindexed += u64::from(!key.indexed);
                    if comparator.is_range() {
                        keys.range_order = keys.range_order.into_iter().chain(connection.order_of(key)).min();
                    }
                }
                Err(error) => errors.push(error),
            }
        }
        Ok(keys)
    }
}

impl<'a> SearchArgument<'a> {
    /// The search string, if one is given.
    pub(super) fn text(self) -> Option<&'a str> {
        match self.arguments.get(ArgumentRole::Query)? {
            Literal::String(text) => Some(text),
            _ => None,
        }
    }

    /// The index of the variable that gives the search string, if one does, and the name of the root.
    pub(super) fn variable(self) -> Option<(usize, String)> {
        let variable = self.arguments.variable(ArgumentRole::Query)?;
        Some((variable, self.arguments.field.name.clone()))
    }

    /// The index of a term's key among the connection's, and its comparator, which the key accepts.
    pub(super) fn key(self, term: &Term<'_>) -> Result<(usize, Comparator), BindError> {
        let Self { arguments, connection } = self;
        let field = || arguments.field.name.clone();
        let index = connection.search_key(term.key).ok_or_else(|| BindError::NotFilterable {
            field: field(),
            key: excerpt(term.key),
            offset: term.offset,
            syntax: foreign_syntax(term.key),
            nearest: meant(identifier(term.key), names(connection)).first().map(|nearest| (*nearest).into()),
            allowed: names(connection).map(str::to_owned).collect(),
            elsewhere: Box::default(),
        })?;
        let key = &connection.search_keys[index];
        let comparator = match term.operator {
            TermOperator::Known(Comparator::Equals) if key.language.is_some() => Comparator::Matches,
            TermOperator::Known(comparator) => comparator,
            TermOperator::Unknown(operator) => {
                return Err(BindError::NoSuchOperator {
                    field: field(),
                    key: key.name.clone(),
                    offset: term.offset,
                    operator: excerpt(operator),
                    allowed: key.comparators.clone(),
                });
            }
        };
        if !key.comparators.contains(&comparator) {
            return Err(BindError::OperatorNotAllowed {
                field: field(),
                key: key.name.clone(),
                offset: term.offset,
                comparator,
                allowed: key.comparators.clone(),
            });
        }
        Ok((index, comparator))
    }

    /// If the term has no key, the error lists the keys, and suggests the one that the term begins with.
    pub(super) fn malformed(self, malformed: SearchError) -> BindError {
        let Self { arguments, connection } = self;
        let (mut suggestion, mut allowed) = (None, None);
        if matches!(malformed.kind, SearchErrorKind::NoColon | SearchErrorKind::BooleanSyntax | SearchErrorKind::NoKey)
        {
            // As in `statusId=A`. A word that only resembles a key is probably a value.
            let word = identifier(&malformed.term);
            let is_begun = |key: &&str| word.get(..key.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(key));
            suggestion = names(connection).filter(is_begun).max_by_key(|key| key.len()).map(str::to_owned);
            allowed = Some(names(connection).map(str::to_owned).collect());
        }
        BindError::SearchError {
            field: arguments.field.name.clone(),
            malformed: Box::new(malformed),
            nearest: suggestion,
            allowed,
        }
    }
}

/// Adds to the first error of a key that means none without doubt where else the schema has what it means. `false` if there is none.
pub(super) fn find_elsewhere(errors: &mut [BindError], catalog: &Catalog) -> bool {
    for error in errors {
        if let BindError::NotFilterable { field, key, syntax: None, allowed, elsewhere, .. } = error
            && clearly_meant(key, allowed.iter().map(String::as_str)).is_none()
        {
            let searches = catalog.places().searches(key, field).into_iter();
            *elsewhere = searches.chain(catalog.places().fields(key, "")).collect();
            return true;
        }
    }
    false
}

/// A key of other query languages that this language lacks: a sentence about it.
fn foreign_syntax(key: &str) -> Option<&'static str> {
    if key.starts_with(['-', '!']) {
        Some("there is no negation")
    } else if key.starts_with('(') {
        Some("there is no grouping, and a space between terms means AND")
    } else if key.contains(['<', '>', '=', '!', '~']) {
        Some("an operator follows the colon, as in key:>value")
    } else {
        None
    }
}

/// The first identifier in a text: `statusId` in `-statusId!`.
fn identifier(text: &str) -> &str {
    let text = text.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default()
}

fn names(connection: &Connection) -> impl Iterator<Item = &str> + Clone {
    connection.search_keys.iter().filter(|key| key.scope.is_none()).map(|key| key.name.as_str())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::compile::compiler::Compiler;
    use crate::error::code::ErrorCode;
    use crate::limits::Limits;
    use crate::query::bind::column_value::parsed_values;
    use crate::query::{Request, Variables};

    #[test]
    fn no_value_of_a_request_that_costs_too_much_is_read() {
        let compiler = Compiler::new(Arc::new(Catalog::built_in().unwrap()), 1 << 20);
        let compile = |search: &str, limits: &Limits| {
            let query = "query ($q: String) {
                a: orders(first: 20, query: $q) { edges { node { orderItems(first: 5) { edges { cursor } } } } }
                b: orders(first: 1, query: \"orderId:X,Y statusId:Z\") { edges { cursor } }
            }";
            let variables: Variables = serde_json::from_value(json!({ "q": search })).unwrap();
            let request = Request { query: query.to_owned(), variables, ..Request::default() };
            let before = parsed_values();
            let result = compiler.compile(&request, limits).map(|compiled| compiled.estimate.cost());
            (result, parsed_values() - before)
        };
        let low = Limits { max_cost: 220, ..Limits::default() };
        let shallow = Limits { max_depth: 1, ..Limits::default() };
        let code = |search: &str, limits: &Limits| {
            let (result, values) = compile(search, limits);
            (result.unwrap_err().first().code, values)
        };
        // Twice, because plans and rejections are cached.
        for _ in 0..2 {
            assert_eq!(code("statusId:A,B,A", &low), (ErrorCode::CostExceeded, 0));
            assert_eq!(code("statusId:A,B,A", &shallow), (ErrorCode::DepthExceeded, 0));
            assert_eq!(compile("statusId:A,B,A", &Limits::default()), (Ok(221), 6));
            assert_eq!(compile("orderId:A", &low), (Ok(171), 4));
        }
        // A wrong value is an error of an admitted request.
        assert_eq!(code("orderDate:>never", &low), (ErrorCode::CostExceeded, 0));
        assert_eq!(code("orderDate:>never", &Limits::default()).0, ErrorCode::MalformedQuery);
        // Other errors come before the cost, and the errors of values are in order with them.
        let (result, _) = compile("orderDate:>never colour:red", &low);
        let errors = result.unwrap_err().to_string();
        let position = |text: &str| errors.find(text).unwrap_or_else(|| panic!("{errors}"));
        assert!(position("orderDate:>never") < position("colour"), "{errors}");
    }
}
