//! The parameters of a plan's statement, stage by stage: where a value comes from (`ParameterSource`, in the template), where it goes
//! (`Placeholder`, in the text), and the value of one request ([`ParameterValue`]). `BinaryParameter` of the database module sends it.

use std::fmt::{self, Display};

use crate::catalog::hidden_rows::Breadth;
use crate::query::bind::changes::StartValue;
use crate::query::bind::step_id::StepId;
use crate::value::Value;

/// The source of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterSource {
    /// A key of the lookup: its index among the given keys.
    Key(usize),
    /// A key of the lookup, as an array of one value.
    KeyArray(usize),
    /// The value of a term of the step's search string, by the term's index.
    Term(usize),
    /// The values of such a term, as an array.
    TermValues(usize),
    /// A column of the step's `after:` cursor.
    After(usize),
    /// A column of the step's `before:` cursor.
    Before(usize),
    /// One more than the page size, or than the number of rows that are summed up, to see whether there are more.
    Limit,
    /// The page size, or the number of rows that are summed up.
    PageSize,
    /// How many rows of the window are examined at most.
    Window,
    /// How many groups of totals are returned.
    Groups,
    /// The time zone of the periods that are keys of groups.
    TimeZone,
    /// How many rows are counted at most.
    CountLimit,
    /// How many rows of the window of a count are examined at most.
    CountWindow,
    /// A value of where the step's changes begin.
    Start(StartValue),
    /// One more than the number of marks that are read for a page of changes.
    Marks,
    /// How many rows are read first of the range of each value of such a term, if the ranges are merged.
    RangeHead(usize),
    /// How many rows are read first of each range, if this many ranges are merged at most.
    JoinedRangeHead(u32),
    /// The values that the caller has in a scope.
    Scope(usize),
    /// How far searches go among rows that the caller does not see.
    Breadth,
}

/// A parameter in the text: `$n`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placeholder {
    number: usize,
}

impl Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.number.fmt(f)
    }
}

/// The most rows that a part of a search examines, in the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowBound {
    rows: u32,
    breadth: Option<Placeholder>,
}

impl RowBound {
    /// One row more.
    pub(crate) fn and_one(self) -> impl Display {
        fmt::from_fn(move |f| match self.breadth {
            Some(_) => write!(f, "{self} + 1"),
            None => (self.rows + 1).fmt(f),
        })
    }
}

impl Display for RowBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.breadth {
            Some(breadth) => write!(f, "({} * {breadth}::int8 / {})", self.rows, Breadth::WHOLE),
            None => self.rows.fmt(f),
        }
    }
}

/// A parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterValue<'a> {
    /// A value from the request, or a null from a cursor.
    Value(Option<&'a Value>),
    /// The elements of an in-list.
    Values(&'a [Value]),
    /// A number of rows.
    Limit(i64),
}

/// The parameters that a step adds, after the parameters of the steps before it. They are numbered here, once.
#[derive(Debug)]
pub(crate) struct Parameters<'p> {
    step: StepId,
    all: &'p mut Vec<(StepId, ParameterSource)>,
}

impl<'p> Parameters<'p> {
    /// The parameters that this step adds.
    pub(crate) fn of(step: StepId, all: &'p mut Vec<(StepId, ParameterSource)>) -> Self {
        Self { step, all }
    }

    /// Parameters of the whole statement.
    pub(crate) fn of_statement(all: &'p mut Vec<(StepId, ParameterSource)>) -> Self {
        Self::of(0, all)
    }

    /// The placeholder of a scope's values, which are one parameter of the whole statement.
    pub(crate) fn scope(&mut self, scope: usize) -> Placeholder {
        self.once(ParameterSource::Scope(scope))
    }

    /// A number of rows that a search examines, or another one in each request if the caller does not see some of them.
    pub(crate) fn row_bound(&mut self, rows: u32, is_among_hidden: bool) -> RowBound {
        RowBound { rows, breadth: is_among_hidden.then(|| self.once(ParameterSource::Breadth)) }
    }

    /// The placeholder of a value that is one parameter of the whole statement.
    fn once(&mut self, source: ParameterSource) -> Placeholder {
        match self.all.iter().position(|(_, known)| *known == source) {
            Some(index) => Placeholder { number: index + 1 },
            None => self.add(source),
        }
    }

    /// The scopes whose values are parameters of the statement so far.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = usize> {
        let sources = self.all.iter().map(|(_, source)| source);
        sources.filter_map(|source| if let ParameterSource::Scope(scope) = source { Some(*scope) } else { None })
    }

    /// Adds a parameter, and returns its placeholder, which may be written any number of times, but once at least.
    pub(crate) fn add(&mut self, source: ParameterSource) -> Placeholder {
        self.all.push((self.step, source));
        Placeholder { number: self.all.len() }
    }
}
