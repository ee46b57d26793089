//! Totals: the rows of a page in groups, and the fields of totals and of groups.

use std::mem;

use crate::catalog::column::Column;
use crate::catalog::connection::Connection;
use crate::catalog::ids::EntityId;
use crate::catalog::result_type::ResultType;
use crate::catalog::search_key::SearchKey;
use crate::catalog::totals::{FieldPath, GroupField, GroupOrder, TotalsField};
use crate::plan::access_path::FoundFor;
use crate::plan::locator::Locator;
use crate::plan::page_sql::Parent;
use crate::plan::parameters::ParameterSource;
use crate::plan::planner::Planner;
use crate::plan::planner::page::{ParentJoin, RequestedPage};
use crate::plan::planner::page_fields::PageFields;
use crate::plan::response_template::Op;
use crate::plan::select::{ReturnedSource, Select, ShownColumn};
use crate::plan::sql::Alias;
use crate::plan::statement_sql::{BranchRows, StepBranch};
use crate::plan::step::{CursorColumns, Layout, Step, StepRows, TotalsColumns};
use crate::plan::totals_sql::{KeySql, OrderSql, SumSql, TotalsSql};
use crate::query::bind::selection::{BoundGroupField, BoundSelection, BoundTotals, BoundTotalsField};
use crate::value::ScalarType;

/// A value of a row of the statement: its index, and its type in the schema.
type ReturnedValue = (usize, ScalarType);

/// The place of the values of totals in a row of the statement.
struct TotalsValues {
    columns: TotalsColumns,
    group_count: usize,
    /// By the index of the key; none of a key that the rows are not grouped by.
    keys: Vec<Option<ReturnedValue>>,
    /// By the index of the key; none of one that is no period.
    offsets: Vec<Option<usize>>,
    count: usize,
    /// By the index of the sum; none of one that is not needed.
    sums: Vec<Option<usize>>,
}

impl<'a> Planner<'a> {
    /// Plans totals with that response key.
    pub(super) fn totals(&mut self, key: &'a str, bound: &BoundTotals<'a>) -> StepBranch<'a> {
        let (connection, step, terms) = (&bound.binding.connection, bound.step, self.terms.of(bound.step));
        let sort_key = bound.rows.sort_key;
        let requested = RequestedPage { connection, shape: bound.rows, terms, fields: &PageFields::default() };
        let mut access_path = requested.access_path(self.catalog.search_window());
        access_path.found_for = FoundFor::Totals;
        let mut parameters = self.parameters(step);
        let no_parent = ParentJoin { parent: Parent::None, conditions: Vec::new() };
        let mut page = requested.sql(&access_path, no_parent, &mut parameters);
        access_path.parts = page.parts();
        let (rows, groups) = (parameters.add(ParameterSource::PageSize), parameters.add(ParameterSource::Groups));

        let has_periods = bound.keys.indexes().iter().any(|key| bound.binding.keys[*key].unit.is_some());
        let time_zone = has_periods.then(|| parameters.add(ParameterSource::TimeZone));

        let sort_key = &connection.sort_keys[sort_key];
        let cursor_columns: Vec<_> =
            if selects_cursor(&bound.selections) { connection.cursor_columns(sort_key).collect() } else { Vec::new() };
        let mut select = mem::take(&mut page.select);
        let cursor = cursor_columns.iter().map(|column| select.key(Alias::Base, &column.name)).collect();
        let (key_sql, key_columns) = self.group_keys(bound, &mut select);
        let sums = self.sums(bound, &mut select);
        page.set_select(select);
        let order = match bound.order {
            GroupOrder::Count => OrderSql::Count,
            GroupOrder::Key => OrderSql::Keys,
            GroupOrder::Sum(sum) => OrderSql::Sum(bound.sums.iter().position(|summed| *summed == sum).unwrap_or(0)),
        };
        let window = page.locator.as_ref().and_then(Locator::window);
        let select = Select::default();
        let mut sql = TotalsSql { select, page, rows, groups, time_zone, window, cursor, keys: key_sql, sums, order };

        let (layout, values, cursor) = self.totals_values(bound, &mut sql, &cursor_columns, &key_columns);
        let (name, ()) = self.inside(key, |planner| planner.totals_object(bound, &values));
        let cursor = selects_cursor(&bound.selections).then(|| CursorColumns {
            tag: if bound.rows.reverse { sort_key.tag.reversed() } else { sort_key.tag },
            columns: cursor,
        });
        let rows =
            StepRows::Totals { columns: values.columns, in_parts_of: time_of_order(connection).map(str::to_owned) };
        let relation = sql.page.relation.to_owned();
        self.limited_by = self.limited_by.and(connection.limited_by);
        self.steps[step] = Step { name, relation, end: step + 1, layout, cursor, access_path, rows, ..Step::default() };
        StepBranch {
            step,
            rows: BranchRows::Totals(Box::new(sql)),
            size: None,
            is_backward: false,
            children: Vec::new(),
        }
    }

    /// The keys of groups, and the columns that they show.
    fn group_keys(&self, bound: &BoundTotals<'a>, select: &mut Select<'a>) -> (Vec<KeySql>, Vec<&'a Column>) {
        let key = |index: &usize| {
            let key = &bound.binding.keys[*index];
            let (column, shown) = self.path(bound.binding.connection.node, &key.path, select);
            (KeySql { column, unit: key.unit }, shown)
        };
        bound.keys.indexes().iter().map(key).unzip()
    }

    fn sums(&self, bound: &BoundTotals<'a>, select: &mut Select<'a>) -> Vec<SumSql> {
        let node = bound.binding.connection.node;
        let sum = |index: &usize| {
            let sum = &bound.binding.sums[*index];
            let (column, _) = self.path(node, &sum.path, select);
            SumSql { column, times: sum.times.as_ref().map(|times| self.path(node, times, select).0) }
        };
        bound.sums.iter().map(sum).collect()
    }

    /// Reads the column of a path. Returns its index in the select list.
    fn path(&self, from: EntityId, path: &FieldPath, select: &mut Select<'a>) -> (usize, &'a Column) {
        let (objects, column) = self.catalog.follow(from, path);
        let join = |alias: Alias, one| select.join(self.catalog, alias, one);
        let alias = objects.into_iter().fold(Alias::Base, join);
        (select.key(alias, &column.name), column)
    }

    /// Returns the columns of the totals.
    fn totals_values(
        &mut self,
        bound: &BoundTotals<'a>,
        sql: &mut TotalsSql<'a>,
        cursor: &[&Column],
        key_columns: &[&Column],
    ) -> (Layout, TotalsValues, Vec<ReturnedValue>) {
        let (first_key, count, mut next_offset) = (sql.first_key(), sql.count(), sql.first_offset());
        let Self { columns, .. } = self;
        let select = &mut sql.select;
        let present = select.other(ReturnedSource::Present, ResultType::Boolean, columns);
        let mut column = |index: usize, ty| select.other(ReturnedSource::Selected(index), ty, columns);
        let totals_columns = TotalsColumns {
            rows: column(TotalsSql::ROWS, ResultType::Int8),
            complete: column(TotalsSql::COMPLETE, ResultType::Boolean),
        };
        let group_count = column(TotalsSql::GROUP_COUNT, ResultType::Int8);
        let cursor = cursor.iter().enumerate();
        let cursor = cursor.map(|(index, of)| (column(TotalsSql::CURSOR + index, of.result), of.scalar)).collect();
        let mut values = TotalsValues {
            columns: totals_columns,
            group_count,
            keys: vec![None; bound.binding.keys.len()],
            offsets: vec![None; bound.binding.keys.len()],
            count: column(count, ResultType::Int8),
            sums: vec![None; bound.binding.sums.len()],
        };
        for (position, (key, shown)) in bound.keys.indexes().iter().zip(key_columns).enumerate() {
            let is_period = bound.binding.keys[*key].unit.is_some();
            let ty = if is_period { ResultType::Timestamp } else { shown.result };
            values.keys[*key] = Some((column(first_key + position, ty), shown.scalar));
            if is_period {
                values.offsets[*key] = Some(column(next_offset, ResultType::Int8));
                next_offset += 1;
            }
        }
        for (position, sum) in bound.sums.iter().enumerate() {
            values.sums[*sum] = Some(column(count + 1 + position, ResultType::Numeric));
        }
        (Layout { present: Some(present), ..Layout::default() }, values, cursor)
    }

    /// Plans the output of totals.
    fn totals_object(&mut self, bound: &BoundTotals<'a>, values: &TotalsValues) {
        self.response.push(Op::Connection { step: bound.step });
        self.fields(&bound.selections, |planner, _, field| match field {
            BoundTotalsField::TypeName(object) => planner.type_name(*object),
            BoundTotalsField::Groups(group) => {
                planner.response.literal("[");
                let opening = planner.response.reserve();
                let start = planner.response.position();
                planner.response.enter_list(bound.step);
                planner.group(group, values);
                let closing = Op::NextRow { start, separator: Some(b',') };
                planner.response.close(opening, |end| Op::FirstRow { end }, closing);
                planner.response.literal("]");
            }
            BoundTotalsField::Field(_, field) => planner.response.push(match field {
                TotalsField::EndCursor => Op::EndCursor,
                TotalsField::Complete => Op::OfPage { column: values.columns.complete, scalar: ScalarType::Boolean },
                TotalsField::GroupCount => Op::OfPage { column: values.group_count, scalar: ScalarType::Int },
                TotalsField::RowCount | TotalsField::Groups => {
                    Op::OfPage { column: values.columns.rows, scalar: ScalarType::Int }
                }
            }),
        });
        self.response.push(Op::EndConnection);
    }

    fn group(&mut self, selections: &[BoundSelection<'a, BoundGroupField<'a>>], values: &TotalsValues) {
        self.fields(selections, |planner, _, field| match field {
            BoundGroupField::TypeName(object) => planner.type_name(*object),
            BoundGroupField::Field(field, part) => {
                let value = match part {
                    GroupField::Key(key)
                        if let Some((offset, (column, _))) = values.offsets[*key].zip(values.keys[*key]) =>
                    {
                        let path = planner.response.path();
                        return planner.response.push(Op::LocalTime { column, offset, path });
                    }
                    GroupField::Key(key) => values.keys[*key],
                    GroupField::Count => Some((values.count, ScalarType::Int)),
                    GroupField::Sum(sum) => values.sums[*sum].map(|column| (column, ScalarType::Decimal)),
                };
                match value {
                    Some((column, scalar)) => planner.value(ShownColumn { column, size: None }, scalar, field),
                    None => planner.response.literal("null"),
                }
            }
        });
    }
}

/// The first search key of a time in whose order an index has the rows.
fn time_of_order(connection: &Connection) -> Option<&str> {
    let is_time = |key: &&SearchKey| key.column.scalar == ScalarType::DateTime && key.takes_ranges();
    let mut keys = connection.search_keys.iter().filter(is_time);
    keys.find(|key| connection.order_of(key).is_some()).map(|key| key.name.as_str())
}

fn selects_cursor(selections: &[BoundSelection<'_, BoundTotalsField<'_>>]) -> bool {
    selections.iter().any(|selection| matches!(selection.field, BoundTotalsField::Field(_, TotalsField::EndCursor)))
}
