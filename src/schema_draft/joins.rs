//! Objects by foreign keys, and the connections back.

use std::collections::HashSet;

use crate::schema_draft::description::{DescribedColumn, DescribedRelation, ForeignKey};
use crate::schema_draft::existing::{Existing, ExistingJoin};
use crate::schema_draft::index_match::{create_index, is_served};
use crate::schema_draft::model::{JoinField, ListBound, TypeModel};
use crate::schema_draft::names::{Names, camel, plural, without_key};

/// The most rows of a list that no index has in order. More cost as much more, whether a parent has them or not.
const DRAFTED_ROWS: u32 = 200;

/// Gives types the objects and connections of their foreign keys.
pub(super) fn joins(types: &mut [TypeModel<'_>], existing: &Existing) {
    let mut names: Vec<Names> = types.iter().map(|ty| field_names(ty, existing)).collect();
    let mut fields: Vec<(usize, Result<JoinField, String>)> = Vec::new();
    for child in 0..types.len() {
        let relation = types[child].relation;
        for foreign in &relation.foreign_keys {
            let target = types
                .iter()
                .position(|ty| (&ty.relation.schema, &ty.relation.name) == (&foreign.target.0, &foreign.target.1));
            let Some(parent) = target else {
                let left_out = format!("{}: {}.{} has no type", foreign.name, foreign.target.0, foreign.target.1);
                fields.push((child, Err(left_out)));
                continue;
            };
            if let Some((own, other)) = collations(relation, types[parent].relation, foreign) {
                let reason = format!("{}: PostgreSQL does not compare {own} with {other} by an index", foreign.name);
                fields.push((child, Err(reason)));
                continue;
            }
            if !are_shown(&types[child], &types[parent], foreign) {
                fields.push((child, Err(format!("{}: its columns cannot be compared", foreign.name))));
                continue;
            }
            let (by, to) = (&foreign.columns, &foreign.to);
            let of_parent = uncompared((&types[parent], to), (&types[child], by));
            let of_children = uncompared((&types[child], by), (&types[parent], to));
            let left_out =
                |columns: String| format!("{}: PostgreSQL compares {columns} without an index", foreign.name);
            fields.push((
                child,
                match of_parent {
                    Some(columns) => Err(left_out(columns)),
                    None => object(&types[child], &types[parent], foreign, &mut names[child]),
                },
            ));
            fields.push((
                parent,
                match of_children {
                    Some(columns) => Err(left_out(columns)),
                    None => connection(&types[child], foreign, &mut names[parent]),
                },
            ));
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
    let join = ExistingJoin { target: target.clone(), is_list: *is_list, by: by.clone(), to: to.clone() };
    let fields = existing.types.iter().filter(|known| known.name == ty).flat_map(|known| &known.fields);
    let is_known = fields.into_iter().any(|known| known.join.as_ref() == Some(&join));
    JoinField { is_known, ..field }
}

/// Whether fields show the columns of both sides, and PostgreSQL compares them.
fn are_shown(child: &TypeModel<'_>, parent: &TypeModel<'_>, foreign: &ForeignKey) -> bool {
    foreign.columns.iter().zip(&foreign.to).all(|(by, to)| match (child.column(by), parent.column(to)) {
        (Some(by), Some(to)) => {
            (by.kind.is_found_by(to.kind) || to.kind.is_found_by(by.kind))
                && by.is_compared()
                && to.is_compared()
                && by.scalar == to.scalar
        }
        _ => false,
    })
}

/// The columns of a foreign key and of the row that it refers to, each with its collation, if an index on one of them does not serve their
/// comparison. Rows are found in both directions.
fn collations(child: &DescribedRelation, parent: &DescribedRelation, foreign: &ForeignKey) -> Option<(String, String)> {
    let columns = foreign.columns.iter().zip(&foreign.to);
    let mut columns = columns.filter_map(|(by, to)| Some((child.column(by)?, parent.column(to)?)));
    let (by, to) = columns.find(|(by, to)| by.collation != to.collation)?;
    let named = |column: &DescribedColumn| format!("{}{}", column.name, column.collation);
    Some((named(by), named(to)))
}

/// The first column by which rows are found and the one that it is compared with, each with its type, if no index on it serves that.
fn uncompared(
    (found, columns): (&TypeModel<'_>, &[String]),
    (other, others): (&TypeModel<'_>, &[String]),
) -> Option<String> {
    let pairs = columns.iter().zip(others).filter_map(|(one, two)| Some((found.column(one)?, other.column(two)?)));
    let (one, two) = pairs.into_iter().find(|(one, two)| !one.kind.is_found_by(two.kind))?;
    let [one, two] = [one, two].map(|field| format!("{} {}", field.column.name, field.column.type_name));
    Some(format!("{one} with {two}"))
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
) -> Result<JoinField, String> {
    let to: Vec<_> = foreign.to.iter().map(String::as_str).collect();
    let rest: Vec<_> = parent.key.iter().map(String::as_str).filter(|column| !to.contains(column)).collect();
    // The key or another unique index identifies the row. Else the one with the lowest key is read.
    let is_unique = parent.relation.keys.iter().any(|key| key.iter().all(|column| to.contains(&column.as_str())));
    if !rest.is_empty() && !is_unique && !is_served(parent.relation, &to, &rest) {
        let index = create_index(parent.relation, to.iter().chain(&rest).copied());
        return Err(format!("{}: no index finds the {} in the order of its key: {index}", foreign.name, parent.name));
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
fn connection(child: &TypeModel<'_>, foreign: &ForeignKey, names: &mut Names) -> Result<JoinField, String> {
    let columns: Vec<_> = foreign.columns.iter().map(String::as_str).collect();
    let distinct: HashSet<_> = columns.iter().collect();
    let rest: Vec<_> = child.key.iter().map(String::as_str).filter(|column| !columns.contains(column)).collect();
    let index = || create_index(child.relation, columns.iter().chain(&rest).copied());
    let is_unique = child.relation.keys.iter().any(|key| key.iter().all(|column| columns.contains(&column.as_str())));
    let is_served = |equal, order| distinct.len() == columns.len() && is_served(child.relation, equal, order);
    let bound = if is_served(&columns, &rest) {
        None
    } else if !is_served(&columns[..1], &columns[1..]) {
        let (name, rows) = (&foreign.name, child.relation.path());
        return Err(format!("{name}: no index has the rows of {rows} in order: {}", index()));
    } else if is_unique {
        Some(ListBound { at_most: 1, index: None })
    } else {
        Some(ListBound { at_most: DRAFTED_ROWS, index: Some(index()) })
    };
    let many = camel(&plural(&child.name));
    let by_column = camel(&format!("{many}_by_{}", foreign.columns.join("_and_")));
    let mut candidates = if is_one_of_several(child, foreign) { Vec::new() } else { vec![many.clone()] };
    candidates.extend([by_column, camel(&format!("{many}_{}", foreign.name))]);
    Ok(JoinField {
        name: names.give(&candidates, |name| vec![name.to_owned()]),
        target: child.name.clone(),
        is_list: true,
        by: foreign.to.clone(),
        to: foreign.columns.clone(),
        bound,
        is_known: false,
    })
}
