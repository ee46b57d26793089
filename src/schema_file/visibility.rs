//! The part of a schema file for callers who do not hold all of its grants.
//!
//! First the parts go that need another grant. Then everything goes that would tell of them, until nothing more goes: search
//! keys, sort keys and arguments on a hidden column, joins by or to one, aggregates over one, connections that lose all their
//! sort keys, types without fields, references to removed types, and types without references. The rest is a schema file without
//! grants, so that no later stage has anything to check.

use std::collections::HashSet;

use crate::schema_file::definition::{
    AggregateDefinition, AggregatedRows, BindingDefinition, ColumnPairs, FieldDefinition, ManyDefinition,
    SchemaDefinition, SearchKeyDefinition, TypeDefinition,
};

/// The part of a schema file that is left for somebody of whom `sees` tells whether one of some grants is held, or none is
/// needed.
pub(super) fn visible(schema: &SchemaDefinition, sees: impl Fn(&[String]) -> bool) -> SchemaDefinition {
    // The columns of a type to which nothing in the whole file refers are visible to no caller.
    let whole = reachable(schema.types.clone());
    let types = whole.types.iter().filter(|ty| ty.is_query() || sees(&ty.grants)).cloned().map(|mut ty| {
        let is_shown = sees(&ty.grants);
        ty.fields.retain(|field| is_shown && sees(&field.grants));
        for field in &mut ty.fields {
            field.search_keys.retain(|key| sees(&key.grants));
        }
        ty
    });
    let mut rest = SchemaDefinition { types: types.collect(), enums: Vec::new() };
    loop {
        let next = Remainder { whole: &whole, rest: &rest }.without_traces();
        if next == rest {
            // Types that no field has any more are not published.
            return SchemaDefinition { enums: schema.enums.clone(), ..rest };
        }
        rest = next;
    }
}

/// The query root and the types that it leads to.
fn reachable(mut types: Vec<TypeDefinition>) -> SchemaDefinition {
    let mut reached: HashSet<String> = HashSet::new();
    let mut pending: Vec<_> = types.iter().filter(|ty| ty.is_query()).map(|ty| ty.name.clone()).collect();
    while let Some(name) = pending.pop() {
        let fields = types.iter().filter(|ty| ty.name == name).flat_map(|ty| &ty.fields);
        if reached.insert(name.clone()) {
            pending.extend(fields.map(|field| field.ty.clone()));
        }
    }
    types.retain(|ty| reached.contains(&ty.name));
    SchemaDefinition { types, enums: Vec::new() }
}

/// The part of a schema file that is left so far.
struct Remainder<'a> {
    whole: &'a SchemaDefinition,
    rest: &'a SchemaDefinition,
}

impl Remainder<'_> {
    /// The rest without parts that would show that a removed part exists.
    fn without_traces(&self) -> SchemaDefinition {
        let types = self.rest.types.iter().map(|ty| TypeDefinition {
            fields: ty.fields.iter().filter_map(|field| self.field(ty, field)).collect(),
            parts: ty.parts.iter().filter(|part| is_known(self.rest, &part.of)).cloned().collect(),
            ..ty.clone()
        });
        reachable(types.filter(|ty| ty.is_query() || !ty.fields.is_empty()).collect())
    }

    /// The field without what tells of hidden columns; `None` if it cannot do without.
    fn field(&self, ty: &TypeDefinition, field: &FieldDefinition) -> Option<FieldDefinition> {
        if is_known(self.whole, &field.ty) && !is_known(self.rest, &field.ty) {
            return None;
        }
        let is_hidden = match &field.binding {
            None => false,
            Some(BindingDefinition::One(pairs)) => self.hides_join(ty, field, pairs),
            Some(BindingDefinition::Many(ManyDefinition { pairs, through, where_null, .. })) => {
                let mut columns = pairs.to.iter().chain(where_null);
                let mut hides_through = |relation: &String| columns.any(|column| self.hides_in(relation, column));
                self.hides_join(ty, field, pairs)
                    || where_null.as_ref().is_some_and(|column| self.hides(&field.ty, column))
                    || through.as_ref().is_some_and(&mut hides_through)
            }
            Some(BindingDefinition::Aggregate(AggregateDefinition { column, rows, .. })) => match rows {
                AggregatedRows::Connection(over) => {
                    let over = ty.fields.iter().find(|other| other.name == *over);
                    over.is_none_or(|over| self.hides(&over.ty, column))
                }
                AggregatedRows::Relation(relation, by) => {
                    by.iter().any(|column| self.hides(&ty.name, column)) || self.hides_in(relation, column)
                }
            },
            Some(BindingDefinition::Lookup { through }) => return self.lookup(field, through.as_deref()),
            // A type without parts has no changes.
            Some(BindingDefinition::Changes { of }) => {
                !is_known(self.rest, of) || !self.rest.types.iter().flat_map(|ty| &ty.parts).any(|part| part.of == *of)
            }
            Some(BindingDefinition::Totals { of, currency }) => {
                let is_there = ty.fields.iter().any(|root| root.name == *of);
                return if is_there { self.totals(field, of, currency.as_deref()) } else { None };
            }
        };
        if is_hidden { None } else { self.with_known_keys(field) }
    }

    /// The lookup without arguments on hidden columns. A lookup by all of its arguments cannot do without one.
    fn lookup(&self, field: &FieldDefinition, through: Option<&str>) -> Option<FieldDefinition> {
        let mut rest = field.clone();
        rest.arguments.retain(|argument| {
            let is_hidden_there = through.is_some_and(|relation| self.hides_in(relation, &argument.column));
            !self.hides(&field.ty, &argument.column) && !is_hidden_there
        });
        let is_usable = rest.arguments.iter().all(|argument| !argument.is_non_null) && !rest.arguments.is_empty();
        (is_usable || rest.arguments.len() == field.arguments.len()).then_some(rest)
    }

    /// The totals without keys and sums of hidden fields, and without sums of money if their currency is hidden; `None` if there is no key
    /// left.
    fn totals(&self, field: &FieldDefinition, of: &str, currency: Option<&str>) -> Option<FieldDefinition> {
        let leads = |path: &str| self.leads(&field.ty, path);
        let currency = currency.filter(|path| leads(path)).map(str::to_owned);
        let mut rest = field.clone();
        rest.groups.retain(|group| leads(&group.path));
        rest.sums.retain(|sum| {
            leads(&sum.path) && sum.times.as_deref().is_none_or(leads) && (currency.is_some() || !sum.is_money)
        });
        let has_key = currency.is_some() || !rest.groups.is_empty();
        rest.binding = Some(BindingDefinition::Totals { of: of.to_owned(), currency });
        has_key.then_some(rest)
    }

    /// Whether a path still leads from a type to a field.
    fn leads(&self, ty: &str, path: &str) -> bool {
        let mut ty = ty;
        path.split('.').all(|name| {
            let fields = self.rest.types.iter().filter(|other| other.name == ty).flat_map(|other| &other.fields);
            let field = fields.into_iter().find(|field| field.name == name);
            ty = field.map_or("", |field| field.ty.as_str());
            field.is_some()
        })
    }

    /// The connection without keys on hidden columns; `None` if it had sort keys and has none any more. Other fields have no keys.
    fn with_known_keys(&self, field: &FieldDefinition) -> Option<FieldDefinition> {
        let mut rest = field.clone();
        rest.sort_keys.retain(|key| !self.hides(&field.ty, &key.column));
        if rest.sort_keys.is_empty() && !field.sort_keys.is_empty() {
            return None;
        }
        rest.search_keys.retain(|key| !self.hides_search_key(&field.ty, key));
        let FieldDefinition { sort_keys, search_keys, indexes, .. } = &mut rest;
        let is_sort_key = |name: &String| sort_keys.iter().any(|key| key.name == *name);
        for key in &mut *search_keys {
            key.in_order_of.retain(is_sort_key);
            key.vocabulary = key.vocabulary.take().filter(|relation| !self.hides_in(relation, &key.column));
        }
        let is_search_key = |name: &String| search_keys.iter().any(|key| key.name == *name);
        indexes.retain_mut(|index| {
            let has_orders = !index.in_order_of.is_empty();
            index.in_order_of.retain(is_sort_key);
            index.keys.iter().all(is_search_key) && has_orders != index.in_order_of.is_empty()
        });
        Some(rest)
    }

    /// Whether a column is hidden by which the field's rows are joined to the type's.
    fn hides_join(&self, ty: &TypeDefinition, field: &FieldDefinition, pairs: &ColumnPairs) -> bool {
        pairs.by.iter().any(|column| self.hides(&ty.name, column))
            || pairs.to.iter().any(|column| self.hides(&field.ty, column))
    }

    fn hides_search_key(&self, node: &str, key: &SearchKeyDefinition) -> bool {
        self.hides(node, &key.column)
            || key.within.as_ref().is_some_and(|(relation, by)| {
                by.iter().any(|column| self.hides(node, column))
                    || self.hides_in(relation, &key.column)
                    || has_aggregate(self.whole, node, relation, &key.column)
                        && !has_aggregate(self.rest, node, relation, &key.column)
            })
    }

    /// Whether a type had a field with the column, and has none any more.
    fn hides(&self, ty: &str, column: &str) -> bool {
        let shows = |schema: &SchemaDefinition| {
            schema.types.iter().any(|other| other.name == ty && other.field_of(column).is_some())
        };
        shows(self.whole) && !shows(self.rest)
    }

    /// Whether types of a relation had a field with the column, and none has one any more.
    fn hides_in(&self, relation: &str, column: &str) -> bool {
        let is_of = |ty: &TypeDefinition| ty.relation.as_ref().is_some_and(|own| own.name == relation);
        let shows = |schema: &SchemaDefinition| {
            schema.types.iter().any(|other| is_of(other) && other.field_of(column).is_some())
        };
        shows(self.whole) && !shows(self.rest)
    }
}

fn is_known(schema: &SchemaDefinition, ty: &str) -> bool {
    schema.types.iter().any(|other| other.name == ty)
}

/// Whether a type has an aggregate of the column within a relation.
fn has_aggregate(schema: &SchemaDefinition, ty: &str, relation: &str, column: &str) -> bool {
    let mut fields = schema.types.iter().filter(|other| other.name == ty).flat_map(|ty| &ty.fields);
    fields.any(|field| {
        matches!(&field.binding, Some(BindingDefinition::Aggregate(AggregateDefinition { column: own, rows: AggregatedRows::Relation(within, _), .. }))
            if within == relation && own == column)
    })
}
