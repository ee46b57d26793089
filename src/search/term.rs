//! The parts of a search string.

/// How a term compares its key with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Comparator {
    /// `key:value`
    Equals,
    /// `key:a,b,c`
    In,
    /// `key:>value`
    Greater,
    /// `key:>=value`
    GreaterOrEqual,
    /// `key:<value`
    Less,
    /// `key:<=value`
    LessOrEqual,
    /// `key:words`, of a key that searches text.
    Matches,
}

impl Comparator {
    /// Every comparator of values, in the specification's order.
    pub const ALL: [Self; 6] =
        [Self::Equals, Self::In, Self::Greater, Self::GreaterOrEqual, Self::Less, Self::LessOrEqual];

    /// The comparator as messages and descriptions name it.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Equals => "equals",
            Self::In => "in",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Matches => "matches",
        }
    }

    /// Whether it is true of values on one side of a bound.
    pub(crate) const fn is_range(self) -> bool {
        matches!(self, Self::Greater | Self::GreaterOrEqual | Self::Less | Self::LessOrEqual)
    }

    /// A term with this comparator, as it is written.
    pub(crate) fn example(self, key: &str) -> String {
        match self {
            Self::Equals => format!("{key}:value"),
            Self::In => format!("{key}:a,b,c"),
            Self::Matches => format!("{key}:\"some words\""),
            Self::Greater | Self::GreaterOrEqual | Self::Less | Self::LessOrEqual => {
                format!("{key}:{}value", self.describe())
            }
        }
    }
}

/// The operator between a term's colon and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermOperator<'a> {
    /// An operator that the language has.
    Known(Comparator),
    /// An operator that the language does not have, such as `!=`. No key accepts it.
    Unknown(&'a str),
}

/// A term of a search string, `key:value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term<'a> {
    /// The text before the first colon, not empty. Whether a connection has such a key is not known here.
    pub key: &'a str,
    /// How the key is compared.
    pub operator: TermOperator<'a>,
    /// The elements without their quotes, empty only if they had some: several for [`Comparator::In`], none for an unknown operator,
    /// otherwise one.
    pub elements: Vec<&'a str>,
    /// The term's position in the search string, in bytes.
    pub offset: usize,
    /// The term as it was written.
    pub text: &'a str,
}
