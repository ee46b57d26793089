//! The SQL of a plan's statement, from its steps' SQL.
//!
//! A statement is a tree of branches, one for each step. The branch of a step returns each row of its page, and after each row
//! the rows of the branches below it, which are read for that row. So rows come in the order of the response. It relies on an
//! order that PostgreSQL keeps, although SQL does not guarantee it: the rows of a sub-select are read in its order, the parts of
//! a `UNION ALL` one after the other, and a nested loop for each outer row in turn.

use std::fmt::{self, Display, Write};

use crate::catalog::result_type::ResultType;
use crate::plan::changes_sql::ChangesSql;
use crate::plan::lookup_sql::LookupSql;
use crate::plan::page_sql::PageSql;
use crate::plan::parameters::Placeholder;
use crate::plan::result_columns::ResultColumns;
use crate::plan::select::{Returned, ReturnedSource, Select};
use crate::plan::totals_sql::TotalsSql;
use crate::query::bind::step_id::StepId;

/// The buffer for a statement, in bytes, for each of its steps. Most statements fit.
const TEXT_CAPACITY: usize = 1024;

/// A step, and the steps below it.
pub(crate) struct StepBranch<'a> {
    pub(crate) step: StepId,
    pub(crate) rows: BranchRows<'a>,
    /// The page size, if rows are numbered.
    pub(crate) size: Option<Placeholder>,
    /// Whether the page is read from its back.
    pub(crate) is_backward: bool,
    /// The branches below, in the order of the response.
    pub(crate) children: Vec<StepBranch<'a>>,
}

/// The query for the rows of a step.
pub(crate) enum BranchRows<'a> {
    Page(Box<PageSql<'a>>),
    Lookup(LookupSql<'a>),
    Changes(Box<ChangesSql<'a>>),
    Totals(Box<TotalsSql<'a>>),
}

/// The text of a statement with these branches.
pub(crate) fn text(branches: &[StepBranch<'_>], columns: &ResultColumns, steps: usize) -> String {
    let mut text = String::with_capacity(TEXT_CAPACITY * steps);
    // Writing to memory cannot fail.
    let _ = union_all(branches, columns, &mut text);
    text.shrink_to_fit();
    text
}

/// The number of columns of the widest select list in the statement.
pub(crate) fn width(branches: &[StepBranch<'_>], columns: &ResultColumns) -> usize {
    let widths = branches.iter().map(|branch| branch.rows.width() + usize::from(branch.size.is_some()));
    let children = branches.iter().map(|branch| width(&branch.children, columns));
    widths.chain(children).fold(ResultColumns::FIRST + columns.types().len(), usize::max)
}

fn union_all(branches: &[StepBranch<'_>], columns: &ResultColumns, text: &mut String) -> fmt::Result {
    for (index, branch) in branches.iter().enumerate() {
        text.write_str(if index > 0 { "\nUNION ALL\n" } else { "" })?;
        branch.write(columns, text)?;
    }
    Ok(())
}

impl StepBranch<'_> {
    fn write(&self, columns: &ResultColumns, text: &mut String) -> fmt::Result {
        let step = self.step;
        if self.children.is_empty() {
            write!(text, "{}\nFROM (\n", self.row(columns))?;
            self.numbered(text)?;
            return write!(text, "\n) AS p{step}");
        }
        write!(text, "SELECT r{step}.*\nFROM (\n")?;
        self.numbered(text)?;
        writeln!(text, "\n) AS p{step}\nCROSS JOIN LATERAL (\n{}\nUNION ALL", self.row(columns))?;
        union_all(&self.children, columns, text)?;
        write!(text, "\n) AS r{step}")
    }

    /// The rows of the page, numbered if that is needed, in the order of the response.
    fn numbered(&self, text: &mut String) -> fmt::Result {
        if self.size.is_none() {
            return self.rows.write(text);
        }
        text.write_str("SELECT q.*, row_number() OVER () AS n FROM (\n")?;
        self.rows.write(text)?;
        text.write_str("\n) AS q")?;
        // A page that is read from its back.
        text.write_str(if self.is_backward { "\nORDER BY n DESC" } else { "" })
    }

    /// The select list that returns a row of the page.
    fn row(&self, columns: &ResultColumns) -> impl Display {
        fmt::from_fn(|f| {
            let step = self.step;
            write!(f, "SELECT {step} AS step")?;
            let mut sources = vec![None; columns.types().len()];
            for Returned { column, source } in self.rows.select().results() {
                sources[column - ResultColumns::FIRST] = Some(*source);
            }
            for (source, ty) in sources.into_iter().zip(columns.types()) {
                f.write_str(", ")?;
                match source {
                    Some(source) => self.returned(source, *ty, f)?,
                    None => write!(f, "NULL::{ty}")?,
                }
            }
            Ok(())
        })
    }

    fn returned(&self, source: ReturnedSource, ty: ResultType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}.", self.step)?;
        match source {
            ReturnedSource::Selected(index) => write!(f, "c{index}::{ty}"),
            ReturnedSource::Flag(index) => write!(f, "f{index}"),
            ReturnedSource::Present => f.write_str("present"),
            ReturnedSource::Matches => f.write_str("matches"),
            ReturnedSource::Number => f.write_str("number"),
            ReturnedSource::Position => f.write_str("position"),
            ReturnedSource::BeyondPage => match self.size {
                Some(size) => write!(f, "n > {size}"),
                None => Err(fmt::Error),
            },
        }
    }
}

impl<'a> BranchRows<'a> {
    fn width(&self) -> usize {
        match self {
            Self::Page(page) => page.width(),
            Self::Lookup(lookup) => lookup.select.width(),
            Self::Changes(changes) => changes.width(),
            Self::Totals(totals) => totals.width(),
        }
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        match self {
            Self::Page(page) => page.write(text),
            Self::Lookup(lookup) => lookup.write(text),
            Self::Changes(changes) => changes.write(text),
            Self::Totals(totals) => totals.write(text),
        }
    }

    fn select(&self) -> &Select<'a> {
        match self {
            Self::Page(page) => &page.select,
            Self::Lookup(lookup) => &lookup.select,
            Self::Changes(changes) => &changes.select,
            Self::Totals(totals) => &totals.select,
        }
    }
}
