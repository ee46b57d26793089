//! Selected fields exist.
//!
//! GraphQL specification, section 5.3.1 (Field Selections).

use graphql_parser::query as ast;

use crate::catalog::Catalog;
use crate::catalog::binding::{Binding, ConnectionField, EntityBinding};
use crate::catalog::places::row;
use crate::catalog::schema::{Field, ObjectType};
use crate::nearest::{clearly_meant, closest_first, meant};
use crate::query::parse::document::location;
use crate::query::validate::document_index::{DocumentIndex, TYPE_NAME};
use crate::query::validate::violation::Violation;
use crate::query::validate::violations::Violations;

/// The most fields of the type that an error lists.
const MAX_LISTED: usize = 40;

/// The most names that are looked for in the whole schema.
const MAX_SEARCHED: usize = 3;

/// The names that other APIs have for the rows of a connection.
const ROWS: [&str; 6] = ["node", "nodes", "items", "rows", "results", "data"];

/// The names that other APIs have for the number of a connection's rows.
const COUNTS: [&str; 3] = ["totalCount", "total", "size"];

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    let mut searched = 0;
    for selected in &index.fields {
        // The fields of an unknown type are unknown too, and no errors of their own.
        let (Some(parent), None) = (selected.parent, selected.ty) else { continue };
        let Some(object) = index.catalog.object(parent).filter(|_| !violations.is_full()) else { continue };
        let name = selected.field.name;
        let names = names(object).chain([TYPE_NAME]);
        let suggestions = suggested(index.catalog, object, selected.field);
        let instead = instead(index.catalog, object, name, suggestions.is_empty()).unwrap_or_default();
        let is_clear = !instead.is_empty() || clearly_meant(name, suggestions.iter().copied()).is_some();
        let is_nowhere = !is_clear && searched < MAX_SEARCHED;
        searched += usize::from(is_nowhere);
        let elsewhere = if is_nowhere { index.catalog.places().fields(name, &object.name) } else { Vec::new() };
        let violation = Violation::UnknownField {
            field: name.into(),
            ty: object.name.clone(),
            instead,
            elsewhere,
            suggestions: suggestions.into(),
            fields: closest_first(name, names, MAX_LISTED).into_iter().map(str::to_owned).collect(),
        };
        violations.add(&violation, [location(selected.field.position)]);
    }
}

/// The fields that an unknown field likely means: if possible, fields that take its arguments, and that have fields of their own if it has
/// a selection.
fn suggested<'d, 'a>(catalog: &'d Catalog, object: &'d ObjectType, unknown: &ast::Field<'a, &'a str>) -> Vec<&'d str> {
    let is_count =
        |(_, binding): &(&Field, Binding<'_>)| matches!(binding, Binding::Connection(ConnectionField::Count));
    if COUNTS.contains(&unknown.name)
        && let Some((count, _)) = catalog.fields_of(object).find(is_count)
    {
        return vec![&count.name];
    }
    let fits = |field: &&Field| {
        let takes = |name: &str| field.arguments.iter().any(|argument| argument.name == name);
        let is_leaf = catalog.object(field.ty.named()).is_none();
        unknown.arguments.iter().all(|(name, _)| takes(name)) && is_leaf == unknown.selection_set.items.is_empty()
    };
    let fitting = object.fields.iter().filter(fits).map(|field| field.name.as_str());
    let suggestions = meant(unknown.name, fitting);
    if suggestions.is_empty() { meant(unknown.name, names(object).chain([TYPE_NAME])) } else { suggestions }
}

/// The path to a field that the type has further inside: the names that can replace the unknown one, each selected from the
/// one before.
fn instead(catalog: &Catalog, object: &ObjectType, name: &str, is_unlike_all: bool) -> Option<Vec<String>> {
    let way = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let (mut object, mut before) = (object, Vec::new());
    while let Some((field, inner)) = row(catalog, object) {
        before.push(field.name.as_str());
        object = inner;
    }
    if before.is_empty() {
        return joined(catalog, object, name).and_then(|names| way(&names));
    }
    let field = match object.field_index(name) {
        Some(_) => Some(name),
        None if ROWS.iter().any(|rows| rows.eq_ignore_ascii_case(name)) => return way(&before),
        None if is_unlike_all => meant(name, names(object)).first().copied(),
        None => None,
    };
    field.and_then(|field| way(&[before.as_slice(), &[field]].concat()))
}

/// The only object joined to this one that has the field, and the field.
fn joined<'a>(catalog: &'a Catalog, object: &'a ObjectType, name: &'a str) -> Option<[&'a str; 2]> {
    let mut joined = catalog.fields_of(object).filter(|(_, binding)| {
        let Binding::Entity(EntityBinding::One(one)) = binding else { return false };
        catalog.entity_type(one.target).field_index(name).is_some()
    });
    let (only, _) = joined.next()?;
    joined.next().is_none().then_some([only.name.as_str(), name])
}

fn names(object: &ObjectType) -> impl Iterator<Item = &str> + Clone {
    object.fields.iter().chain(&object.meta_fields).map(|field| field.name.as_str())
}
