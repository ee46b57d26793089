//! Objects by foreign keys, and the connections back.

use std::collections::{HashMap, HashSet};

use crate::relations::join_fault::JoinFault;
use crate::relations::relation::ForeignKey;
use crate::relations::row_order::RowOrder;
use crate::schema_draft::existing::{Existing, ExistingJoin};
use crate::schema_draft::missing_index::{LeftOut, MissingIndex};
use crate::schema_draft::model::{JoinField, ListBound, TypeModel};
use crate::schema_draft::names::{Names, camel, plural, without_key};

/// The most rows of a list that no index has in order. More cost as much more, whether a parent has them or not.
pub(super) const DRAFTED_ROWS: u32 = 200;

/// Gives types the objects and connections of their foreign keys.
pub(super) fn joins(types: &mut [TypeModel<'_>], existing: &Existing) {
    let mut names: Vec<Names> = types.iter().map(|ty| field_names(ty, existing)).collect();
    let mut fields: Vec<(usize, Result<JoinField, LeftOut>)> = Vec::new();
    let places = types.iter().enumerate();
    let places: HashMap<_, _> =
        places.map(|(place, ty)| ((ty.relation.schema.as_str(), ty.relation.name.as_str()), place)).collect();
    for child in 0..types.len() {
        for foreign in &types[child].relation.foreign_keys {
            let (schema, name) = &foreign.target;
            let Some(&parent) = places.get(&(schema.as_str(), name.as_str())) else {
                fields.push((child, Err(format!("{}: {schema}.{name} has no type", foreign.name).into())));
                continue;
            };
            let (one, other) = (&types[child], &types[parent]);
            if !are_shown(one, other, foreign) {
                fields.push((child, Err(format!("{}: its columns cannot be compared", foreign.name).into())));
                continue;
            }
            let (by, to) = (&foreign.columns, &foreign.to);
            let found = fault((one, by), (other, to), foreign);
            fields.push((child, found.and_then(|()| object(one, other, foreign, &mut names[child]))));
            let found = fault((other, to), (one, by), foreign);
            fields.push((parent, found.and_then(|()| connection(one, foreign, &mut names[parent]))));
        }
    }
    for (ty, field) in fields {
        match field {
            Ok(field) => {
                let field = known(field, &types[ty].name, existing);
                types[ty].joins.push(field);
            }
            Err(reason) => types[ty].left_out.push(reason),
        }
    }
}

fn field_names(ty: &TypeModel<'_>, existing: &Existing) -> Names {
    let mut names = Names::default();
    ty.columns.iter().for_each(|field| names.reserve(&field.name));
    let known = existing.of_relation(&ty.relation.path());
    known.into_iter().flat_map(|known| &known.fields).for_each(|field| names.reserve(&field.name));
    names
}

/// The field as the file has it, if it has one with the same rows.
fn known(field: JoinField, ty: &str, existing: &Existing) -> JoinField {
    let JoinField { target, is_list, by, to, .. } = &field;
    let pairs = by.iter().cloned().zip(to.iter().cloned()).collect();
    let join = ExistingJoin { target: target.clone(), is_list: *is_list, pairs };
    let fields = existing.types.iter().filter(|known| known.name == ty).flat_map(|known| &known.fields);
    let is_known = fields.into_iter().any(|known| known.join.as_ref() == Some(&join));
    JoinField { is_known, ..field }
}

/// Whether fields show the columns of both sides as values that are compared.
fn are_shown(child: &TypeModel<'_>, parent: &TypeModel<'_>, foreign: &ForeignKey) -> bool {
    foreign.columns.iter().zip(&foreign.to).all(|(by, to)| match (child.column(by), parent.column(to)) {
        (Some(by), Some(to)) => by.is_compared() && to.is_compared() && by.scalar == to.scalar,
        _ => false,
    })
}

/// Fails if columns do not find rows by others.
fn fault(
    (left, by): (&TypeModel<'_>, &[String]),
    (right, to): (&TypeModel<'_>, &[String]),
    foreign: &ForeignKey,
) -> Result<(), LeftOut> {
    let paths = [left.relation.path(), right.relation.path()];
    let columns =
        by.iter().zip(to).filter_map(|(by, to)| Some((left.relation.column(by)?, right.relation.column(to)?)));
    let mut faults = columns.filter_map(|(by, to)| JoinFault::of((&paths[0], by), (&paths[1], to)));
    faults.next().map_or(Ok(()), |fault| Err(format!("{}: {fault}", foreign.name).into()))
}

/// Whether a type has several foreign keys to another.
fn is_one_of_several(child: &TypeModel<'_>, foreign: &ForeignKey) -> bool {
    child.relation.foreign_keys.iter().filter(|other| other.target == foreign.target).count() > 1
}

/// The field of the row that a foreign key refers to, or why there is none.
fn object(
    child: &TypeModel<'_>,
    parent: &TypeModel<'_>,
    foreign: &ForeignKey,
    names: &mut Names,
) -> Result<JoinField, LeftOut> {
    let to: Vec<_> = foreign.to.iter().map(String::as_str).collect();
    let rest: Vec<_> = parent.key.iter().map(String::as_str).filter(|column| !to.contains(column)).collect();
    // The key or another unique index identifies the row. Else the one with the lowest key is read.
    if !rest.is_empty() && !parent.relation.are_unique(&to) && !parent.relation.has_order(&to, &rest) {
        let index = MissingIndex::of_columns(parent.relation, to.iter().chain(&rest).copied());
        let reason = format!("{}: no index finds the {} in the order of its key", foreign.name, parent.name);
        return Err(LeftOut::without(index, reason));
    }
    let mut candidates = Vec::new();
    if let [column] = foreign.columns.as_slice() {
        candidates.extend(without_key(column).map(|name| camel(&name)));
    }
    if candidates.is_empty() && !is_one_of_several(child, foreign) {
        candidates.push(camel(&parent.name));
    }
    candidates.push(camel(&format!("{}_{}", foreign.columns.join("_"), parent.name)));
    candidates.push(camel(&foreign.name));
    Ok(JoinField {
        name: names.give(&candidates, |name| vec![name.to_owned()]),
        target: parent.name.clone(),
        is_list: false,
        by: foreign.columns.clone(),
        to: foreign.to.clone(),
        where_null: None,
        bound: None,
        is_known: false,
    })
}

/// The connection of the rows that refer to a row, or why there is none.
fn connection(child: &TypeModel<'_>, foreign: &ForeignKey, names: &mut Names) -> Result<JoinField, LeftOut> {
    let found = found(child, foreign, None).or_else(|| {
        let deleted = child.relation.partial_indexes.iter().filter_map(|index| index.rows.where_null.as_deref());
        deleted.filter(|column| marks_deleted_rows(column)).find_map(|column| found(child, foreign, Some(column)))
    });
    let Some(FoundList { places, where_null, bound }) = found else {
        let (name, rows) = (&foreign.name, child.relation.path());
        let reason = format!("{name}: no index has the rows of {rows} in order");
        return Err(LeftOut::without(index_in_order(child, foreign, None), reason));
    };
    let many = camel(&plural(&child.name));
    let by_column = camel(&format!("{many}_by_{}", foreign.columns.join("_and_")));
    let mut candidates = if is_one_of_several(child, foreign) { Vec::new() } else { vec![many.clone()] };
    candidates.extend([by_column, camel(&format!("{many}_{}", foreign.name))]);
    Ok(JoinField {
        name: names.give(&candidates, |name| vec![name.to_owned()]),
        target: child.name.clone(),
        is_list: true,
        by: places.iter().map(|place| foreign.to[*place].clone()).collect(),
        to: places.iter().map(|place| foreign.columns[*place].clone()).collect(),
        where_null: where_null.map(str::to_owned),
        bound,
        is_known: false,
    })
}

/// How an index finds the rows of a list.
struct FoundList<'a> {
    /// The order of the foreign key's columns, by their places in it.
    places: Vec<usize>,
    where_null: Option<&'a str>,
    bound: Option<ListBound>,
}

/// How an index of all rows, or of those with a null in a column, finds the rows that refer to a row.
fn found<'a>(child: &TypeModel<'_>, foreign: &ForeignKey, where_null: Option<&'a str>) -> Option<FoundList<'a>> {
    let relation = child.relation;
    let columns: Vec<_> = foreign.columns.iter().map(String::as_str).collect();
    if columns.iter().collect::<HashSet<_>>().len() < columns.len() {
        return None;
    }
    let rest = rest_of_key(child, foreign).collect();
    if relation.serves(&RowOrder { equal: columns.clone(), order: rest, where_null, ..RowOrder::default() }) {
        return Some(FoundList { places: (0..columns.len()).collect(), where_null, bound: None });
    }
    // All columns of the join are read in the order of the index.
    let places = relation.index_of(&columns, where_null)?;
    let bound = if relation.are_unique(&columns) {
        ListBound { at_most: 1, index: None }
    } else {
        ListBound { at_most: DRAFTED_ROWS, index: Some(index_in_order(child, foreign, where_null)) }
    };
    Some(FoundList { places, where_null, bound: Some(bound) })
}

/// The index that has the rows of a list in the order of their key.
fn index_in_order(child: &TypeModel<'_>, foreign: &ForeignKey, where_null: Option<&str>) -> MissingIndex {
    let columns = foreign.columns.iter().map(String::as_str).chain(rest_of_key(child, foreign));
    MissingIndex::of_rows(child.relation, columns, where_null)
}

/// The columns of the key that are not in the foreign key.
fn rest_of_key<'c>(child: &'c TypeModel<'_>, foreign: &ForeignKey) -> impl Iterator<Item = &'c str> {
    child.key.iter().map(String::as_str).filter(|column| foreign.columns.iter().all(|other| other != column))
}

/// Whether a column that has a value says that its row is deleted, by its name.
fn marks_deleted_rows(column: &str) -> bool {
    let column = column.to_ascii_lowercase();
    ["deleted", "discarded", "removed"].iter().any(|word| column.starts_with(word))
}
