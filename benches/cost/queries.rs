//! Random queries that are valid and within the default limits, with values out of rows that are there. The roots take
//! turns; page sizes, depth, search terms, cursors and what is selected are up to chance.

use std::fmt::Write;

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, Connection, Lookup, SearchKey};
use orderql::catalog::ids::TypeId;
use orderql::catalog::schema::{Argument, ArgumentRole, Field};
use orderql::compile::explanation::{Explanation, explain};
use orderql::cursor::Encoder;
use orderql::limits::Limits;
use orderql::query::Request;
use orderql::search::Comparator;
use orderql::value::{ScalarType, Timestamp};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use crate::measure::Fault;
use crate::measure::random::Random;
use crate::rows::{Row, Rows};

/// Page sizes as people choose them.
const SIZES: [u32; 8] = [1, 2, 5, 10, 20, 25, 50, 100];

/// The most columns that are selected of an object.
const COLUMNS: usize = 10;

/// A query, with what is known of it before it is asked.
#[derive(Debug)]
pub struct Query {
    /// Its text.
    pub text: String,
    /// Its first root.
    pub root: String,
    /// What it comes to.
    pub explained: Explanation,
}

/// Makes so many queries, always the same from the same rows and seed.
pub fn make(catalog: &Catalog, rows: &Rows, count: usize, seed: u64) -> Result<Vec<Query>, Fault> {
    let mut generator = Generator { catalog, rows, random: Random::new(seed), text: Text::default() };
    (0..count).map(|number| generator.query(number)).collect()
}

/// The text of a query whose page sizes are still open.
#[derive(Default)]
struct Text {
    /// What stands before each size, and behind the last.
    parts: Vec<String>,
    sizes: Vec<u32>,
}

impl Text {
    fn whole(&self) -> String {
        let mut text = String::new();
        for (place, part) in self.parts.iter().enumerate() {
            text.push_str(part);
            if let Some(size) = self.sizes.get(place) {
                let _ = write!(text, "{size}");
            }
        }
        text
    }

    /// Adds to the text.
    fn add(&mut self, text: &str) {
        match self.parts.get_mut(self.sizes.len()) {
            Some(part) => part.push_str(text),
            None => self.parts.push(text.to_owned()),
        }
    }

    /// Makes the largest page smaller, of several the one that is nested deepest; `false` where all pages have one row.
    fn shrink(&mut self) -> bool {
        let largest = self.sizes.iter_mut().max_by_key(|size| **size);
        largest.filter(|size| **size > 1).map(|size| *size /= 2).is_some()
    }
}

struct Generator<'a> {
    catalog: &'a Catalog,
    rows: &'a Rows,
    random: Random,
    text: Text,
}

impl<'a> Generator<'a> {
    /// A query that is within the limits: pages that are too large are made smaller.
    fn query(&mut self, number: usize) -> Result<Query, Fault> {
        let (catalog, limits) = (self.catalog, Limits::default());
        let roots = catalog.object(catalog.query()).map(|object| object.fields.as_slice()).unwrap_or_default();
        let first = number % roots.len();
        loop {
            self.text = Text::default();
            self.text.add("{ ");
            self.root(first, &roots[first], "");
            if self.random.chance(10) {
                let other = self.random.below(roots.len());
                self.root(other, &roots[other], "other: ");
            }
            self.text.add("}");
            loop {
                let request = Request { query: self.text.whole(), ..Request::default() };
                let explained = explain(catalog, &request, &limits).map_err(|refusals| {
                    Fault::Data(format!("a query that was made is not valid: {refusals}\n{}", request.query))
                })?;
                if explained.errors.is_none() {
                    return Ok(Query { text: request.query, root: roots[first].name.clone(), explained });
                }
                if !self.text.shrink() {
                    break;
                }
            }
        }
    }

    fn root(&mut self, place: usize, field: &'a Field, alias: &str) {
        let rows = self.rows.of(place);
        let row = self.random.pick(rows);
        self.text.add(alias);
        self.text.add(&field.name);
        match &field.binding {
            Binding::Lookup(point) => {
                self.keys(field, point, row);
                self.object(point.target, 1);
            }
            Binding::Connection(connection) => self.connection(field, connection, 1, Some((rows, row))),
            _ => self.text.add(" "),
        }
    }

    /// The keys of a point root; of alternatives one that the row has.
    fn keys(&mut self, field: &Field, point: &Lookup, row: &Row) {
        let mut keys: Vec<_> = point.keys.iter().enumerate().collect();
        if point.alternatives {
            keys.retain(|(_, column)| row.value(column, None).is_some());
            let chosen = keys.get(self.random.below(keys.len().max(1))).copied();
            keys = chosen.into_iter().collect();
        }
        let arguments = keys.iter().map(|(place, column)| {
            let value = serde_json::Value::from(row.value(column, None).unwrap_or_default());
            format!("{}: {value}", argument(field, ArgumentRole::Key(*place)))
        });
        let arguments: Vec<_> = arguments.collect();
        self.text.add(&format!("({})", arguments.join(", ")));
    }

    /// A selection of an object at that level of nesting.
    fn object(&mut self, object: TypeId, level: u32) {
        let catalog = self.catalog;
        let fields = catalog.object(object).map(|object| object.fields.as_slice()).unwrap_or_default();
        let (mut columns, mut aggregates, mut ones, mut connections) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for field in fields {
            match &field.binding {
                Binding::Column(_) => columns.push(field),
                Binding::Aggregate(_) => aggregates.push(field),
                Binding::One(one) => ones.push((field, one)),
                Binding::Connection(connection) => connections.push((field, connection)),
                _ => {}
            }
        }
        let is_deepest = level >= Limits::default().max_depth;
        let most = columns.len().min(COLUMNS);
        let selected = 1 + self.random.below(most.max(1));
        self.text.add(" { ");
        for field in self.some(columns, selected) {
            self.text.add(&field.name);
            self.text.add(" ");
        }
        for field in aggregates {
            if self.random.chance(30) {
                self.text.add(&field.name);
                self.text.add(" ");
            }
        }
        let nested = if is_deepest { 0 } else { *self.random.pick(&[0, 0, 1, 1, 2]) };
        for (field, one) in self.some(ones, nested) {
            self.text.add(&field.name);
            self.object(one.target, level + 1);
        }
        // Fewer the deeper they lie, or few queries would be within the limits.
        let chances: &[usize] = if level == 1 { &[0, 1, 1, 2] } else { &[0, 0, 0, 1] };
        let nested = if is_deepest { 0 } else { *self.random.pick(chances) };
        for (field, connection) in self.some(connections, nested) {
            self.text.add(&field.name);
            self.connection(field, connection, level + 1, None);
        }
        self.text.add("} ");
    }

    /// A connection; at the root with rows to search for, and one that stands somewhere in the walk.
    fn connection(
        &mut self,
        field: &Field,
        connection: &'a Connection,
        level: u32,
        rows: Option<(&'a [Row], &'a Row)>,
    ) {
        let is_backward = self.random.chance(15);
        self.text.add(if is_backward { "(last: " } else { "(first: " });
        self.text.sizes.push(*self.random.pick(&SIZES));
        if let Some((rows, row)) = rows {
            self.walk(field, connection, row, is_backward);
            if !connection.search_keys.is_empty() && self.random.chance(45) {
                self.search(connection, rows, row);
            }
        }
        self.text.add(") { edges { ");
        if self.random.chance(20) {
            self.text.add("cursor ");
        }
        self.text.add("node");
        self.object(connection.node, level);
        self.text.add("} ");
        if self.random.chance(50) {
            let facts: &[_] = if is_backward {
                &["hasPreviousPage startCursor", "hasPreviousPage"]
            } else {
                &["hasNextPage endCursor", "hasNextPage", "hasNextPage hasPreviousPage startCursor endCursor"]
            };
            let facts = self.random.pick(facts);
            self.text.add(&format!("pageInfo {{ {facts} }} "));
        }
        self.text.add("} ");
    }

    /// The order of a walk, and a place in it.
    fn walk(&mut self, field: &Field, connection: &Connection, row: &Row, is_backward: bool) {
        let has = |role| field.arguments.iter().any(|argument| argument.role == role);
        let mut sort_key = &connection.sort_keys[0];
        if has(ArgumentRole::SortKey) && self.random.chance(50) {
            sort_key = self.random.pick(&connection.sort_keys);
            self.text.add(&format!(", sortKey: {}", sort_key.name));
        }
        let is_reversed = self.random.chance(40);
        if is_reversed {
            self.text.add(", reverse: true");
        }
        if !self.random.chance(40) {
            return;
        }
        let mut encoder = Encoder::default();
        encoder.begin(if is_reversed { sort_key.tag.reversed() } else { sort_key.tag });
        for column in &sort_key.columns {
            let number = |text: &str| text.parse().unwrap_or_default();
            match (row.value(column, None), column.scalar) {
                (None, _) => encoder.null(),
                (Some(text), ScalarType::Id | ScalarType::String) => encoder.text(text.as_bytes()),
                (Some(text), ScalarType::Int) => encoder.int(number(text)),
                (Some(text), ScalarType::Decimal) => encoder.decimal(text),
                (Some(text), ScalarType::DateTime) => encoder.timestamp(Timestamp(number(text))),
                (Some(text), ScalarType::Boolean) => encoder.boolean(matches!(text, "Y" | "true")),
            }
        }
        let mut cursor = Vec::new();
        encoder.finish(&mut cursor);
        let role = if is_backward { "before" } else { "after" };
        self.text.add(&format!(", {role}: \"{}\"", String::from_utf8_lossy(&cursor)));
    }

    /// Terms that the row fulfils, all of them.
    fn search(&mut self, connection: &'a Connection, rows: &[Row], row: &Row) {
        let keys = connection.search_keys.iter().filter(|key| element(key, row).is_some()).collect();
        let wanted = *self.random.pick(&[1, 1, 1, 2]);
        let mut terms = Vec::new();
        for key in self.some(keys, wanted) {
            let comparator = *self.random.pick(&key.comparators);
            let mut elements: Vec<_> = element(key, row).into_iter().collect();
            if comparator == Comparator::In {
                let others = (0..=self.random.below(3)).filter_map(|_| element(key, self.random.pick(rows)));
                elements.extend(others);
            }
            let sign =
                if matches!(comparator, Comparator::Equals | Comparator::In) { "" } else { comparator.describe() };
            terms.push(format!("{}:{sign}{}", key.name, elements.join(",")));
        }
        if !terms.is_empty() {
            self.text.add(&format!(", query: {}", serde_json::Value::from(terms.join(" "))));
        }
    }

    /// So many of several, in their order.
    fn some<T>(&mut self, mut several: Vec<T>, count: usize) -> Vec<T> {
        while several.len() > count {
            several.remove(self.random.below(several.len()));
        }
        several
    }
}

fn argument(field: &Field, role: ArgumentRole) -> &str {
    let named = |argument: &&Argument| argument.role == role;
    field.arguments.iter().find(named).map_or("", |argument| argument.name.as_str())
}

/// A row's value as the search string holds it; nothing where it is null or the search string cannot.
fn element(key: &SearchKey, row: &Row) -> Option<String> {
    let text = row.value(&key.column, key.semi_join.as_ref())?;
    if key.column.scalar == ScalarType::DateTime {
        let moment = OffsetDateTime::UNIX_EPOCH.checked_add(Duration::microseconds(text.parse().ok()?))?;
        return moment.format(&Rfc3339).ok();
    }
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '#');
    (!text.is_empty() && text.chars().all(is_plain)).then(|| text.to_owned())
}
