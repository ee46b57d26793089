//! Generates random valid queries from the catalog.

use std::collections::HashSet;
use std::mem;

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, Connection};
use orderql::catalog::ids::{FieldId, TypeId};
use orderql::catalog::schema::{ArgumentRole, Field, ObjectType};
use orderql::search::Comparator;

use crate::support::random::Random;
use crate::support::random_query::query::{Argument, Guard, Item, Query, Selected, Term, Value};

/// A valid query, the same for the same seed.
pub fn random_query(catalog: &Catalog, seed: u64) -> Query {
    let mut generator = Generator {
        catalog,
        random: Random(seed),
        selections: 0,
        max_selections: 40,
        fragments: Vec::new(),
        is_below_lookup: false,
    };
    let items = generator.selection_set(catalog.query(), 1);
    Query { items, fragments: generator.fragments }
}

struct Generator<'c> {
    catalog: &'c Catalog,
    random: Random,
    selections: usize,
    max_selections: usize,
    fragments: Vec<(String, Vec<Item>)>,
    /// Whether the parent is known, so that the cursors of other parents are refused.
    is_below_lookup: bool,
}

impl Generator<'_> {
    /// A selection set of an object. `level` is one more than the object's depth.
    fn selection_set(&mut self, object: TypeId, level: usize) -> Vec<Item> {
        let mut used = HashSet::new();
        let mut items = Vec::new();
        for _ in 0..=self.random.below(5) {
            self.item(object, level, &mut used, &mut items);
        }
        if items.is_empty() {
            items.push(Item::Field(Selected::type_name(object)));
        }
        items
    }

    fn item(&mut self, object: TypeId, level: usize, used: &mut HashSet<String>, items: &mut Vec<Item>) {
        if self.random.chance(12) && self.selections < self.max_selections {
            let guard = self.guard();
            let mut inner = Vec::new();
            for _ in 0..=self.random.below(2) {
                self.item(object, level, used, &mut inner);
            }
            if inner.is_empty() {
                return;
            }
            let on = self.random.chance(50).then(|| self.catalog.get(object).name().to_owned());
            if self.random.chance(40) {
                let name = format!("F{}", self.fragments.len());
                self.fragments.push((self.catalog.get(object).name().to_owned(), inner));
                items.push(Item::Spread { name, fragment: self.fragments.len() - 1, guard });
            } else {
                items.push(Item::Inline { on, guard, items: inner });
            }
            return;
        }
        let Some(definition) = self.catalog.object(object) else { return };
        if self.random.chance(6) {
            items.push(Item::Field(Selected::type_name(object)));
            return;
        }
        let index = self.random.below(definition.fields.len());
        if let Some(field) = self.field(object, definition, index, level, used) {
            items.push(Item::Field(field));
        }
    }

    fn field(
        &mut self,
        object: TypeId,
        definition: &ObjectType,
        index: usize,
        level: usize,
        used: &mut HashSet<String>,
    ) -> Option<Selected> {
        let field = &definition.fields[index];
        let is_leaf = matches!(
            field.binding,
            Binding::Column(_) | Binding::Aggregate(_) | Binding::Cursor | Binding::PageInfoField(_)
        );
        let is_nested = matches!(field.binding, Binding::One(_) | Binding::Connection(_) | Binding::Lookup(_));
        if is_nested && (level > 6 || self.selections >= self.max_selections) {
            return None;
        }
        self.selections += 1;
        let alias = self.random.chance(25).then(|| format!("a{}", self.selections));
        let key = alias.clone().unwrap_or_else(|| field.name.clone());
        // Leaves with the same response key are merged; a field with arguments needs a key of its own.
        if !used.insert(key) && !is_leaf {
            return None;
        }
        let is_below_lookup = mem::replace(&mut self.is_below_lookup, matches!(field.binding, Binding::Lookup(_)));
        let items =
            if is_leaf { Vec::new() } else { self.selection_set(field.ty.named(), level + usize::from(is_nested)) };
        self.is_below_lookup = is_below_lookup;
        let index = u16::try_from(index).unwrap();
        Some(Selected {
            alias,
            name: field.name.clone(),
            field: Some(FieldId { object, index }),
            arguments: self.arguments(field),
            guard: self.guard(),
            items,
        })
    }

    fn guard(&mut self) -> Option<Guard> {
        let random = &mut self.random;
        random.chance(12).then(|| Guard {
            include: random.chance(50),
            condition: random.chance(50),
            variable: random.chance(60).then(|| random.next() % 4),
        })
    }

    fn arguments(&mut self, field: &Field) -> Vec<Argument> {
        let mut arguments = match &field.binding {
            Binding::Lookup(lookup) => {
                let given = if lookup.alternatives { Some(self.random.below(lookup.keys.len())) } else { None };
                let keys = (0..lookup.keys.len()).filter(|index| given.is_none_or(|given| given == *index));
                let keys: Vec<_> = keys.map(|index| (index, self.key(&lookup.keys[index].name))).collect();
                let argument = |(index, text)| self.argument(field, ArgumentRole::Key(index), Value::Text(text));
                keys.into_iter().map(argument).collect()
            }
            Binding::Connection(connection) => self.connection(field, connection),
            _ => Vec::new(),
        };
        let rotation = self.random.below(arguments.len().max(1));
        arguments.rotate_left(rotation);
        arguments
    }

    fn connection(&mut self, field: &Field, connection: &Connection) -> Vec<Argument> {
        let mut arguments = Vec::new();
        let end = if self.random.chance(70) { ArgumentRole::First } else { ArgumentRole::Last };
        let size = 1 + u32::try_from(self.random.below(6)).unwrap();
        arguments.push(self.argument(field, end, Value::Size(size)));
        let has = |role| field.arguments.iter().any(|argument| argument.role == role);
        let mut sort_key = 0;
        if has(ArgumentRole::SortKey) && self.random.chance(50) {
            sort_key = self.random.below(connection.sort_keys.len());
            let name = connection.sort_keys[sort_key].name.clone();
            arguments.push(self.argument(field, ArgumentRole::SortKey, Value::Enum(name)));
        }
        let sort_key = &connection.sort_keys[sort_key];
        let reverse = has(ArgumentRole::Reverse) && self.random.chance(40);
        if reverse {
            arguments.push(self.argument(field, ArgumentRole::Reverse, Value::Boolean(true)));
        }
        for role in [ArgumentRole::After, ArgumentRole::Before] {
            if self.random.chance(15) && !self.is_below_lookup {
                let tag = if reverse { sort_key.tag.reversed() } else { sort_key.tag };
                let mut columns: Vec<_> =
                    connection.cursor_columns(sort_key).map(|column| Some(column.scalar)).collect();
                if sort_key.nullable && self.random.chance(30) {
                    columns[0] = None;
                }
                let seed = self.random.next();
                arguments.push(self.argument(field, role, Value::Cursor { tag, columns, seed }));
            }
        }
        if !connection.search_keys.is_empty() && self.random.chance(30) {
            let terms = (0..=self.random.below(3)).map(|_| {
                let key = self.random.pick(&connection.search_keys);
                let comparator = *self.random.pick(&key.comparators);
                let elements = if comparator == Comparator::In { 2 + self.random.below(3) } else { 1 };
                Term {
                    key: key.name.clone(),
                    comparator,
                    scalar: key.column.scalar,
                    elements,
                    seed: self.random.next(),
                }
            });
            let terms = terms.collect();
            arguments.push(self.argument(field, ArgumentRole::Query, Value::Search(terms)));
        }
        arguments
    }

    fn argument(&mut self, field: &Field, role: ArgumentRole, value: Value) -> Argument {
        let definition = field.arguments.iter().find(|argument| argument.role == role).unwrap();
        let variable = self.random.chance(40).then(|| definition.ty.display(self.catalog));
        Argument { name: definition.name.clone(), value, variable }
    }

    /// A key that mostly belongs to a row.
    fn key(&mut self, column: &str) -> String {
        let values: &[&str] = match column {
            "order_id" => &["ORDER_SPLIT", "WALK_LONG", "ORDER_NULLS", "DEMO10090", "nobody"],
            "product_id" => &["MUG", "SHIRT_S", "GZ-1000", "nobody"],
            "facility_id" => &["STORE_BROADWAY", "WebStoreWarehouse", "nobody"],
            _ => &["SC-1001", "SC-1002", "nobody"],
        };
        (*self.random.pick(values)).to_owned()
    }
}
