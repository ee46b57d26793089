//! The values of a request: what its variables and arguments come to, step by step.

use std::mem;
use std::ops::Range;

use crate::catalog::Catalog;
use crate::catalog::binding::{ConnectionField, EdgeField, EntityBinding, Lookup, RootBinding, Totals};
use crate::catalog::changes::Changes;
use crate::catalog::column::Column;
use crate::catalog::connection::{Connection, Join};
use crate::catalog::ids::{EntityId, FieldId};
use crate::catalog::introspection::SchemaElement;
use crate::catalog::schema::{ArgumentRole, Field};
use crate::catalog::scope::RowScope;
use crate::error::graphql_error::{GraphqlError, GraphqlErrors};
use crate::limits::Limits;
use crate::query::Variables;
use crate::query::bind::argument::{self, Arguments};
use crate::query::bind::changes::{self, ChangesStart};
use crate::query::bind::cursors::{self, Ordering};
use crate::query::bind::error::BindError;
use crate::query::bind::ids::StepId;
use crate::query::bind::introspection::{
    Constant, Introspector, MetaSelection, SelectedMetaField, TooLarge, max_bytes,
};
use crate::query::bind::page_size::{self, Page};
use crate::query::bind::search_keys::{self, SearchKeys};
use crate::query::bind::search_terms::{self, Searches, StepTerms};
use crate::query::bind::totals_arguments::{self, TotalsArguments};
use crate::query::bind::variable::{self, Values};
use crate::query::operation::{Literal, Operation, Selection, SelectionId, Target};
use crate::value::Value;

/// The values of a request that depth and cost depend on: all but those in its search strings, whose terms are counted.
pub struct Priced<'a> {
    /// The values of its variables.
    pub(super) values: Values<'a>,
    /// The arguments of its steps, by [`StepId`]: of its connections and lookups, in the
    /// order of the response.
    pub steps: Vec<StepArguments>,
    /// The results of `__schema` and `__type`, in the order of the response.
    pub(crate) constants: Vec<Constant<'a>>,
    searches: Vec<Search<'a>>,
}

/// All values of a request.
pub struct Resolved<'p, 'a> {
    /// Those that its price depends on.
    pub priced: &'p Priced<'a>,
    /// Those in its search strings.
    pub terms: StepTerms,
}

/// The arguments of a step, but for its search terms. A lookup has keys and a page of one row; a connection has no keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepArguments {
    /// The selection that the step fetches.
    pub(crate) selection: SelectionId,
    /// The keys to look for: their indexes among the binding's keys, and the values.
    pub(crate) keys: Vec<(usize, Value)>,
    /// The index of the sort key among the connection's.
    pub(crate) sort_key: usize,
    pub(crate) reverse: bool,
    /// How many rows are requested, from which end, between which cursors.
    pub(crate) page: Page,
    /// How many rows are counted at most, if they are.
    pub(crate) count_up_to: Option<u32>,
    /// How many of its search terms no selective index serves.
    pub(crate) unindexed_terms: u64,
    /// Where a page of changes begins.
    pub(crate) start: Option<Box<ChangesStart>>,
    /// What is summed up, if the step is totals. The page is of groups then.
    pub(crate) totals: Option<TotalsArguments>,
}

impl StepArguments {
    /// How many rows are requested, for each parent; of totals, how many groups.
    pub(crate) fn size(&self) -> u32 {
        self.page.size.get()
    }

    /// How many rows are read for that, for each parent: of totals, those that are summed up.
    pub(crate) fn rows(&self) -> u32 {
        self.totals.map_or_else(|| self.size(), |totals| totals.rows)
    }
}

impl<'a> Priced<'a> {
    /// The value of a boolean variable, by its index; `None` if it has none.
    pub(crate) fn truth(&self, variable: usize) -> Option<bool> {
        self.values.truth(variable)
    }

    /// Reads the values of the search strings. All errors are reported, in document order.
    pub fn expand(&self, scope: &RowScope) -> Result<Resolved<'_, 'a>, GraphqlErrors> {
        let mut errors = Vec::new();
        let terms = read_terms(&self.searches, &self.values, scope, |search, own| errors.extend(search.located(&own)));
        GraphqlErrors::check(errors)?;
        Ok(Resolved { priced: self, terms })
    }
}

/// A connection with a search string, or with rows that are limited.
struct Search<'a> {
    step: StepId,
    selection: &'a Selection,
    field: &'a Field,
    connection: &'a Connection,
    /// The errors of its terms and keys among those of the request. The errors of the whole string include them.
    errors: Range<usize>,
}

impl Search<'_> {
    fn located(&self, errors: &[BindError]) -> Vec<GraphqlError> {
        errors.iter().map(|error| GraphqlError::new(error, [self.selection.location])).collect()
    }
}

/// Reads search strings, and adds what limits their rows to those of the caller. `report` gets the errors of each.
fn read_terms(
    searches: &[Search<'_>],
    values: &Values<'_>,
    scope: &RowScope,
    mut report: impl FnMut(&Search<'_>, Vec<BindError>),
) -> StepTerms {
    let (mut reader, mut terms) = (Searches::default(), StepTerms::default());
    for search in searches {
        let arguments = Arguments::new(search.field, &search.selection.arguments, values);
        let mut errors = Vec::new();
        let own = reader.terms(&arguments, search.connection, &mut errors);
        terms.insert(search.step, search_terms::limited(own, search.connection, scope));
        report(search, errors);
    }
    terms
}

/// Resolves every value of a request except those in its search strings. All errors are reported, in document order. If there
/// are any, so are those of the values in search strings.
pub fn resolve<'a>(
    catalog: &'a Catalog,
    operation: &'a Operation,
    variables: &Variables,
    limits: &Limits,
    scope: &RowScope,
) -> Result<Priced<'a>, GraphqlErrors> {
    let values = variable::coerce(catalog, operation, variables)?;
    let mut resolver = Resolver {
        catalog,
        operation,
        limits,
        scope,
        values,
        introspector: Introspector { catalog, bytes_left: max_bytes(catalog), is_exhausted: false },
        search_keys: SearchKeys::default(),
        searches: Vec::new(),
        steps: Vec::with_capacity(4),
        constants: Vec::new(),
        errors: Vec::new(),
    };
    resolver.each(&operation.selections, Resolver::root_field);
    let Resolver { values, steps, constants, searches, mut errors, .. } = resolver;
    if !errors.is_empty() {
        // The errors of values stand between the others.
        let mut of_searches = Vec::with_capacity(searches.len());
        let mut is_searched = false;
        read_terms(&searches, &values, scope, |search, mut own| {
            is_searched = is_searched || search_keys::find_elsewhere(&mut own, catalog);
            of_searches.push((search.errors.clone(), search.located(&own)));
        });
        // From the last on, so that the ranges of the others stay where they are.
        for (of_keys, of_search) in of_searches.into_iter().rev() {
            errors.splice(of_keys, of_search);
        }
    }
    GraphqlErrors::check(errors)?;
    Ok(Priced { values, steps, constants, searches })
}

/// The row that a lookup finds.
#[derive(Clone, Copy)]
struct LookupRow<'a> {
    lookup: &'a Lookup,
    step: StepId,
}

impl LookupRow<'_> {
    /// What is known of the rows that are joined to it: columns whose values are `keys` of the lookup.
    fn known_by<'k>(self, keys: &'k [(usize, Value)], join: &'k Join) -> Vec<(&'k str, &'k Value)> {
        let key_of = |column: &Column| {
            let key = keys.iter().find(|(index, _)| self.lookup.keys[*index].name == column.name);
            key.map(|(_, value)| value)
        };
        let columns = join.by.iter().zip(&join.to);
        columns.filter_map(|(by, to)| Some((to.as_str(), key_of(by)?))).collect()
    }
}

struct Resolver<'a, 'v> {
    catalog: &'a Catalog,
    operation: &'a Operation,
    limits: &'v Limits,
    scope: &'v RowScope,
    values: Values<'a>,
    introspector: Introspector<'a>,
    search_keys: SearchKeys,
    searches: Vec<Search<'a>>,
    steps: Vec<StepArguments>,
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
        if self.operation.conditions.is_empty() {
            for selection in selections {
                selected(self, selection);
            }
        } else {
            for selection in self.values.selected(selections) {
                selected(self, selection);
            }
        }
    }

    fn root_field(&mut self, selection: &'a Selection, id: FieldId) {
        match self.catalog.root_field(id.index) {
            (field, RootBinding::Lookup(lookup)) => {
                let row = LookupRow { lookup, step: self.steps.len() };
                self.lookup(selection, field, lookup);
                self.object(lookup.target, &selection.selections, Some(row));
            }
            (field, RootBinding::Connection(connection)) => self.connection(selection, field, connection, None),
            (field, RootBinding::Changes(changes)) => self.changes(selection, field, changes),
            (field, RootBinding::Totals(totals)) => {
                self.page(selection, field, &totals.connection, None, Some(totals));
            }
            (field, RootBinding::Schema) => self.introspection(selection, field, Some(SchemaElement::Schema)),
            (field, RootBinding::TypeByName) => {
                let arguments = Arguments::new(field, &selection.arguments, &self.values);
                let name = arguments.get(ArgumentRole::TypeName);
                let ty = if let Some(Literal::String(name)) = name { self.catalog.named(name) } else { None };
                self.introspection(selection, field, ty.map(SchemaElement::Type));
            }
        }
    }

    /// Resolves what is selected from a row: of that lookup, or one that the request does not name.
    fn object(&mut self, entity: EntityId, selections: &'a [Selection], row: Option<LookupRow<'a>>) {
        self.each(selections, |resolver, selection, id| match resolver.catalog.entity_field(entity, id.index) {
            (field, EntityBinding::Connection(connection)) => resolver.connection(selection, field, connection, row),
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

    fn lookup(&mut self, selection: &'a Selection, field: &'a Field, binding: &'a Lookup) {
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let keys = argument::keys(&arguments, binding).unwrap_or_else(|errors| {
            self.report(selection, errors);
            Vec::new()
        });
        self.steps.push(StepArguments {
            selection: selection.id,
            keys,
            sort_key: 0,
            reverse: false,
            page: Page::ONE_ROW,
            count_up_to: None,
            unindexed_terms: 0,
            start: None,
            totals: None,
        });
    }

    fn changes(&mut self, selection: &'a Selection, field: &'a Field, changes: &'a Changes) {
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let mut errors = Vec::new();
        let (end, size) = page_size::size(&arguments, self.limits, &mut errors);
        let start = changes::start(&arguments, changes, self.scope, &mut errors);
        self.report(selection, errors);
        self.steps.push(StepArguments {
            selection: selection.id,
            keys: Vec::new(),
            sort_key: 0,
            reverse: false,
            page: Page { size, end, after: None, before: None },
            count_up_to: None,
            unindexed_terms: 0,
            start: Some(start.into()),
            totals: None,
        });
        self.connection_fields(changes.connection.node, &selection.selections);
    }

    fn connection(
        &mut self,
        selection: &'a Selection,
        field: &'a Field,
        binding: &'a Connection,
        parent: Option<LookupRow<'a>>,
    ) {
        self.page(selection, field, binding, parent, None);
        self.connection_fields(binding.node, &selection.selections);
    }

    /// Resolves a page of a connection, or totals of it.
    fn page(
        &mut self,
        selection: &'a Selection,
        field: &'a Field,
        binding: &'a Connection,
        parent: Option<LookupRow<'a>>,
        totals: Option<&Totals>,
    ) {
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let mut errors = Vec::new();
        let (sort_key, reverse) = argument::order(&arguments, binding);
        let (end, size) = page_size::size(&arguments, self.limits, &mut errors);
        let count_up_to = argument::count_up_to(&arguments, &mut errors);
        let totals_arguments = totals.map(|totals| totals_arguments::read(&arguments, totals, &mut errors));
        let before = self.errors.len() + errors.len();
        let unindexed_terms = self.search_keys.unindexed_terms(&arguments, binding, &mut errors);
        if arguments.get(ArgumentRole::Query).is_some() || binding.scope.is_some() {
            let (step, of_keys) = (self.steps.len(), before..self.errors.len() + errors.len());
            self.searches.push(Search { step, selection, field, connection: binding, errors: of_keys });
        }
        let ordering = Ordering {
            connection: binding,
            scope: self.scope.of_cursors(binding.limited_by),
            sort_key: &binding.sort_keys[sort_key],
            reverse,
            parent: parent.map_or_else(Vec::new, |row| row.known_by(&self.steps[row.step].keys, &binding.join)),
        };
        let (after, before) = cursors::cursors(&ordering, &arguments, &mut errors);
        let page = Page { size, end, after, before };
        self.report(selection, errors);
        self.steps.push(StepArguments {
            selection: selection.id,
            keys: Vec::new(),
            sort_key,
            reverse,
            page,
            count_up_to,
            unindexed_terms,
            start: None,
            totals: totals_arguments,
        });
    }

    /// Resolves `__schema` or `__type`: what is selected from an element of the schema, or null without one.
    fn introspection(&mut self, selection: &'a Selection, field: &'a Field, element: Option<SchemaElement<'a>>) {
        let arguments = Arguments::new(field, &selection.arguments, &self.values);
        let nulls: Vec<_> = arguments.nulls().collect();
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

    /// What is selected from an introspection type.
    fn meta_selections(&mut self, selections: &'a [Selection]) -> Vec<MetaSelection<'a>> {
        let selected = self.values.selected(selections);
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
                let arguments = Arguments::new(definition, &selection.arguments, &self.values);
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
