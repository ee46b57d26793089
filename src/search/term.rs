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
}

impl Comparator {
    /// Every comparator, in the specification's order.
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
        }
    }
}

/// A term of a search string, `key:value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term<'a> {
    /// The text before the first colon.
    pub key: &'a str,
    /// How the key is compared.
    pub comparator: Comparator,
    /// The elements without their quotes, none empty: several for [`Comparator::In`], otherwise one.
    pub elements: Vec<&'a str>,
    /// The term's position in the search string, in bytes.
    pub offset: usize,
    /// The term as it was written.
    pub text: &'a str,
}
