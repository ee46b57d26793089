//! A value that is written out is of the type that is expected. (Section 5.6.1, Values of Correct Type)

use graphql_parser::query::Value;

use crate::catalog::Catalog;
use crate::catalog::schema::{Type, TypeRef};
use crate::nearest::suggestions;
use crate::query::parse::document::{is_long_number, location};
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::{Findings, Violation};
use crate::value::ScalarType;

pub(super) fn check(survey: &DocumentIndex<'_, '_>, findings: &mut Findings) {
    let catalog = survey.catalog;
    for arguments in &survey.arguments {
        for (number, (name, value)) in arguments.given.iter().enumerate() {
            let Some(slot) = arguments.slot(name) else { continue };
            if findings.is_full() {
                return;
            }
            if let Err(wrong) = accept(catalog, &slot.ty, value) {
                let place = survey.document.value_location(arguments.position, number);
                findings.add(&wrong.violation(catalog, name, &slot.ty), [place]);
            }
        }
    }
    for variable in survey.definitions.iter().flat_map(|definition| &definition.variables) {
        let (Some(ty), Some(default)) = (&variable.ty, &variable.definition.default_value) else { continue };
        if let Err(wrong) = accept(catalog, ty, default) {
            let name = format!("${}", variable.definition.name);
            findings.add(&wrong.violation(catalog, &name, ty), [location(variable.definition.position)]);
        }
    }
}

/// Why a value is not taken.
enum Wrong {
    Null,
    Value { found: String, expected: String, allowed: Vec<String>, meant: Vec<String> },
}

impl Wrong {
    fn violation(self, catalog: &Catalog, of: &str, ty: &TypeRef) -> Violation {
        let (of, ty) = (of.into(), ty.display(catalog));
        match self {
            Self::Null => Violation::WrongNull { of, ty },
            Self::Value { found, expected, allowed, meant } => {
                let meant = meant.into_iter().collect();
                Violation::WrongValue { of, ty, found, expected, allowed, meant }
            }
        }
    }
}

/// Whether a type takes a value. A variable is taken anywhere: its type is another rule's.
fn accept<'a>(catalog: &Catalog, ty: &TypeRef, value: &Value<'a, &'a str>) -> Result<(), Wrong> {
    match (ty, value) {
        (TypeRef::NonNull(_), Value::Null) => Err(Wrong::Null),
        (_, Value::Variable(_)) | (TypeRef::Named(_) | TypeRef::List(_), Value::Null) => Ok(()),
        (TypeRef::List(inner), Value::List(values)) => {
            values.iter().try_for_each(|value| accept(catalog, inner, value))
        }
        // A value that stands where a list is expected is a list of one.
        (TypeRef::NonNull(inner) | TypeRef::List(inner), _) => accept(catalog, inner, value),
        (TypeRef::Named(id), _) => match catalog.get(*id) {
            Type::Scalar(scalar) => accept_scalar(scalar.scalar, value),
            Type::Enum(enumeration) => accept_enum(&enumeration.values, value),
            // A variable of an object type is another rule's.
            Type::Object(_) => Ok(()),
        },
    }
}

fn accept_scalar<'a>(scalar: ScalarType, value: &Value<'a, &'a str>) -> Result<(), Wrong> {
    let is_int32 = |value: &Value<'a, &'a str>| match value {
        Value::Int(number) => number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        _ => false,
    };
    let is_long = |value: &Value<'a, &'a str>| matches!(value, Value::Enum(name) if is_long_number(name));
    let (taken, expected) = match scalar {
        ScalarType::Int => (is_int32(value), "a whole number of 32 bits"),
        ScalarType::Id => {
            (matches!(value, Value::String(_) | Value::Int(_)) || is_long(value), "a string or a whole number")
        }
        ScalarType::String => (matches!(value, Value::String(_)), "a string"),
        ScalarType::Boolean => (matches!(value, Value::Boolean(_)), "true or false"),
        // A fraction that is written as a number has lost its exactness by now.
        ScalarType::Decimal => {
            (matches!(value, Value::String(_) | Value::Int(_)) || is_long(value), "an exact number in quotes")
        }
        ScalarType::DateTime => (matches!(value, Value::String(_)), "an ISO-8601 timestamp in quotes"),
    };
    if taken { Ok(()) } else { Err(wrong(value, expected)) }
}

fn accept_enum<'a>(names: &[String], value: &Value<'a, &'a str>) -> Result<(), Wrong> {
    let given = match value {
        Value::Enum(name) if names.iter().any(|known| known == name) => return Ok(()),
        Value::Enum(name) => name,
        Value::String(text) => text.as_str(),
        _ => "",
    };
    let meant = suggestions(given, names.iter().map(String::as_str));
    let expected = match names {
        [] => "no value".to_owned(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    };
    let meant = if matches!(value, Value::Enum(name) if !is_long_number(name)) { meant } else { Vec::new() };
    let meant = meant.into_iter().map(str::to_owned).collect();
    Err(Wrong::Value { found: found(value), expected, allowed: names.to_vec(), meant })
}

fn wrong<'a>(value: &Value<'a, &'a str>, expected: &str) -> Wrong {
    Wrong::Value { found: found(value), expected: expected.to_owned(), allowed: Vec::new(), meant: Vec::new() }
}

/// A value for a reader, cut where it is long.
fn found<'a>(value: &Value<'a, &'a str>) -> String {
    let cut = |text: &str| text.chars().take(60).collect::<String>();
    match value {
        Value::Variable(name) => cut(&format!("${name}")),
        Value::Int(number) => number.as_i64().map_or_else(|| "a number".to_owned(), |number| number.to_string()),
        Value::Float(number) => cut(&format!("the number {number:?}")),
        Value::String(text) => format!("{:?}", cut(text)),
        Value::Boolean(truth) => truth.to_string(),
        Value::Null => "null".to_owned(),
        Value::Enum(name) => cut(name),
        Value::List(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
