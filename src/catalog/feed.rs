//! Change feeds: which tables' rows belong to the rows of a type, so that a change of one is a change of the other.

use serde_json::{Value, json};

use crate::catalog::ids::EntityId;

/// The change feed of a type that has parts.
#[derive(Debug)]
pub struct Feed {
    /// The type.
    pub entity: EntityId,
    /// The feed's name: the name of the type in snake case, and `_change`.
    pub name: String,
    /// The relation to read, with its schema: transaction ids in the column `xid`, and the type's key.
    pub table: String,
    /// The type's table.
    pub relation: String,
    /// The column of the type's key.
    pub key: String,
    /// The tables whose rows belong to the type's, the type's own among them. Sorted, each once.
    pub parts: Vec<FeedPart>,
}

/// A table whose rows belong to rows of a feed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedPart {
    /// The table's name.
    pub relation: String,
    /// Its column with the key of the feed's row, or with what `through` has.
    pub by: String,
    /// The relation in between, if there is one.
    pub through: Option<Through>,
}

/// A relation that says to which rows of a feed a row belongs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Through {
    /// The relation's name.
    pub relation: String,
    /// The column that equals the column of the part.
    pub to: String,
    /// The column with the key of the feed's row.
    pub key: String,
}

impl Feed {
    /// The argument of the database's function `orderql.make_feed`.
    pub fn definition(&self) -> Value {
        let parts = self.parts.iter().map(|FeedPart { relation, by, through }| match through {
            None => json!({ "relation": relation, "by": by }),
            Some(Through { relation: through, to, key }) => {
                json!({ "relation": relation, "by": by, "through": through, "to": to, "key": key })
            }
        });
        json!({ "feed": self.name, "relation": self.relation, "key": self.key, "parts": parts.collect::<Value>() })
    }
}
