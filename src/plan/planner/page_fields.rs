//! The selected fields of a page beside its rows, and the columns for them.

use crate::catalog::binding::PageInfoField;
use crate::catalog::result_type::ResultType;
use crate::plan::result_columns::ResultColumns;
use crate::plan::select::{ReturnedSource, Select};
use crate::plan::step::Layout;
use crate::query::bind::page_size::FromEnd;
use crate::query::bind::selection::{BoundConnection, BoundConnectionField, BoundEdgeField, BoundPageInfoField};

/// The selected fields of a page beside its rows.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct PageFields {
    pub(super) cursors: bool,
    /// Whether there are rows at or before the `after:` cursor.
    pub(super) before_page: bool,
    /// Whether there are rows at or after the `before:` cursor.
    pub(super) after_page: bool,
    pub(super) is_counted: bool,
    /// Whether the list may be null, as it has too many rows. The access path decides it.
    pub(super) is_bounded: bool,
    /// Whether the rows are written once, and nothing is written before that depends on all of them.
    pub(super) is_in_order: bool,
}

impl PageFields {
    pub(super) fn of(bound: &BoundConnection<'_>) -> Self {
        let (mut fields, mut lists) = (Self { is_in_order: true, ..Self::default() }, 0);
        for selection in &bound.selections {
            match &selection.field {
                BoundConnectionField::TypeName(_) => {}
                BoundConnectionField::Count(_) => {
                    fields.is_counted = bound.rows.page().is_some_and(|page| page.is_counted);
                    fields.is_in_order &= lists > 0;
                }
                BoundConnectionField::Edges(edge) => {
                    lists += 1;
                    fields.cursors |= edge.iter().any(|selection| matches!(selection.field, BoundEdgeField::Cursor));
                }
                BoundConnectionField::PageInfo(page_info) => {
                    for selection in page_info {
                        let needs_all_rows = fields.add(&selection.field, bound);
                        fields.is_in_order &= !needs_all_rows || lists > 0;
                    }
                }
            }
        }
        // Rows that are not written are fetched all the same: they are paid for.
        fields.is_in_order &= lists == 1;
        fields
    }

    /// Returns whether the field depends on all rows.
    fn add(&mut self, field: &BoundPageInfoField, bound: &BoundConnection<'_>) -> bool {
        let page = bound.rows.page();
        match field {
            BoundPageInfoField::TypeName(_) => return false,
            BoundPageInfoField::Field(field) => match field {
                PageInfoField::StartCursor | PageInfoField::EndCursor => self.cursors = true,
                PageInfoField::HasNextPage => self.after_page = page.is_some_and(|page| page.before.is_some()),
                PageInfoField::HasPreviousPage => self.before_page = page.is_some_and(|page| page.after.is_some()),
            },
        }
        true
    }

    /// The number of flags that need rows outside of the page.
    pub(super) fn probes(&self) -> u32 {
        u32::from(self.before_page) + u32::from(self.after_page)
    }

    /// The columns of a page that is taken from this end.
    pub(super) fn layout(&self, end: FromEnd, select: &mut Select<'_>, columns: &mut ResultColumns) -> Layout {
        let mut flags = 0;
        let mut column = |is_there: bool, source: Option<ReturnedSource>, ty| {
            is_there.then(|| {
                let source = source.unwrap_or(ReturnedSource::Flag(flags));
                flags += usize::from(matches!(source, ReturnedSource::Flag(_)));
                select.other(source, ty, columns)
            })
        };
        let is_flagged = self.probes() > 0 || self.is_counted || self.is_bounded;
        Layout {
            before_page: column(self.before_page, None, ResultType::Boolean),
            after_page: column(self.after_page, None, ResultType::Boolean),
            count: column(self.is_counted, None, ResultType::Int8),
            is_too_long: column(self.is_bounded, None, ResultType::Boolean),
            present: column(is_flagged, Some(ReturnedSource::Present), ResultType::Boolean),
            beyond_page: column(end == FromEnd::Back, Some(ReturnedSource::BeyondPage), ResultType::Boolean),
        }
    }
}
