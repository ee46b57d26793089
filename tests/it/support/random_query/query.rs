//! A query as a tree that tests can write, shrink and change.

use std::fmt::Write as _;

use orderql::catalog::ids::{FieldId, TypeId};
use orderql::cursor::{Encoder, OrderingTag};
use orderql::query::{Request, Variables};
use orderql::search::Comparator;
use orderql::value::ScalarType;

use crate::support::cursor::{numeric, unix_micros};
use crate::support::random::Random;

/// A query and its fragments: for each the name of its type, and its selection set.
#[derive(Debug, Clone)]
pub struct Query {
    pub items: Vec<Item>,
    pub fragments: Vec<(String, Vec<Item>)>,
}

/// A selection: a field, an inline fragment or a fragment spread.
#[derive(Debug, Clone)]
pub enum Item {
    Field(Selected),
    Inline { on: Option<String>, guard: Option<Guard>, items: Vec<Item> },
    Spread { name: String, fragment: usize, guard: Option<Guard> },
}

/// A selected field.
#[derive(Debug, Clone)]
pub struct Selected {
    pub alias: Option<String>,
    pub name: String,
    /// `None` is `__typename`.
    pub field: Option<FieldId>,
    pub arguments: Vec<Argument>,
    pub guard: Option<Guard>,
    pub items: Vec<Item>,
}

impl Selected {
    /// `__typename`
    pub fn type_name(_: TypeId) -> Self {
        let (name, items) = ("__typename".to_owned(), Vec::new());
        Self { alias: None, name, field: None, arguments: Vec::new(), guard: None, items }
    }

    /// The page size, if the field has one.
    pub fn size(&mut self) -> Option<&mut u32> {
        self.arguments.iter_mut().find_map(|argument| match &mut argument.value {
            Value::Size(size) => Some(size),
            _ => None,
        })
    }
}

/// `@include` or `@skip`.
#[derive(Debug, Clone)]
pub struct Guard {
    pub include: bool,
    /// The value of `if:`.
    pub condition: bool,
    /// The number of the variable that holds the value. The variable's name contains the value, so each name has one value.
    pub variable: Option<u64>,
}

impl Guard {
    /// Whether the guarded selection is executed.
    pub fn selects(&self) -> bool {
        self.include == self.condition
    }
}

/// An argument, and the type of its variable if a variable holds the value.
#[derive(Debug, Clone)]
pub struct Argument {
    pub name: String,
    pub value: Value,
    pub variable: Option<String>,
}

/// The value of an argument.
#[derive(Debug, Clone)]
pub enum Value {
    Size(u32),
    Text(String),
    Enum(String),
    Boolean(bool),
    /// The scalar types of the values (`None` is a null), and the seed of the values.
    Cursor {
        tag: OrderingTag,
        columns: Vec<Option<ScalarType>>,
        seed: u64,
    },
    Search(Vec<Term>),
}

/// A search term.
#[derive(Debug, Clone)]
pub struct Term {
    pub key: String,
    pub comparator: Comparator,
    pub scalar: ScalarType,
    pub elements: usize,
    pub seed: u64,
}

impl Query {
    /// The text and the variables.
    pub fn request(&self) -> Request {
        let mut writer = Writer::default();
        writer.items(&self.items);
        // A fragment spreads only fragments before it. An unused fragment would be invalid.
        for (number, (on, items)) in self.fragments.iter().enumerate().rev() {
            if writer.spread.contains(&number) {
                let _ = write!(writer.text, "\nfragment F{number} on {on} ");
                writer.items(items);
            }
        }
        let Writer { text, mut declared, variables, .. } = writer;
        declared.sort();
        declared.dedup();
        let head =
            if declared.is_empty() { String::new() } else { format!("query Generated({}) ", declared.join(", ")) };
        Request { query: head + &text, operation_name: None, variables }
    }

    /// Visits every field, in no particular order.
    pub fn visit_fields(&mut self, visit: &mut impl FnMut(&mut Selected)) {
        fn visit_items(items: &mut [Item], visit: &mut impl FnMut(&mut Selected)) {
            for item in items {
                match item {
                    Item::Field(field) => {
                        visit(field);
                        visit_items(&mut field.items, visit);
                    }
                    Item::Inline { items, .. } => visit_items(items, visit),
                    Item::Spread { .. } => {}
                }
            }
        }
        visit_items(&mut self.items, visit);
        self.fragments.iter_mut().for_each(|(_, items)| visit_items(items, visit));
    }

    /// Removes one field of a selection set that has other selections. Returns `false` if it removed nothing.
    pub fn shrink(&mut self, random: &mut Random) -> bool {
        fn sets<'a>(items: &'a mut Vec<Item>, found: &mut Vec<&'a mut Vec<Item>>) {
            if items.len() > 1 && items.iter().any(|item| matches!(item, Item::Field(_))) {
                found.push(items);
                return;
            }
            for item in items {
                match item {
                    Item::Field(field) => sets(&mut field.items, found),
                    Item::Inline { items, .. } => sets(items, found),
                    Item::Spread { .. } => {}
                }
            }
        }
        let mut found = Vec::new();
        sets(&mut self.items, &mut found);
        self.fragments.iter_mut().for_each(|(_, items)| sets(items, &mut found));
        if found.is_empty() {
            return false;
        }
        let set = random.below(found.len());
        let items = &mut *found[set];
        let index = random.below(items.len());
        // Removing a fragment could leave another one unused.
        if !matches!(&items[index], Item::Field(_)) {
            return false;
        }
        items.remove(index);
        true
    }

    /// Replaces the value of every argument with another one of the same kind.
    pub fn change_values(&mut self, random: &mut Random) {
        self.visit_fields(&mut |field| {
            for argument in &mut field.arguments {
                match &mut argument.value {
                    Value::Size(size) => *size = 1 + u32::try_from(random.below(90)).unwrap(),
                    Value::Text(text) => *text = format!("it's \"{}\"; --$1", random.next()),
                    Value::Cursor { seed, .. } => *seed = random.next(),
                    Value::Search(terms) => terms.iter_mut().for_each(|term| term.seed = random.next()),
                    Value::Enum(_) | Value::Boolean(_) => {}
                }
            }
        });
    }
}

#[derive(Default)]
struct Writer {
    text: String,
    declared: Vec<String>,
    variables: Variables,
    spread: Vec<usize>,
}

impl Writer {
    fn items(&mut self, items: &[Item]) {
        self.text.push_str("{ ");
        for item in items {
            match item {
                Item::Field(field) => self.field(field),
                Item::Inline { on, guard, items } => {
                    self.text.push_str("... ");
                    if let Some(on) = on {
                        let _ = write!(self.text, "on {on} ");
                    }
                    self.guard(guard.as_ref());
                    self.items(items);
                }
                Item::Spread { name, fragment, guard } => {
                    let _ = write!(self.text, "...{name} ");
                    self.spread.push(*fragment);
                    self.guard(guard.as_ref());
                }
            }
        }
        self.text.push_str("} ");
    }

    fn field(&mut self, field: &Selected) {
        if let Some(alias) = &field.alias {
            let _ = write!(self.text, "{alias}: ");
        }
        self.text.push_str(&field.name);
        for (index, argument) in field.arguments.iter().enumerate() {
            let literal = literal(&argument.value);
            self.text.push_str(if index == 0 { "(" } else { ", " });
            let _ = match &argument.variable {
                None => write!(self.text, "{}: {literal}", argument.name),
                Some(ty) => {
                    let name = format!("v{}", self.variables.len());
                    self.declared.push(format!("${name}: {ty}"));
                    let json = match &argument.value {
                        Value::Enum(name) => name.as_str().into(),
                        _ => serde_json::from_str(&literal).unwrap(),
                    };
                    let written = write!(self.text, "{}: ${name}", argument.name);
                    self.variables.insert(name, json);
                    written
                }
            };
        }
        self.text.push_str(if field.arguments.is_empty() { " " } else { ") " });
        self.guard(field.guard.as_ref());
        if !field.items.is_empty() {
            self.items(&field.items);
        }
    }

    fn guard(&mut self, guard: Option<&Guard>) {
        let Some(guard) = guard else { return };
        let name = if guard.include { "include" } else { "skip" };
        let condition = match guard.variable {
            None => guard.condition.to_string(),
            Some(number) => {
                let name = format!("{}{number}", guard.condition);
                self.declared.push(format!("${name}: Boolean!"));
                self.variables.insert(name.clone(), guard.condition.into());
                format!("${name}")
            }
        };
        let _ = write!(self.text, "@{name}(if: {condition}) ");
    }
}

/// The literal in GraphQL, which is also JSON for all values but enums.
fn literal(value: &Value) -> String {
    match value {
        Value::Size(size) => size.to_string(),
        Value::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
        Value::Enum(name) => name.clone(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Search(terms) => {
            let terms: Vec<_> = terms.iter().map(term).collect();
            serde_json::Value::from(terms.join(" ")).to_string()
        }
        Value::Cursor { tag, columns, seed } => {
            let mut encoder = Encoder::default();
            encoder.begin(*tag);
            for (column, seed) in columns.iter().zip(*seed..) {
                let small = i64::try_from(seed % 1_000_000).unwrap();
                match column {
                    None => encoder.null(),
                    Some(ScalarType::Id | ScalarType::String) => encoder.text(format!("W{small}'\\").as_bytes()),
                    Some(ScalarType::Int) => encoder.int(small),
                    Some(ScalarType::Decimal) => encoder.numeric(&numeric(&format!("{small}.25"))),
                    Some(ScalarType::DateTime) => encoder.timestamp(unix_micros(1_775_000_000_000_000 + small)),
                    Some(ScalarType::Boolean) => encoder.boolean(small % 2 == 0),
                }
            }
            let mut text = Vec::new();
            encoder.finish(&mut text);
            format!("\"{}\"", String::from_utf8(text).unwrap())
        }
    }
}

fn term(term: &Term) -> String {
    let elements: Vec<_> = (term.seed..).take(term.elements).map(|seed| element(term.scalar, seed)).collect();
    let comparator = match term.comparator {
        Comparator::Equals | Comparator::In => "",
        range => range.describe(),
    };
    format!("{}:{comparator}{}", term.key, elements.join(","))
}

fn element(scalar: ScalarType, seed: u64) -> String {
    match scalar {
        ScalarType::Id | ScalarType::String => {
            let values = ["ORDER_APPROVED", "ORDER_HELD", "MUG", "9000", "STORE_BROADWAY", "SALES_ORDER", "o'brien;--"];
            values[usize::try_from(seed % 7).unwrap()].to_owned()
        }
        ScalarType::Int => (seed % 1000).to_string(),
        ScalarType::Decimal => format!("{}.5", seed % 1000),
        ScalarType::DateTime => format!("2026-0{}-1{}", 1 + seed % 9, seed % 10),
        ScalarType::Boolean => seed.is_multiple_of(2).to_string(),
    }
}
