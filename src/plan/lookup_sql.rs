//! The SQL of a lookup: the part of a statement that returns its row.

use std::fmt::{self, Write};

use crate::plan::select::Select;
use crate::plan::sql::{Condition, Relation, Where, order_by};

/// The parts of the text that returns the row of a lookup: the row with these keys, or the lowest by `order` if there can be several.
pub(crate) struct LookupSql<'a> {
    /// The relation of the row.
    pub(crate) relation: &'a str,
    /// The select list, and the joins.
    pub(crate) select: Select<'a>,
    /// The keys.
    pub(crate) conditions: Vec<Condition<'a>>,
    /// The columns that decide which row is the lowest.
    pub(crate) order: Vec<&'a str>,
}

impl LookupSql<'_> {
    /// Appends the text.
    pub(crate) fn write(&self, text: &mut String) -> fmt::Result {
        let (columns, joins, conditions) = (self.select.list(), self.select.joins(), Where(self.conditions.iter()));
        let (relation, order) = (Relation(self.relation), order_by(&self.order, true));
        write!(text, "SELECT {columns}\nFROM {relation} AS t{joins}{conditions}{order}\nLIMIT 1")
    }
}
