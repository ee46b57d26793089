//! Page sizes: how many rows of a connection are requested, and from which end.

use crate::catalog::schema::{ArgumentRole, Field};
use crate::limits::Limits;
use crate::query::bind::argument::Arguments;
use crate::query::bind::error::BindError;
use crate::query::operation::{Literal, Occurrence, Operation, Selection};

/// A number of rows within the caller's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageSize(u32);

impl PageSize {
    const ONE: Self = Self(1);

    /// The rows, at least 1.
    pub(crate) fn get(self) -> u32 {
        self.0
    }
}

/// The end of the connection that a page is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FromEnd {
    Front,
    Back,
}

impl FromEnd {
    /// The role of the argument that gives its page size.
    pub(super) fn role(self) -> ArgumentRole {
        match self {
            Self::Front => ArgumentRole::First,
            Self::Back => ArgumentRole::Last,
        }
    }

    /// The name of the argument that gives its page size.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Self::Front => "first",
            Self::Back => "last",
        }
    }
}

/// The place where a page size is written, and can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SizeSource<'a> {
    /// In the variable of that name, or its default.
    Variable(&'a str),
    /// In the document, at every occurrence of the field. The occurrences have equal arguments.
    Document(&'a [Occurrence]),
}

/// Reads the page size. If it cannot be used, adds an error and returns a page of one row.
pub(super) fn size(arguments: &Arguments<'_>, limits: &Limits, errors: &mut Vec<BindError>) -> (FromEnd, PageSize) {
    checked_size(arguments, limits).unwrap_or_else(|error| {
        errors.push(error);
        (FromEnd::Front, PageSize::ONE)
    })
}

/// The place where a number of rows is written: `None` if it is not.
pub(super) fn source<'a>(
    operation: &'a Operation,
    field: &Field,
    selection: &'a Selection,
    role: ArgumentRole,
) -> Option<SizeSource<'a>> {
    let index = field.arguments.iter().position(|argument| argument.role == role)?;
    match selection.arguments.iter().find(|(given, _)| *given == index)?.1 {
        Literal::Variable(variable) => Some(SizeSource::Variable(&operation.variables[variable].name)),
        Literal::Int(_) => Some(SizeSource::Document(&selection.occurrences)),
        _ => None,
    }
}

fn checked_size(arguments: &Arguments<'_>, limits: &Limits) -> Result<(FromEnd, PageSize), BindError> {
    let field = || arguments.field.name.clone();
    let (end, literal) = match (arguments.get(ArgumentRole::First), arguments.get(ArgumentRole::Last)) {
        (None, None) => {
            return Err(BindError::FirstRequired { field: field(), max_first: limits.max_page_size });
        }
        (Some(_), Some(_)) => return Err(BindError::BothEnds { field: field() }),
        (Some(first), None) => (FromEnd::Front, first),
        (None, Some(last)) => (FromEnd::Back, last),
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
