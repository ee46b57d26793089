//! Lookups, and the fields of objects.

use std::iter;

use crate::catalog::schema::Field;
use crate::plan::access_path::AccessPath;
use crate::plan::build::planner::{Planner, Row};
use crate::plan::response_template::Op;
use crate::plan::select::Select;
use crate::plan::sql::{Alias, ColumnOf, Condition, Operator, Parameters, Placeholder};
use crate::plan::statement;
use crate::plan::step::{KeysStatement, Layout, Parents, Slot, Step};
use crate::query::bind::selection::{BoundLookup, BoundObject, BoundObjectField, BoundSelection};
use crate::value::ScalarType;

impl<'a> Planner<'a> {
    pub(super) fn lookup(&mut self, lookup: &BoundLookup<'a>) {
        let (step, binding) = (lookup.step, lookup.binding);
        let keys = lookup.keys.iter().enumerate();
        let known = keys.map(|(given, (index, _))| (&binding.keys[*index], Slot::Key(step, given)));
        let known: Vec<_> = known.collect();
        let mut parameters = Parameters::default();
        let key = self.catalog.entity(binding.target).map_or(&[][..], |entity| &entity.key);
        let is_unique = key.iter().all(|column| known.iter().any(|(known, _)| known.name == column.name));
        let rest = key.iter().map(|column| column.name.as_str());
        let rest = rest.filter(|column| known.iter().all(|(known, _)| known.name != *column));
        let (conditions, order): (Vec<_>, Vec<_>) = match (known.as_slice(), is_unique) {
            // Many rows may have the value. PostgreSQL leaves a column that equals a value out of the order, and might then read
            // them by the primary key: an array prevents that.
            ([(column, Slot::Key(..))], false) => {
                let value = parameters.add(Slot::KeyArray(step, 0));
                (
                    vec![Condition::Among(ColumnOf(Alias::Base, &column.name), value)],
                    iter::once(column.name.as_str()).chain(rest).collect(),
                )
            }
            (known, is_unique) => {
                let conditions = known.iter().map(|(column, slot)| equal(&column.name, parameters.add(*slot)));
                (conditions.collect(), if is_unique { Vec::new() } else { rest.collect() })
            }
        };

        let mut select = Select::new(0);
        let (non_null, path) = (lookup.field.ty.is_non_null(), self.response.path());
        let opening = self.response.reserve();
        self.object(&mut select, Row { step, alias: Alias::Base, known: &known }, &lookup.selections);
        self.response.close(opening, |end| Op::Lookup { step, non_null, path, end }, Op::EndLookup);
        self.steps[step] = Step {
            sql: statement::lookup(&binding.relation, &select, &conditions, &order),
            parameters: parameters.into_slots(),
            parents: Parents::Known,
            backward: false,
            layout: Layout::default(),
            cursor: None,
            access_path: AccessPath::default(),
            search: None,
            parents_text: None,
            keys: select.keys().map(|select| KeysStatement {
                sql: statement::lookup(&binding.relation, &select, &conditions, &order),
                parents_text: None,
            }),
        };
    }

    /// Plans the fields of a row, which is of the step's own relation or of an object joined to it.
    pub(super) fn object(
        &mut self,
        select: &mut Select<'a>,
        row: Row<'_>,
        selections: &[BoundSelection<'a, BoundObjectField<'a>>],
    ) {
        self.response.open_object();
        for (index, selection) in selections.iter().enumerate() {
            self.response.key(selection.key, index == 0);
            match &selection.field {
                BoundObjectField::TypeName(object) => self.type_name(*object),
                BoundObjectField::Column(field, column) => {
                    let index = select.column(row.alias, &column.name);
                    self.value(index, column.scalar, field);
                }
                BoundObjectField::Aggregate(field, aggregate) => {
                    let index = select.aggregate(row.alias, aggregate);
                    self.value(index, aggregate.scalar, field);
                }
                BoundObjectField::Object(object) => self.joined_object(select, row, object),
                BoundObjectField::Connection(connection) => {
                    self.connection(selection.key, connection, Some((select, row)));
                }
            }
        }
        self.response.close_object();
    }

    fn joined_object(&mut self, select: &mut Select<'a>, row: Row<'_>, object: &BoundObject<'a>) {
        let alias = select.join(self.catalog, row.alias, object.binding);
        // The columns of the join are not null in a row that was joined.
        let present = object.binding.join.to.first().map_or(0, |column| select.column(alias, column));
        let (non_null, path) = (object.field.ty.is_non_null(), self.response.path());
        let opening = self.response.reserve();
        self.object(select, Row { step: row.step, alias, known: &[] }, &object.selections);
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
