//! The values of an in-list that choose ranges of an index, as relations of a statement: `e.v`, and `e.w` of a second list.

use std::fmt::{self, Display};

use crate::catalog::collation::Collation;
use crate::catalog::stored_type::StoredType;
use crate::plan::parameters::Placeholder;
use crate::plan::sql::type_name;

/// The values of an in-list.
#[derive(Clone, Copy)]
pub(crate) struct ValueList {
    pub(crate) values: Placeholder,
    pub(crate) stored: StoredType,
    pub(crate) collation: Collation,
    /// Whether the ranges are merged. They are not if the values are of the sort key's column: then their ranges follow each
    /// other in the page's order.
    pub(crate) is_merged: bool,
    /// How many rows are read first of each range, if many are merged and every row matches. Of a few, whole pages are read.
    pub(crate) head: Option<Placeholder>,
    /// How many ranges are merged, each as far as it is needed: the ranges of a few values, which the index's first column has.
    pub(crate) ranges: Option<u32>,
    /// The list of the index's second column, if that has one as well.
    pub(crate) other: Option<OtherList>,
}

/// The few values of a second list.
#[derive(Clone, Copy)]
pub(crate) struct OtherList {
    pub(crate) values: Placeholder,
    pub(crate) stored: StoredType,
    pub(crate) length: u32,
}

/// The first rows of each range of a list.
#[derive(Clone, Copy)]
pub(crate) struct RangeHeads {
    pub(crate) list: ValueList,
    /// How many rows are read of each range.
    pub(crate) rows: Placeholder,
}

/// The ranges of a list of few values.
#[derive(Clone, Copy)]
pub(crate) struct FewRanges {
    list: ValueList,
    count: u32,
}

impl ValueList {
    /// The first rows of each range, if these are read first.
    pub(crate) fn heads(self) -> Option<RangeHeads> {
        self.head.map(|rows| RangeHeads { list: self, rows })
    }

    /// The ranges, if they are few, and each is merged as far as it is needed.
    pub(crate) fn few_ranges(self) -> Option<FewRanges> {
        self.ranges.map(|count| FewRanges { list: self, count })
    }

    /// The select list and the source of the values, each once.
    pub(crate) fn elements(&self) -> impl Display {
        // Texts are distinct as they are. Other values may be equal and differ, such as intervals.
        let distinct = if self.stored == StoredType::Text { "" } else { "DISTINCT " };
        let ty = type_name(self.stored);
        fmt::from_fn(move |f| {
            let Some(OtherList { values, stored, .. }) = self.other else {
                return write!(f, "{distinct}e.v FROM unnest({}::{ty}[]) AS e(v)", self.values);
            };
            write!(f, "e.v, o.w FROM unnest({}::{ty}[]) AS e(v) ", self.values)?;
            write!(f, "CROSS JOIN unnest({values}::{}[]) AS o(w)", type_name(stored))
        })
    }
}

impl FewRanges {
    /// The select lists of each value, or of each pair of values, by their numbers from 1.
    pub(crate) fn each(&self) -> impl Iterator<Item = impl Display> {
        let list = self.list;
        let others = list.other.map_or(1, |other| other.length);
        (1..=self.count).flat_map(move |number| (1..=others).map(move |other| (number, other))).map(
            move |(number, other)| {
                fmt::from_fn(move |f| {
                    write!(f, "({}::{}[])[{number}] AS v", list.values, type_name(list.stored))?;
                    let Some(OtherList { values, stored, .. }) = list.other else { return Ok(()) };
                    write!(f, ", ({values}::{}[])[{other}] AS w", type_name(stored))
                })
            },
        )
    }
}
