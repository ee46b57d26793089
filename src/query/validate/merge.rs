//! A valid document → an operation: spreads fragments, and merges the fields of one response key into one selection
//! (the GraphQL specification's `CollectFields` and `CollectSubfields`). Conditions that depend on variables stay for
//! later.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use graphql_parser::Pos;
use graphql_parser::query as ast;
use thiserror::Error;

use crate::catalog::Catalog;
use crate::catalog::binding::{Binding, EntityBinding};
use crate::catalog::ids::{FieldId, TypeId};
use crate::catalog::schema::TypeRef;
use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::error::graphql_error::{GraphqlError, GraphqlErrors};
use crate::query::document_limits::{MAX_CONDITIONS, MAX_SELECTIONS};
use crate::query::operation::{
    DirectiveCondition, Literal, Occurrence, Operation, Selection, SelectionId, Target, VariableDefinition,
};
use crate::query::parse::document::{DefinitionParts, Document, is_long_number, location, operation_parts};
use crate::query::validate::name_map::NameMap;

type SelectionSet<'a> = ast::SelectionSet<'a, &'a str>;

/// Merges an operation of a document without violations.
pub(super) fn merge<'t>(
    catalog: &Catalog,
    document: &Document<'t>,
    operation: &ast::OperationDefinition<'t, &'t str>,
) -> Result<Operation, GraphqlErrors> {
    let DefinitionParts { name, variables: definitions, selection_set, .. } = operation_parts(operation);
    let fragments = document.definitions.iter().filter_map(|definition| match definition {
        ast::Definition::Fragment(fragment) => Some((fragment.name, &fragment.selection_set)),
        ast::Definition::Operation(_) => None,
    });
    let variables = (0..).zip(definitions).map(|(index, definition)| (definition.name, index)).collect();
    let mut merger = Merger {
        catalog,
        fragments: fragments.collect(),
        variables,
        selections_left: MAX_SELECTIONS,
        selection_count: 0,
        conditions: BTreeSet::new(),
    };
    let root = vec![(selection_set, Rc::from([]))];
    let selections = merger.merge_selection_sets(catalog.query(), root).map_err(GraphqlErrors::one)?;
    let variables = definitions.iter().map(|definition| merger.variable(definition)).collect();
    let (selection_count, conditions) = (merger.selection_count, merger.conditions);
    Ok(Operation { name: name.map(Arc::from), variables, selections, selection_count, conditions })
}

/// An operation that exceeds a limit after its fragments are spread and literal conditions are decided.
#[derive(Debug, Error)]
enum ExpansionError {
    #[error("the document selects more than {} fields once its fragments are spread", MAX_SELECTIONS)]
    Selections,
    #[error(
        "a field depends on more than {} conditions (`@skip`, `@include`), those of fragments included",
        MAX_CONDITIONS
    )]
    Conditions,
}

impl Diagnostic for ExpansionError {
    fn code(&self) -> ErrorCode {
        ErrorCode::GraphqlValidationFailed
    }

    fn extensions(&self) -> ErrorExtensions {
        let (name, limit) = match self {
            Self::Selections => ("maxSelections", MAX_SELECTIONS),
            Self::Conditions => ("maxConditions", MAX_CONDITIONS),
        };
        ErrorExtensions::from_iter([(name.to_owned(), limit.into())])
    }
}

/// The conditions under which a selection set applies. All must be met.
type ConditionSet = Rc<[DirectiveCondition]>;

struct Merger<'c, 'd, 't> {
    catalog: &'c Catalog,
    fragments: HashMap<&'t str, &'d SelectionSet<'t>>,
    /// The indexes of the declared variables, by name.
    variables: NameMap<'t, usize>,
    /// How many more fields and spreads the operation can have.
    selections_left: usize,
    /// How many selections have an id.
    selection_count: usize,
    /// The variables that conditions have named so far.
    conditions: BTreeSet<usize>,
}

/// A field of the selection sets that are merged.
struct MergedField<'d, 't> {
    field: &'d ast::Field<'t, &'t str>,
    conditions: ConditionSet,
    /// The index of the field's response key among the keys of the merged selection sets.
    key: usize,
    /// The field's index among the fields of the merged selection sets.
    order: u32,
}

impl<'d, 't> Merger<'_, 'd, 't> {
    /// Merges selection sets on one object type.
    fn merge_selection_sets(
        &mut self,
        object: TypeId,
        sets: Vec<(&'d SelectionSet<'t>, ConditionSet)>,
    ) -> Result<Vec<Selection>, GraphqlError> {
        let (fields, keys) = self.collect_fields(sets)?;
        let mut selections = Vec::with_capacity(keys);
        for same_key in fields.chunk_by(|one, other| one.key == other.key) {
            selections.push(self.merge_fields(object, same_key)?);
        }
        Ok(selections)
    }

    /// The fields of selection sets, and the number of their response keys. Keys are in document order, the fields of
    /// one key together. Spreads fragments without recursion, because their chains can be long.
    fn collect_fields(
        &mut self,
        sets: Vec<(&'d SelectionSet<'t>, ConditionSet)>,
    ) -> Result<(Vec<MergedField<'d, 't>>, usize), GraphqlError> {
        let usual = sets.iter().map(|(set, _)| set.items.len()).sum();
        let (mut fields, mut keys) = (Vec::with_capacity(usual), NameMap::with_capacity(usual));
        let mut visited: HashSet<(&str, ConditionSet)> = HashSet::new();
        let mut order = 0;
        let mut pending: Vec<_> = sets.into_iter().rev().map(|(set, outer)| (set.items.iter(), outer)).collect();
        while let Some((items, outer)) = pending.last_mut() {
            let Some(item) = items.next() else {
                pending.pop();
                continue;
            };
            let outer = Rc::clone(outer);
            match item {
                ast::Selection::Field(field) => {
                    let Some(conditions) = self.conditions(&outer, &field.directives, field.position)? else {
                        continue;
                    };
                    if self.selections_left == 0 {
                        return Err(error(&ExpansionError::Selections, field.position));
                    }
                    self.selections_left -= 1;
                    let next = keys.len();
                    let key = *keys.get_or_insert_with(field.alias.unwrap_or(field.name), || next);
                    fields.push(MergedField { field, conditions, key, order });
                    order += 1;
                }
                ast::Selection::InlineFragment(fragment) => {
                    if let Some(conditions) = self.conditions(&outer, &fragment.directives, fragment.position)? {
                        pending.push((fragment.selection_set.items.iter(), conditions));
                    }
                }
                ast::Selection::FragmentSpread(spread) => {
                    let Some(conditions) = self.conditions(&outer, &spread.directives, spread.position)? else {
                        continue;
                    };
                    let Some(set) = self.fragments.get(spread.fragment_name) else { continue };
                    if visited.insert((spread.fragment_name, Rc::clone(&conditions))) {
                        if self.selections_left == 0 {
                            return Err(error(&ExpansionError::Selections, spread.position));
                        }
                        self.selections_left -= 1;
                        pending.push((set.items.iter(), conditions));
                    }
                }
            }
        }
        fields.sort_by_key(|field| field.key);
        Ok((fields, keys.len()))
    }

    /// Merges the fields of one response key, at least one.
    fn merge_fields(&mut self, object: TypeId, same_key: &[MergedField<'d, 't>]) -> Result<Selection, GraphqlError> {
        let field = same_key[0].field;
        let target = self.target(object, field.name);
        let (arguments, selections, takes_arguments) = match target {
            Target::TypeName(_) => (Vec::new(), Vec::new(), false),
            Target::Field(id) => {
                let definition = self.catalog.field(id);
                let index = |name: &str| definition.arguments.iter().position(|argument| argument.name == name);
                let arguments = field.arguments.iter();
                let arguments = arguments.filter_map(|(name, value)| Some((index(name)?, self.literal(value)?)));
                let arguments = arguments.collect();
                let inner = definition.ty.named();
                let sets = same_key.iter().filter(|collected| !collected.field.selection_set.items.is_empty());
                let sets: Vec<_> =
                    sets.map(|collected| (&collected.field.selection_set, Rc::clone(&collected.conditions))).collect();
                let selections = if sets.is_empty() { Vec::new() } else { self.merge_selection_sets(inner, sets)? };
                let takes_arguments = takes_arguments(self.catalog.binding(id))
                    || selections.iter().any(|selection| selection.takes_arguments);
                (arguments, selections, takes_arguments)
            }
        };
        let occurrences = same_key.iter().map(|collected| Occurrence {
            order: collected.order,
            conditions: collected.conditions.to_vec(),
            location: location(collected.field.position),
        });
        let id = SelectionId(self.selection_count);
        self.selection_count += 1;
        Ok(Selection {
            id,
            key: Arc::from(field.alias.unwrap_or(field.name)),
            target,
            arguments,
            location: location(field.position),
            selections,
            occurrences: occurrences.collect(),
            takes_arguments,
        })
    }

    /// The field with that name. The document is valid, so only `__typename` is not a field of the catalog.
    fn target(&self, object: TypeId, name: &str) -> Target {
        let index = self.catalog.object(object).and_then(|definition| definition.field_index(name));
        index.map_or(Target::TypeName(object), |index| Target::Field(FieldId { object, index }))
    }

    /// The outer conditions and the conditions of directives at a position. `None` if a literal condition is not met.
    fn conditions(
        &mut self,
        outer: &ConditionSet,
        directives: &[ast::Directive<'t, &'t str>],
        position: Pos,
    ) -> Result<Option<ConditionSet>, GraphqlError> {
        let mut all: Option<Vec<DirectiveCondition>> = None;
        for directive in directives {
            let expected = match directive.name {
                "include" => true,
                "skip" => false,
                _ => continue,
            };
            match directive.arguments.iter().find(|(name, _)| *name == "if").map(|(_, value)| value) {
                Some(ast::Value::Boolean(value)) if *value != expected => return Ok(None),
                Some(ast::Value::Variable(name)) => {
                    let Some(variable) = self.variables.get(name).copied() else { return Ok(None) };
                    let all = all.get_or_insert_with(|| outer.to_vec());
                    let condition = DirectiveCondition { variable, expected };
                    if !all.contains(&condition) {
                        if all.len() == MAX_CONDITIONS {
                            return Err(error(&ExpansionError::Conditions, position));
                        }
                        all.push(condition);
                    }
                    self.conditions.insert(variable);
                }
                _ => {}
            }
        }
        Ok(Some(all.map_or_else(|| Rc::clone(outer), Rc::from)))
    }

    fn variable(&self, definition: &ast::VariableDefinition<'t, &'t str>) -> VariableDefinition {
        VariableDefinition {
            name: definition.name.to_owned(),
            ty: self.type_ref(&definition.var_type),
            default: definition.default_value.as_ref().and_then(|value| self.literal(value)),
            location: location(definition.position),
        }
    }

    fn type_ref(&self, ty: &ast::Type<'t, &'t str>) -> TypeRef {
        match ty {
            ast::Type::NamedType(name) => {
                TypeRef::Named(self.catalog.named(name).unwrap_or_else(|| self.catalog.query()))
            }
            ast::Type::ListType(inner) => TypeRef::List(Box::new(self.type_ref(inner))),
            ast::Type::NonNullType(inner) => self.type_ref(inner).non_null(),
        }
    }

    /// The value as written; `None` for input objects, which no argument takes, and for undeclared variables.
    fn literal(&self, value: &ast::Value<'t, &'t str>) -> Option<Literal> {
        Some(match value {
            ast::Value::Variable(name) => Literal::Variable(*self.variables.get(name)?),
            ast::Value::Int(number) => Literal::Int(number.as_i64()?),
            ast::Value::Float(number) => Literal::Float(*number),
            ast::Value::String(text) => Literal::String(text.clone()),
            ast::Value::Boolean(value) => Literal::Boolean(*value),
            ast::Value::Null => Literal::Null,
            ast::Value::Enum(name) if is_long_number(name) => Literal::String((*name).to_owned()),
            ast::Value::Enum(name) => Literal::Enum((*name).to_owned()),
            ast::Value::List(values) => {
                Literal::List(values.iter().map(|value| self.literal(value)).collect::<Option<_>>()?)
            }
            ast::Value::Object(_) => return None,
        })
    }
}

/// Whether a field takes arguments itself.
fn takes_arguments(binding: Binding<'_>) -> bool {
    matches!(binding, Binding::Root(_) | Binding::Introspection | Binding::Entity(EntityBinding::Connection(_)))
}

fn error(error: &ExpansionError, position: Pos) -> GraphqlError {
    GraphqlError::new(error, [location(position)])
}
