//! The arguments of a field.

use orderql::catalog::binding::{Binding, EntityBinding, Lookup, RootBinding, Totals};
use orderql::catalog::connection::Connection;
use orderql::catalog::ids::FieldId;
use orderql::catalog::schema::{self, ArgumentRole, Field, Type};
use orderql::catalog::search_key::SearchKey;
use orderql::search::Comparator;
use orderql::value::ScalarType;

use crate::cursor::Cursor;
use crate::document::{Argument, Key, Value};
use crate::generate::Draft;
use crate::place::Place;
use crate::search::{Search, Term, can_hold};
use crate::values::{Invented, Values as _};

impl Draft<'_, '_> {
    /// Valid arguments of a field, in any order.
    pub(crate) fn arguments(&mut self, id: FieldId, place: Place) -> Vec<Argument> {
        let field = self.catalog.field(id);
        let mut arguments = match self.catalog.binding(id) {
            Binding::Root(RootBinding::Lookup(lookup)) => self.keys(field, lookup),
            Binding::Root(RootBinding::Connection(connection))
            | Binding::Entity(EntityBinding::Connection(connection)) => self.page(field, connection, place),
            Binding::Root(RootBinding::Totals(totals)) => self.totals(field, totals, place),
            Binding::Root(RootBinding::Schema | RootBinding::TypeByName) | Binding::Introspection => {
                self.of_introspection(field)
            }
            // They are never chosen.
            Binding::Root(RootBinding::Changes(_))
            | Binding::Entity(EntityBinding::Column(_) | EntityBinding::Aggregate(_) | EntityBinding::One(_))
            | Binding::Connection(_)
            | Binding::Edge(_)
            | Binding::Totals(_)
            | Binding::Group(_)
            | Binding::PageInfo(_) => Vec::new(),
        };
        let rotation = self.choices.below(arguments.len());
        arguments.rotate_left(rotation);
        arguments
    }

    /// All keys, or one of several alternatives.
    fn keys(&mut self, field: &Field, lookup: &Lookup) -> Vec<Argument> {
        let chosen = lookup.alternatives.then(|| self.choices.below(lookup.keys.len()));
        let mut arguments = Vec::new();
        for definition in &field.arguments {
            let ArgumentRole::Key(index) = definition.role else { continue };
            if chosen.is_some_and(|chosen| chosen != index) {
                arguments.extend(self.null(definition, 10));
                continue;
            }
            let mut text = self.values.value(&lookup.relation, &lookup.keys[index], self.choices);
            let scalar = match self.catalog.get(definition.ty.named()) {
                Type::Scalar(scalar) => scalar.scalar,
                Type::Enum(_) => {
                    arguments.push(self.argument(definition, Value::Enum(text)));
                    continue;
                }
                Type::Object(_) => ScalarType::Id,
            };
            if scalar == ScalarType::Int && text.parse::<i32>().is_err() {
                "1".clone_into(&mut text);
            }
            let key = Key { scalar, stored: lookup.keys[index].stored, text };
            arguments.push(self.argument(definition, Value::Key(key)));
        }
        arguments
    }

    fn page(&mut self, field: &Field, connection: &Connection, place: Place) -> Vec<Argument> {
        let definition = |role| field.arguments.iter().find(|argument| argument.role == role);
        let mut arguments = Vec::new();
        let ends = if self.choices.chance(30) {
            [ArgumentRole::Last, ArgumentRole::First]
        } else {
            [ArgumentRole::First, ArgumentRole::Last]
        };
        if let [Some(end), Some(other)] = ends.map(definition) {
            let size = self.size();
            arguments.push(self.argument(end, size));
            arguments.extend(self.null(other, 4));
        }

        // Without a sort key, the search of totals may imply one, and it is generated after cursors.
        let (mut sort_key, mut is_implied) = (0, definition(ArgumentRole::Rows).is_some());
        if let Some(argument) = definition(ArgumentRole::SortKey) {
            if self.choices.chance(50) {
                is_implied = false;
                sort_key = self.choices.below(connection.sort_keys.len());
                let name = connection.sort_keys[sort_key].name.clone();
                arguments.push(self.argument(argument, Value::Enum(name)));
            } else {
                arguments.extend(self.null(argument, 4));
            }
        }
        let mut reverse = false;
        if let Some(argument) = definition(ArgumentRole::Reverse)
            && self.choices.chance(50)
        {
            reverse = self.choices.chance(80);
            arguments.push(self.argument(argument, Value::Boolean(reverse)));
        }
        let sort_key = &connection.sort_keys[sort_key];
        for argument in [ArgumentRole::After, ArgumentRole::Before].into_iter().filter_map(definition) {
            // Below a lookup, the cursor of another parent is refused.
            if !place.is_below_lookup && !is_implied && self.choices.chance(20) {
                let values = self.values.cursor(connection, sort_key, self.choices);
                let cursor = Cursor::new(connection, sort_key, reverse, values);
                arguments.push(self.argument(argument, Value::Cursor(cursor)));
            } else {
                arguments.extend(self.null(argument, 4));
            }
        }
        if let Some(argument) = definition(ArgumentRole::Query) {
            if !connection.search_keys.is_empty() && self.choices.chance(40) {
                let search = self.search(&field.name, connection);
                arguments.push(self.argument(argument, Value::Search(search)));
            } else {
                arguments.extend(self.null(argument, 4));
            }
        }
        if let Some(argument) = definition(ArgumentRole::CountUpTo)
            && self.choices.chance(15)
        {
            // Not in a variable, which a page size could share.
            let value = Value::Number(self.choices.between(1, 1_000).to_string());
            arguments.push(Argument { name: argument.name.clone(), value });
        }
        arguments
    }

    /// The arguments of totals: those of a page that they have, and how its rows are grouped.
    fn totals(&mut self, field: &Field, totals: &Totals, place: Place) -> Vec<Argument> {
        let definition = |role| field.arguments.iter().find(|argument| argument.role == role);
        let mut arguments = self.page(field, &totals.connection, place);
        if let Some(first) = definition(ArgumentRole::First) {
            let size = self.size();
            arguments.push(self.argument(first, size));
        }
        let mut literal = |role, value| {
            arguments.extend(definition(role).map(|argument| Argument { name: argument.name.clone(), value }));
        };
        if self.choices.chance(70) {
            let count = self.choices.below(3);
            let keys = (0..count).map(|_| totals.keys[self.choices.below(totals.keys.len())].value.clone());
            literal(ArgumentRole::GroupBy, Value::List(keys.map(Value::Enum).collect()));
        }
        if self.choices.chance(50) {
            let orders = ["COUNT", "KEY"].into_iter().chain(totals.sums.iter().map(|sum| sum.value.as_str()));
            let order = orders.clone().nth(self.choices.below(orders.count()));
            literal(ArgumentRole::OrderBy, Value::Enum(order.unwrap_or("KEY").to_owned()));
        }
        if self.choices.chance(50) {
            // Not in a variable, which a page size could share.
            literal(ArgumentRole::Rows, Value::Number(self.choices.between(1, 4_000).to_string()));
        }
        arguments
    }

    /// A page size.
    pub(crate) fn size(&mut self) -> Value {
        let most = if self.choices.chance(70) { self.settings.max_page.min(6) } else { self.settings.max_page };
        Value::Size(self.choices.between(1, most))
    }

    fn search(&mut self, root: &str, connection: &Connection) -> Search {
        let count = self.choices.below(self.settings.max_terms + 1);
        let terms = (0..count).filter_map(|_| self.term(connection)).collect();
        Search { root: root.to_owned(), terms }
    }

    fn term(&mut self, connection: &Connection) -> Option<Term> {
        let key = self.choices.pick(&connection.search_keys)?;
        let comparator = *self.choices.pick(&key.comparators)?;
        let count = if comparator == Comparator::In { 2 + self.choices.below(4) } else { 1 };
        let mut values: Vec<String> = Vec::with_capacity(count);
        for _ in 0..count {
            let value = self.search_value(connection.relation_of(key), key);
            let is_repeated = values.contains(&value) && !self.choices.chance(20);
            if !is_repeated {
                values.push(value);
            }
        }
        // A list of one value is an equality, which the key may not accept.
        let is_one = comparator == Comparator::In && values.iter().all(|value| *value == values[0]);
        if is_one && !key.comparators.contains(&Comparator::Equals) {
            return None;
        }
        let comparator = if is_one && values.len() == 1 { Comparator::Equals } else { comparator };
        Some(Term {
            key: key.name.clone(),
            column: (connection.relation_of(key).to_owned(), key.column.name.clone()),
            comparator,
            scalar: key.column.scalar,
            stored: key.column.stored,
            values,
        })
    }

    /// A value that a search string can hold.
    fn search_value(&mut self, relation: &str, key: &SearchKey) -> String {
        let value = self.values.value(relation, &key.column, self.choices);
        if can_hold(&value) { value } else { Invented.value(relation, &key.column, self.choices) }
    }

    fn of_introspection(&mut self, field: &Field) -> Vec<Argument> {
        let mut arguments = Vec::new();
        for definition in &field.arguments {
            let value = match definition.role {
                ArgumentRole::TypeName => {
                    let types: Vec<_> = self.catalog.type_ids().collect();
                    let ty = self.choices.pick(&types).map_or("Nothing", |id| self.catalog.get(*id).name());
                    Value::String(ty.to_owned())
                }
                _ if definition.ty.is_non_null() || self.choices.chance(40) => Value::Boolean(self.choices.chance(50)),
                _ => continue,
            };
            arguments.push(self.argument(definition, value));
        }
        arguments
    }

    /// Sometimes an explicit null for an argument that is left out.
    fn null(&mut self, definition: &schema::Argument, per_cent: usize) -> Option<Argument> {
        (!definition.ty.is_non_null() && self.choices.chance(per_cent)).then(|| self.null_argument(definition))
    }
}
