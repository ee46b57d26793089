//! The changes for an operation.

use crate::cost::price::Cost;
use crate::documents::document::Place;
use crate::error::graphql_error::GraphqlError;
use crate::schema_diff::assessment::{CreditInterval, DatabaseWork};
use crate::schema_diff::schema_change::FactChange;

/// The kinds of changes, the most severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Class {
    /// It is refused now.
    Breaks,
    /// It is answered with something else.
    ChangesSilently,
    /// It costs more credits.
    MoreExpensive,
    /// It uses something that is deprecated now.
    Deprecated,
    /// It costs fewer credits.
    LessExpensive,
    /// Its statement has more branches or examines more rows, or its pages may come short.
    MoreWork,
    /// It was refused before.
    ValidNow,
}

/// A change for an operation.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// An error with which it is refused.
    Breaks {
        /// With its code and its locations in the document.
        error: GraphqlError,
        /// The place of the error.
        place: Place,
    },
    /// Something else is said of a part of the schema that it uses.
    ChangesSilently {
        /// The change of the fact. Both texts are empty for a part that is gone, which only a variable may name.
        change: FactChange,
        /// Whether only the values of variables tell whether a request uses the part.
        by_variable: bool,
        /// The place where the part is used.
        place: Place,
    },
    MoreExpensive(PriceChange),
    /// A part of the schema is deprecated.
    Deprecated {
        /// The part, as in `Order.total`.
        part: String,
        /// The reason, which says what to use instead.
        reason: String,
        /// The place where the part is used.
        place: Place,
    },
    LessExpensive(PriceChange),
    /// It takes more of the database.
    MoreWork {
        old: DatabaseWork,
        new: DatabaseWork,
    },
    /// It was refused before.
    ValidNow,
}

impl Change {
    pub(crate) fn class(&self) -> Class {
        match self {
            Self::Breaks { .. } => Class::Breaks,
            Self::ChangesSilently { .. } => Class::ChangesSilently,
            Self::MoreExpensive(_) => Class::MoreExpensive,
            Self::Deprecated { .. } => Class::Deprecated,
            Self::LessExpensive(_) => Class::LessExpensive,
            Self::MoreWork { .. } => Class::MoreWork,
            Self::ValidNow => Class::ValidNow,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PriceChange {
    pub(crate) old: CreditInterval,
    pub(crate) new: CreditInterval,
    /// The most that a query of the caller may cost.
    pub(crate) limit: Cost,
    /// Credits that the caller's bucket regains in a minute.
    pub(crate) credits_per_minute: Cost,
}

/// Whether requests for an operation exceed the caller's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverLimit {
    /// With no values of its variables.
    Never,
    ForSome,
    Always,
}

impl PriceChange {
    /// Whether requests exceed the caller's limit now.
    pub(crate) fn over_limit(&self) -> OverLimit {
        match (self.new.least > self.limit, self.new.most > self.limit) {
            (true, _) => OverLimit::Always,
            (false, true) => OverLimit::ForSome,
            (false, false) => OverLimit::Never,
        }
    }

    /// How many requests a minute the bucket pays in the long run if each costs the most; `None` if they cost nothing.
    pub(crate) fn polls(&self, interval: CreditInterval) -> Option<u64> {
        self.credits_per_minute.checked_div(interval.most)
    }

    /// Whether the least or the most credits rise by more than this many percent.
    pub(crate) fn rises_beyond(&self, percent: u32) -> bool {
        let is_beyond = |old: Cost, new: Cost| u128::from(new) * 100 > u128::from(old) * (100 + u128::from(percent));
        is_beyond(self.old.least, self.new.least) || is_beyond(self.old.most, self.new.most)
    }
}
