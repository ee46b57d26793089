//! The values of an operation's variables, coerced to their types (the specification's `CoerceVariableValues`).

use serde_json::Value as Json;

use crate::catalog::Catalog;
use crate::catalog::schema::{Type, TypeRef};
use crate::error::graphql_error::{GraphqlError, GraphqlErrors};
use crate::query::Variables;
use crate::query::bind::error::BindError;
use crate::query::operation::{Literal, Operation, VariableDefinition};
use crate::value::ScalarType;

/// The values of an operation's variables.
pub(super) struct Values<'a> {
    definitions: &'a [VariableDefinition],
    given: Vec<Option<Literal>>,
}

impl Values<'_> {
    /// The value of a variable, by its index; `None` if it is neither given nor has a default.
    pub(super) fn get(&self, index: usize) -> Option<&Literal> {
        self.given[index].as_ref().or(self.definitions[index].default.as_ref())
    }

    /// The value of a boolean variable, by its index.
    pub(super) fn truth(&self, index: usize) -> Option<bool> {
        if let Literal::Boolean(truth) = self.get(index)? { Some(*truth) } else { None }
    }
}

/// Coerces the variables of an operation. Every variable that cannot be used is reported. Unknown variables are ignored, as
/// the specification demands.
pub(super) fn coerce<'a>(
    catalog: &Catalog,
    operation: &'a Operation,
    variables: &Variables,
) -> Result<Values<'a>, GraphqlErrors> {
    let definitions = &operation.variables;
    let mut errors = Vec::new();
    let mut given = Vec::with_capacity(definitions.len());
    for (index, definition) in definitions.iter().enumerate() {
        let value = match variables.get(&definition.name) {
            // A variable with a default may be nullable; the argument `if` of the directives is not.
            Some(json @ Json::Null) if operation.conditions.contains(&index) => {
                Err(Some(("a value that is not null for `@skip` and `@include`".to_owned(), json)))
            }
            None if definition.ty.is_non_null() && definition.default.is_none() => Err(None),
            None => Ok(None),
            Some(json) => value(catalog, &definition.ty, json).map(Some).map_err(|expected| Some((expected, json))),
        };
        given.push(value.unwrap_or_else(|mismatch| {
            let error = BindError::BadVariable {
                name: definition.name.clone(),
                ty: definition.ty.display(catalog),
                mismatch: mismatch.map(|(expected, json)| (expected, kind(json))),
            };
            errors.push(GraphqlError::new(&error, [definition.location]));
            None
        }));
    }
    GraphqlErrors::check(errors)?;
    Ok(Values { definitions, given })
}

fn value(catalog: &Catalog, ty: &TypeRef, json: &Json) -> Result<Literal, String> {
    match (ty, json) {
        (TypeRef::NonNull(_), Json::Null) => Err("a value that is not null".to_owned()),
        (TypeRef::NonNull(inner), _) => value(catalog, inner, json),
        (_, Json::Null) => Ok(Literal::Null),
        (TypeRef::List(inner), Json::Array(elements)) => {
            elements.iter().map(|element| value(catalog, inner, element)).collect::<Result<_, _>>().map(Literal::List)
        }
        (TypeRef::List(inner), one) => Ok(Literal::List(vec![value(catalog, inner, one)?])),
        (TypeRef::Named(id), _) => match catalog.get(*id) {
            Type::Scalar(scalar) => self::scalar(scalar.scalar, json).map_err(str::to_owned),
            Type::Enum(enumeration) => match json {
                Json::String(name) if enumeration.names().any(|known| known == name) => Ok(Literal::Enum(name.clone())),
                _ => Err(format!("one of {}", enumeration.names().collect::<Vec<_>>().join(", "))),
            },
            Type::Object(_) => Err("a type that can be given".to_owned()),
        },
    }
}

fn scalar(scalar: ScalarType, json: &Json) -> Result<Literal, &'static str> {
    match (scalar, json) {
        (ScalarType::Int, Json::Number(number)) => int(number).map(Literal::Int).ok_or("a whole number of 32 bits"),
        (ScalarType::Int, _) => Err("a whole number of 32 bits"),
        (ScalarType::Boolean, Json::Bool(truth)) => Ok(Literal::Boolean(*truth)),
        (ScalarType::Boolean, _) => Err("true or false"),
        // JSON's longer numbers have lost digits by now.
        (ScalarType::Id, Json::Number(number)) if number.is_i64() || number.is_u64() => {
            Ok(Literal::String(number.to_string()))
        }
        (ScalarType::Id | ScalarType::BigInt, Json::String(text)) => Ok(Literal::String(text.clone())),
        (ScalarType::Id, _) => Err("a string, or a whole number of at most 64 bits (put a longer one in quotes)"),
        (ScalarType::BigInt, Json::Number(number)) if number.is_i64() => Ok(Literal::String(number.to_string())),
        (ScalarType::BigInt, _) => Err("a whole number of 64 bits, in quotes or not"),
        (ScalarType::Float, Json::Number(number)) => Ok(Literal::String(number.to_string())),
        (ScalarType::Float, _) => Err("a number"),
        (_, Json::String(text)) => Ok(Literal::String(text.clone())),
        (_, _) => Err("a string"),
    }
}

/// A JSON number that is whole and fits into 32 bits. It may be written `10` or `10.0`.
fn int(number: &serde_json::Number) -> Option<i64> {
    let whole = number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 32 bits, as checked")]
        (float.fract() == 0.0 && float.abs() <= f64::from(i32::MAX)).then_some(float as i64)
    })?;
    i32::try_from(whole).ok().map(i64::from)
}

fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}
