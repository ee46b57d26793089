//! The changes of a type: a root connection whose rows are found by their transactions.

use crate::catalog::changes::Changes;
use crate::catalog::result_type::ResultType;
use crate::plan::access_path::{AccessPath, IndexScan, Strategy};
use crate::plan::changes_sql::{ChangesSql, MARKS_PER_ROW, StateColumn};
use crate::plan::parameters::ParameterSource;
use crate::plan::planner::page_fields::PageFields;
use crate::plan::planner::{PageDraft, Planner, StepDraft};
use crate::plan::select::{ReturnedSource, Select};
use crate::plan::statement_sql::{BranchRows, StepBranch};
use crate::plan::step::{ChangesColumns, Layout, Step, StepRows};
use crate::query::bind::changes::StartValue;
use crate::query::bind::selection::BoundConnection;

impl<'a> Planner<'a> {
    /// Plans the changes of a type with that response key.
    pub(super) fn changes(
        &mut self,
        key: &'a str,
        bound: &BoundConnection<'a>,
        changes: &'a Changes,
    ) -> StepBranch<'a> {
        self.limited_by = self.limited_by.and(changes.connection.limited_by);
        let mut parameters = self.parameters(bound.step);
        let start = StartValue::ALL.map(|value| parameters.add(ParameterSource::Start(value)));
        let (marks, limit) = (parameters.add(ParameterSource::Marks), parameters.add(ParameterSource::Limit));

        let mut select = Select::default();
        let mut state =
            |column: StateColumn, ty| select.other(ReturnedSource::Flag(column as usize), ty, &mut self.columns);
        let mut columns = ChangesColumns {
            tag: changes.tag(),
            limited_by: changes.connection.limited_by,
            indirect: changes.indirect.clone(),
            until: state(StateColumn::Until, ResultType::Text),
            at: state(StateColumn::At, ResultType::Timestamp),
            epoch: state(StateColumn::Epoch, ResultType::Int8),
            timeline: state(StateColumn::Timeline, ResultType::Int8),
            is_standby: state(StateColumn::IsStandby, ResultType::Boolean),
            is_unflushed: state(StateColumn::IsUnflushed, ResultType::Boolean),
            lag: state(StateColumn::Lag, ResultType::Int8),
            oldest_writer: state(StateColumn::OldestWriter, ResultType::Int8),
            last_mark: state(StateColumn::LastMark, ResultType::Text),
            position: 0,
        };
        let has_more = state(StateColumn::HasMore, ResultType::Boolean);
        let present = select.other(ReturnedSource::Present, ResultType::Boolean, &mut self.columns);
        columns.position = select.other(ReturnedSource::Position, ResultType::Text, &mut self.columns);

        let page = PageDraft { size: None, has_window: false, has_flags: true };
        let mut draft = StepDraft { step: bound.step, select, children: Vec::new(), page: Some(page) };
        let (name, ()) = self.inside(key, |planner| planner.page(&mut draft, true, &bound.selections));
        let columns_of_index = ["xid", changes.key.name.as_str()].map(str::to_owned).to_vec();
        let strategy = Strategy::Order(IndexScan { columns: columns_of_index, ..IndexScan::default() });
        self.steps[bound.step] = Step {
            name,
            relation: changes.direct.clone(),
            end: self.end(bound.step, &draft.children),
            is_written_in_order: PageFields::of(bound).is_in_order,
            layout: Layout { after_page: Some(has_more), present: Some(present), ..Layout::default() },
            rows: StepRows::Changes(columns),
            access_path: AccessPath { strategy, parts: MARKS_PER_ROW, ..AccessPath::default() },
            ..Step::default()
        };
        let StepDraft { select, children, page, .. } = draft;
        let rows = BranchRows::Changes(Box::new(ChangesSql { changes, select, start, marks, limit }));
        StepBranch { step: bound.step, rows, size: page.and_then(|page| page.size), is_backward: false, children }
    }
}
