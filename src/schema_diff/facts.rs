//! The facts in a schema file about each of its parts, in words that can be compared.

use std::collections::BTreeMap;
use std::fmt;

/// The kind of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Aspect {
    /// The type of a field or an argument.
    Type,
    /// The names of an enum's values. Each is a part as well.
    Values,
    /// The database's text for a value of an enum.
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
    /// The normal form of a search's values.
    Normalization,
    /// The grants that show it, any one of them.
    Grant,
    /// Which of its rows a caller sees.
    Scope,
    /// Why it is deprecated.
    Deprecation,
    /// The price of a search term.
    Cost,
    /// The indexes that are declared.
    Index,
    /// The relation with the known values of a search key.
    Vocabulary,
    /// The tables that belong to a change feed.
    Feed,
    /// The description that is published.
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

/// The facts about one part.
pub(super) type PartFacts = BTreeMap<Aspect, String>;

/// The facts in a schema file, by part: `Order`, `Order.total`, `OrderState.OPEN`, `Query.order(orderId:)`, `Query.orders(query:
/// "statusId:")`, `Query.orders(sortKey: ORDER_DATE)`, and without a name `Query.orders(sortKey:)` for the default.
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

    /// The facts about a part; `None` if there is no such part.
    pub(super) fn of(&self, part: &str) -> Option<&PartFacts> {
        self.0.get(part)
    }

    /// All parts, in alphabetical order.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&str, &PartFacts)> {
        self.0.iter().map(|(part, facts)| (part.as_str(), facts))
    }
}
