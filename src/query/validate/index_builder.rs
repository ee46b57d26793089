//! Builds the index of a document in one pass. The recursion goes as deep as the brackets of one definition: fragment
//! spreads are listed, not followed.

use std::collections::{BTreeMap, HashMap};

use graphql_parser::query as ast;

use crate::catalog::Catalog;
use crate::catalog::ids::TypeId;
use crate::catalog::schema::{self, TypeRef};
use crate::query::parse::document::{DefinitionParts, Document, location, operation_parts};
use crate::query::validate::directives::{self, DirectiveLocation};
use crate::query::validate::document_index::{
    ArgumentList, ArgumentOwner, ArgumentPlace, DeclaredVariable, DefinitionKind, DocumentIndex, FragmentSpread,
    IndexedDefinition, InlineFragment, SelectedField, TYPE_NAME, VariableUsage,
};
use crate::query::validate::work::Work;

/// Builds the index of a document.
pub(super) fn build<'d, 'a>(catalog: &'d Catalog, document: &'d Document<'a>) -> DocumentIndex<'d, 'a> {
    let mut fragments = HashMap::new();
    for (index, definition) in document.definitions.iter().enumerate() {
        if let ast::Definition::Fragment(fragment) = definition {
            fragments.entry(fragment.name).or_insert(index);
        }
    }
    let index = DocumentIndex {
        catalog,
        document,
        definitions: Vec::with_capacity(document.definitions.len()),
        fields: Vec::new(),
        inline_fragments: Vec::new(),
        fragment_spreads: Vec::new(),
        argument_lists: Vec::new(),
        directives: Vec::new(),
        variable_usages: Vec::new(),
        fragments,
        work: Work::default(),
    };
    let mut builder = IndexBuilder { catalog, index };
    for definition in &document.definitions {
        builder.definition(definition);
    }
    builder.index
}

/// A field's named type and declared arguments.
type Signature<'d> = (TypeId, &'d [schema::Argument]);

struct IndexBuilder<'d, 'a> {
    catalog: &'d Catalog,
    index: DocumentIndex<'d, 'a>,
}

impl<'d, 'a> IndexBuilder<'d, 'a> {
    fn definition(&mut self, definition: &'d ast::Definition<'a, &'a str>) {
        let (first_spread, first_usage) = (self.index.fragment_spreads.len(), self.index.variable_usages.len());
        let (kind, parts, directive_location, ty) = match definition {
            ast::Definition::Operation(operation) => {
                let is_query = !matches!(
                    operation,
                    ast::OperationDefinition::Mutation(_) | ast::OperationDefinition::Subscription(_)
                );
                let ty = is_query.then(|| self.catalog.query());
                let kind = DefinitionKind::Operation(operation);
                (kind, operation_parts(operation), DirectiveLocation::Operation, ty)
            }
            ast::Definition::Fragment(fragment) => {
                let ast::TypeCondition::On(ty) = fragment.type_condition;
                let parts = DefinitionParts {
                    name: Some(fragment.name),
                    position: fragment.position,
                    variables: &[],
                    directives: &fragment.directives,
                    selection_set: &fragment.selection_set,
                };
                (DefinitionKind::Fragment(ty), parts, DirectiveLocation::FragmentDefinition, self.object(ty))
            }
        };
        self.directives(directive_location, parts.directives);
        self.selection_set(parts.selection_set, ty);
        let variables = parts.variables.iter().map(|definition| self.variable(definition)).collect();
        let index = &mut self.index;
        let mut variable_usages: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (number, usage) in index.variable_usages.iter().enumerate().skip(first_usage) {
            variable_usages.entry(usage.name).or_default().push(number);
        }
        index.definitions.push(IndexedDefinition {
            kind,
            name: parts.name,
            location: location(parts.position),
            selection_set: parts.selection_set,
            variables,
            fragment_spreads: first_spread..index.fragment_spreads.len(),
            variable_usages,
        });
    }

    fn variable(&self, definition: &'d ast::VariableDefinition<'a, &'a str>) -> DeclaredVariable<'d, 'a> {
        let ty = self.type_ref(&definition.var_type);
        DeclaredVariable { definition, type_name: type_name(&definition.var_type), ty }
    }

    fn type_ref(&self, ty: &ast::Type<'a, &'a str>) -> Option<TypeRef> {
        Some(match ty {
            ast::Type::NamedType(name) => TypeRef::Named(self.catalog.named(name)?),
            ast::Type::ListType(inner) => TypeRef::List(Box::new(self.type_ref(inner)?)),
            ast::Type::NonNullType(inner) => self.type_ref(inner)?.non_null(),
        })
    }

    fn object(&self, name: &str) -> Option<TypeId> {
        self.catalog.named(name).filter(|id| self.catalog.object(*id).is_some())
    }

    fn selection_set(&mut self, set: &'d ast::SelectionSet<'a, &'a str>, parent: Option<TypeId>) {
        for selection in &set.items {
            match selection {
                ast::Selection::Field(field) => self.field(field, parent),
                ast::Selection::FragmentSpread(spread) => {
                    self.index.fragment_spreads.push(FragmentSpread {
                        location: location(spread.position),
                        name: spread.fragment_name,
                        target: self.index.fragment(spread.fragment_name),
                        parent,
                    });
                    self.directives(DirectiveLocation::FragmentSpread, &spread.directives);
                }
                ast::Selection::InlineFragment(fragment) => {
                    let type_condition = fragment.type_condition.as_ref().map(|ast::TypeCondition::On(name)| *name);
                    let location = location(fragment.position);
                    self.index.inline_fragments.push(InlineFragment { location, type_condition, parent });
                    self.directives(DirectiveLocation::InlineFragment, &fragment.directives);
                    let inner = type_condition.map_or(parent, |name| self.object(name));
                    self.selection_set(&fragment.selection_set, inner);
                }
            }
        }
    }

    fn field(&mut self, field: &'d ast::Field<'a, &'a str>, parent: Option<TypeId>) {
        let signature = parent.and_then(|parent| self.signature(parent, field.name));
        let ty = signature.map(|(ty, _)| ty);
        self.index.fields.push(SelectedField { field, parent, ty });
        let declared = signature.map(|(_, arguments)| arguments);
        let owner = ArgumentOwner::Field(parent, field.name);
        self.arguments(ArgumentList { owner, position: field.position, given: &field.arguments, declared });
        self.directives(DirectiveLocation::Field, &field.directives);
        let inner = ty.filter(|ty| self.catalog.object(*ty).is_some());
        self.selection_set(&field.selection_set, inner);
    }

    /// The signature of a field, meta-fields included.
    fn signature(&self, parent: TypeId, name: &str) -> Option<Signature<'d>> {
        let catalog = self.catalog;
        if name == TYPE_NAME {
            return Some((catalog.named("String")?, &[]));
        }
        let object = catalog.object(parent)?;
        let field = object.field(object.field_index(name)?);
        Some((field.ty.named(), &field.arguments))
    }

    fn directives(&mut self, location: DirectiveLocation, directives: &'d [ast::Directive<'a, &'a str>]) {
        if directives.is_empty() {
            return;
        }
        self.index.directives.push((location, directives));
        for directive in directives {
            // The arguments of directives that belong in schemas are not checked: the directive is an error already.
            let definition = directives::named(self.catalog, directive.name);
            let definition = definition.filter(|definition| directives::is_executable(definition));
            let declared = definition.map(|definition| &definition.arguments[..]);
            let (owner, position) = (ArgumentOwner::Directive(directive.name), directive.position);
            self.arguments(ArgumentList { owner, position, given: &directive.arguments, declared });
        }
    }

    fn arguments(&mut self, list: ArgumentList<'d, 'a>) {
        if list.given.is_empty() && list.declared.is_none_or(<[_]>::is_empty) {
            return;
        }
        for (argument, (name, value)) in list.given.iter().enumerate() {
            // An argument with a default accepts a variable without a value.
            let expected = list.declaration(name).map(|argument| match &argument.default {
                Some(_) => nullable(&argument.ty),
                None => &argument.ty,
            });
            self.value(value, expected, ArgumentPlace { owner: list.position, argument });
        }
        self.index.argument_lists.push(list);
    }

    /// Lists the variables in a value of an argument.
    fn value(&mut self, value: &'d ast::Value<'a, &'a str>, expected: Option<&'d TypeRef>, place: ArgumentPlace) {
        match value {
            ast::Value::Variable(name) => {
                self.index.variable_usages.push(VariableUsage { name, place, expected });
            }
            ast::Value::List(values) => {
                let element = expected.map(|ty| match nullable(ty) {
                    TypeRef::List(inner) => inner,
                    other @ (TypeRef::Named(_) | TypeRef::NonNull(_)) => other,
                });
                for value in values {
                    self.value(value, element, place);
                }
            }
            ast::Value::Object(fields) => {
                // The schema has no input objects.
                for value in fields.values() {
                    self.value(value, None, place);
                }
            }
            ast::Value::Int(_)
            | ast::Value::Float(_)
            | ast::Value::String(_)
            | ast::Value::Boolean(_)
            | ast::Value::Null
            | ast::Value::Enum(_) => {}
        }
    }
}

/// The nullable type inside a non-null type.
fn nullable(ty: &TypeRef) -> &TypeRef {
    match ty {
        TypeRef::NonNull(inner) => inner,
        TypeRef::Named(_) | TypeRef::List(_) => ty,
    }
}

/// The name of the type inside all lists and non-null types.
fn type_name<'a>(ty: &ast::Type<'a, &'a str>) -> &'a str {
    match ty {
        ast::Type::NamedType(name) => name,
        ast::Type::ListType(inner) | ast::Type::NonNullType(inner) => type_name(inner),
    }
}
