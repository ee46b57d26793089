//! Where a schema has what a name means: for names that the type at hand does not have.

use std::collections::VecDeque;
use std::fmt;

use crate::catalog::Catalog;
use crate::catalog::binding::{Binding, ConnectionField, EdgeField};
use crate::catalog::schema::{Field, ObjectType};
use crate::words::synonyms::meanings;
use crate::words::{likeness, words};

/// As many objects are between a root and a field at most, the root's included.
const MAX_OBJECTS: usize = 4;

/// As many places are named at most.
const MAX_PLACES: usize = 3;

/// Longer names mean nothing. In bytes.
const MAX_LENGTH: usize = 64;

/// A word's share where it is found: in a name, on the way to it, and as one of the word's other meanings.
const IN_NAME: f32 = 1.0;
const ON_WAY: f32 = 0.6;
const OTHER_MEANING: f32 = 0.7;
const FOLLOWING_MEANING: f32 = 0.03;

/// What each word of a name that was not asked for takes away, and each object on the way.
const OTHER_WORD: f32 = 0.15;
const OBJECT: f32 = 0.05;

/// Fields that a name may mean, as paths from a root without `edges` and `node`: `orders.shipGroups.shipToAddress`. Those through objects of
/// the type come first.
pub(crate) fn fields(catalog: &Catalog, name: &str, ty: &str) -> Vec<String> {
    let Some(name) = Name::new(name) else { return Vec::new() };
    let mut found = Vec::new();
    visit(catalog, |way, field| {
        if let Some(score) = name.score(&field.name, way) {
            let through = if way.iter().any(|object| object.ty == ty) { 0.3 } else { 0.0 };
            let path: Vec<_> = way.iter().map(|object| object.field).chain([field.name.as_str()]).collect();
            found.push((score + through, path.join(".")));
        }
    });
    best(found)
}

/// Roots whose search a name may mean, each with the key: `parties(query: "lastName:…")`.
pub(crate) fn searches(catalog: &Catalog, name: &str, root: &str) -> Vec<String> {
    let Some(name) = Name::new(name) else { return Vec::new() };
    let mut found = Vec::new();
    for (field, binding) in catalog.root_fields().filter(|(field, _)| field.name != root) {
        let keys = Binding::Root(binding).connection().map(|connection| connection.search_keys.as_slice());
        for key in keys.unwrap_or_default().iter().filter(|key| key.scope.is_none()) {
            let way = [Object { field: &field.name, ty: "" }];
            if let Some(score) = name.score(&key.name, &way) {
                found.push((score, format!("{}(query: \"{}:…\")", field.name, key.name)));
            }
        }
    }
    best(found)
}

/// Places as the end of a message.
pub(super) fn named_elsewhere(places: &[String]) -> impl fmt::Display {
    fmt::from_fn(move |f| match places {
        [] => Ok(()),
        places => write!(f, "; elsewhere: {}", places.join(", ")),
    })
}

fn best(mut found: Vec<(f32, String)>) -> Vec<String> {
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found.into_iter().take(MAX_PLACES).map(|(_, place)| place).collect()
}

/// The words of a name, each with its other meanings.
struct Name(Vec<Vec<String>>);

impl Name {
    fn new(name: &str) -> Option<Self> {
        let words = if name.len() > MAX_LENGTH { Vec::new() } else { words(name) };
        let alternatives = |index: usize| {
            let others = meanings(&words, index).map(str::to_owned);
            [words[index].clone()].into_iter().chain(others).collect()
        };
        (!words.is_empty()).then(|| Self((0..words.len()).map(alternatives).collect()))
    }

    /// How well a name at the end of a way fits. `None` if a word is nowhere, or none is in the name itself.
    fn score(&self, name: &str, way: &[Object<'_>]) -> Option<f32> {
        let own = words(name);
        let around: Vec<_> = way.iter().flat_map(|object| words(object.field)).collect();
        let mut is_named = false;
        let mut total = 0.0;
        for alternatives in &self.0 {
            let of = |words: &[String]| {
                let rated = (0_u8..).zip(alternatives).map(|(rank, meant)| {
                    let best = words.iter().map(|word| likeness(word, meant)).fold(0.0, f32::max);
                    best * if rank == 0 { 1.0 } else { OTHER_MEANING - FOLLOWING_MEANING * f32::from(rank) }
                });
                rated.fold(0.0, f32::max)
            };
            let (in_name, on_way) = (of(&own) * IN_NAME, of(&around) * ON_WAY);
            is_named |= in_name > 0.0;
            let score = in_name.max(on_way);
            if score == 0.0 {
                return None;
            }
            total += score;
        }
        let is_asked = |word: &&String| self.0.iter().flatten().any(|meant| likeness(word, meant) > 0.0);
        #[allow(clippy::cast_precision_loss, reason = "names have few words")]
        let (count, others, objects) =
            (self.0.len() as f32, own.iter().filter(|word| !is_asked(word)).count() as f32, way.len() as f32);
        is_named.then(|| total / count - OTHER_WORD * others - OBJECT * objects)
    }
}

/// An object on the way to a field.
#[derive(Debug, Clone, Copy)]
struct Object<'a> {
    field: &'a str,
    /// The type of the object, or of the rows of a list.
    ty: &'a str,
}

/// Calls `found` for each field of the schema's own types once, with a shortest way to it.
fn visit<'a>(catalog: &'a Catalog, mut found: impl FnMut(&[Object<'a>], &'a Field)) {
    let mut seen: Vec<&str> = Vec::new();
    let mut queue = VecDeque::new();
    for (field, _) in catalog.root_fields() {
        found(&[], field);
        queue.extend(
            element(catalog, field).map(|object| (vec![Object { field: &field.name, ty: &object.name }], object)),
        );
    }
    while let Some((way, object)) = queue.pop_front() {
        if seen.contains(&object.name.as_str()) {
            continue;
        }
        seen.push(&object.name);
        for field in &object.fields {
            found(&way, field);
            if way.len() < MAX_OBJECTS
                && let Some(inner) = element(catalog, field)
            {
                let way = way.iter().copied().chain([Object { field: &field.name, ty: &inner.name }]).collect();
                queue.push_back((way, inner));
            }
        }
    }
}

/// The type of a field's objects: of a connection that of its nodes.
fn element<'a>(catalog: &'a Catalog, field: &'a Field) -> Option<&'a ObjectType> {
    let mut object = catalog.object(field.ty.named())?;
    while let Some((_, inner)) = row(catalog, object) {
        object = inner;
    }
    Some(object)
}

/// `edges` of a connection and `node` of an edge, with their types.
pub(super) fn row<'a>(catalog: &'a Catalog, object: &'a ObjectType) -> Option<(&'a Field, &'a ObjectType)> {
    let (field, _) = catalog.fields_of(object).find(|(_, binding)| {
        matches!(binding, Binding::Connection(ConnectionField::Edges) | Binding::Edge(EdgeField::Node))
    })?;
    Some((field, catalog.object(field.ty.named())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_other_types() {
        let catalog = Catalog::built_in().unwrap();
        for (name, ty, place) in [
            ("payments", "Query", "order.paymentPreferences"),
            ("facilityChangeHistory", "Query", "order.facilityChangeHistory"),
            ("adjustments", "Query", "order.adjustments"),
            ("email", "Order", "order.contactMechs"),
            ("shippingAddress", "Order", "order.shipGroups.shipToAddress"),
            ("trackingIdNumber", "Shipment", "shipment.routeSegments.trackingIdNumber"),
            ("trackingNumber", "Order", "order.shipGroups.trackingNumber"),
            ("productByBarcode", "Query", "productByIdentification"),
            ("barcode", "Product", "product.identifications"),
        ] {
            let found = fields(&catalog, name, ty);
            assert!(found.iter().any(|found| found == place), "{name}: {found:?}");
        }
        assert!(fields(&catalog, "zzz", "Order").is_empty() && fields(&catalog, "", "Order").is_empty());
        assert!(fields(&catalog, &"a".repeat(1_000_000), "Order").is_empty());
    }

    #[test]
    fn conditions_are_found_at_other_roots() {
        let catalog = Catalog::built_in().unwrap();
        let of = |name, root| searches(&catalog, name, root);
        assert!(
            of("customerName", "orders").contains(&"parties(query: \"lastName:…\")".to_owned()),
            "{:?}",
            of("customerName", "orders")
        );
        assert!(of("emailAddress", "returns").contains(&"orders(query: \"emailAddress:…\")".to_owned()));
        assert!(of("zzz", "orders").is_empty());
    }
}
