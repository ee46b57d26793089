//! The values of a request: what its variables and arguments come to, step by step.

use std::mem;
use std::ops::Range;

use crate::catalog::Catalog;
use crate::catalog::binding::{ConnectionField, EdgeField, EntityBinding, Lookup, RootBinding};
use crate::catalog::changes::Changes;
use crate::catalog::column::Column;
use crate::catalog::connection::{Connection, Join};
use crate::catalog::ids::{EntityId, FieldId};
use crate::catalog::published::introspection::SchemaElement;
use crate::catalog::schema::ArgumentRole;
use crate::catalog::scope::RowScope;
use crate::error::graphql_error::{GraphqlError, GraphqlErrors};
use crate::query::Variables;
use crate::query::bind::argument::{self, Selected};
use crate::query::bind::caller::Caller;
use crate::query::bind::changes;
use crate::query::bind::conditions::Conditions;
use crate::query::bind::cursors::{self, Ordering};
use crate::query::bind::error::BindError;
use crate::query::bind::introspection::{
    Constant, Introspector, MetaSelection, SelectedMetaField, TooLarge, max_bytes,
};
use crate::query::bind::page_size;
use crate::query::bind::search_keys::{self, SearchArgument, SearchKeys};
use crate::query::bind::search_terms::{self, Searches, StepTerms};
use crate::query::bind::shape::{CursorShape, PageShape, Shape, StepShape};
use crate::query::bind::step_id::StepId;
use crate::query::bind::step_values::{PageValues, StepValues};
use crate::query::bind::totals_arguments;
use crate::query::bind::variable::{self, Values};
use crate::query::operation::{Literal, Operation, Selection, Target};
use crate::value::Value;

/// A request's shape and values, without the values in its search strings, whose terms are counted: all that depth and cost depend on.
pub struct Resolved<'a> {
    /// The shape, which its price and its statement depend on.
    pub shape: Shape,
    /// The values of its steps, by [`StepId`].
    pub values: Vec<StepValues>,
    /// The results of `__schema` and `__type`, in the order of the response.
    pub(crate) constants: Vec<Constant<'a>>,
    variables: Values<'a>,
    searches: Vec<Searched<'a>>,
}

impl Resolved<'_> {
    /// Reads the values of the search strings. All errors are reported, in document order.
    pub fn terms(&self, scope: &RowScope) -> Result<StepTerms, GraphqlErrors> {
        let mut errors = Vec::new();
        let report = |search: &Searched<'_>, own: Vec<BindError>| errors.extend(search.located(&own));
        let terms = read_terms(&self.searches, &self.variables, scope, report);
        GraphqlErrors::check(errors).map(|()| terms)
    }
}

/// A connection with a search string, or with rows that are limited.
struct Searched<'a> {
    step: StepId,
    selected: Selected<'a>,
    connection: &'a Connection,
    /// The errors of its terms and keys among the errors of the request. The errors of the whole string include them.
    errors: Range<usize>,
}

impl Searched<'_> {
    fn located(&self, errors: &[BindError]) -> Vec<GraphqlError> {
        errors.iter().map(|error| GraphqlError::new(error, [self.selected.selection.location])).collect()
    }
}

/// Reads search strings, and adds terms that limit their rows to the caller's. `report` gets the errors of each.
fn read_terms(
    searches: &[Searched<'_>],
    values: &Values<'_>,
    scope: &RowScope,
    mut report: impl FnMut(&Searched<'_>, Vec<BindError>),
) -> StepTerms {
    let (mut reader, mut terms) = (Searches::default(), StepTerms::default());
    for search in searches {
        let arguments = search.selected.arguments(values);
        let mut errors = Vec::new();
        let argument = SearchArgument { arguments: &arguments, connection: search.connection };
        let own = reader.terms(argument, &mut errors);
        let own = search_terms::limited(own, search.connection, scope);
        terms.insert(search.step, search.selected.selection.id, own);
        report(search, errors);
    }
    terms
}

/// Resolves every value of a request except the values in its search strings. All errors are reported, in document order. If there are any,
/// so are the errors of the values in search strings.
pub fn resolve<'a>(
    catalog: &'a Catalog,
    operation: &'a Operation,
    variables: &Variables,
    caller: Caller<'_>,
) -> Result<Resolved<'a>, GraphqlErrors> {
    let variables = variable::coerce(catalog, operation, variables)?;
    let conditions = Conditions::of(operation, &variables);
    let mut resolver = Resolver {
        catalog,
        caller,
        variables,
        introspector: Introspector { catalog, bytes_left: max_bytes(catalog), is_exhausted: false },
        search_keys: SearchKeys::default(),
        searches: Vec::new(),
        shape: Shape { conditions, steps: Vec::with_capacity(4) },
        values: Vec::with_capacity(4),
        constants: Vec::new(),
        errors: Vec::new(),
    };
    resolver.each(&operation.selections, Resolver::root_field);
    let Resolver { shape, values, variables, constants, searches, mut errors, .. } = resolver;
    if !errors.is_empty() {
        // The errors of values stand between the others.
        let mut of_searches = Vec::with_capacity(searches.len());
        let mut is_searched = false;
        read_terms(&searches, &variables, caller.rows, |search, mut own| {
            is_searched = is_searched || search_keys::find_elsewhere(&mut own, catalog);
            of_searches.push((search.errors.clone(), search.located(&own)));
        });
        // From the last on, so that the ranges of the others stay where they are.
        for (of_keys, of_search) in of_searches.into_iter().rev() {
            errors.splice(of_keys, of_search);
        }
    }
    GraphqlErrors::check(errors)?;
    Ok(Resolved { shape, values, constants, variables, searches })
}

/// The row that a lookup finds.
#[derive(Clone, Copy)]
struct LookupRow<'a> {
    lookup: &'a Lookup,
    step: StepId,
}

impl LookupRow<'_> {
    /// The known facts about the rows that are joined to it: columns with the values of the lookup's keys.
    fn known_by<'k>(self, shape: &Shape, values: &'k [StepValues], join: &'k Join) -> Vec<(&'k str, &'k Value)> {
        let StepShape::Lookup(keys) = &shape.steps[self.step] else { return Vec::new() };
        let key_of = |column: &Column| {
            let mut keys = keys.iter().zip(values[self.step].keys());
            keys.find(|(index, _)| self.lookup.keys[**index].name == column.name).map(|(_, value)| value)
        };
        let columns = join.by.iter().zip(&join.to);
        columns.filter_map(|(by, to)| Some((to.as_str(), key_of(by)?))).collect()
    }
}

struct Resolver<'a, 'v> {
    catalog: &'a Catalog,
    caller: Caller<'v>,
    variables: Values<'a>,
    introspector: Introspector<'a>,
    search_keys: SearchKeys,
    searches: Vec<Searched<'a>>,
    shape: Shape,
    values: Vec<StepValues>,
    constants: Vec<Constant<'a>>,
    errors: Vec<GraphqlError>,
}

impl<'a> Resolver<'a, '_> {
    /// Resolves the selected fields of one level that take arguments, or have others below them that do.
    fn each(&mut self, selections: &'a [Selection], mut resolve: impl FnMut(&mut Self, &'a Selection, FieldId)) {
        let mut selected = |resolver: &mut Self, selection: &'a Selection| match selection.target {
            Target::Field(id) if selection.takes_arguments => resolve(resolver, selection, id),
            Target::Field(_) | Target::TypeName(_) => {}
        };
        if self.shape.conditions.is_empty() {
            for selection in selections {
                selected(self, selection);
            }
        } else {
            for selection in self.shape.conditions.selected(selections) {
                selected(self, selection);
            }
        }
    }

    fn root_field(&mut self, selection: &'a Selection, id: FieldId) {
        let (field, binding) = self.catalog.root_field(id.index);
        let selected = Selected { selection, field };
        match binding {
            RootBinding::Lookup(lookup) => {
                let row = LookupRow { lookup, step: self.values.len() };
                self.lookup(selected, lookup);
                self.object(lookup.target, &selection.selections, Some(row));
            }
            RootBinding::Connection(connection) => self.connection(selected, connection, None),
            RootBinding::Changes(changes) => self.changes(selected, changes),
            RootBinding::Totals(totals) => {
                let (arguments, mut errors) = (selected.arguments(&self.variables), Vec::new());
                let (grouping, rows, time_zone) = totals_arguments::read(&arguments, totals, &mut errors);
                self.report(selection, errors);
                let (page, values) = self.page(selected, &totals.connection, None);
                self.step(StepShape::Totals(page, grouping), StepValues::Totals(values, rows, time_zone));
            }
            RootBinding::Schema => self.introspection(selected, Some(SchemaElement::Schema)),
            RootBinding::TypeByName => {
                let name = selected.arguments(&self.variables).get(ArgumentRole::TypeName);
                let ty = if let Some(Literal::String(name)) = name { self.catalog.named(name) } else { None };
                self.introspection(selected, ty.map(SchemaElement::Type));
            }
        }
    }

    /// Resolves the selection of a row: the row of that lookup, or a row that the request does not name.
    fn object(&mut self, entity: EntityId, selections: &'a [Selection], row: Option<LookupRow<'a>>) {
        self.each(selections, |resolver, selection, id| match resolver.catalog.entity_field(entity, id.index) {
            (field, EntityBinding::Connection(connection)) => {
                resolver.connection(Selected { selection, field }, connection, row);
            }
            (_, EntityBinding::One(one)) => resolver.object(one.target, &selection.selections, None),
            (_, EntityBinding::Column(_) | EntityBinding::Aggregate(_)) => {}
        });
    }

    fn connection_fields(&mut self, node: EntityId, selections: &'a [Selection]) {
        self.each(selections, |resolver, selection, id| match ConnectionField::ALL[usize::from(id.index)] {
            ConnectionField::Edges => resolver.edge_fields(node, &selection.selections),
            ConnectionField::PageInfo | ConnectionField::Count => {}
        });
    }

    fn edge_fields(&mut self, node: EntityId, selections: &'a [Selection]) {
        self.each(selections, |resolver, selection, id| match EdgeField::ALL[usize::from(id.index)] {
            EdgeField::Node => resolver.object(node, &selection.selections, None),
            EdgeField::Cursor => {}
        });
    }

    fn lookup(&mut self, selected: Selected<'a>, binding: &'a Lookup) {
        let arguments = selected.arguments(&self.variables);
        let (keys, values) = argument::keys(&arguments, binding).unwrap_or_else(|errors| {
            self.report(selected.selection, errors);
            Default::default()
        });
        self.step(StepShape::Lookup(keys), StepValues::Lookup(values));
    }

    fn step(&mut self, shape: StepShape, values: StepValues) {
        self.shape.steps.push(shape);
        self.values.push(values);
    }

    fn changes(&mut self, selected: Selected<'a>, changes: &'a Changes) {
        let arguments = selected.arguments(&self.variables);
        let mut errors = Vec::new();
        let (_, size) = page_size::size(&arguments, self.caller.limits, &mut errors);
        let start = changes::start(&arguments, changes, self.caller.rows, &mut errors);
        self.report(selected.selection, errors);
        self.step(StepShape::Changes, StepValues::Changes(size, Box::new(start)));
        self.connection_fields(changes.connection.node, &selected.selection.selections);
    }

    fn connection(&mut self, selected: Selected<'a>, binding: &'a Connection, parent: Option<LookupRow<'a>>) {
        let (page, values) = self.page(selected, binding, parent);
        self.step(StepShape::Page(page), StepValues::Page(values));
        self.connection_fields(binding.node, &selected.selection.selections);
    }

    /// Resolves a page of a connection, of rows or of groups.
    fn page(
        &mut self,
        selected: Selected<'a>,
        binding: &'a Connection,
        parent: Option<LookupRow<'a>>,
    ) -> (PageShape, PageValues) {
        let arguments = selected.arguments(&self.variables);
        let mut errors = Vec::new();
        let (sort_key, reverse) = argument::order(&arguments, binding);
        let (end, size) = page_size::size(&arguments, self.caller.limits, &mut errors);
        let count_up_to = argument::count_up_to(&arguments, &mut errors);
        let before = self.errors.len() + errors.len();
        let search = SearchArgument { arguments: &arguments, connection: binding };
        let searched = self.search_keys.read(search, &mut errors);
        // Rows that are summed up have no order for the client, so that the rows of a range are read along its index.
        let sort_key = sort_key.or(searched.range_order.filter(|_| arguments.takes(ArgumentRole::Rows))).unwrap_or(0);
        if arguments.get(ArgumentRole::Query).is_some() || binding.scope.is_some() {
            let (step, of_keys) = (self.values.len(), before..self.errors.len() + errors.len());
            self.searches.push(Searched { step, selected, connection: binding, errors: of_keys });
        }
        let text = search.text().unwrap_or_default();
        let scope = self.caller.rows.of_cursors(binding.limited_by).map(|scope| scope.of_search(text));
        let ordering = Ordering {
            connection: binding,
            scope,
            sort_key: &binding.sort_keys[sort_key],
            reverse,
            parent: parent.map_or_else(Vec::new, |row| row.known_by(&self.shape, &self.values, &binding.join)),
        };
        let (after, before) = cursors::cursors(&ordering, &arguments, &mut errors);
        self.report(selected.selection, errors);
        let shape = PageShape {
            sort_key,
            reverse,
            end,
            after: after.as_ref().map(CursorShape::of),
            before: before.as_ref().map(CursorShape::of),
            is_counted: count_up_to.is_some(),
            unindexed_terms: searched.unindexed,
        };
        (shape, PageValues { size, after, before, count_up_to, scope })
    }

    /// Resolves `__schema` or `__type`: the selection of an element of the schema, or null without one.
    fn introspection(&mut self, selected: Selected<'a>, element: Option<SchemaElement<'a>>) {
        let selection = selected.selection;
        let nulls: Vec<_> = selected.arguments(&self.variables).nulls().collect();
        self.report(selection, nulls);
        let selected = self.meta_selections(&selection.selections);
        let result = match element {
            Some(element) => self.introspector.object(element, &selected),
            None => self.introspector.null(),
        };
        let constant = result.unwrap_or_else(|TooLarge| {
            if !mem::replace(&mut self.introspector.is_exhausted, true) {
                self.report(selection, [BindError::IntrospectionTooLarge { max_bytes: max_bytes(self.catalog) }]);
            }
            Constant::Null
        });
        self.constants.push(constant);
    }

    /// The selection of an introspection type.
    fn meta_selections(&mut self, selections: &'a [Selection]) -> Vec<MetaSelection<'a>> {
        let selected = self.shape.conditions.selected(selections);
        let mut resolved = Vec::with_capacity(selected.len());
        resolved.extend(selected.into_iter().map(|selection| self.meta_selection(selection)));
        resolved
    }

    /// A field of an introspection type.
    fn meta_selection(&mut self, selection: &'a Selection) -> MetaSelection<'a> {
        let field = match selection.target {
            Target::TypeName(object) => SelectedMetaField::TypeName(self.catalog.get(object).name()),
            Target::Field(id) => {
                let definition = self.catalog.field(id);
                let arguments = Selected { selection, field: definition }.arguments(&self.variables);
                let include_deprecated =
                    arguments.get(ArgumentRole::IncludeDeprecated) == Some(&Literal::Boolean(true));
                let nulls: Vec<_> = arguments.nulls().collect();
                self.report(selection, nulls);
                let selections = self.meta_selections(&selection.selections);
                SelectedMetaField::Field { field: self.catalog.meta_field(id), include_deprecated, selections }
            }
        };
        MetaSelection { key: &selection.key, field }
    }

    fn report(&mut self, selection: &Selection, errors: impl IntoIterator<Item = BindError>) {
        self.errors.extend(errors.into_iter().map(|error| GraphqlError::new(&error, [selection.location])));
    }
}
