//! Every place of a document that rules speak of, found in one walk, with the type that the catalog gives it.
//!
//! A rule is then a look at one of these lists. The walk goes as deep as the brackets of one definition, never through a
//! spread: what is behind spreads is asked of [`DocumentIndex::reached`], which does not recurse.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use graphql_parser::Pos;
use graphql_parser::query as ast;

use crate::catalog::Catalog;
use crate::catalog::ids::TypeId;
use crate::catalog::schema::{self, Type, TypeRef};
use crate::error::graphql_error::Location;
use crate::query::parse::document::{Document, location};
use crate::query::validate::directives::{self, DirectiveLocation};

/// The field that every object has.
pub(super) const TYPE_NAME: &str = "__typename";

/// A document, laid out for the rules. `'d` is the document and the catalog, `'a` the text.
pub(super) struct DocumentIndex<'d, 'a> {
    /// What the document is held against.
    pub(super) catalog: &'d Catalog,
    /// The document.
    pub(super) document: &'d Document<'a>,
    /// Its operations and fragments, in document order. The other lists are in the same order.
    pub(super) definitions: Vec<Definition<'d, 'a>>,
    /// The selected fields.
    pub(super) fields: Vec<Selected<'d, 'a>>,
    /// The inline fragments.
    pub(super) inline_fragments: Vec<Inline<'a>>,
    /// The spreads.
    pub(super) spreads: Vec<Spread<'a>>,
    /// What takes arguments, and those that it is given; what neither takes nor is given any is left out.
    pub(super) arguments: Vec<Arguments<'d, 'a>>,
    /// The directives, a list a place.
    pub(super) directives: Vec<(DirectiveLocation, &'d [ast::Directive<'a, &'a str>])>,
    /// The uses of variables.
    pub(super) uses: Vec<Use<'d, 'a>>,
    fragments: HashMap<&'a str, usize>,
}

/// An operation or a fragment.
pub(super) struct Definition<'d, 'a> {
    /// Which of both.
    pub(super) kind: DefinitionKind<'d, 'a>,
    /// Its name; a fragment has one.
    pub(super) name: Option<&'a str>,
    /// Where it begins.
    pub(super) location: Location,
    /// What it selects.
    pub(super) selections: &'d ast::SelectionSet<'a, &'a str>,
    /// The variables that it declares; none for a fragment.
    pub(super) variables: Vec<Variable<'d, 'a>>,
    /// Its part of [`DocumentIndex::spreads`].
    pub(super) spreads: Range<usize>,
    /// The variables that it uses, and which of [`DocumentIndex::uses`] are of each.
    pub(super) uses: BTreeMap<&'a str, Vec<usize>>,
}

/// What a definition is.
pub(super) enum DefinitionKind<'d, 'a> {
    /// An operation.
    Operation(&'d ast::OperationDefinition<'a, &'a str>),
    /// A fragment on the type of that name.
    Fragment(&'a str),
}

/// A variable that an operation declares.
pub(super) struct Variable<'d, 'a> {
    /// Its definition.
    pub(super) definition: &'d ast::VariableDefinition<'a, &'a str>,
    /// The named type at its type's core.
    pub(super) named: &'a str,
    /// Its type, where the catalog knows it.
    pub(super) ty: Option<TypeRef>,
}

/// A field that is selected.
pub(super) struct Selected<'d, 'a> {
    /// The selection.
    pub(super) field: &'d ast::Field<'a, &'a str>,
    /// The type that it is selected from, where it is known to have fields.
    pub(super) parent: Option<TypeId>,
    /// The named type that it has, where it is known.
    pub(super) ty: Option<TypeId>,
}

/// An inline fragment.
pub(super) struct Inline<'a> {
    /// Where it begins.
    pub(super) location: Location,
    /// The name of its type, where it has one.
    pub(super) condition: Option<&'a str>,
    /// The type around it, where it is known.
    pub(super) parent: Option<TypeId>,
}

/// A fragment's spread.
pub(super) struct Spread<'a> {
    /// Where it begins.
    pub(super) location: Location,
    /// The name of the fragment.
    pub(super) name: &'a str,
    /// Which of [`DocumentIndex::definitions`] it is.
    pub(super) target: Option<usize>,
    /// The type around it, where it is known.
    pub(super) parent: Option<TypeId>,
}

/// A field or directive, and the arguments that it is given.
pub(super) struct Arguments<'d, 'a> {
    /// What takes them.
    pub(super) holder: ArgumentOwner<'a>,
    /// Where that begins.
    pub(super) position: Pos,
    /// Names and values, in document order.
    pub(super) given: &'d [(&'a str, ast::Value<'a, &'a str>)],
    /// The arguments that it has, where it is known.
    pub(super) slots: Option<&'d [schema::Argument]>,
}

impl<'d> Arguments<'d, '_> {
    /// The argument of that name that it has.
    pub(super) fn slot(&self, name: &str) -> Option<&'d schema::Argument> {
        self.slots?.iter().find(|slot| slot.name == name)
    }
}

/// What takes arguments.
#[derive(Debug, Clone, Copy)]
pub(super) enum ArgumentOwner<'a> {
    /// A field of that type, where it is known.
    Field(Option<TypeId>, &'a str),
    /// A directive.
    Directive(&'a str),
}

/// A variable's use in the value of an argument.
pub(super) struct Use<'d, 'a> {
    /// The variable.
    pub(super) name: &'a str,
    /// Where the field or directive stands whose argument it is.
    holder: Pos,
    /// The number of the argument.
    argument: usize,
    /// The type that is expected there, where it is known.
    pub(super) expected: Option<&'d TypeRef>,
}

impl Use<'_, '_> {
    /// Where it stands.
    pub(super) fn location(&self, survey: &DocumentIndex<'_, '_>) -> Location {
        survey.document.variable_location(self.holder, self.argument, self.name)
    }
}

impl<'d, 'a> DocumentIndex<'d, 'a> {
    /// Walks a document.
    pub(super) fn new(catalog: &'d Catalog, document: &'d Document<'a>) -> Self {
        let mut fragments = HashMap::new();
        for (place, definition) in document.definitions.iter().enumerate() {
            if let ast::Definition::Fragment(fragment) = definition {
                fragments.entry(fragment.name).or_insert(place);
            }
        }
        let mut survey = Self {
            catalog,
            document,
            definitions: Vec::with_capacity(document.definitions.len()),
            fields: Vec::new(),
            inline_fragments: Vec::new(),
            spreads: Vec::new(),
            arguments: Vec::new(),
            directives: Vec::new(),
            uses: Vec::new(),
            fragments,
        };
        for definition in &document.definitions {
            survey.definition(definition);
        }
        survey
    }

    /// The operations.
    pub(super) fn operations(&self) -> impl Iterator<Item = (usize, &Definition<'d, 'a>)> {
        let is_operation = |definition: &Definition<'_, '_>| matches!(definition.kind, DefinitionKind::Operation(_));
        self.definitions.iter().enumerate().filter(move |(_, definition)| is_operation(definition))
    }

    /// The fragments, with their names and the names of their types.
    pub(super) fn fragments(&self) -> impl Iterator<Item = (&Definition<'d, 'a>, &'a str, &'a str)> {
        self.definitions.iter().filter_map(|definition| match definition.kind {
            DefinitionKind::Fragment(ty) => Some((definition, definition.name?, ty)),
            DefinitionKind::Operation(_) => None,
        })
    }

    /// The fragment of that name: the first, where there are several.
    pub(super) fn fragment(&self, name: &str) -> Option<usize> {
        self.fragments.get(name).copied()
    }

    /// The definitions that spread one another from this one on, itself included, each once.
    pub(super) fn reached(&self, from: usize) -> Vec<usize> {
        let mut seen = vec![false; self.definitions.len()];
        seen[from] = true;
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(at) = reached.get(next).copied() {
            next += 1;
            for spread in &self.spreads[self.definitions[at].spreads.clone()] {
                let target = spread.target.filter(|target| !std::mem::replace(&mut seen[*target], true));
                reached.extend(target);
            }
        }
        reached
    }
}

/// The name of an operation.
pub(super) fn operation_name<'a>(operation: &ast::OperationDefinition<'a, &'a str>) -> Option<&'a str> {
    match operation {
        ast::OperationDefinition::SelectionSet(_) => None,
        ast::OperationDefinition::Query(query) => query.name,
        ast::OperationDefinition::Mutation(mutation) => mutation.name,
        ast::OperationDefinition::Subscription(subscription) => subscription.name,
    }
}

/// Where an operation begins.
pub(super) fn operation_position<'a>(operation: &ast::OperationDefinition<'a, &'a str>) -> Pos {
    match operation {
        ast::OperationDefinition::SelectionSet(set) => set.span.0,
        ast::OperationDefinition::Query(query) => query.position,
        ast::OperationDefinition::Mutation(mutation) => mutation.position,
        ast::OperationDefinition::Subscription(subscription) => subscription.position,
    }
}

/// A field's type and arguments.
type Signature<'d> = (TypeId, &'d [schema::Argument]);

/// The walk.
impl<'d, 'a> DocumentIndex<'d, 'a> {
    fn definition(&mut self, definition: &'d ast::Definition<'a, &'a str>) {
        let (spreads, first_use) = (self.spreads.len(), self.uses.len());
        let query = self.catalog.query();
        let no_variables: &[_] = &[];
        let (kind, name, position, variables, directives, place, selections, parent) = match definition {
            ast::Definition::Operation(operation) => {
                let kind = DefinitionKind::Operation(operation);
                let name = operation_name(operation);
                let position = operation_position(operation);
                let (variables, directives, set, root) = match operation {
                    ast::OperationDefinition::SelectionSet(set) => (no_variables, &[][..], set, Some(query)),
                    ast::OperationDefinition::Query(q) => {
                        (&q.variable_definitions[..], &q.directives[..], &q.selection_set, Some(query))
                    }
                    ast::OperationDefinition::Mutation(m) => {
                        (&m.variable_definitions[..], &m.directives[..], &m.selection_set, None)
                    }
                    ast::OperationDefinition::Subscription(s) => {
                        (&s.variable_definitions[..], &s.directives[..], &s.selection_set, None)
                    }
                };
                (kind, name, position, variables, directives, DirectiveLocation::Operation, set, root)
            }
            ast::Definition::Fragment(fragment) => {
                let ast::TypeCondition::On(ty) = fragment.type_condition;
                let parent = self.object(ty);
                let kind = DefinitionKind::Fragment(ty);
                let (directives, set) = (&fragment.directives[..], &fragment.selection_set);
                (
                    kind,
                    Some(fragment.name),
                    fragment.position,
                    no_variables,
                    directives,
                    DirectiveLocation::Fragment,
                    set,
                    parent,
                )
            }
        };
        self.directives(place, directives);
        self.selections(selections, parent);
        let variables = variables.iter().map(|definition| self.variable(definition)).collect();
        let mut uses: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (place, variable_use) in self.uses.iter().enumerate().skip(first_use) {
            uses.entry(variable_use.name).or_default().push(place);
        }
        self.definitions.push(Definition {
            kind,
            name,
            location: location(position),
            selections,
            variables,
            spreads: spreads..self.spreads.len(),
            uses,
        });
    }

    fn variable(&self, definition: &'d ast::VariableDefinition<'a, &'a str>) -> Variable<'d, 'a> {
        let ty = self.type_ref(&definition.var_type);
        Variable { definition, named: core(&definition.var_type), ty }
    }

    fn type_ref(&self, ty: &ast::Type<'a, &'a str>) -> Option<TypeRef> {
        Some(match ty {
            ast::Type::NamedType(name) => TypeRef::Named(self.catalog.named(name)?),
            ast::Type::ListType(inner) => TypeRef::List(Box::new(self.type_ref(inner)?)),
            ast::Type::NonNullType(inner) => self.type_ref(inner)?.non_null(),
        })
    }

    fn object(&self, name: &str) -> Option<TypeId> {
        let catalog = self.catalog;
        catalog.named(name).filter(|id| catalog.object(*id).is_some())
    }

    fn selections(&mut self, set: &'d ast::SelectionSet<'a, &'a str>, parent: Option<TypeId>) {
        for selection in &set.items {
            match selection {
                ast::Selection::Field(field) => self.field(field, parent),
                ast::Selection::FragmentSpread(spread) => {
                    self.spreads.push(Spread {
                        location: location(spread.position),
                        name: spread.fragment_name,
                        target: self.fragment(spread.fragment_name),
                        parent,
                    });
                    self.directives(DirectiveLocation::Spread, &spread.directives);
                }
                ast::Selection::InlineFragment(fragment) => {
                    let condition = fragment.type_condition.as_ref().map(|ast::TypeCondition::On(name)| *name);
                    let location = location(fragment.position);
                    self.inline_fragments.push(Inline { location, condition, parent });
                    self.directives(DirectiveLocation::InlineFragment, &fragment.directives);
                    let inner = condition.map_or(parent, |name| self.object(name));
                    self.selections(&fragment.selection_set, inner);
                }
            }
        }
    }

    fn field(&mut self, field: &'d ast::Field<'a, &'a str>, parent: Option<TypeId>) {
        let known = parent.and_then(|parent| self.signature(parent, field.name));
        let ty = known.map(|(ty, _)| ty);
        self.fields.push(Selected { field, parent, ty });
        let slots = known.map(|(_, arguments)| arguments);
        self.arguments(ArgumentOwner::Field(parent, field.name), field.position, &field.arguments, slots);
        self.directives(DirectiveLocation::Field, &field.directives);
        let inner = ty.filter(|ty| self.catalog.object(*ty).is_some());
        self.selections(&field.selection_set, inner);
    }

    /// A field that a type has, published or not.
    fn signature(&self, parent: TypeId, name: &str) -> Option<Signature<'d>> {
        let catalog = self.catalog;
        if name == TYPE_NAME {
            return Some((catalog.named("String")?, &[]));
        }
        let object = catalog.object(parent)?;
        let field = object.field(object.field_index(name)?);
        Some((field.ty.named(), &field.arguments))
    }

    fn directives(&mut self, place: DirectiveLocation, directives: &'d [ast::Directive<'a, &'a str>]) {
        if directives.is_empty() {
            return;
        }
        self.directives.push((place, directives));
        for directive in directives {
            let slots = directives::arguments(self.catalog, directive.name);
            self.arguments(ArgumentOwner::Directive(directive.name), directive.position, &directive.arguments, slots);
        }
    }

    fn arguments(
        &mut self,
        holder: ArgumentOwner<'a>,
        position: Pos,
        given: &'d [(&'a str, ast::Value<'a, &'a str>)],
        slots: Option<&'d [schema::Argument]>,
    ) {
        if given.is_empty() && slots.is_none_or(<[_]>::is_empty) {
            return;
        }
        let arguments = Arguments { holder, position, given, slots };
        for (argument, (name, value)) in given.iter().enumerate() {
            // Where nothing is given there is the default, so that a variable may be left out.
            let expected =
                arguments.slot(name).map(|slot| if slot.default.is_some() { nullable(&slot.ty) } else { &slot.ty });
            self.value(value, expected, position, argument);
        }
        self.arguments.push(arguments);
    }

    fn value(
        &mut self,
        value: &'d ast::Value<'a, &'a str>,
        expected: Option<&'d TypeRef>,
        holder: Pos,
        argument: usize,
    ) {
        match value {
            ast::Value::Variable(name) => self.uses.push(Use { name, holder, argument, expected }),
            ast::Value::List(values) => {
                let element = expected.map(|ty| match nullable(ty) {
                    TypeRef::List(inner) => inner,
                    other => other,
                });
                for value in values {
                    self.value(value, element, holder, argument);
                }
            }
            ast::Value::Object(fields) => {
                // No type of the schema is an input object.
                for value in fields.values() {
                    self.value(value, None, holder, argument);
                }
            }
            _ => {}
        }
    }
}

/// The type, null allowed.
pub(super) fn nullable(ty: &TypeRef) -> &TypeRef {
    match ty {
        TypeRef::NonNull(inner) => inner,
        TypeRef::Named(_) | TypeRef::List(_) => ty,
    }
}

/// The name at a type's core.
fn core<'a>(ty: &ast::Type<'a, &'a str>) -> &'a str {
    match ty {
        ast::Type::NamedType(name) => name,
        ast::Type::ListType(inner) | ast::Type::NonNullType(inner) => core(inner),
    }
}

/// The names of the types of which a fragment can be.
pub(super) fn object_names(catalog: &Catalog) -> impl Iterator<Item = &str> {
    catalog.types().iter().filter_map(Type::as_object).map(|object| object.name.as_str())
}

/// The names of the types that a variable can have.
pub(super) fn input_names(catalog: &Catalog) -> impl Iterator<Item = &str> {
    catalog.types().iter().filter(|ty| ty.as_object().is_none()).map(Type::name)
}
