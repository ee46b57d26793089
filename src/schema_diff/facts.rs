//! What a schema file says of each of its parts, in words that can be compared.

use std::collections::BTreeMap;
use std::fmt;

/// What a fact is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Aspect {
    /// The type of a field or an argument.
    Type,
    /// The names of an enum's values, each of which is a part as well.
    Values,
    /// What the database has for a value of an enum.
    Text,
    /// The table or view that rows are read from.
    Relation,
    /// The columns that identify rows.
    Key,
    /// The column or expression that values come from.
    Column,
    /// The columns that rows are joined by.
    Join,
    /// The columns that rows are in the order of.
    Order,
    /// The comparators that a search key accepts.
    Comparators,
    /// What values of a search are brought into.
    Normalization,
    /// The grants of which one shows it.
    Grant,
    /// Which of its rows a caller sees.
    Scope,
    /// Why it is deprecated.
    Deprecation,
    /// What a search term costs.
    Cost,
    /// The indexes that are declared.
    Index,
    /// Where the known values of a search key are.
    Vocabulary,
    /// The tables that belong to a change feed.
    Feed,
    /// What is published of it in words.
    Description,
}

impl Aspect {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Values => "values",
            Self::Text => "text",
            Self::Relation => "relation",
            Self::Key => "key",
            Self::Column => "column",
            Self::Join => "join",
            Self::Order => "order",
            Self::Comparators => "comparators",
            Self::Normalization => "normalization",
            Self::Grant => "grant",
            Self::Scope => "scope",
            Self::Deprecation => "deprecated",
            Self::Cost => "cost of a term",
            Self::Index => "indexes",
            Self::Vocabulary => "known values",
            Self::Feed => "change feed",
            Self::Description => "description",
        }
    }
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is said of one part.
pub(super) type PartFacts = BTreeMap<Aspect, String>;

/// What a schema file says, by part: `Order`, `Order.total`, `OrderState.OPEN`, `Query.order(orderId:)`, `Query.orders(query: "statusId:")`,
/// `Query.orders(sortKey: ORDER_DATE)`, and without a name `Query.orders(sortKey:)` for the default.
#[derive(Debug, Default)]
pub(super) struct Facts(BTreeMap<String, PartFacts>);

impl Facts {
    /// Says that there is a part.
    pub(super) fn part(&mut self, part: &str) -> &mut PartFacts {
        self.0.entry(part.to_owned()).or_default()
    }

    /// Says something of a part. Nothing is said with an empty text.
    pub(super) fn add(&mut self, part: &str, aspect: Aspect, text: impl Into<String>) {
        let text = text.into();
        let facts = self.part(part);
        if !text.is_empty() {
            facts.insert(aspect, text);
        }
    }

    /// What is said of a part; `None` if there is no such part.
    pub(super) fn of(&self, part: &str) -> Option<&PartFacts> {
        self.0.get(part)
    }

    /// All parts, in alphabetical order.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&str, &PartFacts)> {
        self.0.iter().map(|(part, facts)| (part.as_str(), facts))
    }
}
