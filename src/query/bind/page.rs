//! How many rows of a connection are requested, from which end, between which cursors.

use crate::catalog::binding::{Connection, SortKey};
use crate::catalog::prices::{COUNT_RANGE, MAX_COUNT};
use crate::catalog::schema::{ArgumentRole, Field};
use crate::cursor::{self, BadCursor, CursorPosition};
use crate::limits::Limits;
use crate::query::bind::argument::Arguments;
use crate::query::bind::error::BindError;
use crate::query::operation::{Literal, Occurrence};
use crate::value::Value;

/// A number of rows within the caller's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageSize(u32);

impl PageSize {
    const ONE: Self = Self(1);

    /// The rows, at least 1.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// The end of the connection that a page is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// `first:`
    Front,
    /// `last:`
    Back,
}

impl End {
    /// The role of the argument that gives its page size.
    fn role(self) -> ArgumentRole {
        match self {
            Self::Front => ArgumentRole::First,
            Self::Back => ArgumentRole::Last,
        }
    }

    /// The name of the argument that gives its page size.
    pub fn argument(self) -> &'static str {
        match self {
            Self::Front => "first",
            Self::Back => "last",
        }
    }
}

/// Where a page size is written, and can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeSource<'a> {
    /// In the variable of that name, or its default.
    Variable(&'a str),
    /// In the document, at every occurrence of the field. The occurrences have equal arguments.
    Document(&'a [Occurrence]),
}

/// A page of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// How many rows.
    pub size: PageSize,
    /// From which end.
    pub end: End,
    /// Only rows after this one.
    pub after: Option<CursorPosition>,
    /// Only rows before this one.
    pub before: Option<CursorPosition>,
}

impl Page {
    /// The page of a lookup.
    pub(super) const ONE_ROW: Self = Self { size: PageSize::ONE, end: End::Front, after: None, before: None };
}

/// Reads the page size. If it cannot be used, adds an error and returns a page of one row.
pub(super) fn size(arguments: &Arguments<'_>, limits: &Limits, errors: &mut Vec<BindError>) -> (End, PageSize) {
    checked_size(arguments, limits).unwrap_or_else(|error| {
        errors.push(error);
        (End::Front, PageSize::ONE)
    })
}

/// Reads how many rows are counted at most. A number that cannot be used adds an error.
pub(super) fn count_up_to(arguments: &Arguments<'_>, errors: &mut Vec<BindError>) -> Option<u32> {
    let Some(Literal::Int(requested)) = arguments.get(ArgumentRole::CountUpTo) else { return None };
    let count = u32::try_from(*requested).ok().filter(|count| (1..=MAX_COUNT).contains(count));
    if count.is_none() {
        let (field, argument) = (arguments.field.name.clone(), "countUpTo".to_owned());
        errors.push(BindError::BadArgument { field, argument, expected: COUNT_RANGE });
    }
    count
}

/// The index of the variable that gives the page size; `None` if the document gives it.
pub(super) fn size_variable(field: &Field, given: &[(usize, Literal)], end: End) -> Option<usize> {
    let index = field.arguments.iter().position(|argument| argument.role == end.role())?;
    let (_, literal) = given.iter().find(|(given, _)| *given == index)?;
    if let Literal::Variable(variable) = literal { Some(*variable) } else { None }
}

/// Reads the cursors `after:` and `before:`. Each that cannot be used adds an error.
pub(super) fn cursors(
    ordering: &Ordering<'_>,
    arguments: &Arguments<'_>,
    errors: &mut Vec<BindError>,
) -> (Option<CursorPosition>, Option<CursorPosition>) {
    let mut cursor = |role, name| ordering.position(arguments, role, name, errors);
    (cursor(ArgumentRole::After, "after"), cursor(ArgumentRole::Before, "before"))
}

fn checked_size(arguments: &Arguments<'_>, limits: &Limits) -> Result<(End, PageSize), BindError> {
    let field = || arguments.field.name.clone();
    let (end, literal) = match (arguments.get(ArgumentRole::First), arguments.get(ArgumentRole::Last)) {
        (None, None) => {
            return Err(BindError::FirstRequired { field: field(), max_first: limits.max_page_size });
        }
        (Some(_), Some(_)) => return Err(BindError::BothEnds { field: field() }),
        (Some(first), None) => (End::Front, first),
        (None, Some(last)) => (End::Back, last),
    };
    // Validation and the coercion of variables admit integers alone.
    let requested = if let Literal::Int(requested) = literal { *requested } else { 0 };
    if requested < 1 {
        return Err(BindError::NoPage { field: field(), requested });
    }
    match u32::try_from(requested) {
        Ok(size) if size <= limits.max_page_size => Ok((end, PageSize(size))),
        _ => Err(BindError::FirstTooLarge { field: field(), requested, max_first: limits.max_page_size }),
    }
}

/// The ordering of a connection that a request chooses.
pub(super) struct Ordering<'a> {
    pub(super) connection: &'a Connection,
    pub(super) sort_key: &'a SortKey,
    pub(super) reverse: bool,
    /// What the request says of the parent whose rows it asks for: columns of the rows, and their values. Empty if there may be
    /// several parents.
    pub(super) parent: Vec<(&'a str, &'a Value)>,
}

impl Ordering<'_> {
    /// The position that a cursor names. A cursor that cannot be used adds an error.
    fn position(
        &self,
        arguments: &Arguments<'_>,
        role: ArgumentRole,
        argument: &'static str,
        errors: &mut Vec<BindError>,
    ) -> Option<CursorPosition> {
        let Some(Literal::String(text)) = arguments.get(role) else { return None };
        let tag = if self.reverse { self.sort_key.tag.reversed() } else { self.sort_key.tag };
        let types: Vec<_> = self.connection.cursor_columns(self.sort_key).map(|column| column.scalar).collect();
        match cursor::decode(text, tag, &types).and_then(|values| self.checked(values)) {
            Ok(position) => Some(position),
            Err(reason) => {
                errors.push(BindError::BadCursor { field: arguments.field.name.clone(), argument, reason });
                None
            }
        }
    }

    /// The position that the values of a cursor name, if it is one among the rows that the request asks for.
    fn checked(&self, mut values: Vec<Option<Value>>) -> Result<CursorPosition, BadCursor> {
        if !self.is_possible(&values) {
            return Err(BadCursor::Unreadable);
        }
        let value_of = |name| {
            let mut columns = self.connection.cursor_columns(self.sort_key).zip(&values);
            columns.find(|(column, _)| column.name == name)?.1.as_ref()
        };
        if !self.parent.iter().all(|(name, key)| value_of(*name).is_some_and(|value| key.equals(value))) {
            return Err(BadCursor::OtherParent);
        }
        values.truncate(self.sort_key.columns.len());
        Ok(values)
    }

    /// Whether a row can have the values. Otherwise the cursor is forged: it has a null in a column that is never null, with
    /// which rows do not compare, or a value that its column cannot hold. Only the first column of a sort key can be null.
    fn is_possible(&self, values: &[Option<Value>]) -> bool {
        let nullable = usize::from(self.sort_key.nullable);
        let mut columns = self.connection.cursor_columns(self.sort_key).zip(values);
        values.iter().skip(nullable).all(Option::is_some)
            && columns.all(|(column, value)| value.as_ref().is_none_or(|value| column.stored.holds(value)))
    }
}
