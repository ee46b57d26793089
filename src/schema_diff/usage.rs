//! The parts of a schema that an operation uses.

use std::collections::HashSet;

use crate::catalog::Catalog;
use crate::catalog::binding::{Binding, EntityBinding, Totals};
use crate::catalog::connection::Connection;
use crate::catalog::ids::{EntityId, FieldId};
use crate::catalog::schema::{ArgumentRole, Field, Type};
use crate::catalog::search_key::SearchKey;
use crate::catalog::totals::GroupField;
use crate::error::graphql_error::Location;
use crate::query::operation::{Literal, Operation, Selection, Target};
use crate::schema_diff::part;
use crate::search;
use crate::value::{Enumeration, ScalarType};

/// A part that an operation uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) part: String,
    pub(super) location: Location,
    /// Whether only the values of variables tell whether a request uses it.
    pub(super) by_variable: bool,
}

/// The parts of a schema that an operation uses, each once, in the order of its selections.
pub(super) fn uses(catalog: &Catalog, operation: &Operation) -> Vec<Use> {
    let mut walk = UsageWalk { catalog, uses: Vec::new(), seen: HashSet::new() };
    walk.selections(&operation.selections, None);
    walk.uses
}

struct UsageWalk<'c> {
    catalog: &'c Catalog,
    uses: Vec<Use>,
    seen: HashSet<String>,
}

/// A totals root around a selection.
#[derive(Clone, Copy)]
struct Around<'c> {
    path: &'c str,
    totals: &'c Totals,
}

/// The arguments of a selected field.
#[derive(Clone, Copy)]
struct Arguments<'s> {
    selection: &'s Selection,
    field: &'s Field,
}

impl<'s> Arguments<'s> {
    /// The argument with that role, if it is given.
    fn given(self, role: ArgumentRole) -> Option<&'s Literal> {
        let index = self.field.arguments.iter().position(|argument| argument.role == role)?;
        self.selection.arguments.iter().find(|(given, _)| *given == index).map(|(_, literal)| literal)
    }
}

impl UsageWalk<'_> {
    fn selections(&mut self, selections: &[Selection], around: Option<Around<'_>>) {
        for selection in selections {
            if let Target::Field(id) = selection.target {
                self.field(selection, id, around);
            }
        }
    }

    fn field(&mut self, selection: &Selection, id: FieldId, around: Option<Around<'_>>) {
        let catalog = self.catalog;
        let (binding, field) = (catalog.binding(id), catalog.field(id));
        let path = part::field(catalog.get(id.object).name(), &field.name);
        let totals = if let Binding::Root(root) = binding { root.totals() } else { None };
        let around = totals.map(|totals| Around { path: &path, totals }).or(around);
        match binding {
            Binding::Introspection => return,
            Binding::Root(root) if root.is_introspection() => return,
            Binding::Root(_) | Binding::Entity(_) => self.add(path.clone(), selection, false),
            Binding::Group(group) => self.group_field(selection, group, around),
            Binding::Connection(_) | Binding::Edge(_) | Binding::PageInfo(_) | Binding::Totals(_) => {}
        }
        if let Type::Enum(enumeration) = catalog.get(field.ty.named()) {
            self.add(enumeration.name.clone(), selection, false);
            self.add_all(values(&enumeration.name, enumeration.names()), selection, false);
        }
        if let Some(node) = node(binding) {
            self.add(catalog.entity_type(node).name.clone(), selection, false);
        }
        if let Some(connection) = binding.searched() {
            self.connection(Arguments { selection, field }, &path, connection);
        }
        if let (Some(_), Some(around)) = (totals, around) {
            self.groups(Arguments { selection, field }, around);
        }
        if binding.lookup().is_some() {
            for (index, given) in &selection.arguments {
                let argument = &field.arguments[*index];
                self.add(part::argument(&path, &argument.name), selection, false);
                match (catalog.get(argument.ty.named()), given) {
                    (Type::Enum(ty), Literal::Enum(name)) => {
                        self.add_all(values(&ty.name, [name.as_str()]), selection, false);
                    }
                    (Type::Enum(ty), Literal::Variable(_)) => {
                        self.add_all(values(&ty.name, ty.names()), selection, true);
                    }
                    _ => {}
                }
            }
        }
        self.selections(&selection.selections, around);
    }

    fn connection(&mut self, arguments: Arguments<'_>, path: &str, connection: &Connection) {
        let selection = arguments.selection;
        match arguments.given(ArgumentRole::SortKey) {
            Some(Literal::Enum(name)) => self.add(part::sort_key(path, name), selection, false),
            Some(Literal::Variable(_)) => {
                self.add(part::sort_key(path, ""), selection, true);
                for key in &connection.sort_keys {
                    self.add(part::sort_key(path, &key.name), selection, true);
                }
            }
            _ => self.add(part::sort_key(path, ""), selection, false),
        }
        match arguments.given(ArgumentRole::Query) {
            Some(Literal::String(text)) => {
                for term in search::parse(text).into_iter().flatten() {
                    self.add(part::search_key(path, term.key), selection, false);
                    let key = connection.search_key(term.key).map(|key| &connection.search_keys[key]);
                    if let Some(enumeration) = key.and_then(enumeration) {
                        self.add_all(values(enumeration.name(), term.elements), selection, false);
                    }
                }
            }
            Some(Literal::Variable(_)) => {
                for key in &connection.search_keys {
                    self.add(part::search_key(path, &key.name), selection, true);
                    if let Some(enumeration) = enumeration(key) {
                        let names = enumeration.values().map(|(name, _)| name);
                        self.add_all(values(enumeration.name(), names), selection, true);
                    }
                }
            }
            _ => {}
        }
    }

    fn groups(&mut self, arguments: Arguments<'_>, Around { path, totals }: Around<'_>) {
        let selection = arguments.selection;
        let elements = match arguments.given(ArgumentRole::GroupBy) {
            Some(Literal::List(elements)) => elements.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        for element in elements {
            match element {
                Literal::Enum(value) => self.add(part::group_key(path, value), selection, false),
                Literal::Variable(_) => {
                    for key in &totals.keys {
                        self.add(part::group_key(path, &key.value), selection, true);
                    }
                }
                _ => {}
            }
        }
    }

    fn group_field(&mut self, selection: &Selection, group: GroupField, around: Option<Around<'_>>) {
        let Some(Around { path, totals }) = around else { return };
        match group {
            GroupField::Key(key) => self.add(part::group_key(path, &totals.keys[key].value), selection, false),
            GroupField::Sum(sum) => self.add(part::sum(path, &totals.sums[sum].value), selection, false),
            GroupField::Count => {}
        }
    }

    fn add_all(&mut self, parts: impl IntoIterator<Item = String>, selection: &Selection, by_variable: bool) {
        parts.into_iter().for_each(|part| self.add(part, selection, by_variable));
    }

    fn add(&mut self, part: String, selection: &Selection, by_variable: bool) {
        if self.seen.insert(part.clone()) {
            self.uses.push(Use { part, location: selection.location, by_variable });
        }
    }
}

/// Values of an enum that rows may have, or that are searched for.
fn values<'n>(ty: &str, names: impl IntoIterator<Item = &'n str>) -> impl Iterator<Item = String> {
    names.into_iter().map(move |name| part::field(ty, name))
}

/// The enum of a search key's values.
fn enumeration(key: &SearchKey) -> Option<Enumeration> {
    if let ScalarType::Enum(enumeration) = key.column.scalar { Some(enumeration) } else { None }
}

/// The type of the rows that a field has.
fn node(binding: Binding<'_>) -> Option<EntityId> {
    match binding {
        Binding::Root(root) => root.node(),
        Binding::Entity(EntityBinding::One(one)) => Some(one.target),
        _ => binding.searched().map(|connection| connection.node),
    }
}
