//! Lookups, and the fields of objects.

use crate::catalog::schema::Field;
use crate::plan::lookup_sql::LookupSql;
use crate::plan::parameters::ParameterSource;
use crate::plan::planner::{Planner, StepDraft};
use crate::plan::response_template::{Op, ShownType};
use crate::plan::select::{Select, ShownColumn};
use crate::plan::sql::{Alias, ColumnOf, Condition, SqlOperator};
use crate::plan::statement_sql::{BranchRows, StepBranch};
use crate::plan::step::Step;
use crate::query::bind::selection::{BoundLookup, BoundObject, BoundObjectField, BoundSelection};
use crate::value::ScalarType;

impl<'a> Planner<'a> {
    /// Plans a lookup with that response key.
    pub(super) fn lookup(&mut self, key: &'a str, lookup: &BoundLookup<'a>) {
        let (step, binding) = (lookup.step, lookup.binding);
        let known: Vec<_> = lookup.keys.iter().map(|index| &binding.keys[*index]).collect();
        let primary = &self.catalog.entity(binding.target).key;
        let is_unique = primary.iter().all(|column| known.iter().any(|known| known.name == column.name));
        // Many rows may have the value. PostgreSQL leaves a column that equals a value out of the order, and might then read them by
        // the primary key: an array prevents that.
        let is_array = known.len() == 1 && !is_unique;
        let mut parameters = self.parameters(step);
        let conditions = known.iter().enumerate().map(|(index, known)| {
            let column = ColumnOf(Alias::Base, &known.name);
            if is_array {
                Condition::Among(column, parameters.add(ParameterSource::KeyArray(index)))
            } else {
                Condition::Compare(column, SqlOperator::Equal, parameters.add(ParameterSource::Key(index)))
            }
        });
        let conditions = conditions.collect();
        let rest = primary.iter().filter(|column| known.iter().all(|known| known.name != column.name));
        let order = known.iter().copied().filter(|_| is_array).chain(rest).filter(|_| !is_unique);
        let order = order.map(|column| column.name.as_str()).collect();

        let mut draft = StepDraft { step, select: Select::default(), children: Vec::new(), page: None };
        let (non_null, path) = (lookup.field.ty.is_non_null(), self.response.path());
        let opening = self.response.reserve();
        let (name, ()) = self.inside(key, |planner| planner.object(&mut draft, Alias::Base, &lookup.selections));
        self.response.close(opening, |end| Op::Lookup { step, non_null, path, end }, Op::EndLookup);
        self.steps[step] = Step {
            name,
            relation: binding.relation.clone(),
            end: self.end(step, &draft.children),
            is_written_in_order: true,
            ..Step::default()
        };
        let StepDraft { select, children, .. } = draft;
        let rows = BranchRows::Lookup(LookupSql { relation: &binding.relation, select, conditions, order });
        self.roots.push(StepBranch { step, rows, size: None, is_backward: false, children });
    }

    /// Plans the fields of a row, which is of the step's own relation or of an object joined to it.
    pub(super) fn object(
        &mut self,
        draft: &mut StepDraft<'a>,
        alias: Alias,
        selections: &[BoundSelection<'a, BoundObjectField<'a>>],
    ) {
        self.fields(selections, |planner, key, field| match field {
            BoundObjectField::TypeName(object) => planner.type_name(*object),
            BoundObjectField::Column(field, column) => {
                let shown = draft.select.shown(alias, column, &mut planner.columns);
                planner.value(shown, column.scalar, field);
            }
            BoundObjectField::Aggregate(field, aggregate) => {
                let index = draft.select.aggregate(alias, aggregate, &mut planner.columns);
                planner.value(ShownColumn { column: index, size: None }, aggregate.scalar, field);
            }
            BoundObjectField::Object(object) => {
                planner.inside(key, |planner| planner.joined_object(draft, alias, object));
            }
            BoundObjectField::Connection(connection) => {
                let branch = planner.connection(key, connection, Some((draft, alias)));
                draft.children.push(branch);
            }
        });
    }

    fn joined_object(&mut self, draft: &mut StepDraft<'a>, parent: Alias, object: &BoundObject<'a>) {
        let alias = draft.select.join(self.catalog, parent, object.binding);
        let present = draft.select.present(alias, &mut self.columns);
        let (non_null, path) = (object.field.ty.is_non_null(), self.response.path());
        let opening = self.response.reserve();
        self.object(draft, alias, &object.selections);
        self.response.close(opening, |end| Op::Object { present, non_null, path, end }, Op::EndObject);
    }

    pub(super) fn value(&mut self, shown: ShownColumn, scalar: ScalarType, field: &Field) {
        let ty = ShownType::of(scalar, &field.ty, self.columns.ty(shown.column));
        self.response.column(shown, ty, field.ty.is_non_null());
    }
}
