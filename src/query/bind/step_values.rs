//! The values of a request's steps, without the values of its search terms.

use crate::cursor::{CursorPosition, CursorScope};
use crate::query::bind::changes::ChangesStart;
use crate::query::bind::page_size::PageSize;
use crate::value::Value;

/// The values of a step. They are parameters of its statement, and the page sizes factors of its price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepValues {
    /// The values of a lookup's keys, in the order of its shape.
    Lookup(Vec<Value>),
    /// The values of a page of a connection.
    Page(PageValues),
    /// How many rows a page of changes has, and where it begins.
    Changes(PageSize, Box<ChangesStart>),
    /// The values of a page of groups, the most rows that are summed up, and the name of the time zone of periods.
    Totals(PageValues, u32, Value),
}

/// The values of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageValues {
    pub(crate) size: PageSize,
    /// Only rows after this one.
    pub(crate) after: Option<CursorPosition>,
    /// Only rows before this one.
    pub(crate) before: Option<CursorPosition>,
    /// How many rows are counted at most, if they are.
    pub(crate) count_up_to: Option<u32>,
    /// What limits the rows, for the page's cursors.
    pub(crate) scope: Option<CursorScope>,
}

impl StepValues {
    /// How many rows are requested, for each parent; of totals, how many groups.
    pub(crate) fn size(&self) -> u32 {
        match self {
            Self::Lookup(_) => 1,
            Self::Page(PageValues { size, .. })
            | Self::Changes(size, _)
            | Self::Totals(PageValues { size, .. }, ..) => size.get(),
        }
    }

    /// How many rows are read for that, for each parent: of totals, the rows that are summed up.
    pub(crate) fn rows(&self) -> u32 {
        if let Self::Totals(_, rows, _) = self { *rows } else { self.size() }
    }

    /// The values of a lookup's keys.
    pub(crate) fn keys(&self) -> &[Value] {
        if let Self::Lookup(keys) = self { keys } else { &[] }
    }

    /// The values of a page.
    pub(crate) fn page(&self) -> Option<&PageValues> {
        match self {
            Self::Page(page) | Self::Totals(page, ..) => Some(page),
            Self::Lookup(_) | Self::Changes(..) => None,
        }
    }

    /// The time zone of totals.
    pub(crate) fn time_zone(&self) -> Option<&Value> {
        if let Self::Totals(.., time_zone) = self { Some(time_zone) } else { None }
    }

    /// The start of a page of changes.
    pub(crate) fn start(&self) -> Option<&ChangesStart> {
        if let Self::Changes(_, start) = self { Some(start) } else { None }
    }
}
