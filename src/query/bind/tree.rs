//! The tree of a bound operation. Each level of the grammar has a function.

use crate::catalog::Catalog;
use crate::catalog::binding::{ConnectionField, EdgeField, EntityBinding, Lookup, PageInfoField, RootBinding, Totals};
use crate::catalog::changes::Changes;
use crate::catalog::connection::Connection;
use crate::catalog::ids::{EntityId, FieldId};
use crate::catalog::schema::ArgumentRole;
use crate::catalog::totals::{GroupField, GroupOrder, TotalsField};
use crate::query::bind::argument::Selected;
use crate::query::bind::introspection::Constant;
use crate::query::bind::page_size::{self, SizeSource};
use crate::query::bind::selection::{
    BoundConnection, BoundConnectionField, BoundEdgeField, BoundGroupField, BoundLookup, BoundObject, BoundObjectField,
    BoundPageInfoField, BoundRootField, BoundRows, BoundSelection, BoundTotals, BoundTotalsField, Selections,
};
use crate::query::bind::shape::{GroupKeys, Shape, StepShape};
use crate::query::bind::step_id::StepId;
use crate::query::operation::{Operation, Selection, Target};

/// The selections of an operation at the root, in a request of this shape, with these results of introspection.
pub(super) fn root<'a>(
    catalog: &'a Catalog,
    operation: &'a Operation,
    shape: &'a Shape,
    constants: &'a [Constant<'a>],
) -> Selections<'a, BoundRootField<'a>> {
    let mut binder = Binder { catalog, operation, shape, constants, steps: 0, constants_so_far: 0 };
    binder.select(&operation.selections, Binder::root_field)
}

/// Resolving and binding visit the same selections, so the next step is of the kind that is bound.
const OTHER_STEP: &str = "the step of another kind of selection";

/// Visits the selections in the order in which they were resolved, so that the next step and the next constant always belong to the next
/// selection that needs one.
struct Binder<'a> {
    catalog: &'a Catalog,
    operation: &'a Operation,
    shape: &'a Shape,
    constants: &'a [Constant<'a>],
    /// How many steps are in the tree so far.
    steps: usize,
    /// How many constants are in the tree so far.
    constants_so_far: usize,
}

impl<'a> Binder<'a> {
    /// Binds the selections of one level.
    fn select<F>(
        &mut self,
        selections: &'a [Selection],
        mut bind: impl FnMut(&mut Self, &'a Selection) -> F,
    ) -> Selections<'a, F> {
        let conditions = &self.shape.conditions;
        let mut bound = Vec::with_capacity(selections.len());
        let selected = |selection: &'a Selection| {
            let field = bind(self, selection);
            bound.push(BoundSelection { key: &selection.key, location: selection.location, field });
        };
        if conditions.is_empty() {
            selections.iter().for_each(selected);
        } else {
            conditions.selected(selections).into_iter().for_each(selected);
        }
        bound
    }

    fn root_field(&mut self, selection: &'a Selection) -> BoundRootField<'a> {
        let FieldId { index, .. } = match selection.target {
            Target::TypeName(object) => return BoundRootField::TypeName(object),
            Target::Field(id) => id,
        };
        let (field, binding) = self.catalog.root_field(index);
        let selected = Selected { selection, field };
        match binding {
            RootBinding::Lookup(lookup) => BoundRootField::Lookup(self.lookup(selected, lookup)),
            RootBinding::Connection(connection) => {
                BoundRootField::Connection(Box::new(self.connection(selected, connection, None)))
            }
            RootBinding::Changes(changes) => {
                BoundRootField::Connection(Box::new(self.connection(selected, &changes.connection, Some(changes))))
            }
            RootBinding::Totals(totals) => BoundRootField::Totals(Box::new(self.totals(selected, totals))),
            RootBinding::Schema | RootBinding::TypeByName => BoundRootField::Introspection(self.constant()),
        }
    }

    fn entity_field(&mut self, entity: EntityId, selection: &'a Selection) -> BoundObjectField<'a> {
        let FieldId { index, .. } = match selection.target {
            Target::TypeName(object) => return BoundObjectField::TypeName(object),
            Target::Field(id) => id,
        };
        match self.catalog.entity_field(entity, index) {
            (field, EntityBinding::Column(column)) => BoundObjectField::Column(field, column),
            (field, EntityBinding::Aggregate(aggregate)) => BoundObjectField::Aggregate(field, aggregate),
            (field, EntityBinding::One(binding)) => {
                let selections = self.object(binding.target, &selection.selections);
                BoundObjectField::Object(BoundObject { field, binding, selections })
            }
            (field, EntityBinding::Connection(connection)) => {
                let selected = Selected { selection, field };
                BoundObjectField::Connection(Box::new(self.connection(selected, connection, None)))
            }
        }
    }

    fn object(&mut self, entity: EntityId, selections: &'a [Selection]) -> Selections<'a, BoundObjectField<'a>> {
        self.select(selections, |binder, selection| binder.entity_field(entity, selection))
    }

    fn connection_field(&mut self, node: EntityId, selection: &'a Selection) -> BoundConnectionField<'a> {
        let id = match selection.target {
            Target::TypeName(object) => return BoundConnectionField::TypeName(object),
            Target::Field(id) => id,
        };
        match ConnectionField::ALL[usize::from(id.index)] {
            ConnectionField::Edges => BoundConnectionField::Edges(
                self.select(&selection.selections, |binder, selection| binder.edge_field(node, selection)),
            ),
            ConnectionField::PageInfo => {
                BoundConnectionField::PageInfo(self.select(&selection.selections, |_, selection| page_info(selection)))
            }
            ConnectionField::Count => BoundConnectionField::Count(self.catalog.field(id)),
        }
    }

    fn edge_field(&mut self, node: EntityId, selection: &'a Selection) -> BoundEdgeField<'a> {
        let FieldId { index, .. } = match selection.target {
            Target::TypeName(object) => return BoundEdgeField::TypeName(object),
            Target::Field(id) => id,
        };
        match EdgeField::ALL[usize::from(index)] {
            EdgeField::Node => BoundEdgeField::Node(self.object(node, &selection.selections)),
            EdgeField::Cursor => BoundEdgeField::Cursor,
        }
    }

    fn lookup(&mut self, Selected { selection, field }: Selected<'a>, binding: &'a Lookup) -> BoundLookup<'a> {
        let (step, StepShape::Lookup(keys)) = self.step() else { unreachable!("{OTHER_STEP}") };
        let selections = self.object(binding.target, &selection.selections);
        BoundLookup { step, field, binding, keys, selections }
    }

    fn connection(
        &mut self,
        Selected { selection, field }: Selected<'a>,
        binding: &'a Connection,
        changes: Option<&'a Changes>,
    ) -> BoundConnection<'a> {
        let (step, rows) = match (self.step(), changes) {
            ((step, StepShape::Page(page)), None) => (step, BoundRows::Page(page)),
            ((step, StepShape::Changes), Some(changes)) => (step, BoundRows::Changes(changes)),
            _ => unreachable!("{OTHER_STEP}"),
        };
        let size_source = page_size::source(self.operation, field, selection, rows.end().role())
            .unwrap_or(SizeSource::Document(&selection.occurrences));
        let selections =
            self.select(&selection.selections, |binder, selection| binder.connection_field(binding.node, selection));
        BoundConnection { step, field, binding, rows, size_source, selections }
    }

    fn totals(&mut self, Selected { selection, field }: Selected<'a>, binding: &'a Totals) -> BoundTotals<'a> {
        let (step, StepShape::Totals(rows, grouping)) = self.step() else { unreachable!("{OTHER_STEP}") };
        let selections =
            self.select(&selection.selections, |binder, selection| binder.totals_field(binding, selection));
        let sums = summed(binding, &selections, grouping.order);
        let mut keys = grouping.keys.clone().unwrap_or_else(|| selected_keys(&selections));
        if sums.iter().any(|sum| binding.sums[*sum].is_money) {
            binding.currency.into_iter().for_each(|currency| keys.insert(currency));
        }
        let relations = relations(binding, &keys, &sums);
        let rows_source = page_size::source(self.operation, field, selection, ArgumentRole::Rows);
        BoundTotals {
            step,
            field,
            binding,
            rows,
            order: grouping.order,
            rows_source,
            keys,
            sums,
            relations,
            selections,
        }
    }

    fn totals_field(&mut self, totals: &'a Totals, selection: &'a Selection) -> BoundTotalsField<'a> {
        let id = match selection.target {
            Target::TypeName(object) => return BoundTotalsField::TypeName(object),
            Target::Field(id) => id,
        };
        match TotalsField::ALL[usize::from(id.index)] {
            TotalsField::Groups => BoundTotalsField::Groups(
                self.select(&selection.selections, |binder, selection| binder.group_field(totals, selection)),
            ),
            field => BoundTotalsField::Field(self.catalog.field(id), field),
        }
    }

    fn group_field(&self, totals: &Totals, selection: &Selection) -> BoundGroupField<'a> {
        match selection.target {
            Target::TypeName(object) => BoundGroupField::TypeName(object),
            Target::Field(id) => {
                let field = GroupField::at(usize::from(id.index), totals.keys.len());
                BoundGroupField::Field(self.catalog.field(id), field)
            }
        }
    }

    /// The next step.
    fn step(&mut self) -> (StepId, &'a StepShape) {
        let step = self.steps;
        self.steps += 1;
        (step, &self.shape.steps[step])
    }

    /// The next result of `__schema` or `__type`.
    fn constant(&mut self) -> &'a Constant<'a> {
        self.constants_so_far += 1;
        &self.constants[self.constants_so_far - 1]
    }
}

/// The fields of groups that are selected.
fn group_fields(selections: &[BoundSelection<'_, BoundTotalsField<'_>>]) -> impl Iterator<Item = GroupField> {
    let groups = selections.iter().filter_map(|selection| match &selection.field {
        BoundTotalsField::Groups(groups) => Some(groups),
        BoundTotalsField::TypeName(_) | BoundTotalsField::Field(..) => None,
    });
    groups.flatten().filter_map(|selection| match selection.field {
        BoundGroupField::Field(_, field) => Some(field),
        BoundGroupField::TypeName(_) => None,
    })
}

/// The keys that are selected.
fn selected_keys(selections: &[BoundSelection<'_, BoundTotalsField<'_>>]) -> GroupKeys {
    let mut keys = GroupKeys::default();
    for field in group_fields(selections) {
        if let GroupField::Key(key) = field {
            keys.insert(key);
        }
    }
    keys
}

/// The sums that are selected or ordered by.
fn summed(totals: &Totals, selections: &[BoundSelection<'_, BoundTotalsField<'_>>], order: GroupOrder) -> Vec<usize> {
    let selected = group_fields(selections).filter_map(|field| match field {
        GroupField::Sum(sum) => Some(sum),
        GroupField::Key(_) | GroupField::Count => None,
    });
    let mut is_summed = vec![false; totals.sums.len()];
    let ordered_by = if let GroupOrder::Sum(sum) = order { Some(sum) } else { None };
    selected.chain(ordered_by).for_each(|sum| is_summed[sum] = true);
    (0..totals.sums.len()).filter(|sum| is_summed[*sum]).collect()
}

/// How many relations a row is read from.
fn relations(totals: &Totals, keys: &GroupKeys, sums: &[usize]) -> u64 {
    let keys = keys.indexes().iter().map(|key| &totals.keys[*key].path);
    let sums = sums.iter().map(|sum| &totals.sums[*sum]).flat_map(|sum| std::iter::once(&sum.path).chain(&sum.times));
    let mut joined: Vec<&[u16]> = Vec::new();
    for path in keys.chain(sums) {
        let objects = path.objects();
        for length in 1..=objects.len() {
            if !joined.contains(&&objects[..length]) {
                joined.push(&objects[..length]);
            }
        }
    }
    1 + joined.len() as u64
}

fn page_info(selection: &Selection) -> BoundPageInfoField {
    match selection.target {
        Target::TypeName(object) => BoundPageInfoField::TypeName(object),
        Target::Field(id) => BoundPageInfoField::Field(PageInfoField::ALL[usize::from(id.index)]),
    }
}
