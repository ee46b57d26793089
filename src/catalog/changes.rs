//! The changes of the rows of a type.

use crate::catalog::column::Column;
use crate::catalog::connection::Connection;
use crate::catalog::stored_type::StoredTypes;
use crate::cursor::OrderingTag;

/// The changes of the rows of a type: marks that writers leave, each with their transaction and the key of a row.
#[derive(Debug)]
pub struct Changes {
    /// The connection whose nodes are the changes. It has one order, which no other connection has.
    pub connection: Connection,
    /// The table with the marks that name a row of the feed.
    pub direct: String,
    /// The table with the marks that name a row in between.
    pub indirect: String,
    /// The column of `direct` with the key of the feed's row.
    pub key: Column,
    /// The relation whose key it is.
    pub relation: String,
    /// How rows in between lead to the rows of the feed.
    pub routes: Vec<FeedRoute>,
}

impl Changes {
    /// The sort key that all changes are in the order of.
    pub fn tag(&self) -> OrderingTag {
        self.connection.sort_keys[0].tag
    }

    /// Sets how the database stores the columns that statements compare values with.
    pub(super) fn set_stored_types(&mut self, stored: &StoredTypes) {
        self.key.set_stored_type(&self.relation, stored);
        for FeedRoute { relation, to, .. } in &mut self.routes {
            to.set_stored_type(relation, stored);
        }
    }
}

/// A relation that leads from a row in between to rows of a feed.
#[derive(Debug)]
pub struct FeedRoute {
    /// The relation's name.
    pub relation: String,
    /// Its column with the value that a mark has.
    pub to: Column,
    /// Its column with the key of the feed's row.
    pub key: String,
}

impl FeedRoute {
    /// How marks name it.
    pub fn via(&self) -> String {
        format!("{}.{}", self.relation, self.to.name)
    }
}
