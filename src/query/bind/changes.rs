//! The start of a page of changes: `after:` and `since:`.

use crate::catalog::changes::Changes;
use crate::catalog::column::Column;
use crate::catalog::schema::ArgumentRole;
use crate::catalog::scope::RowScope;
use crate::catalog::stored_type::StoredType;
use crate::query::bind::argument::Arguments;
use crate::query::bind::error::BindError;
use crate::query::operation::Literal;
use crate::sync_token::{BadSyncToken, Position, SyncToken, Walk};
use crate::value::{ScalarType, Value};

/// The start of a page of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesStart {
    /// The token, which stands for all changes that the client has seen. Without it, the page is empty.
    pub token: Option<SyncToken>,
    /// The time that the client asks for a token of.
    since: Option<Value>,
    /// The values of the statement's parameters, by [`StartValue`].
    values: [Option<Value>; StartValue::ALL.len()],
}

/// A value that a statement needs of the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartValue {
    /// The earlier snapshot.
    From,
    /// The later snapshot, if it is known.
    To,
    /// Its time.
    At,
    /// The transactions that ran at the earlier snapshot and are still to be read.
    Finished,
    /// The first of the other transactions.
    FirstNew,
    /// The last mark that was read.
    Xid,
    Via,
    Id,
    Key,
    Since,
}

impl StartValue {
    pub(crate) const ALL: [Self; 10] = [
        Self::From,
        Self::To,
        Self::At,
        Self::Finished,
        Self::FirstNew,
        Self::Xid,
        Self::Via,
        Self::Id,
        Self::Key,
        Self::Since,
    ];
}

impl ChangesStart {
    fn new(token: Option<SyncToken>, since: Option<Value>) -> Self {
        let walk = token.as_ref().and_then(|token| token.walk.as_ref());
        let position = walk.map(|walk| &walk.position);
        let text = |value: StartValue| match value {
            StartValue::From => Some(token.as_ref()?.from.to_string()),
            StartValue::To => Some(walk?.to.to_string()),
            StartValue::Finished => Some(token.as_ref()?.finished_since()),
            StartValue::FirstNew => Some(token.as_ref()?.first_new().to_string()),
            StartValue::Xid => Some(position?.xid.to_string()),
            StartValue::Via => Some(position?.via.clone()),
            StartValue::Id => Some(position?.id.clone()),
            StartValue::Key => position?.key.clone(),
            StartValue::At | StartValue::Since => None,
        };
        let values = StartValue::ALL.map(|value| match value {
            StartValue::At => walk.map(|walk| Value::DateTime(walk.at)),
            StartValue::Since => since.clone(),
            _ => text(value).map(Value::Text),
        });
        Self { token, since, values }
    }

    /// After a token.
    #[cfg(test)]
    pub(crate) fn of_token(token: SyncToken) -> Self {
        Self::new(Some(token), None)
    }

    /// Whether the client asks for the token of a time.
    pub fn is_since(&self) -> bool {
        self.since.is_some()
    }

    /// A value of the statement.
    pub(crate) fn value(&self, value: StartValue) -> Option<&Value> {
        self.values[value as usize].as_ref()
    }
}

/// Whether the key of a token's last mark is one of the feed: the database compares it as what its column has.
fn has_key(changes: &Changes, token: &SyncToken) -> bool {
    let Some(Walk { position: Position { via, id, .. }, .. }) = &token.walk else { return true };
    let Column { stored, scalar, .. } = changes.key;
    match stored {
        StoredType::Int2 | StoredType::Int4 | StoredType::Int8 | StoredType::Uuid | StoredType::Enum(_) => {
            !via.is_empty() || stored.parse(scalar, id).is_ok()
        }
        // PostgreSQL writes them in notations of its own.
        _ => true,
    }
}

/// Reads where the page begins. What cannot be used adds an error.
pub(super) fn start(
    arguments: &Arguments<'_>,
    changes: &Changes,
    scope: &RowScope,
    errors: &mut Vec<BindError>,
) -> ChangesStart {
    let feed = changes.tag().in_scope(scope.of_cursors(changes.connection.limited_by));
    let field = || arguments.field.name.clone();
    errors.extend(arguments.nulls());
    let text = |role| match arguments.get(role) {
        Some(Literal::String(text)) => Some(text),
        _ => None,
    };
    let token = text(ArgumentRole::After).and_then(|text| {
        let decoded = SyncToken::decode(text, feed);
        let decoded =
            decoded.and_then(|token| if has_key(changes, &token) { Ok(token) } else { Err(BadSyncToken::Unreadable) });
        decoded.map_err(|reason: BadSyncToken| errors.push(BindError::BadToken { field: field(), reason })).ok()
    });
    let since = text(ArgumentRole::Since).and_then(|text| {
        let parsed = ScalarType::DateTime.parse(text);
        let argument = || "since".to_owned();
        parsed
            .map_err(|error| {
                let expected = error.expected;
                errors.push(BindError::BadArgument { field: field(), argument: argument(), expected });
            })
            .ok()
    });
    if arguments.get(ArgumentRole::After).is_some() && since.is_some() {
        errors.push(BindError::BothStarts { field: field() });
    }
    ChangesStart::new(token, since)
}
