//! Adds declarations to a schema file that a draft has and the file lacks, and marks declarations that the database does not have any more.
//! Marks of what is there again, and missing indexes that are there now, are removed. Nothing else changes.

use std::fmt::Write as _;

use crate::relations::description::DatabaseDescription;
use crate::schema_draft::existing::{Existing, ExistingType};
use crate::schema_draft::file::{enum_block, keys, new_fields, root, type_block};
use crate::schema_draft::missing_index::CREATE_INDEX;
use crate::schema_draft::model::Model;
use crate::schema_draft::sdl_text::{TypeText, types};

/// The beginning of the mark of a part that vanished.
const MARK: &str = "# vanished:";

/// Text that is inserted at a place of the file.
type Insertion = (usize, String);

/// The text of a valid schema file with what the model of its database adds.
pub(super) fn update(text: &str, existing: &Existing, database: &DatabaseDescription, model: &Model<'_>) -> String {
    let text = &without_outdated(text, model);
    let places = types(text);
    let mut insertions = added(&places, model);
    for ty in &existing.types {
        if let Some(place) = places.iter().find(|place| place.name == ty.name) {
            insertions.extend(vanished(text, place, ty, database));
        }
    }
    // From the end on, so that the places before stay where they are.
    insertions.sort_by_key(|(at, _)| *at);
    let mut updated = text.to_owned();
    for (at, insertion) in insertions.iter().rev() {
        updated.insert_str(*at, insertion);
    }
    for ty in model.types.iter().filter(|ty| !ty.is_known) {
        if !updated.ends_with('\n') {
            updated.push('\n');
        }
        let _ = write!(updated, "\n{}", type_block(ty));
    }
    for one in &model.enums {
        let _ = write!(updated, "\n{}", enum_block(*one));
    }
    updated
}

/// The text without marks, which are made anew, and without comments about indexes that are missing no more.
fn without_outdated(text: &str, model: &Model<'_>) -> String {
    let missing = model.missing_indexes(true, true);
    let is_outdated = |line: &str| {
        let line = line.trim();
        let statement = line.find(&format!(": {CREATE_INDEX}")).map(|at| &line[at + 2..]);
        line.starts_with(&format!("{MARK} the role reads no "))
            || line.starts_with("# ")
                && statement.is_some_and(|statement| statement.ends_with(';') && !missing.contains(&statement))
    };
    text.split_inclusive('\n').filter(|line| !is_outdated(line)).collect()
}

/// Fields of types and roots that are there.
fn added(places: &[TypeText], model: &Model<'_>) -> Vec<Insertion> {
    let mut insertions = Vec::new();
    let query = places.iter().find(|place| place.name == "Query");
    let mut roots = String::new();
    for ty in &model.types {
        if let Some(place) = places.iter().find(|place| ty.is_known && place.name == ty.name) {
            insertions.push((place.range.end, new_fields(ty)));
        }
        roots.push_str(&root(ty));
        let list = query.and_then(|query| query.fields.iter().find(|field| field.name == ty.root.list));
        if let Some(list) = list.filter(|_| ty.root.is_list_known) {
            let keys = keys(&ty.root);
            let lines = keys.trim_end();
            insertions.extend((!lines.is_empty()).then(|| (list.range.end, format!("\n{lines}"))));
        }
    }
    insertions.extend(query.map(|query| (query.range.end, roots)));
    insertions.retain(|(_, insertion)| !insertion.is_empty());
    insertions
}

/// Marks above a type without its relation, or above fields without their columns.
fn vanished(text: &str, place: &TypeText, ty: &ExistingType, database: &DatabaseDescription) -> Vec<Insertion> {
    // The service's own relations are no part of a description.
    if ty.relation.starts_with("orderql.") {
        return Vec::new();
    }
    let Some(relation) = database.relations.iter().find(|relation| relation.path() == ty.relation) else {
        return mark(text, place.range.start, &format!("the role reads no table or view {}", ty.relation));
    };
    let gone = ty.fields.iter().filter_map(|field| Some((field, &field.column.as_ref()?.0)));
    let gone = gone.filter(|(_, column)| relation.readable_column(column).is_none());
    let marks = gone.flat_map(|(field, column)| {
        let place = place.fields.iter().find(|place| place.name == field.name);
        place.map_or_else(Vec::new, |place| {
            mark(text, place.range.start, &format!("the role reads no column {column} of {}", ty.relation))
        })
    });
    marks.collect()
}

/// A mark on a line of its own, unless it is there.
fn mark(text: &str, at: usize, reason: &str) -> Vec<Insertion> {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let (before, indent) = (text[..start].trim_end(), &text[start..at]);
    let line = format!("{MARK} {reason}");
    // Something else may stand before it on the line.
    if before.ends_with(&line) || !indent.trim().is_empty() && text[..at].trim_end().ends_with(&line) {
        return Vec::new();
    }
    let indent: String = indent.chars().take_while(|c| c.is_whitespace()).collect();
    if text[start..at].trim().is_empty() {
        vec![(at, format!("{line}\n{indent}"))]
    } else {
        vec![(at, format!("\n{indent}{line}\n{indent}"))]
    }
}
