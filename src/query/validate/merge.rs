//! A valid document to an operation: fragments are spread, and what is selected under one response key becomes one
//! selection (the specification's `CollectFields` and `MergeSelectionSets`, with the conditions kept for later).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use graphql_parser::query as ast;

use crate::catalog::Catalog;
use crate::catalog::binding::Binding;
use crate::catalog::ids::{FieldId, TypeId};
use crate::catalog::schema::TypeRef;
use crate::error::code::ErrorCode;
use crate::error::diagnostic::{Diagnostic, ErrorExtensions};
use crate::error::graphql_error::{GraphqlError, GraphqlErrors};
use crate::query::operation::{
    Condition, Literal, Occurrence, Operation, Selection, SelectionId, Target, VariableDefinition,
};
use crate::query::parse::document::{Document, is_long_number, location};
use crate::query::validate::names::ByName;

/// The most selections that a document may come to once its fragments are spread.
pub(super) const MOST_SELECTIONS: usize = 10_000;

/// The most levels that are followed. Every caller's own maximum is far below it; this one guards the stack.
pub(super) const MOST_LEVELS: usize = 64;

type SelectionSet<'a> = ast::SelectionSet<'a, &'a str>;

/// Merges an operation of a document that every rule has passed.
pub(super) fn merge<'t>(
    catalog: &Catalog,
    document: &Document<'t>,
    operation: &ast::OperationDefinition<'t, &'t str>,
) -> Result<Operation, GraphqlErrors> {
    let (name, definitions, selection_set) = match operation {
        ast::OperationDefinition::SelectionSet(set) => (None, &[][..], set),
        ast::OperationDefinition::Query(query) => {
            (query.name.map(Arc::from), &query.variable_definitions[..], &query.selection_set)
        }
        ast::OperationDefinition::Mutation(other) => {
            (other.name.map(Arc::from), &other.variable_definitions[..], &other.selection_set)
        }
        ast::OperationDefinition::Subscription(other) => {
            (other.name.map(Arc::from), &other.variable_definitions[..], &other.selection_set)
        }
    };
    let fragments = document.definitions.iter().filter_map(|definition| match definition {
        ast::Definition::Fragment(fragment) => Some((fragment.name, &fragment.selection_set)),
        ast::Definition::Operation(_) => None,
    });
    let variables = (0..).zip(definitions).map(|(place, definition)| (definition.name, place)).collect();
    let mut merger = Merger {
        catalog,
        fragments: fragments.collect(),
        variables,
        budget: MOST_SELECTIONS,
        selection_count: 0,
        conditions: BTreeSet::new(),
    };
    let root = vec![(selection_set, Rc::from([]))];
    let selections = merger.collect(catalog.query(), root, 0).map_err(GraphqlErrors::one)?;
    let variables = definitions.iter().map(|definition| merger.variable(definition)).collect();
    let (selection_count, conditions) = (merger.selection_count, merger.conditions);
    Ok(Operation { name, variables, selections, selection_count, conditions })
}

/// A document that grows too large when its fragments are spread.
#[derive(Debug)]
enum Overgrown {
    Wide,
    Deep,
}

impl fmt::Display for Overgrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wide => {
                write!(f, "the document selects more than {MOST_SELECTIONS} fields once its fragments are spread")
            }
            Self::Deep => write!(f, "the document nests more than {MOST_LEVELS} levels; split it into several queries"),
        }
    }
}

impl Diagnostic for Overgrown {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Wide => ErrorCode::GraphqlValidationFailed,
            Self::Deep => ErrorCode::DepthExceeded,
        }
    }

    fn extensions(&self) -> ErrorExtensions {
        let (name, bound) = match self {
            Self::Wide => ("maxSelections", MOST_SELECTIONS),
            Self::Deep => ("maxLevels", MOST_LEVELS),
        };
        ErrorExtensions::from_iter([(name.to_owned(), bound.into())])
    }
}

/// The conditions on the way to a selection set, all of which must hold.
type Conditions = Rc<[Condition]>;

struct Merger<'c, 'd, 't> {
    catalog: &'c Catalog,
    fragments: HashMap<&'t str, &'d SelectionSet<'t>>,
    variables: ByName<'t, usize>,
    budget: usize,
    /// The selections that have an id.
    selection_count: usize,
    conditions: BTreeSet<usize>,
}

/// A field that is selected in one place of the response.
struct Found<'d, 't> {
    field: &'d ast::Field<'t, &'t str>,
    conditions: Conditions,
    /// The number of its response key among those of the place.
    key: usize,
    /// Its own number among the place's fields.
    order: u32,
}

impl<'d, 't> Merger<'_, 'd, 't> {
    /// Merges what several selection sets select from one type.
    fn collect(
        &mut self,
        object: TypeId,
        sets: Vec<(&'d SelectionSet<'t>, Conditions)>,
        level: usize,
    ) -> Result<Vec<Selection>, GraphqlError> {
        let (fields, keys) = self.fields(sets, level)?;
        let mut selections = Vec::with_capacity(keys);
        for alike in fields.chunk_by(|one, other| one.key == other.key) {
            selections.push(self.selection(object, alike, level)?);
        }
        Ok(selections)
    }

    /// The selected fields, and how many response keys they have: those of one key together, in document order, and so the
    /// keys. Spreads fragments in that order and without recursion, for their chains can be long.
    fn fields(
        &mut self,
        sets: Vec<(&'d SelectionSet<'t>, Conditions)>,
        level: usize,
    ) -> Result<(Vec<Found<'d, 't>>, usize), GraphqlError> {
        let usual = sets.iter().map(|(set, _)| set.items.len()).sum();
        let (mut fields, mut keys) = (Vec::with_capacity(usual), ByName::with_capacity(usual));
        let mut spread: HashSet<(&str, Conditions)> = HashSet::new();
        let mut order = 0;
        let mut pending: Vec<_> = sets.into_iter().rev().map(|(set, given)| (set.items.iter(), given)).collect();
        while let Some((items, given)) = pending.last_mut() {
            let Some(item) = items.next() else {
                pending.pop();
                continue;
            };
            let given = Rc::clone(given);
            match item {
                ast::Selection::Field(field) => {
                    let Some(conditions) = self.conditions(&given, &field.directives) else { continue };
                    if self.budget == 0 {
                        return Err(GraphqlError::new(&Overgrown::Wide, [location(field.position)]));
                    }
                    if level == MOST_LEVELS {
                        return Err(GraphqlError::new(&Overgrown::Deep, [location(field.position)]));
                    }
                    self.budget -= 1;
                    let next = keys.len();
                    let key = *keys.entry(field.alias.unwrap_or(field.name), || next);
                    fields.push(Found { field, conditions, key, order });
                    order += 1;
                }
                ast::Selection::InlineFragment(fragment) => {
                    if let Some(conditions) = self.conditions(&given, &fragment.directives) {
                        pending.push((fragment.selection_set.items.iter(), conditions));
                    }
                }
                ast::Selection::FragmentSpread(spread_here) => {
                    let Some(conditions) = self.conditions(&given, &spread_here.directives) else { continue };
                    let Some(set) = self.fragments.get(spread_here.fragment_name) else { continue };
                    if spread.insert((spread_here.fragment_name, Rc::clone(&conditions))) {
                        if self.budget == 0 {
                            return Err(GraphqlError::new(&Overgrown::Wide, [location(spread_here.position)]));
                        }
                        self.budget -= 1;
                        pending.push((set.items.iter(), conditions));
                    }
                }
            }
        }
        fields.sort_by_key(|found| found.key);
        Ok((fields, keys.len()))
    }

    fn selection(&mut self, object: TypeId, alike: &[Found<'d, 't>], level: usize) -> Result<Selection, GraphqlError> {
        let field = alike[0].field;
        let target = self.target(object, field.name);
        let (arguments, selections, takes_arguments) = match target {
            Target::TypeName(_) => (Vec::new(), Vec::new(), false),
            Target::Field(id) => {
                let definition = self.catalog.field(id);
                let place = |name: &str| definition.arguments.iter().position(|argument| argument.name == name);
                let arguments = field.arguments.iter();
                let arguments = arguments.filter_map(|(name, value)| Some((place(name)?, self.literal(value)?)));
                let arguments = arguments.collect();
                let inner = definition.ty.named();
                let sets = alike.iter().filter(|found| !found.field.selection_set.items.is_empty());
                let sets: Vec<_> =
                    sets.map(|found| (&found.field.selection_set, Rc::clone(&found.conditions))).collect();
                let selections = if sets.is_empty() { Vec::new() } else { self.collect(inner, sets, level + 1)? };
                let takes_arguments = match definition.binding {
                    Binding::Lookup(_) | Binding::Connection(_) | Binding::Introspection(_) => true,
                    _ => selections.iter().any(|selection| selection.takes_arguments),
                };
                (arguments, selections, takes_arguments)
            }
        };
        let occurrences = alike.iter().map(|found| Occurrence {
            order: found.order,
            conditions: found.conditions.to_vec(),
            location: location(found.field.position),
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

    /// The field of that name. The rules have made sure that there is one.
    fn target(&self, object: TypeId, name: &str) -> Target {
        let index = self.catalog.object(object).and_then(|definition| definition.field_index(name));
        index.map_or(Target::TypeName(object), |index| Target::Field(FieldId { object, index }))
    }

    /// The conditions with those of a place's directives; `None` where it can never be selected.
    fn conditions(&mut self, given: &Conditions, directives: &[ast::Directive<'t, &'t str>]) -> Option<Conditions> {
        let mut all: Option<Vec<Condition>> = None;
        for directive in directives {
            let wanted = match directive.name {
                "include" => true,
                "skip" => false,
                _ => continue,
            };
            match directive.arguments.iter().find(|(name, _)| *name == "if").map(|(_, value)| value) {
                Some(ast::Value::Boolean(truth)) if *truth != wanted => return None,
                Some(ast::Value::Variable(name)) => {
                    let variable = *self.variables.get(name)?;
                    let all = all.get_or_insert_with(|| given.to_vec());
                    let condition = Condition { variable, wanted };
                    if !all.contains(&condition) {
                        all.push(condition);
                    }
                    self.conditions.insert(variable);
                }
                _ => {}
            }
        }
        Some(all.map_or_else(|| Rc::clone(given), Rc::from))
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

    /// The value as written; `None` for input objects, which no argument takes.
    fn literal(&self, value: &ast::Value<'t, &'t str>) -> Option<Literal> {
        Some(match value {
            ast::Value::Variable(name) => Literal::Variable(*self.variables.get(name)?),
            ast::Value::Int(number) => Literal::Int(number.as_i64()?),
            ast::Value::Float(number) => Literal::Float(*number),
            ast::Value::String(text) => Literal::String(text.clone()),
            ast::Value::Boolean(truth) => Literal::Boolean(*truth),
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
