//! Values for the variables of an operation: values that bound its price, and values that find rows in another way.

use std::collections::HashSet;

use serde_json::{Value as Json, json};

use crate::catalog::Catalog;
use crate::catalog::connection::Connection;
use crate::catalog::prices::MAX_SUMMED_ROWS;
use crate::catalog::schema::{ArgumentRole, EnumType, Type, TypeRef};
use crate::limits::Limits;
use crate::query::operation::{Literal, Operation, Selection, Target, VariableDefinition};
use crate::search::bounds::MAX_TERMS;
use crate::value::ScalarType;

/// A variable and values that it can have. The first costs least, and the last most. Never empty.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) values: Vec<Json>,
}

/// The variables of an operation. A search string has no term, one on each key, or one on every key. Of arguments that exclude each
/// other the first is given.
pub(super) fn variables(catalog: &Catalog, operation: &Operation, limits: &Limits) -> Vec<Variable> {
    let mut found = FoundAssignment { catalog, uses: Vec::new(), left_out: HashSet::new() };
    found.selections(&operation.selections);
    let definitions = operation.variables.iter().enumerate();
    let variable = |(index, definition): (usize, &VariableDefinition)| {
        let uses: Vec<_> = found.uses.iter().filter(|one| one.variable == index).collect();
        let values = if operation.conditions.contains(&index) {
            vec![json!(false), json!(true)]
        } else if found.left_out.contains(&index) && !definition.ty.is_non_null() {
            vec![Json::Null]
        } else {
            values(catalog, &definition.ty, &uses, limits)
        };
        Variable { name: definition.name.clone(), values }
    };
    definitions.map(variable).collect()
}

/// A variable in an argument.
struct UseOfVariable<'c> {
    variable: usize,
    role: ArgumentRole,
    scalar: Option<ScalarType>,
    /// The connection that is searched.
    connection: Option<&'c Connection>,
}

struct FoundAssignment<'c> {
    catalog: &'c Catalog,
    uses: Vec<UseOfVariable<'c>>,
    /// The variables of arguments that another one excludes.
    left_out: HashSet<usize>,
}

impl FoundAssignment<'_> {
    fn selections(&mut self, selections: &[Selection]) {
        for selection in selections {
            let Target::Field(id) = selection.target else { continue };
            let (field, binding) = (self.catalog.field(id), self.catalog.binding(id));
            let is_alternative = binding.lookup().is_some_and(|lookup| lookup.alternatives);
            let mut is_given = false;
            for (index, literal) in &selection.arguments {
                let argument = &field.arguments[*index];
                let is_size = matches!(argument.role, ArgumentRole::First | ArgumentRole::Last);
                let excludes = is_size || is_alternative && matches!(argument.role, ArgumentRole::Key(_));
                for variable in variables_in(literal) {
                    if excludes && is_given {
                        self.left_out.insert(variable);
                    }
                    let scalar = match self.catalog.get(argument.ty.named()) {
                        Type::Scalar(scalar) => Some(scalar.scalar),
                        _ => None,
                    };
                    let connection = binding.searched();
                    self.uses.push(UseOfVariable { variable, role: argument.role, scalar, connection });
                }
                is_given |= excludes;
            }
            self.selections(&selection.selections);
        }
    }
}

fn variables_in(literal: &Literal) -> Vec<usize> {
    match literal {
        Literal::Variable(variable) => vec![*variable],
        Literal::List(elements) => elements.iter().flat_map(variables_in).collect(),
        _ => Vec::new(),
    }
}

fn values(catalog: &Catalog, ty: &TypeRef, uses: &[&UseOfVariable<'_>], limits: &Limits) -> Vec<Json> {
    if let Type::Enum(enumeration) = catalog.get(ty.named()) {
        return names(ty, enumeration);
    }
    let numbers = uses.iter().filter_map(|one| match one.role {
        ArgumentRole::First | ArgumentRole::Last => Some(limits.max_page_size),
        ArgumentRole::Rows => Some(MAX_SUMMED_ROWS),
        _ => None,
    });
    if let Some(most) = numbers.min() {
        return vec![json!(1), json!(most)];
    }
    let searched: Vec<_> = uses.iter().filter(|one| one.role == ArgumentRole::Query).collect();
    if !searched.is_empty() {
        return searches(&searched.iter().filter_map(|one| one.connection).collect::<Vec<_>>());
    }
    let is_place = uses.iter().all(|one| {
        matches!(one.role, ArgumentRole::After | ArgumentRole::Before | ArgumentRole::Since | ArgumentRole::CountUpTo)
    });
    if is_place && !ty.is_non_null() {
        return vec![Json::Null];
    }
    vec![uses.first().and_then(|one| one.scalar).map_or(Json::Null, sample)]
}

/// The values of an enum, or lists of none and all of them.
fn names(ty: &TypeRef, enumeration: &EnumType) -> Vec<Json> {
    let names = enumeration.names().map(Json::from);
    let nullable = if let TypeRef::NonNull(inner) = ty { inner } else { ty };
    match nullable {
        TypeRef::List(_) => vec![json!([]), names.collect()],
        _ if ty.is_non_null() => names.collect(),
        _ => std::iter::once(Json::Null).chain(names).collect(),
    }
}

/// Search strings that all of these connections take.
fn searches(connections: &[&Connection]) -> Vec<Json> {
    let Some((first, others)) = connections.split_first() else { return vec![json!("")] };
    let common = first.search_keys.iter();
    let common = common.filter(|key| others.iter().all(|other| other.search_key(&key.name).is_some()));
    let terms: Vec<_> = common.map(|key| key.example.as_str()).take(MAX_TERMS).collect();
    let each = terms.iter().map(|term| json!(term));
    std::iter::once(json!("")).chain(each).chain(std::iter::once(json!(terms.join(" ")))).collect()
}

fn sample(scalar: ScalarType) -> Json {
    match scalar {
        ScalarType::Id | ScalarType::String | ScalarType::Decimal | ScalarType::BigInt => json!("1"),
        ScalarType::Int => json!(1),
        ScalarType::DateTime => json!("2026-01-01T00:00:00Z"),
        ScalarType::Boolean => json!(false),
        ScalarType::Enum(enumeration) => json!(enumeration.values().next().map(|(name, _)| name)),
        ScalarType::Float => json!(0.5),
        ScalarType::Date => json!("2026-01-01"),
        ScalarType::Time => json!("09:30:00"),
        ScalarType::Interval => json!("P1D"),
        ScalarType::Uuid => json!("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ScalarType::Bytes => json!("AP8="),
        ScalarType::Json => Json::Null,
    }
}
