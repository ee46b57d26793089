//! Lookups, and the fields of objects.

use std::iter;

use crate::catalog::schema::Field;
use crate::plan::branch::{Branch, BranchRows};
use crate::plan::build::planner::{DraftRows, Planner, StepDraft};
use crate::plan::response_template::Op;
use crate::plan::select::Select;
use crate::plan::sql::{Alias, ColumnOf, Condition, Operator, Placeholder};
use crate::plan::statement::LookupStatement;
use crate::plan::step::{Slot, Step};
use crate::query::bind::selection::{BoundLookup, BoundObject, BoundObjectField, BoundSelection};
use crate::value::ScalarType;

impl<'a> Planner<'a> {
    pub(super) fn lookup(&mut self, lookup: &BoundLookup<'a>) {
        let (step, binding) = (lookup.step, lookup.binding);
        let known: Vec<_> = lookup.arguments.keys.iter().map(|(index, _)| &binding.keys[*index]).collect();
        let key = &self.catalog.entity(binding.target).key;
        let is_unique = key.iter().all(|column| known.iter().any(|known| known.name == column.name));
        let rest = key.iter().map(|column| column.name.as_str());
        let rest = rest.filter(|column| known.iter().all(|known| known.name != *column));
        let mut parameters = self.parameters(step);
        let (conditions, order): (Vec<_>, Vec<_>) = match (known.as_slice(), is_unique) {
            // Many rows may have the value. PostgreSQL leaves a column that equals a value out of the order, and might then read
            // them by the primary key: an array prevents that.
            ([column], false) => {
                let value = parameters.add(Slot::KeyArray(0));
                (
                    vec![Condition::Among(ColumnOf(Alias::Base, &column.name), value)],
                    iter::once(column.name.as_str()).chain(rest).collect(),
                )
            }
            (known, is_unique) => {
                let conditions = known.iter().enumerate();
                let conditions =
                    conditions.map(|(index, column)| equal(&column.name, parameters.add(Slot::Key(index))));
                (conditions.collect(), if is_unique { Vec::new() } else { rest.collect() })
            }
        };

        let mut draft = StepDraft { step, select: Select::default(), children: Vec::new(), rows: DraftRows::One };
        let (non_null, path) = (lookup.field.ty.is_non_null(), self.response.path());
        let opening = self.response.reserve();
        self.object(&mut draft, Alias::Base, &lookup.selections);
        self.response.close(opening, |end| Op::Lookup { step, non_null, path, end }, Op::EndLookup);
        self.steps[step] = Step::default();
        let StepDraft { select, children, .. } = draft;
        let rows = BranchRows::Lookup(LookupStatement { relation: &binding.relation, select, conditions, order });
        self.roots.push(Branch { step, rows, size: None, is_backward: false, children });
    }

    /// Plans the fields of a row, which is of the step's own relation or of an object joined to it.
    pub(super) fn object(
        &mut self,
        draft: &mut StepDraft<'a>,
        alias: Alias,
        selections: &[BoundSelection<'a, BoundObjectField<'a>>],
    ) {
        self.response.open_object();
        for (index, selection) in selections.iter().enumerate() {
            self.response.key(selection.key, index == 0);
            match &selection.field {
                BoundObjectField::TypeName(object) => self.type_name(*object),
                BoundObjectField::Column(field, column) => {
                    let index = draft.select.column(alias, column, &mut self.columns);
                    self.value(index, column.scalar, field);
                }
                BoundObjectField::Aggregate(field, aggregate) => {
                    let index = draft.select.aggregate(alias, aggregate, &mut self.columns);
                    self.value(index, aggregate.scalar, field);
                }
                BoundObjectField::Object(object) => self.joined_object(draft, alias, object),
                BoundObjectField::Connection(connection) => {
                    let branch = self.connection(selection.key, connection, Some((draft, alias)));
                    draft.children.push(branch);
                }
            }
        }
        self.response.close_object();
    }

    fn joined_object(&mut self, draft: &mut StepDraft<'a>, parent: Alias, object: &BoundObject<'a>) {
        let alias = draft.select.join(self.catalog, parent, object.binding);
        let present = draft.select.present(alias, &mut self.columns);
        let (non_null, path) = (object.field.ty.is_non_null(), self.response.path());
        let opening = self.response.reserve();
        self.object(draft, alias, &object.selections);
        self.response.close(opening, |end| Op::Object { present, non_null, path, end }, Op::EndObject);
    }

    fn value(&mut self, column: usize, scalar: ScalarType, field: &Field) {
        let (non_null, path) = (field.ty.is_non_null(), self.response.path());
        self.response.push(Op::Column { column, scalar, non_null, path });
    }
}

/// A condition that a column of the base relation equals a parameter.
pub(super) fn equal(column: &str, value: Placeholder) -> Condition<'_> {
    Condition::Compare(ColumnOf(Alias::Base, column), Operator::Equal, value)
}
