//! Ids of lists have names beside them: wherever a type shows the id of a state, a type, a reason or a unit, a field leads to the row
//! that says it in words.

use std::collections::HashMap;

use orderql::catalog::Catalog;
use orderql::catalog::binding::{Binding, EntityBinding, One};

/// Columns of the data model, and the tables of labels whose ids they have.
const LABEL_COLUMNS: &str = include_str!("label_columns.txt");

/// How columns end that have ids of tables of labels. One that does, and is not listed, is reported.
const ENDINGS: [&str; 8] =
    ["_type_id", "_enum_id", "_uom_id", "_uom", "status_id", "_purpose_id", "_reason_id", "_geo_id"];

/// The columns without a label, and why.
const EXCEPTIONS: [(&str, &str); 4] = [
    // The list that a label is of tells programs what it is; people read the label.
    ("StatusItem", "status_type_id"),
    ("Enumeration", "enum_type_id"),
    // Three values that say what the program does, and are explained at the field.
    ("RejectionReason", "enum_type_id"),
    // A media type, such as image/jpeg, is a name itself.
    ("ProductImage", "mime_type_id"),
];

#[test]
fn every_id_of_a_list_has_its_label_beside_it() {
    let lines = LABEL_COLUMNS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let tables: HashMap<&str, &str> = lines.map(|line| line.split_once(' ').unwrap()).collect();
    let catalog = Catalog::built_in().unwrap();
    let (mut labelled, mut missing, mut excepted) = (0, Vec::new(), Vec::new());
    for (object, entity) in catalog.entities() {
        let bindings = || catalog.fields_of(object).map(|(_, binding)| binding);
        let leads_to = |column: &str, one: &One| {
            let table = tables.get(column).map(|table| table.trim());
            let is_by_it = one.join.by.iter().map(|column| column.name.as_str()).eq([column]);
            is_by_it && table == Some(catalog.entity(one.target).relation.as_str())
        };
        for column in bindings().filter_map(Binding::column).map(|column| column.name.as_str()) {
            let is_own_id = entity.key.iter().map(|key| key.name.as_str()).eq([column]);
            if is_own_id || !(tables.contains_key(column) || ENDINGS.iter().any(|ending| column.ends_with(ending))) {
                continue;
            }
            let mut ones = bindings().filter_map(|binding| match binding {
                Binding::Entity(EntityBinding::One(one)) => Some(one),
                _ => None,
            });
            if ones.any(|one| leads_to(column, one)) {
                labelled += 1;
            } else if EXCEPTIONS.contains(&(object.name.as_str(), column)) {
                excepted.push((object.name.as_str(), column));
            } else {
                missing.push(format!("{}.{column}", object.name));
            }
        }
    }
    assert!(missing.is_empty(), "without a label: {missing:#?}");
    assert_eq!(excepted.len(), EXCEPTIONS.len(), "{excepted:?}");
    assert!(labelled > 60, "{labelled}");
}
