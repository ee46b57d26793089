//! Random queries that are valid and within the default limits, with values from existing rows. The root fields take turns;
//! page sizes, depth, search terms, cursors and selections are random.

use std::fmt::Write as _;

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, EntityBinding, Lookup, RootBinding, Totals};
use orderql::catalog::connection::Connection;
use orderql::catalog::ids::{EntityId, TypeId};
use orderql::catalog::schema::{ArgumentRole, Field};
use orderql::catalog::search_key::SearchKey;
use orderql::compile::explanation::{Explanation, explain};
use orderql::limits::Limits;
use orderql::query::Request;
use orderql::search::Comparator;
use orderql::value::ScalarType;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::cursor::cursor;
use super::rows::{Row, Rows};
use crate::error::{BenchError, Result};

/// Page sizes that are usual.
const SIZES: [u32; 8] = [1, 2, 5, 10, 20, 25, 50, 100];

/// Stands for a page size in the text of a draft.
const SIZE: char = '\0';

/// The most columns that are selected of an object.
const COLUMNS: usize = 10;

/// A query, and what is known of it before it runs.
#[derive(Debug)]
pub struct Query {
    pub text: String,
    /// Its first root field.
    pub root: String,
    pub explained: Explanation,
}

/// Generates queries; the same rows and seed give the same queries.
pub fn generate(catalog: &Catalog, rows: &Rows, count: usize, seed: u64) -> Result<Vec<Query>> {
    let mut generator =
        Generator { catalog, rows, random: ChaCha8Rng::seed_from_u64(seed), text: String::new(), sizes: Vec::new() };
    (0..count).map(|number| generator.query(number)).collect()
}

struct Generator<'a> {
    catalog: &'a Catalog,
    rows: &'a Rows,
    random: ChaCha8Rng,
    /// The draft of a query, with [`SIZE`] for each of `sizes`.
    text: String,
    sizes: Vec<u32>,
}

impl<'a> Generator<'a> {
    /// A query within the limits: pages of a draft that costs too much are made smaller.
    fn query(&mut self, number: usize) -> Result<Query> {
        let (catalog, limits) = (self.catalog, Limits::default());
        let roots: Vec<_> = fields(catalog, catalog.query()).collect();
        // What changed is nothing that a sample of rows says.
        let is_known = |root: &usize| !matches!(roots[*root].1, Binding::Root(RootBinding::Changes(_)));
        let known: Vec<_> = (0..roots.len()).filter(is_known).collect();
        let first = known[number % known.len()];
        loop {
            "{ ".clone_into(&mut self.text);
            self.sizes.clear();
            self.root(first, roots[first]);
            if self.chance(10) {
                let other = known[self.random.random_range(..known.len())];
                self.text.push_str("other: ");
                self.root(other, roots[other]);
            }
            self.text.push('}');
            loop {
                let text =
                    self.sizes.iter().fold(self.text.clone(), |text, size| text.replacen(SIZE, &size.to_string(), 1));
                let request = Request { query: text.clone(), ..Request::default() };
                let explained = explain(catalog, &request, &limits)
                    .map_err(|errors| BenchError::Query { errors, query: text.clone() })?;
                if explained.errors.is_none() {
                    return Ok(Query { text, root: roots[first].0.name.clone(), explained });
                }
                // Of several equally large pages it is the one that is nested deepest.
                match self.sizes.iter_mut().max_by_key(|size| **size) {
                    Some(size) if *size > 1 => *size /= 2,
                    _ => break,
                }
            }
        }
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.random_ratio(percent, 100)
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        *items.choose(&mut self.random).unwrap_or(&items[0])
    }

    /// So many random items, in their order.
    fn sample<T>(&mut self, items: Vec<T>, count: usize) -> Vec<T> {
        let mut sample = items.into_iter().enumerate().sample(&mut self.random, count);
        sample.sort_by_key(|(index, _)| *index);
        sample.into_iter().map(|(_, item)| item).collect()
    }

    fn root(&mut self, index: usize, (field, binding): (&'a Field, Binding<'a>)) {
        let rows = self.rows.of(index);
        self.text.push_str(&field.name);
        match binding {
            Binding::Root(RootBinding::Lookup(lookup)) => {
                let row = &rows[self.random.random_range(..rows.len())];
                self.keys(field, lookup, row);
                self.object(lookup.target, 1);
            }
            Binding::Root(RootBinding::Connection(connection)) => self.connection(field, connection, 1, rows),
            Binding::Root(RootBinding::Totals(totals)) => self.totals(totals),
            _ => self.text.push(' '),
        }
    }

    /// Totals by up to two keys, with some of the sums.
    fn totals(&mut self, totals: &Totals) {
        let keys: Vec<_> = totals.keys.iter().map(|key| (key.value.as_str(), key.name.as_str())).collect();
        let count = self.random.random_range(..3);
        let (values, names): (Vec<_>, Vec<_>) = self.sample(keys, count).into_iter().unzip();
        let sums: Vec<_> = totals.sums.iter().map(|sum| sum.name.as_str()).collect();
        let count = self.random.random_range(..=sums.len());
        let sums = self.sample(sums, count).join(" ");
        let rows = self.pick(&[50, 1_000, 2_000]);
        let (values, names) = (values.join(", "), names.join(" "));
        let arguments = format!("first: 100, rows: {rows}, groupBy: [{values}]");
        let _ = write!(self.text, "({arguments}) {{ groups {{ count {names} {sums} }} complete endCursor }} ");
    }

    /// The arguments of a lookup field; of alternative keys one that the row has.
    fn keys(&mut self, field: &Field, lookup: &Lookup, row: &Row) {
        let mut keys: Vec<_> = lookup.keys.iter().map(|column| row.text(column)).enumerate().collect();
        if lookup.alternatives {
            keys.retain(|(_, value)| value.is_some());
            keys = self.sample(keys, 1);
        }
        let arguments = keys.into_iter().map(|(index, value)| {
            let argument = field.arguments.iter().find(|argument| argument.role == ArgumentRole::Key(index));
            format!("{}: {}", argument.map_or("", |argument| &argument.name), json!(value.unwrap_or_default()))
        });
        let arguments: Vec<_> = arguments.collect();
        let _ = write!(self.text, "({})", arguments.join(", "));
    }

    /// The selection of an object at a level of nesting.
    fn object(&mut self, object: EntityId, level: u32) {
        let (mut columns, mut aggregates, mut ones, mut connections) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (field, binding) in fields(self.catalog, object.ty()) {
            let Binding::Entity(binding) = binding else { continue };
            match binding {
                EntityBinding::Column(_) => columns.push(field),
                EntityBinding::Aggregate(_) => aggregates.push(field),
                EntityBinding::One(one) => ones.push((field, one)),
                EntityBinding::Connection(connection) => connections.push((field, connection)),
            }
        }
        let count = self.random.random_range(1..=columns.len().clamp(1, COLUMNS));
        let mut scalars = self.sample(columns, count);
        scalars.extend(aggregates.into_iter().filter(|_| self.chance(30)));
        self.text.push_str(" { ");
        for field in scalars {
            let _ = write!(self.text, "{} ", field.name);
        }
        if level < Limits::default().max_depth {
            let count = self.pick(&[0, 0, 1, 1, 2]);
            for (field, one) in self.sample(ones, count) {
                self.text.push_str(&field.name);
                self.object(one.target, level + 1);
            }
            // Deep connections are rare, or few queries would be within the limits.
            let count = self.pick(if level == 1 { &[0, 1, 1, 2] } else { &[0, 0, 0, 1] });
            for (field, connection) in self.sample(connections, count) {
                self.text.push_str(&field.name);
                self.connection(field, connection, level + 1, &[]);
            }
        }
        self.text.push_str("} ");
    }

    /// A connection; at the root with rows that search terms match, and that a page begins at.
    fn connection(&mut self, field: &Field, connection: &Connection, level: u32, rows: &[Row]) {
        let is_backward = self.chance(15);
        self.text.push_str(if is_backward { "(last: " } else { "(first: " });
        self.text.push(SIZE);
        let size = self.pick(&SIZES);
        self.sizes.push(size);
        if let Some(row) = rows.choose(&mut self.random) {
            self.order(field, connection, row, is_backward);
            if !connection.search_keys.is_empty() && self.chance(45) {
                self.search(connection, rows, row);
            }
        }
        self.text.push_str(") { edges { ");
        if self.chance(20) {
            self.text.push_str("cursor ");
        }
        self.text.push_str("node");
        self.object(connection.node, level);
        self.text.push_str("} ");
        if self.chance(50) {
            let page_info = self.pick(if is_backward {
                &["hasPreviousPage startCursor", "hasPreviousPage"]
            } else {
                &["hasNextPage endCursor", "hasNextPage", "hasNextPage hasPreviousPage startCursor endCursor"]
            });
            let _ = write!(self.text, "pageInfo {{ {page_info} }} ");
        }
        self.text.push_str("} ");
    }

    /// The order of a connection, and a cursor in it.
    fn order(&mut self, field: &Field, connection: &Connection, row: &Row, is_backward: bool) {
        let mut sort_key = &connection.sort_keys[0];
        if field.arguments.iter().any(|argument| argument.role == ArgumentRole::SortKey) && self.chance(50) {
            sort_key = &connection.sort_keys[self.random.random_range(..connection.sort_keys.len())];
            let _ = write!(self.text, ", sortKey: {}", sort_key.name);
        }
        let is_reversed = self.chance(40);
        if is_reversed {
            self.text.push_str(", reverse: true");
        }
        if !self.chance(40) {
            return;
        }
        let cursor = cursor(sort_key, is_reversed, |column| row.text(column));
        let argument = if is_backward { "before" } else { "after" };
        let _ = write!(self.text, ", {argument}: \"{cursor}\"");
    }

    /// Search terms that all match the row.
    fn search(&mut self, connection: &Connection, rows: &[Row], row: &Row) {
        let keys = connection.search_keys.iter().filter_map(|key| Some((key, search_value(key, row)?))).collect();
        let count = self.pick(&[1, 1, 1, 2]);
        let mut terms = Vec::new();
        for (key, value) in self.sample(keys, count) {
            let comparator = self.pick(&key.comparators);
            let (mut sign, mut values) = (comparator.describe(), vec![value]);
            if comparator == Comparator::In {
                let others = self.random.random_range(1..=3);
                values.extend(rows.sample(&mut self.random, others).filter_map(|row| search_value(key, row)));
            }
            if matches!(comparator, Comparator::Equals | Comparator::In) {
                sign = "";
            }
            terms.push(format!("{}:{sign}{}", key.name, values.join(",")));
        }
        if !terms.is_empty() {
            let _ = write!(self.text, ", query: {}", json!(terms.join(" ")));
        }
    }
}

/// The published fields of an object type.
pub fn fields(catalog: &Catalog, object: TypeId) -> impl Iterator<Item = (&Field, Binding<'_>)> {
    catalog.object(object).into_iter().flat_map(|object| catalog.fields_of(object))
}

/// A row's value as a search term contains it; `None` where it is null, or cannot be in a search string without quotes.
fn search_value(key: &SearchKey, row: &Row) -> Option<String> {
    let text = row.search_text(key)?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '#');
    let is_date = key.column.scalar == ScalarType::DateTime;
    (is_date || !text.is_empty() && text.chars().all(is_plain)).then_some(text)
}
