//! Fields and search keys of a schema for names that the type at hand does not have.

use std::collections::VecDeque;

use crate::catalog::Catalog;
use crate::catalog::binding::{Binding, ConnectionField, EdgeField};
use crate::catalog::name_index::{Object, Places};
use crate::catalog::schema::{Field, ObjectType};

/// The most objects between a root and a field, the root's included.
const MAX_OBJECTS: usize = 4;

impl Catalog {
    /// The fields and search keys for names that queries give in vain. Made when a name is first looked for.
    pub(crate) fn places(&self) -> &Places {
        self.places.get_or_init(|| of(self))
    }
}

/// The places of a schema.
fn of(catalog: &Catalog) -> Places {
    let mut places = Places::default();
    visit(catalog, |way, field| {
        let path: Vec<_> = way.iter().map(|object| object.field).chain([field.name.as_str()]).collect();
        places.fields.add(path.join("."), &field.name, way);
    });
    for (field, binding) in catalog.root_fields() {
        let keys = Binding::Root(binding).connection().map(|connection| connection.search_keys.as_slice());
        for key in keys.unwrap_or_default().iter().filter(|key| key.scope.is_none()) {
            let way = [Object { field: &field.name, ty: &field.name }];
            places.searches.add(format!("{}(query: \"{}:…\")", field.name, key.name), &key.name, &way);
        }
    }
    places
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

/// The type of a field's objects; of a connection, the type of its nodes.
fn element<'a>(catalog: &'a Catalog, field: &'a Field) -> Option<&'a ObjectType> {
    let mut object = catalog.object(field.ty.named())?;
    while let Some((_, inner)) = row(catalog, object) {
        object = inner;
    }
    Some(object)
}

/// `edges` of a connection and `node` of an edge, with their types.
pub(crate) fn row<'a>(catalog: &'a Catalog, object: &'a ObjectType) -> Option<(&'a Field, &'a ObjectType)> {
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
            let found = catalog.places().fields(name, ty);
            assert!(found.iter().any(|found| found == place), "{name}: {found:?}");
        }
        assert!(catalog.places().fields("zzz", "Order").is_empty() && catalog.places().fields("", "Order").is_empty());
        assert!(catalog.places().fields(&"a".repeat(1_000_000), "Order").is_empty());
    }

    #[test]
    fn conditions_are_found_at_other_roots() {
        let catalog = Catalog::built_in().unwrap();
        let of = |name, root| catalog.places().searches(name, root);
        assert!(
            of("customerName", "orders").contains(&"parties(query: \"lastName:…\")".to_owned()),
            "{:?}",
            of("customerName", "orders")
        );
        assert!(of("emailAddress", "returns").contains(&"orders(query: \"emailAddress:…\")".to_owned()));
        assert!(of("zzz", "orders").is_empty());
    }
}
