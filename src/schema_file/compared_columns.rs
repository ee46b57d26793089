//! The columns that statements compare have types that can be compared.

use graphql_parser::Pos;

use crate::schema_file::definition::{
    AggregateDefinition, AggregatedRows, BindingDefinition, FieldDefinition, ManyDefinition, SchemaDefinition,
    TypeDefinition,
};
use crate::schema_file::error::{SchemaError, SchemaErrorKind};
use crate::value::ScalarType;

/// Fails if a key, a join, an argument, a search key, a sort key or an aggregate is of a type whose values are not compared.
pub(super) fn check(schema: &SchemaDefinition) -> Result<(), SchemaError> {
    for ty in &schema.types {
        let key = ty.relation.iter().flat_map(|relation| &relation.key);
        check_columns(ty, key, |column| column.position)?;
        for field in &ty.fields {
            check_field(schema, ty, field)?;
        }
    }
    Ok(())
}

fn check_field(schema: &SchemaDefinition, ty: &TypeDefinition, field: &FieldDefinition) -> Result<(), SchemaError> {
    let here = |_: &FieldDefinition| field.position;
    let node_of = |field: &FieldDefinition| schema.types.iter().find(|other| other.name == field.ty);
    match &field.binding {
        Some(BindingDefinition::One(pairs) | BindingDefinition::Many(ManyDefinition { pairs, .. })) => {
            check_columns(ty, &pairs.by, here)?;
        }
        Some(BindingDefinition::Aggregate(AggregateDefinition { column, rows, .. })) => {
            if is_never_compared(&field.ty) {
                return Err(error(field, &field.name, &field.ty));
            }
            let AggregatedRows::Connection(over) = rows else { return Ok(()) };
            let connection = ty.fields.iter().find(|other| other.name == *over);
            connection.and_then(node_of).map_or(Ok(()), |node| check_columns(node, [column], here))?;
        }
        _ => {}
    }
    if let Some(argument) = field.arguments.iter().find(|argument| is_never_compared(&argument.ty)) {
        return Err(error(field, &argument.name, &argument.ty));
    }
    let Some(node) = node_of(field) else { return Ok(()) };
    let searched = field.search_keys.iter().filter(|key| key.within.is_none()).map(|key| &key.column);
    check_columns(node, searched.chain(field.sort_keys.iter().map(|key| &key.column)), here)
}

/// Checks columns of a type.
fn check_columns<'a>(
    ty: &TypeDefinition,
    columns: impl IntoIterator<Item = &'a String>,
    position: impl Fn(&FieldDefinition) -> Pos,
) -> Result<(), SchemaError> {
    let mut shown = columns.into_iter().filter_map(|column| ty.field_of(column));
    match shown.find(|field| is_never_compared(&field.ty)) {
        None => Ok(()),
        Some(field) => Err(SchemaError { position: position(field), ..error(field, &field.name, &field.ty) }),
    }
}

fn is_never_compared(ty: &str) -> bool {
    ScalarType::named(ty).is_some_and(|scalar| !scalar.is_compared())
}

fn error(field: &FieldDefinition, name: &str, ty: &str) -> SchemaError {
    let kind = SchemaErrorKind::NotCompared { name: name.to_owned(), ty: ty.to_owned() };
    SchemaError::new(field.position, kind)
}
