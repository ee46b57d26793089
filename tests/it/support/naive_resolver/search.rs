//! Search strings, as `docs/api.md` and `grammar/search.ebnf` describe them.

use std::cmp::Ordering;

use orderql::catalog::aggregate::Aggregate;
use orderql::catalog::connection::Connection;
use orderql::catalog::search_key::SearchKey;

use crate::support::naive_resolver::tables::{Cell, Row, Tables};

/// A term of a search string.
struct Term<'a> {
    key: &'a SearchKey,
    /// The orderings of the column and the value that match.
    orderings: &'static [Ordering],
    values: Vec<Cell>,
}

/// Whether a row matches all terms of a search string.
pub struct Search<'a> {
    tables: &'a Tables,
    terms: Vec<Term<'a>>,
}

impl<'a> Search<'a> {
    /// The search of a valid string.
    pub fn parse(tables: &'a Tables, connection: &'a Connection, text: &str) -> Self {
        Self { tables, terms: terms(text).into_iter().map(|term| Term::parse(connection, term)).collect() }
    }

    /// Whether the value is one of those that the first term on the column of another relation has; also without such a term.
    pub fn has(&self, aggregate: &Aggregate, row: Row<'_>) -> bool {
        let is_on = |term: &&Term<'_>| {
            let join = term.key.semi_join.as_ref();
            term.key.column.name == aggregate.column && join.is_some_and(|join| join.relation == aggregate.relation)
        };
        self.terms.iter().find(is_on).is_none_or(|term| term.matches(row))
    }

    /// The name of the first sort key of whose column there is a range.
    pub fn range_order(&self, connection: &'a Connection) -> Option<&'a str> {
        let is_range = |term: &&Term<'_>| *term.orderings != [Ordering::Equal] && term.key.semi_join.is_none();
        let columns: Vec<_> = self.terms.iter().filter(is_range).map(|term| &term.key.column.name).collect();
        let sort_key = connection.sort_keys.iter().find(|key| columns.contains(&&key.columns[0].name));
        sort_key.map(|key| key.name.as_str())
    }

    pub fn matches(&self, row: Row<'_>) -> bool {
        self.terms.iter().all(|term| match &term.key.semi_join {
            None => term.matches(row),
            Some(join) => self.tables.get(&join.relation).all().any(|other| {
                join.by.iter().all(|column| row.get(column).equals(other.get(column))) && term.matches(other)
            }),
        })
    }
}

impl<'a> Term<'a> {
    fn parse(connection: &'a Connection, term: &str) -> Self {
        let (key, value) = term.split_once(':').unwrap();
        let key = connection.search_keys.iter().find(|other| other.name == key).unwrap();
        let comparators: [(&str, &[Ordering]); 4] = [
            (">=", &[Ordering::Greater, Ordering::Equal]),
            ("<=", &[Ordering::Less, Ordering::Equal]),
            (">", &[Ordering::Greater]),
            ("<", &[Ordering::Less]),
        ];
        let found = comparators.into_iter().find_map(|(sign, orderings)| Some((value.strip_prefix(sign)?, orderings)));
        let (list, orderings) = found.unwrap_or((value, &[Ordering::Equal]));
        let value = |element: String| match key.normalization {
            None => Cell::parse(&key.column, &element),
            Some(form) => Cell::of(&form.apply(key.column.scalar.parse(&element).unwrap()).unwrap()),
        };
        Self { key, orderings, values: elements(list).into_iter().map(value).collect() }
    }

    fn matches(&self, row: Row<'_>) -> bool {
        let cell = row.get(&self.key.column.name);
        self.values.iter().any(|value| cell.compare(value).is_some_and(|ordering| self.orderings.contains(&ordering)))
    }
}

const SPACES: [char; 4] = [' ', '\t', '\n', '\r'];

/// The terms of a valid string.
fn terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let mut rest = text.trim_start_matches(SPACES);
    while !rest.is_empty() {
        let mut end = rest.find(':').unwrap() + 1;
        end += rest[end..].find(|c| !"<>=".contains(c)).unwrap_or(0);
        loop {
            let value = &rest[end..];
            let to_space = || value.find([',', ' ', '\t', '\n', '\r']).unwrap_or(value.len());
            end += closing_quote(value).map_or_else(to_space, |quote| quote + 1);
            if !rest[end..].starts_with(',') {
                break;
            }
            end += 1;
        }
        let (term, remainder) = rest.split_at(end);
        terms.push(term);
        rest = remainder.trim_start_matches(SPACES);
    }
    terms
}

/// Where the quote is that closes the one at the beginning of a text: before a comma, a space or the end. Between them are no
/// spaces, or no such quotes.
fn closing_quote(text: &str) -> Option<usize> {
    let quote = text.chars().next().filter(|first| "'\"".contains(*first))?;
    let is_closing = |end: &usize| {
        let (inside, next) = (&text[1..*end], text[end + 1..].chars().next());
        next.is_none_or(|next| next == ',' || SPACES.contains(&next))
            && !(inside.contains(SPACES) && inside.contains(quote))
    };
    text.match_indices(quote).map(|(end, _)| end).skip(1).find(is_closing)
}

/// The elements of a list, without the quotes around them.
fn elements(mut list: &str) -> Vec<String> {
    let mut elements = Vec::new();
    loop {
        let (element, rest) = match closing_quote(list) {
            Some(quote) => (&list[1..quote], &list[quote + 1..]),
            None => list.split_at(list.find(',').unwrap_or(list.len())),
        };
        elements.push(element.to_owned());
        match rest.strip_prefix(',') {
            Some(rest) => list = rest,
            None => return elements,
        }
    }
}
