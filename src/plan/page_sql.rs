//! The SQL of a page of a connection: the part of a statement that returns the rows of one step.

use std::fmt::{self, Display, Write};

use crate::plan::access_path::SortLimit;
use crate::plan::locator::{Locator, Span, Take};
use crate::plan::parameters::Placeholder;
use crate::plan::select::Select;
use crate::plan::sql::{Alias, Columns, Condition, IndexOrder, List, Relation, Separated, Where, in_turn};
use crate::query::bind::step_id::StepId;

/// The parts of the text that returns a page of a connection.
pub(crate) struct PageSql<'a> {
    /// The relation of the rows.
    pub(crate) relation: &'a str,
    /// The select list, and the joins.
    pub(crate) select: Select<'a>,
    /// The row whose page it is.
    pub(crate) parent: Parent,
    /// The conditions of every row, beside its segment: the join with its parent, and a search term that chooses a range.
    pub(crate) conditions: Vec<Condition<'a>>,
    /// The part of the order that the page is in.
    pub(crate) span: Span<'a>,
    /// The columns of the index that has the order, without columns that are equal in all rows of a parent.
    pub(crate) index: IndexOrder<'a>,
    /// One more than the page size.
    pub(crate) limit: Placeholder,
    /// The probes: the parts of the order outside of the page in which any row is looked for. The scan begins with the row
    /// nearest to the page.
    pub(crate) probes: Vec<Span<'a>>,
    /// The rows that are counted, if some are.
    pub(crate) count: Option<Count<'a>>,
    /// The locator of the page's rows, if finding them takes more than conditions.
    pub(crate) locator: Option<Locator<'a>>,
}

/// The row above a page.
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
    /// How they are found, if not as the page's rows.
    pub(crate) scan: Option<Scan<'a>>,
}

/// How rows are found in an order of their own.
pub(crate) struct Scan<'a> {
    /// The conditions of every row, beside its segment.
    pub(crate) conditions: Vec<Condition<'a>>,
    /// The columns of the index that has the order.
    pub(crate) index: IndexOrder<'a>,
    /// The locator of the rows, if finding them takes more than conditions.
    pub(crate) locator: Option<Locator<'a>>,
}

impl<'a> PageSql<'a> {
    /// How many ranges of the order its rows are in.
    pub(crate) fn parts(&self) -> u32 {
        u32::try_from(self.span.segments.len()).unwrap_or(1)
    }

    /// Sets the select list, once all of it is known.
    pub(crate) fn set_select(&mut self, select: Select<'a>) {
        if let Some(locator) = self.locator.as_mut().filter(|locator| locator.returns_rows()) {
            let columns = &mut locator.source.columns;
            columns.extend(select.columns_of(Alias::Base));
            columns.sort_unstable();
            columns.dedup();
        }
        self.select = select;
    }

    /// Appends the text.
    pub(crate) fn write(&self, text: &mut String) -> fmt::Result {
        if let Some(counts) = self.locator.as_ref().and_then(Locator::counts) {
            write!(text, "{counts}")?;
            text.write_str(if self.has_flags() { "\n" } else { ",\n" })?;
        }
        self.locator.iter().try_for_each(|locator| locator.write_sorted_rows(self.spans(), self.limit, text))?;
        if !self.has_flags() {
            return self.page(text);
        }
        write!(text, "SELECT f.*, p.*\nFROM {}\nLEFT JOIN LATERAL (\n", self.flags())?;
        self.page(text)?;
        match self.sort_limit() {
            // The last of the flags. Of too many rows there is no page.
            Some(_) => write!(text, "\n) AS p ON NOT f.f{}", self.flag_count() - 1),
            None => text.write_str("\n) AS p ON TRUE"),
        }
    }

    /// The number of its columns.
    pub(crate) fn width(&self) -> usize {
        let search = if self.locator.as_ref().is_some_and(|locator| locator.window().is_some()) { 2 } else { 0 };
        let flags = if self.has_flags() { self.flag_count() + 1 } else { 0 };
        flags + search + self.select.width()
    }

    fn page(&self, text: &mut String) -> fmt::Result {
        if let Some(locator) = &self.locator {
            return self.located(locator, text);
        }
        let Span { segments, ascending, .. } = &self.span;
        if let [segment] = segments.as_slice() {
            return self.segment(segment, text);
        }
        text.write_str("SELECT u.* FROM ((\n")?;
        in_turn(segments, *ascending, text, |segment, text| self.segment(segment, text))?;
        write!(text, "\n)) AS u\nLIMIT {}", self.limit())
    }

    /// The rows that the locator finds.
    fn located(&self, locator: &Locator<'_>, text: &mut String) -> fmt::Result {
        let (columns, joins, rows) = (self.select.list(), self.select.joins(), locator.of(&self.span));
        if locator.returns_rows() {
            writeln!(text, "SELECT {}{columns}\nFROM (", self.present())?;
            rows.page_rows(&self.limit(), text)?;
            write!(text, "\n) AS t{joins}")?;
            // PostgreSQL keeps the order of rows that are read in turn, and would sort them if it were named.
            return if rows.reads_in_turn() { Ok(()) } else { write!(text, "{}", rows.sorted()) };
        }
        let search = if locator.window().is_some() { "m.matches, m.number, " } else { "" };
        // A disabled sort in the alternatives would hide the cost of the joins. A materialized one is planned apart.
        let continues_list = locator.counts().is_some() && !self.has_flags();
        writeln!(text, "{}m AS MATERIALIZED (", if continues_list { "" } else { "WITH " })?;
        rows.alternatives(Take::Page(&self.limit()), text)?;
        write!(text, "\n)\nSELECT {}{search}{columns}\nFROM m\n", self.present())?;
        write!(text, "{}{joins}\nORDER BY m.position", locator.rows_by_key(&self.select.columns_of(Alias::Base)))
    }

    fn segment(&self, segment: &[Condition<'_>], text: &mut String) -> fmt::Result {
        let (columns, joins) = (self.select.list(), self.select.joins());
        let (relation, present) = (Relation(self.relation), self.present());
        let (segment, remaining) = Condition::of_scan(segment, self.span.ascending);
        let conditions = Where(self.conditions.iter().chain(&segment));
        let (order, limit) = (self.index.order_by(self.span.ascending), self.limit());
        write!(text, "SELECT {present}{columns}\nFROM ")?;
        if remaining.is_empty() {
            return write!(text, "{relation} AS t{joins}{conditions}{order}\nLIMIT {limit}");
        }
        // No others: a role may not read what a view of the schema hides.
        let mut columns = self.select.columns_of(Alias::Base);
        for column in self.index.columns.iter().copied().chain(remaining.iter().flat_map(Condition::compared_columns)) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let columns = Columns(Alias::Base, &columns);
        write!(text, "(SELECT {columns} FROM {relation} AS t{conditions}{order}\nLIMIT {limit}) AS t{joins}")?;
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
        self.flag_count() > 0
    }

    fn flag_count(&self) -> usize {
        self.probes.len() + usize::from(self.count.is_some()) + usize::from(self.sort_limit().is_some())
    }

    /// What makes the connection null, if rows are read and sorted.
    fn sort_limit(&self) -> Option<SortLimit> {
        self.locator.as_ref().and_then(Locator::sort_limit)
    }

    /// The page and its probes.
    fn spans(&self) -> impl Iterator<Item = &Span<'a>> + Clone {
        std::iter::once(&self.span).chain(&self.probes)
    }

    /// The probes and the count as a relation: one row, or none for a row that is no parent.
    fn flags(&self) -> impl Display {
        fmt::from_fn(move |f| {
            let probes = self.probes.iter().map(|probe| self.probe(probe).to_string());
            let counts = self.count.iter().map(|count| self.count(count).to_string());
            let is_too_long = self.locator.as_ref().and_then(|locator| locator.is_too_long(self.spans()));
            let is_too_long = is_too_long.map(|flag| flag.to_string());
            let flags: Vec<_> = probes.chain(counts).chain(is_too_long).collect();
            let flags = flags.iter().enumerate();
            let flags = List(flags.map(|(index, flag)| fmt::from_fn(move |f| write!(f, "{flag} AS f{index}"))));
            write!(f, "(SELECT {flags}")?;
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
            if let Some(locator) = &self.locator {
                let mut text = String::new();
                locator.of(probe).alternatives(Take::Any, &mut text)?;
                return write!(f, "(SELECT m.matches FROM (\n{text}\n) AS m LIMIT 1)");
            }
            let (relation, order) = (Relation(self.relation), self.index.order_by(probe.ascending));
            let segments = probe.segments.iter().map(|segment| {
                let conditions = Where(self.conditions.iter().chain(segment));
                let order = &order;
                fmt::from_fn(move |f| write!(f, "(SELECT TRUE FROM {relation} AS t{conditions}{order} LIMIT 1)"))
            });
            Separated(" OR ", segments).fmt(f)
        })
    }

    fn count(&self, Count { span, limit, scan }: &Count<'_>) -> impl Display {
        fmt::from_fn(move |f| {
            let (conditions, index, locator) = match scan {
                Some(Scan { conditions, index, locator }) => (conditions, index, locator),
                None => (&self.conditions, &self.index, &self.locator),
            };
            if let Some(locator) = locator {
                return locator.of(span).count(*limit, f);
            }
            let (relation, order) = (Relation(self.relation), index.order_by(span.ascending));
            let conditions = Where(conditions.iter().chain(span.segments.iter().flatten()));
            write!(f, "(SELECT count(*) FROM (SELECT FROM {relation} AS t{conditions}{order}\nLIMIT {limit}) AS n)")
        })
    }
}
