//! Literal values have the expected type.
//!
//! GraphQL specification, section 5.6.1 (Values of Correct Type).

use graphql_parser::query::Value;

use crate::catalog::Catalog;
use crate::catalog::schema::{Type, TypeRef};
use crate::nearest::meant;
use crate::query::parse::document::{is_long_number, location};
use crate::query::validate::document_index::DocumentIndex;
use crate::query::validate::violation::{Suggestions, Violation};
use crate::query::validate::violations::Violations;
use crate::value::ScalarType;

/// The most characters of a value that an error repeats.
const MAX_VALUE_IN_ERROR: usize = 60;

pub(super) fn check(index: &DocumentIndex<'_, '_>, violations: &mut Violations) {
    let catalog = index.catalog;
    for list in &index.argument_lists {
        for (argument, (name, value)) in list.given.iter().enumerate() {
            let Some(declaration) = list.declaration(name) else { continue };
            if violations.is_full() {
                return;
            }
            if let Err(error) = check_value(catalog, &declaration.ty, value) {
                let location = index.document.value_location(list.position, argument);
                violations.add(&error.violation(catalog, name, &declaration.ty), [location]);
            }
        }
    }
    for variable in index.definitions.iter().flat_map(|definition| &definition.variables) {
        let (Some(ty), Some(default)) = (&variable.ty, &variable.definition.default_value) else { continue };
        if let Err(error) = check_value(catalog, ty, default) {
            let name = format!("${}", variable.definition.name);
            violations.add(&error.violation(catalog, &name, ty), [location(variable.definition.position)]);
        }
    }
}

/// Why a value does not have the expected type.
enum LiteralError {
    /// The type is non-null.
    UnexpectedNull,
    WrongType {
        found: String,
        expected: String,
        allowed: Vec<String>,
        suggestions: Suggestions,
    },
}

impl LiteralError {
    /// The violation by a value of an argument or variable with that name.
    fn violation(self, catalog: &Catalog, target: &str, ty: &TypeRef) -> Violation {
        let (target, ty) = (target.into(), ty.display(catalog));
        match self {
            Self::UnexpectedNull => Violation::UnexpectedNull { target, ty },
            Self::WrongType { found, expected, allowed, suggestions } => {
                Violation::WrongValueType { target, ty, found, expected, allowed, suggestions }
            }
        }
    }
}

/// Accepts variables of any type, which another rule checks.
fn check_value<'a>(catalog: &Catalog, ty: &TypeRef, value: &Value<'a, &'a str>) -> Result<(), LiteralError> {
    match (ty, value) {
        (TypeRef::NonNull(_), Value::Null) => Err(LiteralError::UnexpectedNull),
        (_, Value::Variable(_)) | (TypeRef::Named(_) | TypeRef::List(_), Value::Null) => Ok(()),
        (TypeRef::List(inner), Value::List(values)) => {
            values.iter().try_for_each(|value| check_value(catalog, inner, value))
        }
        // A single value is coerced to a list of one.
        (TypeRef::NonNull(inner) | TypeRef::List(inner), _) => check_value(catalog, inner, value),
        (TypeRef::Named(id), _) => match catalog.get(*id) {
            Type::Scalar(scalar) => check_scalar(scalar.scalar, value),
            Type::Enum(enumeration) => check_enum(&enumeration.names().collect::<Vec<_>>(), value),
            // The default of a variable whose type another rule rejects.
            Type::Object(_) => Ok(()),
        },
    }
}

fn check_scalar<'a>(scalar: ScalarType, value: &Value<'a, &'a str>) -> Result<(), LiteralError> {
    let is_string = matches!(value, Value::String(_));
    let is_int32 = || match value {
        Value::Int(number) => number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        _ => false,
    };
    let is_whole_number = || match value {
        Value::Int(_) => true,
        Value::Enum(name) => is_long_number(name),
        _ => false,
    };
    let (is_accepted, expected) = match scalar {
        ScalarType::Int => (is_int32(), "a whole number of 32 bits"),
        ScalarType::Id if is_long(value) => {
            (false, "a string, or a whole number of at most 64 bits (put a longer one in quotes)")
        }
        ScalarType::Id => (is_string || is_whole_number(), "a string or a whole number"),
        ScalarType::String | ScalarType::Enum(_) => (is_string, "a string"),
        ScalarType::Boolean => (matches!(value, Value::Boolean(_)), "true or false"),
        // The parser has rounded numbers with a fraction already.
        ScalarType::Decimal => (is_string || is_whole_number(), "an exact number in quotes"),
        ScalarType::DateTime => (is_string, "an ISO-8601 timestamp in quotes"),
        ScalarType::BigInt if is_long(value) => (false, "a whole number of 64 bits, in quotes or not"),
        ScalarType::BigInt => (is_string || is_whole_number(), "a whole number of 64 bits, in quotes or not"),
        ScalarType::Float => (is_whole_number() || matches!(value, Value::Float(_)), "a number"),
        ScalarType::Date => (is_string, "a date in quotes, such as \"2026-11-24\""),
        ScalarType::Time => (is_string, "a time in quotes, such as \"09:30:00\""),
        ScalarType::Interval => (is_string, "an ISO-8601 duration in quotes, such as \"P1DT12H\""),
        ScalarType::Uuid => (is_string, "a UUID in quotes"),
        ScalarType::Bytes => (is_string, "bytes in base64 in quotes"),
        ScalarType::Json => (false, "no value"),
    };
    if is_accepted {
        return Ok(());
    }
    Err(LiteralError::WrongType {
        found: describe(value),
        expected: expected.to_owned(),
        allowed: Vec::new(),
        suggestions: Suggestions::default(),
    })
}

/// Whether a value is a number of more than 64 bits. In the JSON of variables it would have lost digits, so that it is rejected
/// there and here alike.
fn is_long<'a>(value: &Value<'a, &'a str>) -> bool {
    matches!(value, Value::Enum(name) if is_long_number(name) && name.parse::<u64>().is_err())
}

fn check_enum<'a>(names: &[&str], value: &Value<'a, &'a str>) -> Result<(), LiteralError> {
    let suggestions = match value {
        Value::Enum(name) if names.contains(name) => return Ok(()),
        Value::Enum(name) if !is_long_number(name) => meant(name, names.iter().copied()).into(),
        // In quotes, as in the JSON of variables.
        Value::String(name) => meant(name, names.iter().copied()).into(),
        _ => Suggestions::default(),
    };
    let expected = match names {
        [] => "no value".to_owned(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    };
    Err(LiteralError::WrongType {
        found: describe(value),
        expected,
        allowed: names.iter().map(|name| (*name).to_owned()).collect(),
        suggestions,
    })
}

/// A value as error messages repeat it, cut if it is long.
fn describe<'a>(value: &Value<'a, &'a str>) -> String {
    let cut = |text: &str| text.chars().take(MAX_VALUE_IN_ERROR).collect::<String>();
    match value {
        Value::Variable(name) => cut(&format!("${name}")),
        Value::Int(number) => number.as_i64().map_or_else(|| "a number".to_owned(), |number| number.to_string()),
        Value::Float(number) => cut(&format!("the number {number:?}")),
        Value::String(text) => format!("{:?}", cut(text)),
        Value::Boolean(value) => value.to_string(),
        Value::Null => "null".to_owned(),
        Value::Enum(name) => cut(name),
        Value::List(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
