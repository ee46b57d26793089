//! Objects by foreign keys, and the connections back.

use std::collections::{HashMap, HashSet};

use crate::relations::join_fault::JoinFault;
use crate::relations::relation::ForeignKey;
use crate::schema_draft::existing::{Existing, ExistingJoin};
use crate::schema_draft::missing_index::{AdvisedIndex, LeftOut};
use crate::schema_draft::model::{JoinField, ListBound, TypeModel};
use crate::schema_draft::names::{Names, camel, plural, without_key};

/// The most rows of a list that no index has in order. More cost as much more, whether a parent has them or not.
const DRAFTED_ROWS: u32 = 200;

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
        let index = AdvisedIndex::of_columns(parent.relation, to.iter().chain(&rest).copied());
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
        bound: None,
        is_known: false,
    })
}

/// The connection of the rows that refer to a row, or why there is none.
fn connection(child: &TypeModel<'_>, foreign: &ForeignKey, names: &mut Names) -> Result<JoinField, LeftOut> {
    let columns: Vec<_> = foreign.columns.iter().map(String::as_str).collect();
    let distinct: HashSet<_> = columns.iter().collect();
    let rest: Vec<_> = child.key.iter().map(String::as_str).filter(|column| !columns.contains(column)).collect();
    let index = || AdvisedIndex::of_columns(child.relation, columns.iter().chain(&rest).copied());
    let is_distinct = distinct.len() == columns.len();
    let (mut by, mut to) = (foreign.to.clone(), foreign.columns.clone());
    let bound = if is_distinct && child.relation.has_order(&columns, &rest) {
        None
    } else if let Some(places) = child.relation.index_of(&columns).filter(|_| is_distinct) {
        // All columns of the join are read in the order of the index.
        by = places.iter().map(|place| foreign.to[*place].clone()).collect();
        to = places.iter().map(|place| foreign.columns[*place].clone()).collect();
        if child.relation.are_unique(&columns) {
            Some(ListBound { at_most: 1, index: None })
        } else {
            Some(ListBound { at_most: DRAFTED_ROWS, index: Some(index()) })
        }
    } else {
        let (name, rows) = (&foreign.name, child.relation.path());
        return Err(LeftOut::without(index(), format!("{name}: no index has the rows of {rows} in order")));
    };
    let many = camel(&plural(&child.name));
    let by_column = camel(&format!("{many}_by_{}", foreign.columns.join("_and_")));
    let mut candidates = if is_one_of_several(child, foreign) { Vec::new() } else { vec![many.clone()] };
    candidates.extend([by_column, camel(&format!("{many}_{}", foreign.name))]);
    Ok(JoinField {
        name: names.give(&candidates, |name| vec![name.to_owned()]),
        target: child.name.clone(),
        is_list: true,
        by,
        to,
        bound,
        is_known: false,
    })
}
