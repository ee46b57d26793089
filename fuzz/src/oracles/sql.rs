//! The words of an SQL text. A text consists of the words and literals below, of numbered parameters, of whole numbers and of quoted
//! identifiers, and these are relations and columns of the catalog.

use std::collections::{BTreeSet, HashSet};

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, ConnectionField, EdgeField, EntityBinding, RootBinding};
use orderql::catalog::connection::{Connection, Join};
use orderql::catalog::schema::ArgumentRole;
use orderql_generator::document::Value;
use orderql_generator::request::Generated;

use crate::oracles::cost::summed_paths;
use crate::oracles::tree::Node;

/// A word of an SQL text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// A quoted identifier, without its quotes.
    Identifier(String),
    /// A key word, or a name that statements have of their own.
    Bare(String),
    /// `$n`
    Parameter(usize),
    /// A whole number.
    Number(u32),
    /// A bracket or an operator.
    Sign(&'static str),
}

impl Word {
    /// Whether it is that key word, name or sign.
    pub fn is(&self, text: &str) -> bool {
        match self {
            Self::Bare(word) => word == text,
            Self::Sign(sign) => *sign == text,
            Self::Identifier(_) | Self::Parameter(_) | Self::Number(_) => false,
        }
    }

    /// The number in a name that has these letters before it.
    pub fn number_after(&self, letters: &str) -> Option<usize> {
        match self {
            Self::Bare(name) => name.strip_prefix(letters)?.parse().ok(),
            Self::Identifier(_) | Self::Parameter(_) | Self::Number(_) | Self::Sign(_) => None,
        }
    }
}

const SIGNS: [&str; 15] = ["::", "<=", ">=", "<", ">", "=", "(", ")", "[", "]", ",", ".", "*", "+", "-"];

const KEY_WORDS: &[&str] = &[
    "ALL",
    "AND",
    "ANY",
    "ARRAY",
    "AS",
    "AT",
    "BY",
    "CASE",
    "CROSS",
    "DESC",
    "DISTINCT",
    "ELSE",
    "END",
    "EXISTS",
    "FALSE",
    "FILTER",
    "FIRST",
    "FROM",
    "GROUP",
    "HAVING",
    "IN",
    "IS",
    "JOIN",
    "LAST",
    "LATERAL",
    "LEFT",
    "LIMIT",
    "MATERIALIZED",
    "NOT",
    "NULL",
    "NULLS",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "SELECT",
    "THEN",
    "TIME",
    "TRUE",
    "UNION",
    "WHEN",
    "WHERE",
    "WITH",
    "ZONE",
];

/// The periods of totals, and their time zone.
const LITERALS: [&str; 4] = ["'day'", "'week'", "'month'", "'UTC'"];

const FUNCTIONS_AND_TYPES: &[&str] = &[
    "bool_or",
    "count",
    "date_trunc",
    "extract",
    "greatest",
    "isfinite",
    "least",
    "row_number",
    "sum",
    "unnest",
    "bool",
    "bpchar",
    "date",
    "float8",
    "int8",
    "numeric",
    "text",
    "timestamptz",
    "uuid",
];

/// The names that statements give to their parts; those with numbers are these with digits behind them.
const NAMES: &[&str] = &[
    "c", "e", "epoch", "examined", "f", "g", "h", "j", "k", "m", "matches", "matching", "n", "nothing", "number", "p",
    "position", "present", "q", "r", "s", "step", "t", "u", "v", "w", "x", "y",
];

/// The words of an SQL text. Panics at anything that is none.
pub fn words(sql: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = sql.trim_start();
    while !rest.is_empty() {
        let (word, length) = word(rest).unwrap_or_else(|| panic!("{rest:.40} in {sql}"));
        words.push(word);
        rest = rest[length..].trim_start();
    }
    words
}

fn word(text: &str) -> Option<(Word, usize)> {
    let run = |text: &str, is: fn(&u8) -> bool| text.bytes().take_while(is).count();
    let first = *text.as_bytes().first()?;
    if first == b'"' {
        return identifier(text);
    }
    if let Some(literal) = LITERALS.into_iter().find(|literal| text.starts_with(literal)) {
        return Some((Word::Bare(literal.to_owned()), literal.len()));
    }
    if first == b'$' {
        let digits = run(&text[1..], u8::is_ascii_digit);
        return Some((Word::Parameter(text[1..=digits].parse().ok()?), digits + 1));
    }
    if first.is_ascii_digit() {
        let digits = run(text, u8::is_ascii_digit);
        return Some((Word::Number(text[..digits].parse().ok()?), digits));
    }
    if first.is_ascii_alphabetic() {
        let length = run(text, |byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let bare = &text[..length];
        let is_name = NAMES.contains(&bare.trim_end_matches(|c: char| c.is_ascii_digit()));
        let is_known = KEY_WORDS.contains(&bare) || FUNCTIONS_AND_TYPES.contains(&bare) || is_name;
        return is_known.then(|| (Word::Bare(bare.to_owned()), length));
    }
    let sign = SIGNS.into_iter().find(|sign| text.starts_with(sign))?;
    // A comment would hide what follows it.
    (!text.starts_with("--")).then_some((Word::Sign(sign), sign.len()))
}

fn identifier(text: &str) -> Option<(Word, usize)> {
    let (mut name, mut rest) = (String::new(), &text[1..]);
    loop {
        let (part, after) = rest.split_once('"')?;
        name.push_str(part);
        match after.strip_prefix('"') {
            Some(after) => {
                name.push('"');
                rest = after;
            }
            None => return Some((Word::Identifier(name), text.len() - after.len())),
        }
    }
}

/// The tables and views that an SQL text reads.
pub fn relations(words: &[Word]) -> BTreeSet<String> {
    let mut relations = BTreeSet::new();
    for (index, word) in words.iter().enumerate() {
        if !word.is("FROM") && !word.is("JOIN") {
            continue;
        }
        let mut parts = Vec::new();
        let mut rest = words[index + 1..].iter();
        while let Some(Word::Identifier(part)) = rest.next() {
            parts.push(part.as_str());
            if !rest.next().is_some_and(|word| word.is(".")) {
                break;
            }
        }
        if !parts.is_empty() {
            relations.insert(parts.join("."));
        }
    }
    relations
}

/// The tables and views that the statement of a node has to read.
pub fn expected_relations(catalog: &Catalog, generated: &Generated, node: &Node<'_>) -> BTreeSet<String> {
    let mut relations = BTreeSet::new();
    match node.binding(catalog) {
        Some(
            Binding::Root(RootBinding::Connection(connection)) | Binding::Entity(EntityBinding::Connection(connection)),
        ) => {
            relations.extend(searched_relations(catalog, generated, node, connection));
        }
        Some(Binding::Root(RootBinding::Totals(totals))) => {
            relations.extend(searched_relations(catalog, generated, node, &totals.connection));
            let paths = summed_paths(catalog, generated, node, totals);
            let joined = paths.into_iter().flat_map(|path| catalog.follow(totals.connection.node, path).0);
            relations.extend(joined.map(|one| catalog.entity(one.target).relation.clone()));
        }
        Some(Binding::Root(RootBinding::Lookup(lookup))) => {
            relations.insert(lookup.relation.clone());
        }
        other => panic!("{other:?} has no statement"),
    }
    add_joined(catalog, &node.nodes, &mut relations);
    relations
}

/// The relation of a connection, and those that it is searched in.
fn searched_relations(
    catalog: &Catalog,
    generated: &Generated,
    node: &Node<'_>,
    connection: &Connection,
) -> BTreeSet<String> {
    let mut relations = BTreeSet::from([connection.relation.clone()]);
    if let Some(Value::Search(search)) = node.argument(catalog, generated, ArgumentRole::Query) {
        let keys = connection.search_keys.iter();
        let searched = keys.filter(|key| search.terms.iter().any(|term| term.key == key.name));
        relations.extend(searched.map(|key| connection.relation_of(key).to_owned()));
    }
    relations
}

/// The relations of objects and aggregates, but not those of connections, which have statements of their own.
fn add_joined(catalog: &Catalog, nodes: &[Node<'_>], relations: &mut BTreeSet<String>) {
    for node in nodes {
        match node.binding(catalog) {
            Some(Binding::Entity(EntityBinding::One(one))) => {
                relations.insert(catalog.entity(one.target).relation.clone());
                add_joined(catalog, &node.nodes, relations);
            }
            Some(Binding::Entity(EntityBinding::Aggregate(aggregate))) => {
                relations.insert(aggregate.relation.clone());
            }
            Some(Binding::Connection(ConnectionField::Edges) | Binding::Edge(EdgeField::Node)) => {
                add_joined(catalog, &node.nodes, relations);
            }
            _ => {}
        }
    }
}

/// Every identifier of a catalog: schemas, relations and columns.
pub fn identifiers(catalog: &Catalog) -> HashSet<String> {
    let mut known = HashSet::new();
    let mut relation = |name: &str| known.extend(name.split('.').map(str::to_owned));
    catalog.entities().for_each(|(_, entity)| relation(&entity.relation));
    for (_, _, binding) in catalog.fields() {
        match binding {
            Binding::Root(RootBinding::Connection(connection))
            | Binding::Entity(EntityBinding::Connection(connection)) => {
                relation(&connection.relation);
                connection.search_keys.iter().for_each(|key| relation(connection.relation_of(key)));
            }
            Binding::Root(RootBinding::Lookup(lookup)) => relation(&lookup.relation),
            Binding::Entity(EntityBinding::Aggregate(aggregate)) => relation(&aggregate.relation),
            _ => {}
        }
    }
    let mut column = |name: &str| {
        known.insert(name.to_owned());
    };
    let of_join = |join: &Join, column: &mut dyn FnMut(&str)| {
        join.by.iter().for_each(|by| column(&by.name));
        join.to.iter().for_each(|to| column(to));
    };
    catalog.entities().flat_map(|(_, entity)| &entity.key).for_each(|key| column(&key.name));
    for (_, _, binding) in catalog.fields() {
        match binding {
            Binding::Entity(EntityBinding::Column(own)) => column(&own.name),
            Binding::Entity(EntityBinding::One(one)) => of_join(&one.join, &mut column),
            Binding::Entity(EntityBinding::Aggregate(aggregate)) => {
                column(&aggregate.column);
                of_join(&aggregate.join, &mut column);
            }
            Binding::Root(RootBinding::Lookup(lookup)) => lookup.keys.iter().for_each(|key| column(&key.name)),
            Binding::Root(RootBinding::Connection(connection))
            | Binding::Entity(EntityBinding::Connection(connection)) => {
                of_join(&connection.join, &mut column);
                connection.sort_keys.iter().flat_map(|key| &key.columns).for_each(|own| column(&own.name));
                for key in &connection.search_keys {
                    column(&key.column.name);
                    key.semi_join.iter().flat_map(|join| &join.by).for_each(|by| column(by));
                }
            }
            _ => {}
        }
    }
    known
}
