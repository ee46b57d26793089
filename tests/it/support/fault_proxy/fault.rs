//! What a test wants to happen to a message.

use std::time::Duration;

use crate::support::random::Random;

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    FromClient,
    FromPostgres,
}

/// A fault.
#[derive(Debug, Clone)]
pub struct Fault {
    pub direction: Direction,
    /// The number of messages in this direction before the damaged one.
    pub message: usize,
    pub kind: FaultKind,
    /// Chooses what the kind leaves open.
    pub seed: u64,
}

/// A kind of fault. The protocol tells of all of them but changed values.
///
/// - The types and names of columns and parameters, the SQL and the parameters are not changed: nobody can tell that, and a
///   prepared statement lives as long as its connection.
/// - A message of the client does not become a query (`Q`) or a function call (`F`), which are valid requests as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Both ends lose the connection after some bytes of the message.
    Cut,
    /// The message comes late.
    Delay,
    /// The message comes very late.
    Hold,
    /// The message comes byte by byte.
    Split,
    /// Another type.
    Type,
    /// Another length.
    Length,
    /// Another number of fields, columns or parameters.
    Count,
    /// The name of another statement, which does not exist.
    Name,
    /// An SQLSTATE that does not exist.
    SqlState,
    /// Another value in a row. Only TLS could tell.
    Value,
    /// That type.
    ThatType(u8),
}

impl FaultKind {
    /// A late message, within any deadline.
    pub const DELAY: Duration = Duration::from_millis(5);
    /// A message that is late for most deadlines.
    pub const HOLD: Duration = Duration::from_millis(400);

    /// The kinds, the frequent ones several times.
    const DRAWN: [Self; 24] = [
        Self::Cut,
        Self::Cut,
        Self::Cut,
        Self::Cut,
        Self::Cut,
        Self::Delay,
        Self::Delay,
        Self::Hold,
        Self::Split,
        Self::Split,
        Self::Split,
        Self::Type,
        Self::Type,
        Self::Type,
        Self::Type,
        Self::Type,
        Self::Type,
        Self::Length,
        Self::Length,
        Self::Count,
        Self::Count,
        Self::Name,
        Self::SqlState,
        Self::Value,
    ];
}

impl Fault {
    /// A fault of any kind, at one of the first messages, of which there are about so many in each direction.
    pub fn random(random: &mut Random, messages: [usize; 2]) -> Self {
        let direction = *random.pick(&[Direction::FromClient, Direction::FromPostgres]);
        Self {
            direction,
            message: random.below(messages[direction as usize].max(1)),
            kind: *random.pick(&FaultKind::DRAWN),
            seed: random.next(),
        }
    }
}
