//! The tree of a bound operation. Each level has a function that says which bindings its fields can have.

use crate::catalog::Catalog;
use crate::catalog::binding::{Binding, Connection, Lookup};
use crate::catalog::schema::Field;
use crate::query::bind::ids::StepId;
use crate::query::bind::introspection::Constant;
use crate::query::bind::page::{self, SizeSource};
use crate::query::bind::resolve::Priced;
use crate::query::bind::selection::{
    BoundConnection, BoundConnectionField, BoundEdgeField, BoundLookup, BoundObject, BoundObjectField,
    BoundPageInfoField, BoundRootField, BoundSelection, Selections,
};
use crate::query::operation::{Operation, Selection, Target};

/// What an operation selects from the root, with the values of a request.
pub(super) fn root<'a>(
    catalog: &'a Catalog,
    operation: &'a Operation,
    priced: &'a Priced<'a>,
) -> Selections<'a, BoundRootField<'a>> {
    let mut resolutions = vec![None; operation.selection_count];
    for (step, arguments) in priced.steps.iter().enumerate() {
        resolutions[arguments.selection.index()] = Some(Resolution::Step(step));
    }
    for (selection, constant) in &priced.constants {
        resolutions[selection.index()] = Some(Resolution::Constant(constant));
    }
    let binder = Binder { catalog, operation, priced, resolutions };
    binder.select(&operation.selections, Binder::root_field)
}

/// What a selection was resolved to.
#[derive(Debug, Clone, Copy)]
enum Resolution<'a> {
    Step(StepId),
    Constant(&'a Constant<'a>),
}

struct Binder<'a> {
    catalog: &'a Catalog,
    operation: &'a Operation,
    priced: &'a Priced<'a>,
    /// By [`SelectionId`](crate::query::operation::SelectionId); `None` for fields without arguments, and for those that the
    /// request's conditions leave out.
    resolutions: Vec<Option<Resolution<'a>>>,
}

impl<'a> Binder<'a> {
    /// Binds what is selected on one level. `bind` returns `None` for a field that the level cannot have.
    fn select<F>(
        &self,
        selections: &'a [Selection],
        bind: impl Fn(&Self, &'a Selection) -> Option<F>,
    ) -> Selections<'a, F> {
        let mut bound = Vec::with_capacity(selections.len());
        let selected = |selection: &'a Selection| {
            let field = bind(self, selection)?;
            Some(BoundSelection { key: &selection.key, location: selection.location, field })
        };
        if self.operation.conditions.is_empty() {
            bound.extend(selections.iter().filter_map(selected));
        } else {
            bound.extend(self.priced.values.selected(selections).into_iter().filter_map(selected));
        }
        bound
    }

    fn root_field(&self, selection: &'a Selection) -> Option<BoundRootField<'a>> {
        let field = match selection.target {
            Target::TypeName(object) => return Some(BoundRootField::TypeName(object)),
            Target::Field(id) => self.catalog.field(id),
        };
        match &field.binding {
            Binding::Lookup(lookup) => self.lookup(selection, field, lookup).map(BoundRootField::Lookup),
            Binding::Connection(connection) => {
                self.connection(selection, field, connection).map(Box::new).map(BoundRootField::Connection)
            }
            Binding::Introspection(_) => match self.resolution(selection)? {
                Resolution::Constant(constant) => Some(BoundRootField::Introspection(constant)),
                Resolution::Step(_) => None,
            },
            Binding::Column(_)
            | Binding::Aggregate(_)
            | Binding::One(_)
            | Binding::Edges
            | Binding::Node
            | Binding::PageInfo
            | Binding::Count
            | Binding::Cursor
            | Binding::PageInfoField(_) => None,
        }
    }

    fn object_field(&self, selection: &'a Selection) -> Option<BoundObjectField<'a>> {
        let field = match selection.target {
            Target::TypeName(object) => return Some(BoundObjectField::TypeName(object)),
            Target::Field(id) => self.catalog.field(id),
        };
        match &field.binding {
            Binding::Column(column) => Some(BoundObjectField::Column(field, column)),
            Binding::Aggregate(aggregate) => Some(BoundObjectField::Aggregate(field, aggregate)),
            Binding::One(binding) => {
                let selections = self.select(&selection.selections, Self::object_field);
                Some(BoundObjectField::Object(BoundObject { field, binding, selections }))
            }
            Binding::Connection(connection) => {
                self.connection(selection, field, connection).map(Box::new).map(BoundObjectField::Connection)
            }
            Binding::Lookup(_)
            | Binding::Edges
            | Binding::Node
            | Binding::PageInfo
            | Binding::Count
            | Binding::Cursor
            | Binding::PageInfoField(_)
            | Binding::Introspection(_) => None,
        }
    }

    fn connection_field(&self, selection: &'a Selection) -> Option<BoundConnectionField<'a>> {
        let field = match selection.target {
            Target::TypeName(object) => return Some(BoundConnectionField::TypeName(object)),
            Target::Field(id) => self.catalog.field(id),
        };
        match &field.binding {
            Binding::Edges => Some(BoundConnectionField::Edges(self.select(&selection.selections, Self::edge_field))),
            Binding::PageInfo => {
                Some(BoundConnectionField::PageInfo(self.select(&selection.selections, Self::page_info_field)))
            }
            Binding::Count => Some(BoundConnectionField::Count(field)),
            Binding::Column(_)
            | Binding::Aggregate(_)
            | Binding::One(_)
            | Binding::Connection(_)
            | Binding::Lookup(_)
            | Binding::Node
            | Binding::Cursor
            | Binding::PageInfoField(_)
            | Binding::Introspection(_) => None,
        }
    }

    fn edge_field(&self, selection: &'a Selection) -> Option<BoundEdgeField<'a>> {
        let field = match selection.target {
            Target::TypeName(object) => return Some(BoundEdgeField::TypeName(object)),
            Target::Field(id) => self.catalog.field(id),
        };
        match &field.binding {
            Binding::Node => Some(BoundEdgeField::Node(self.select(&selection.selections, Self::object_field))),
            Binding::Cursor => Some(BoundEdgeField::Cursor),
            Binding::Column(_)
            | Binding::Aggregate(_)
            | Binding::One(_)
            | Binding::Connection(_)
            | Binding::Lookup(_)
            | Binding::Edges
            | Binding::PageInfo
            | Binding::Count
            | Binding::PageInfoField(_)
            | Binding::Introspection(_) => None,
        }
    }

    fn page_info_field(&self, selection: &'a Selection) -> Option<BoundPageInfoField> {
        let field = match selection.target {
            Target::TypeName(object) => return Some(BoundPageInfoField::TypeName(object)),
            Target::Field(id) => self.catalog.field(id),
        };
        match &field.binding {
            Binding::PageInfoField(field) => Some(BoundPageInfoField::Field(*field)),
            Binding::Column(_)
            | Binding::Aggregate(_)
            | Binding::One(_)
            | Binding::Connection(_)
            | Binding::Lookup(_)
            | Binding::Edges
            | Binding::Node
            | Binding::PageInfo
            | Binding::Count
            | Binding::Cursor
            | Binding::Introspection(_) => None,
        }
    }

    fn lookup(&self, selection: &'a Selection, field: &'a Field, binding: &'a Lookup) -> Option<BoundLookup<'a>> {
        let step = self.step(selection)?;
        let keys = &self.priced.steps[step].keys;
        let selections = self.select(&selection.selections, Self::object_field);
        Some(BoundLookup { step, field, binding, keys, selections })
    }

    fn connection(
        &self,
        selection: &'a Selection,
        field: &'a Field,
        binding: &'a Connection,
    ) -> Option<BoundConnection<'a>> {
        let step = self.step(selection)?;
        let arguments = &self.priced.steps[step];
        let size_source = match page::size_variable(field, &selection.arguments, arguments.page.end) {
            Some(variable) => SizeSource::Variable(&self.operation.variables[variable].name),
            None => SizeSource::Document(&selection.occurrences),
        };
        Some(BoundConnection {
            step,
            field,
            binding,
            page: &arguments.page,
            size_source,
            unindexed_terms: arguments.unindexed_terms,
            sort_key: arguments.sort_key,
            reverse: arguments.reverse,
            count_up_to: arguments.count_up_to,
            selections: self.select(&selection.selections, Self::connection_field),
        })
    }

    fn step(&self, selection: &Selection) -> Option<StepId> {
        match self.resolution(selection)? {
            Resolution::Step(step) => Some(step),
            Resolution::Constant(_) => None,
        }
    }

    fn resolution(&self, selection: &Selection) -> Option<Resolution<'a>> {
        self.resolutions.get(selection.id.index()).copied().flatten()
    }
}
