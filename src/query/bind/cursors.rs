//! The cursors of a page: `after:` and `before:`.

use crate::catalog::connection::{Connection, SortKey};
use crate::catalog::schema::ArgumentRole;
use crate::cursor::{self, BadCursor, CursorPosition, CursorScope};
use crate::query::bind::argument::Arguments;
use crate::query::bind::error::BindError;
use crate::query::operation::Literal;
use crate::value::Value;

/// Reads the cursors `after:` and `before:`. Each that cannot be used adds an error.
pub(super) fn cursors(
    ordering: &Ordering<'_>,
    arguments: &Arguments<'_>,
    errors: &mut Vec<BindError>,
) -> (Option<CursorPosition>, Option<CursorPosition>) {
    let mut cursor = |role| ordering.position(arguments, role, errors);
    (cursor(ArgumentRole::After), cursor(ArgumentRole::Before))
}

/// The ordering of a connection that a request chooses.
pub(super) struct Ordering<'a> {
    pub(super) connection: &'a Connection,
    pub(super) sort_key: &'a SortKey,
    pub(super) reverse: bool,
    /// The values that limit the rows.
    pub(super) scope: Option<CursorScope>,
    /// The facts in the request about the parent of the requested rows: columns of the rows, and their values. Empty if there may be
    /// several parents.
    pub(super) parent: Vec<(&'a str, &'a Value)>,
}

impl Ordering<'_> {
    /// The position that a cursor names. A cursor that cannot be used adds an error.
    fn position(
        &self,
        arguments: &Arguments<'_>,
        role: ArgumentRole,
        errors: &mut Vec<BindError>,
    ) -> Option<CursorPosition> {
        let Some(Literal::String(text)) = arguments.get(role) else { return None };
        let tag = if self.reverse { self.sort_key.tag.reversed() } else { self.sort_key.tag };
        let tag = tag.in_scope(self.scope);
        let types: Vec<_> = self.connection.cursor_columns(self.sort_key).map(|column| column.scalar).collect();
        match cursor::decode(text, tag, &types).and_then(|values| self.checked(values)) {
            Ok(position) => Some(position),
            Err(reason) => {
                let argument = if role == ArgumentRole::Before { "before" } else { "after" };
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
