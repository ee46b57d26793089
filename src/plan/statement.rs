//! The text of the part of a statement that returns the rows of one step: a page of a connection, or the row of a lookup.

use std::fmt::{self, Display, Write};

use crate::plan::locator::{Locator, Span, Take, direction};
use crate::plan::select::Select;
use crate::plan::sql::{Alias, ColumnOf, Condition, List, Placeholder, Relation, Where};
use crate::query::bind::ids::StepId;

/// The parts of the text that returns a page of a connection.
pub(crate) struct PageStatement<'a> {
    /// The relation of the rows.
    pub(crate) relation: &'a str,
    /// What is read.
    pub(crate) select: Select<'a>,
    /// The row whose page it is.
    pub(crate) parent: Parent,
    /// What every row must fulfil, beside its segment: the join with its parent, and a search term that chooses a range.
    pub(crate) conditions: Vec<Condition<'a>>,
    /// The part of the order that the page is in.
    pub(crate) span: Span<'a>,
    /// The columns of the index that has the order, but for those that are equal in all rows of a parent.
    pub(crate) index: Vec<&'a str>,
    /// One more than the page size.
    pub(crate) limit: Placeholder,
    /// The probes: the parts of the order outside of the page in which any row is looked for. The scan begins with the row
    /// nearest to the page.
    pub(crate) probes: Vec<Span<'a>>,
    /// The rows that are counted, if some are.
    pub(crate) count: Option<Count<'a>>,
    /// What finds the page's rows, if it takes more than conditions.
    pub(crate) located: Option<Located<'a>>,
}

/// Whose page it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Parent {
    /// There is no parent.
    None,
    /// The row of a lookup.
    Row,
    /// A row of a page, if it is one that is written.
    RowOfPage(WrittenRow),
}

/// The condition that a row of a step's page is written. The statement also returns the row that follows the page, and says of an
/// empty page that it is empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrittenRow {
    pub(crate) step: StepId,
    /// The page size.
    pub(crate) size: Placeholder,
    /// Whether there may be rows that do not match.
    pub(crate) has_window: bool,
    /// Whether there is a row for an empty page.
    pub(crate) has_flags: bool,
}

impl Display for WrittenRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = self.step;
        write!(f, "p{step}.n <= {}", self.size)?;
        if self.has_window {
            write!(f, " AND p{step}.matches")?;
        }
        if self.has_flags {
            write!(f, " AND p{step}.present")?;
        }
        Ok(())
    }
}

/// Rows that are counted.
pub(crate) struct Count<'a> {
    /// All rows of the connection.
    pub(crate) span: Span<'a>,
    /// How many are counted at most.
    pub(crate) limit: Placeholder,
}

/// Rows that a locator finds.
pub(crate) struct Located<'a> {
    pub(crate) locator: Locator<'a>,
    /// The rows of the window; 0 if there is none.
    pub(crate) window: u32,
    /// The rows of the window of each probe.
    pub(crate) probe_window: u32,
}

impl PageStatement<'_> {
    /// Appends the text.
    pub(crate) fn write(&self, text: &mut String) -> fmt::Result {
        if let Some(locator) = self.located.as_ref().map(|located| &located.locator).filter(|found| found.has_counts())
        {
            write!(text, "{}", locator.counts())?;
            text.write_str(if self.has_flags() { "\n" } else { ",\n" })?;
        }
        if !self.has_flags() {
            return self.page(text);
        }
        write!(text, "SELECT f.*, p.*\nFROM {}\nLEFT JOIN LATERAL (\n", self.flags())?;
        self.page(text)?;
        text.write_str("\n) AS p ON TRUE")
    }

    fn page(&self, text: &mut String) -> fmt::Result {
        if let Some(located) = &self.located {
            return self.located(located, text);
        }
        let Span { segments, ascending, .. } = &self.span;
        if let [segment] = segments.as_slice() {
            return self.segment(segment, text);
        }
        text.write_str("SELECT u.* FROM ((\n")?;
        for index in 0..segments.len() {
            if index > 0 {
                text.write_str("\n) UNION ALL (\n")?;
            }
            self.segment(&segments[if *ascending { index } else { segments.len() - 1 - index }], text)?;
        }
        // The parts are read one after the other, as in the locator, and only as far as the page needs.
        write!(text, "\n)) AS u\nLIMIT {}", self.limit())
    }

    /// The rows that the locator finds.
    fn located(&self, Located { locator, window, .. }: &Located<'_>, text: &mut String) -> fmt::Result {
        let search = if *window > 0 { "m.matches, m.number, " } else { "" };
        // A disabled sort in the alternatives would hide the cost of the joins. A materialized one is planned apart.
        let continues_list = locator.has_counts() && !self.has_flags();
        writeln!(text, "{}m AS MATERIALIZED (", if continues_list { "" } else { "WITH " })?;
        locator.alternatives(&self.span, Take::Page { limit: self.limit, window: *window }, text)?;
        let (columns, joins) = (self.select.list(), self.select.joins());
        write!(text, "\n)\nSELECT {}{search}{columns}\nFROM m\n", self.present())?;
        write!(text, "{}{joins}\nORDER BY m.position", locator.rows_by_key(&self.select.columns_of(Alias::Base)))
    }

    fn segment(&self, segment: &[Condition<'_>], text: &mut String) -> fmt::Result {
        let (columns, joins) = (self.select.list(), self.select.joins());
        let (relation, present) = (Relation(self.relation), self.present());
        let (segment, remaining) = Condition::of_scan(segment, self.span.ascending);
        let conditions = Where(self.conditions.iter().chain(&segment));
        let (order, limit) = (self.order_by(self.span.ascending), self.limit());
        write!(text, "SELECT {present}{columns}\nFROM ")?;
        if remaining.is_empty() {
            return write!(text, "{relation} AS t{joins}{conditions}{order}\nLIMIT {limit}");
        }
        write!(text, "(SELECT t.* FROM {relation} AS t{conditions}{order}\nLIMIT {limit}) AS t{joins}")?;
        write!(text, "{}{order}", Where(remaining.iter()))
    }

    /// How many rows are read: none for a row that is no parent.
    fn limit(&self) -> impl Display {
        fmt::from_fn(move |f| match self.parent {
            // The flags are there for parents only.
            Parent::RowOfPage(parent) if !self.has_flags() => {
                write!(f, "CASE WHEN {parent} THEN {} ELSE 0::int8 END", self.limit)
            }
            Parent::None | Parent::Row | Parent::RowOfPage(_) => self.limit.fmt(f),
        })
    }

    fn present(&self) -> &'static str {
        if self.has_flags() { "TRUE AS present, " } else { "" }
    }

    /// Whether the result has a row for an empty page, too.
    fn has_flags(&self) -> bool {
        !self.probes.is_empty() || self.count.is_some()
    }

    /// The probes and the count as a relation: one row, or none for a row that is no parent.
    fn flags(&self) -> impl Display {
        fmt::from_fn(move |f| {
            f.write_str("(SELECT ")?;
            for (index, probe) in self.probes.iter().enumerate() {
                let comma = if index > 0 { ", " } else { "" };
                write!(f, "{comma}{} AS f{index}", self.probe(probe))?;
            }
            if let Some(count) = &self.count {
                let comma = if self.probes.is_empty() { "" } else { ", " };
                write!(f, "{comma}{} AS f{}", self.count(count), self.probes.len())?;
            }
            if let Parent::RowOfPage(parent) = self.parent {
                write!(f, " WHERE {parent}")?;
            }
            // OFFSET 0 prevents PostgreSQL from pulling the sub-select up into the outer select list, where it would run for every
            // row of the page instead of once for the parent. Without parents it runs once anyway.
            let fence = if matches!(self.parent, Parent::None) { "" } else { " OFFSET 0" };
            write!(f, "{fence}) AS f")
        })
    }

    /// True if there is a row; false if a window ended before one was found, and null otherwise.
    fn probe(&self, probe: &Span<'_>) -> impl Display {
        fmt::from_fn(move |f| {
            if let Some(Located { locator, probe_window, .. }) = &self.located {
                let mut text = String::new();
                locator.alternatives(probe, Take::Any { window: *probe_window }, &mut text)?;
                return write!(f, "(SELECT m.matches FROM (\n{text}\n) AS m LIMIT 1)");
            }
            let (relation, order) = (Relation(self.relation), self.order_by(probe.ascending));
            for (index, segment) in probe.segments.iter().enumerate() {
                let or = if index > 0 { " OR " } else { "" };
                let conditions = Where(self.conditions.iter().chain(segment));
                write!(f, "{or}(SELECT TRUE FROM {relation} AS t{conditions}{order} LIMIT 1)")?;
            }
            Ok(())
        })
    }

    fn count(&self, Count { span, limit }: &Count<'_>) -> impl Display {
        fmt::from_fn(move |f| {
            if let Some(Located { locator, window, .. }) = &self.located {
                return locator.count(span, *limit, *window, f);
            }
            let (relation, order) = (Relation(self.relation), self.order_by(span.ascending));
            let conditions = Where(self.conditions.iter().chain(span.segments.iter().flatten()));
            write!(f, "(SELECT count(*) FROM (SELECT FROM {relation} AS t{conditions}{order}\nLIMIT {limit}) AS n)")
        })
    }

    fn order_by(&self, ascending: bool) -> impl Display {
        fmt::from_fn(move |f| {
            for (index, column) in self.index.iter().enumerate() {
                let before = if index > 0 { ", " } else { "\nORDER BY " };
                write!(f, "{before}{}{}", ColumnOf(Alias::Base, column), direction(ascending))?;
            }
            Ok(())
        })
    }
}

/// The parts of the text that returns the row of a lookup: the row with these keys, or the lowest by `order` if there can be several.
pub(crate) struct LookupStatement<'a> {
    /// The relation of the row.
    pub(crate) relation: &'a str,
    /// What is read.
    pub(crate) select: Select<'a>,
    /// The keys.
    pub(crate) conditions: Vec<Condition<'a>>,
    /// The columns that decide which row is the lowest.
    pub(crate) order: Vec<&'a str>,
}

impl LookupStatement<'_> {
    /// Appends the text.
    pub(crate) fn write(&self, text: &mut String) -> fmt::Result {
        let (columns, joins, conditions) = (self.select.list(), self.select.joins(), Where(self.conditions.iter()));
        write!(text, "SELECT {columns}\nFROM {} AS t{joins}{conditions}", Relation(self.relation))?;
        if !self.order.is_empty() {
            let columns = self.order.iter().map(|column| ColumnOf(Alias::Base, column));
            write!(text, "\nORDER BY {}", List(columns))?;
        }
        text.write_str("\nLIMIT 1")
    }
}
