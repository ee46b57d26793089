//! The names of entities in the tags of rows.

use crate::load::row::RowAction;

/// The entities that Moqui writes by an alias, if OFBiz has their tables, too.
const ALIASES: [(&str, &str); 7] = [
    ("enumerationTypes", "EnumerationType"),
    ("enums", "Enumeration"),
    ("geoPoints", "GeoPoint"),
    ("geos", "Geo"),
    ("statusTypes", "StatusType"),
    ("statuses", "StatusItem"),
    ("uoms", "Uom"),
];

/// OFBiz's rule: a tag without its prefixes, the part after the first `-`, and of that the part after the first `:`.
pub(super) fn ofbiz_entity(tag: &str) -> &str {
    after(after(tag, '-'), ':')
}

/// Moqui's rule for a child of the root element, and its action if it is a tag such as `<delete-package.Entity>`. Other tags with a `-`
/// call a service. They keep their name, which no table has.
pub(super) fn moqui_root_child(tag: &str) -> (&str, Option<RowAction>) {
    let name = after(tag, ':');
    let Some((operation, entity)) = name.split_once('-') else { return (simple_name(name), None) };
    match operation {
        "create" => (simple_name(entity), Some(RowAction::Create)),
        "store" | "update" => (simple_name(entity), Some(RowAction::CreateUpdate)),
        "delete" => (simple_name(entity), Some(RowAction::Delete)),
        _ => (name, None),
    }
}

/// Moqui's rule for a tag inside a row: a relationship, which is an entity after an optional title, as in
/// `<Parent-package.Entity>`.
pub(super) fn moqui_child_entity(tag: &str) -> &str {
    simple_name(after(after(tag, ':'), '-'))
}

/// An entity's name without its package, or the name of an alias.
fn simple_name(name: &str) -> &str {
    let simple = name.rsplit_once('.').map_or(name, |(_, simple)| simple);
    ALIASES.iter().find(|(alias, _)| *alias == simple).map_or(simple, |(_, entity)| entity)
}

/// The part after the first separator, unless that is the first character.
fn after(name: &str, separator: char) -> &str {
    name.split_once(separator).filter(|(before, _)| !before.is_empty()).map_or(name, |(_, after)| after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_prefixes_as_ofbiz_does() {
        for tag in ["Party", "x-Party", "n:Party", "x-n:Party"] {
            assert_eq!(ofbiz_entity(tag), "Party");
        }
        assert_eq!(ofbiz_entity("-Party"), "-Party");
    }

    #[test]
    fn removes_packages_and_finds_operations_as_moqui_does() {
        for (tag, entity, action) in [
            ("OrderHeader", "OrderHeader", None),
            ("org.apache.ofbiz.order.order.OrderHeader", "OrderHeader", None),
            ("m:moqui.basic.Geo", "Geo", None),
            ("geos", "Geo", None),
            ("orders", "orders", None),
            ("create-moqui.basic.Uom", "Uom", Some(RowAction::Create)),
            ("store-uoms", "Uom", Some(RowAction::CreateUpdate)),
            ("update-Uom", "Uom", Some(RowAction::CreateUpdate)),
            ("delete-moqui.basic.Uom", "Uom", Some(RowAction::Delete)),
            ("mantle.order.OrderServices.place-Order", "mantle.order.OrderServices.place-Order", None),
        ] {
            assert_eq!(moqui_root_child(tag), (entity, action), "{tag}");
        }
    }

    #[test]
    fn removes_the_titles_of_relationships() {
        for (tag, entity) in [
            ("org.apache.ofbiz.order.order.OrderItem", "OrderItem"),
            ("Parent-org.apache.ofbiz.product.facility.Facility", "Facility"),
            ("m:Parent-Facility", "Facility"),
            ("items", "items"),
        ] {
            assert_eq!(moqui_child_entity(tag), entity, "{tag}");
        }
    }
}
