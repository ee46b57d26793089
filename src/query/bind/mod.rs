//! Operation and variables to an operation whose every value is known: conditions decided, page sizes inside the limits,
//! search terms typed, cursors read. Whatever comes after cannot fail.

pub mod argument;
pub mod error;
pub mod introspection;
pub mod page;
pub mod terms;
mod variable;

use std::mem;

use crate::catalog::Catalog;
use crate::catalog::binding::{Aggregate, Binding, Column, Connection, One, PageFact, Point};
use crate::catalog::introspection::{Fact, Thing};
use crate::catalog::schema::{ArgumentRole, Field, FieldId, TypeId};
use crate::limits::Limits;
use crate::query::Variables;
use crate::query::bind::argument::Arguments;
use crate::query::bind::error::BindError;
use crate::query::bind::introspection::{Asked, Constant, Question, Teller, TooLarge, most_bytes};
use crate::query::bind::page::{Page, Written};
use crate::query::bind::terms::BoundTerm;
use crate::query::bind::variable::Values;
use crate::query::operation::{Condition, Literal, Operation, Selection, Target};
use crate::refusal::{Location, Refusal, Refusals};
use crate::value::Value;

/// An operation in which nothing is left to decide.
#[derive(Debug)]
pub struct BoundOperation<'a> {
    /// What is selected from the root.
    pub fields: Vec<BoundField<'a>>,
    /// How many steps it takes: its connections and point roots, numbered in document order.
    pub steps: usize,
}

/// A selected field.
#[derive(Debug)]
pub struct BoundField<'a> {
    /// Its key in the response.
    pub key: &'a str,
    /// Where it is selected.
    pub location: Location,
    /// What it selects.
    pub kind: Bound<'a>,
}

/// What a selected field selects.
#[derive(Debug)]
pub enum Bound<'a> {
    /// `__typename`.
    TypeName(TypeId),
    /// A column.
    Column(&'a Field, &'a Column),
    /// An aggregate.
    Aggregate(&'a Field, &'a Aggregate),
    /// A joined object and what is selected from it.
    One(&'a Field, &'a One, Vec<BoundField<'a>>),
    /// A root that finds one row.
    Point(BoundPoint<'a>),
    /// A connection.
    Connection(Box<BoundConnection<'a>>),
    /// `edges`, and what is selected from each.
    Edges(Vec<BoundField<'a>>),
    /// `node`, and what is selected from it.
    Node(Vec<BoundField<'a>>),
    /// `pageInfo`, and what is selected from it.
    PageInfo(Vec<BoundField<'a>>),
    /// `cursor` of an edge.
    Cursor,
    /// A field of `pageInfo`.
    PageFact(PageFact),
    /// What introspection answers.
    Constant(Constant<'a>),
}

impl<'a> Bound<'a> {
    /// What is selected from it; nothing from leaves.
    pub fn fields(&self) -> &[BoundField<'a>] {
        match self {
            Self::One(_, _, fields) | Self::Edges(fields) | Self::Node(fields) | Self::PageInfo(fields) => fields,
            Self::Point(point) => &point.fields,
            Self::Connection(connection) => &connection.fields,
            Self::TypeName(_)
            | Self::Column(..)
            | Self::Aggregate(..)
            | Self::Cursor
            | Self::PageFact(_)
            | Self::Constant(_) => &[],
        }
    }
}

/// The place of a step in the plan, the cost weights and the row counts.
pub type StepId = usize;

/// A root that finds one row.
#[derive(Debug)]
pub struct BoundPoint<'a> {
    /// Its place among the steps.
    pub step: StepId,
    /// The root.
    pub field: &'a Field,
    /// How it finds the row.
    pub binding: &'a Point,
    /// The keys to look for: their place among the root's keys, and the values.
    pub keys: Vec<(usize, Value)>,
    /// What is selected from the row.
    pub fields: Vec<BoundField<'a>>,
}

/// A page of a connection.
#[derive(Debug)]
pub struct BoundConnection<'a> {
    /// Its place among the steps.
    pub step: StepId,
    /// The field.
    pub field: &'a Field,
    /// Where its rows are.
    pub binding: &'a Connection,
    /// How much is asked for, from which end, between which cursors.
    pub page: Page,
    /// Where the page size is written.
    pub size_written: Written<'a>,
    /// The search terms.
    pub terms: Vec<BoundTerm>,
    /// The sort key's place among the connection's.
    pub sort_key: usize,
    /// Whether the walk goes from the other end.
    pub reverse: bool,
    /// What is selected from it.
    pub fields: Vec<BoundField<'a>>,
}

/// Decides every value of an operation. All violations are reported, in document order.
pub fn bind<'a>(
    catalog: &'a Catalog,
    operation: &'a Operation,
    variables: &Variables,
    limits: &Limits,
) -> Result<BoundOperation<'a>, Refusals> {
    let values = variable::coerce(catalog, &operation.variables, variables)?;
    let conditional = operation.conditional;
    let teller = Teller { catalog, left: most_bytes(catalog), is_exhausted: false };
    let mut binder = Binder { catalog, limits, values, conditional, teller, steps: 0, found: Vec::new() };
    let fields = binder.fields(&operation.selections);
    Refusals::check(binder.found)?;
    Ok(BoundOperation { fields, steps: binder.steps })
}

struct Binder<'a, 'v> {
    catalog: &'a Catalog,
    limits: &'v Limits,
    values: Values<'a>,
    conditional: bool,
    teller: Teller<'a>,
    steps: usize,
    found: Vec<Refusal>,
}

impl<'a> Binder<'a, '_> {
    fn fields(&mut self, selections: &'a [Selection]) -> Vec<BoundField<'a>> {
        if self.conditional {
            self.selected(selections).into_iter().map(|selection| self.field(selection)).collect()
        } else {
            selections.iter().map(|selection| self.field(selection)).collect()
        }
    }

    /// The selections whose conditions hold, in the order of the response.
    fn selected(&self, selections: &'a [Selection]) -> Vec<&'a Selection> {
        let mut selected: Vec<_> = selections.iter().filter_map(|s| Some((self.first_occurrence(s)?, s))).collect();
        selected.sort_by_key(|(order, _)| *order);
        selected.into_iter().map(|(_, selection)| selection).collect()
    }

    /// The place of the first occurrence whose conditions hold: it decides where the key stands in the response.
    fn first_occurrence(&self, selection: &Selection) -> Option<u32> {
        let holds = |condition: &Condition| self.values.truth(condition.variable) == Some(condition.wanted);
        let occurrence = selection.occurrences.iter().find(|occurrence| occurrence.conditions.iter().all(holds));
        occurrence.map(|occurrence| occurrence.order)
    }

    fn field(&mut self, selection: &'a Selection) -> BoundField<'a> {
        let kind = match selection.target {
            Target::TypeName(object) => Bound::TypeName(object),
            Target::Field(field) => self.kind(selection, field),
        };
        BoundField { key: &selection.key, location: selection.location, kind }
    }

    fn kind(&mut self, selection: &'a Selection, id: FieldId) -> Bound<'a> {
        let field = self.catalog.field(id);
        match &field.binding {
            Binding::Column(column) => Bound::Column(field, column),
            Binding::Aggregate(aggregate) => Bound::Aggregate(field, aggregate),
            Binding::One(one) => Bound::One(field, one, self.fields(&selection.selections)),
            Binding::Point(point) => self.point(selection, field, point),
            Binding::Connection(connection) => self.connection(selection, field, connection),
            Binding::Edges => Bound::Edges(self.fields(&selection.selections)),
            Binding::Node => Bound::Node(self.fields(&selection.selections)),
            Binding::PageInfo => Bound::PageInfo(self.fields(&selection.selections)),
            Binding::Cursor => Bound::Cursor,
            Binding::PageFact(fact) => Bound::PageFact(*fact),
            Binding::Introspection(fact) => Bound::Constant(self.introspection(selection, field, *fact)),
        }
    }

    /// `__schema` or `__type`.
    fn introspection(&mut self, selection: &'a Selection, field: &'a Field, fact: Fact) -> Constant<'a> {
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let thing = match fact {
            Fact::TypeOfName => match arguments.get(ArgumentRole::TypeName) {
                Some(Literal::String(name)) => self.catalog.named(name).map(Thing::Type),
                _ => None,
            },
            _ => Some(Thing::Schema),
        };
        let nulls: Vec<_> = arguments.nulls().collect();
        self.refuse(selection, nulls);
        let asked = self.asked(&selection.selections);
        let told = match thing {
            Some(thing) => self.teller.object(thing, &asked),
            None => self.teller.null(),
        };
        told.unwrap_or_else(|TooLarge| {
            if !mem::replace(&mut self.teller.is_exhausted, true) {
                self.refuse(selection, [BindError::IntrospectionTooLarge { max_bytes: most_bytes(self.catalog) }]);
            }
            Constant::Null
        })
    }

    /// What is selected from an introspection type.
    fn asked(&mut self, selections: &'a [Selection]) -> Vec<Asked<'a>> {
        self.selected(selections).into_iter().map(|selection| self.question(selection)).collect()
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
                Question::Fact { fact: *fact, include_deprecated, asked: self.asked(&selection.selections) }
            }
        };
        Asked { key: &selection.key, question }
    }

    fn refuse(&mut self, selection: &Selection, errors: impl IntoIterator<Item = BindError>) {
        self.found.extend(errors.into_iter().map(|error| Refusal::new(&error, [selection.location])));
    }

    fn point(&mut self, selection: &'a Selection, field: &'a Field, binding: &'a Point) -> Bound<'a> {
        let step = self.next_step();
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let keys = argument::keys(&arguments, binding).unwrap_or_else(|errors| {
            self.refuse(selection, errors);
            Vec::new()
        });
        Bound::Point(BoundPoint { step, field, binding, keys, fields: self.fields(&selection.selections) })
    }

    fn connection(&mut self, selection: &'a Selection, field: &'a Field, binding: &'a Connection) -> Bound<'a> {
        let step = self.next_step();
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let mut errors = Vec::new();
        let (sort_key, reverse) = argument::order(&arguments, binding);
        let (end, size) = page::size(&arguments, self.limits, &mut errors);
        let size_written = match arguments.variable(end.role()) {
            Some(variable) => Written::Variable(self.values.name(variable)),
            None => Written::Document(&selection.occurrences),
        };
        let terms = terms::terms(&arguments, binding, &mut errors);
        let (after, before) = page::cursors(&arguments, &binding.sort_keys[sort_key], reverse, &mut errors);
        let page = Page { size, end, after, before };
        self.refuse(selection, errors);
        let fields = self.fields(&selection.selections);
        Bound::Connection(Box::new(BoundConnection {
            step,
            field,
            binding,
            page,
            size_written,
            terms,
            sort_key,
            reverse,
            fields,
        }))
    }

    fn next_step(&mut self) -> StepId {
        self.steps += 1;
        self.steps - 1
    }
}
