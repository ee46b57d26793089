//! The values of a request: what its variables and arguments come to, step by step.

use std::mem;

use crate::catalog::Catalog;
use crate::catalog::binding::{Binding, Connection, Lookup};
use crate::catalog::introspection::SchemaElement;
use crate::catalog::meta_field::MetaField;
use crate::catalog::schema::{ArgumentRole, Field};
use crate::error::graphql_error::{GraphqlError, GraphqlErrors};
use crate::limits::Limits;
use crate::query::Variables;
use crate::query::bind::argument::{self, Arguments};
use crate::query::bind::error::BindError;
use crate::query::bind::introspection::{Asked, Constant, Introspector, Question, TooLarge, most_bytes};
use crate::query::bind::page::{self, Page};
use crate::query::bind::terms::{self, BoundTerm};
use crate::query::bind::variable::{self, Values};
use crate::query::operation::{Literal, Operation, Selection, Target};
use crate::value::Value;

/// The values of a request.
pub struct Resolved<'a> {
    /// What its variables come to.
    pub(super) values: Values<'a>,
    /// What its steps take, by [`StepId`](super::StepId): its connections and point roots, in the order of the response.
    pub steps: Vec<StepArguments>,
    /// What introspection answers, in the order of the response.
    pub constants: Vec<Constant<'a>>,
}

/// What a step takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepArguments {
    /// A root that finds one row.
    Lookup {
        /// The keys to look for: their place among the root's keys, and the values.
        keys: Vec<(usize, Value)>,
    },
    /// A page of a connection.
    Connection {
        /// The sort key's place among the connection's.
        sort_key: usize,
        /// Whether the walk goes from the other end.
        reverse: bool,
        /// How much is asked for, from which end, between which cursors.
        page: Page,
        /// The search terms.
        terms: Vec<BoundTerm>,
    },
}

impl StepArguments {
    /// How many rows are asked for, of each parent.
    pub fn size(&self) -> u32 {
        match self {
            Self::Lookup { .. } => 1,
            Self::Connection { page, .. } => page.size.get(),
        }
    }

    /// The keys of a point root; a connection has none.
    pub fn keys(&self) -> &[(usize, Value)] {
        match self {
            Self::Lookup { keys } => keys,
            Self::Connection { .. } => &[],
        }
    }

    /// The page of a connection; a point root has none.
    pub fn page(&self) -> Option<&Page> {
        match self {
            Self::Lookup { .. } => None,
            Self::Connection { page, .. } => Some(page),
        }
    }

    /// The search terms of a connection; a point root has none.
    pub fn terms(&self) -> &[BoundTerm] {
        match self {
            Self::Lookup { .. } => &[],
            Self::Connection { terms, .. } => terms,
        }
    }
}

impl Resolved<'_> {
    /// The truth of a boolean variable, by its place.
    pub fn truth(&self, variable: usize) -> Option<bool> {
        self.values.truth(variable)
    }
}

/// Resolves every value of a request. All violations are reported, in document order.
pub fn resolve<'a>(
    catalog: &'a Catalog,
    operation: &'a Operation,
    variables: &Variables,
    limits: &Limits,
) -> Result<Resolved<'a>, GraphqlErrors> {
    let values = variable::coerce(catalog, &operation.variables, variables)?;
    let teller = Introspector { catalog, left: most_bytes(catalog), is_exhausted: false };
    let steps = Vec::with_capacity(4);
    let mut resolver = Resolver { catalog, operation, limits, values, teller, steps, constants: vec![], found: vec![] };
    resolver.selections(&operation.selections);
    GraphqlErrors::check(resolver.found)?;
    Ok(Resolved { values: resolver.values, steps: resolver.steps, constants: resolver.constants })
}

struct Resolver<'a, 'v> {
    catalog: &'a Catalog,
    operation: &'a Operation,
    limits: &'v Limits,
    values: Values<'a>,
    teller: Introspector<'a>,
    steps: Vec<StepArguments>,
    constants: Vec<Constant<'a>>,
    found: Vec<GraphqlError>,
}

impl<'a> Resolver<'a, '_> {
    fn selections(&mut self, selections: &'a [Selection]) {
        if self.operation.conditions.is_empty() {
            for selection in selections {
                self.selection(selection);
            }
        } else {
            for selection in self.values.selected(selections) {
                self.selection(selection);
            }
        }
    }

    fn selection(&mut self, selection: &'a Selection) {
        if !selection.takes_arguments {
            return;
        }
        let Target::Field(id) = selection.target else { return };
        let field = self.catalog.field(id);
        match &field.binding {
            Binding::Lookup(point) => self.point(selection, field, point),
            Binding::Connection(connection) => self.connection(selection, field, connection),
            // What is selected from an introspection type is resolved with it.
            Binding::Introspection(fact) => return self.introspection(selection, field, *fact),
            _ => {}
        }
        self.selections(&selection.selections);
    }

    fn point(&mut self, selection: &'a Selection, field: &'a Field, binding: &'a Lookup) {
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let keys = argument::keys(&arguments, binding).unwrap_or_else(|errors| {
            self.refuse(selection, errors);
            Vec::new()
        });
        self.steps.push(StepArguments::Lookup { keys });
    }

    fn connection(&mut self, selection: &'a Selection, field: &'a Field, binding: &'a Connection) {
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let mut errors = Vec::new();
        let (sort_key, reverse) = argument::order(&arguments, binding);
        let (end, size) = page::size(&arguments, self.limits, &mut errors);
        let terms = terms::terms(&arguments, binding, &mut errors);
        let (after, before) = page::cursors(&arguments, &binding.sort_keys[sort_key], reverse, &mut errors);
        let page = Page { size, end, after, before };
        self.refuse(selection, errors);
        self.steps.push(StepArguments::Connection { sort_key, reverse, page, terms });
    }

    /// `__schema` or `__type`.
    fn introspection(&mut self, selection: &'a Selection, field: &'a Field, fact: MetaField) {
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let thing = match fact {
            MetaField::TypeOfName => match arguments.get(ArgumentRole::TypeName) {
                Some(Literal::String(name)) => self.catalog.named(name).map(SchemaElement::Type),
                _ => None,
            },
            _ => Some(SchemaElement::Schema),
        };
        let nulls: Vec<_> = arguments.nulls().collect();
        self.refuse(selection, nulls);
        let asked = self.asked(&selection.selections);
        let told = match thing {
            Some(thing) => self.teller.object(thing, &asked),
            None => self.teller.null(),
        };
        let constant = told.unwrap_or_else(|TooLarge| {
            if !mem::replace(&mut self.teller.is_exhausted, true) {
                self.refuse(selection, [BindError::IntrospectionTooLarge { max_bytes: most_bytes(self.catalog) }]);
            }
            Constant::Null
        });
        self.constants.push(constant);
    }

    /// What is selected from an introspection type.
    fn asked(&mut self, selections: &'a [Selection]) -> Vec<Asked<'a>> {
        self.values.selected(selections).into_iter().map(|selection| self.question(selection)).collect()
    }

    fn question(&mut self, selection: &'a Selection) -> Asked<'a> {
        let question = match selection.target {
            Target::TypeName(object) => Question::TypeName(self.catalog.get(object).name()),
            Target::Field(id) => {
                let field = self.catalog.field(id);
                let Binding::Introspection(fact) = &field.binding else {
                    unreachable!("an introspection type has fields of introspection alone")
                };
                let arguments = Arguments::new(field, &selection.arguments, &self.values);
                let include_deprecated =
                    arguments.get(ArgumentRole::IncludeDeprecated) == Some(&Literal::Boolean(true));
                let nulls: Vec<_> = arguments.nulls().collect();
                self.refuse(selection, nulls);
                Question::MetaField { fact: *fact, include_deprecated, asked: self.asked(&selection.selections) }
            }
        };
        Asked { key: &selection.key, question }
    }

    fn refuse(&mut self, selection: &Selection, errors: impl IntoIterator<Item = BindError>) {
        self.found.extend(errors.into_iter().map(|error| GraphqlError::new(&error, [selection.location])));
    }
}
