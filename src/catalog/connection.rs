//! Connections: the rows of a relation, in the orders of their sort keys.

use crate::catalog::column::{Column, set_stored_types};
use crate::catalog::ids::EntityId;
use crate::catalog::scope::ScopeSet;
use crate::catalog::search_key::{PairIndex, SearchKey};
use crate::catalog::stored_type::StoredTypes;
use crate::cursor::OrderingTag;

/// The join condition between a parent's row and a child's: equality of paired columns, and perhaps a null in another one.
#[derive(Debug, Clone, Default)]
pub struct Join {
    /// The parent's columns.
    pub by: Vec<Column>,
    /// The child's columns, one for each of the parent's.
    pub to: Vec<String>,
    /// The child's column that is null: rows with a value there are not joined.
    pub where_null: Option<String>,
}

/// Which index finds the rows of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListIndex {
    /// An index that has them in order, for each sort key.
    #[default]
    Order,
    /// An index that has the rows of a parent. All of them are read, and sorted. The list is null if there are more.
    Parent {
        /// The most rows that a parent has.
        at_most: u32,
    },
}

/// A connection: the rows of a relation. At the root these are all rows, and elsewhere the rows that belong to one parent.
#[derive(Debug)]
pub struct Connection {
    /// The type of the nodes.
    pub node: EntityId,
    /// The relation of the rows: the node's own, or another one that has its columns.
    pub relation: String,
    /// The join condition to the parent; empty at the root.
    pub join: Join,
    /// Which index finds the rows.
    pub found_by: ListIndex,
    /// The sort keys, the default first. Never empty. A nested connection without sort keys has one: the primary key.
    pub sort_keys: Vec<SortKey>,
    /// The columns of the rows that name the parent and are not in the sort key. Cursors carry them too.
    pub parent_columns: Vec<Column>,
    /// The keys of the search string; empty in nested connections.
    pub search_keys: Vec<SearchKey>,
    /// The indexes for searches by two of these keys.
    pub pair_indexes: Vec<PairIndex>,
    /// The scopes that limit the rows.
    pub(crate) limited_by: ScopeSet,
    /// The search that each page has in addition to the search of the request, if there may be rows that the caller does not see.
    pub(crate) scope: Option<ScopeSearch>,
}

/// The limits of a connection's rows: search keys that no request names.
#[derive(Debug)]
pub(crate) struct ScopeSearch {
    /// The relation with all rows, which is read where terms on one of each of these keys are searched for.
    pub(crate) relation: String,
    /// The keys, by their indexes among the connection's. The first of each limits every search. The others are keys of columns by which a
    /// search itself may already ask only for rows that the caller sees.
    pub(crate) keys: Vec<Vec<usize>>,
}

impl Connection {
    /// Sets how the database stores the columns that statements return or compare values with.
    pub(super) fn set_stored_types(&mut self, stored: &StoredTypes) {
        let Self { relation, sort_keys, parent_columns, search_keys, .. } = self;
        set_stored_types(relation, parent_columns, stored);
        for key in sort_keys {
            set_stored_types(relation, &mut key.columns, stored);
        }
        for key in search_keys {
            let relation = key.semi_join.as_ref().map_or(&*relation, |semi_join| &semi_join.relation);
            key.column.set_stored_type(relation, stored);
        }
    }

    /// The columns whose values a cursor carries under a sort key of the connection: the columns of the order, then the columns of the
    /// parent.
    pub fn cursor_columns<'a>(&'a self, sort_key: &'a SortKey) -> impl Iterator<Item = &'a Column> {
        sort_key.columns.iter().chain(&self.parent_columns)
    }

    /// The columns of the rows' primary key.
    pub fn primary_key(&self) -> &[Column] {
        self.sort_keys.first().map_or(&[], SortKey::primary_key)
    }

    /// The index of the sort key whose order begins with the column of a search key.
    pub(crate) fn order_of(&self, key: &SearchKey) -> Option<usize> {
        let begins = |sort_key: &SortKey| sort_key.columns.first().is_some_and(|column| column.name == key.column.name);
        self.sort_keys.iter().position(begins).filter(|_| key.semi_join.is_none())
    }

    /// Whether an index on two keys has the rows with one value of the first in the order of a sort key, whose column the second is on.
    pub(crate) fn has_pair_order(&self, key: usize, sort_key: &SortKey) -> bool {
        let Some((first, rest)) = sort_key.columns.split_first() else { return false };
        let rest = || rest.iter().map(|column| &column.name);
        self.pair_indexes.iter().any(|index| {
            let continues = |order: &usize| self.sort_keys[*order].columns.iter().map(|column| &column.name).eq(rest());
            index.keys[0] == key
                && self.search_keys[index.keys[1]].compares(&first.name)
                && index.in_order_of.iter().any(continues)
        })
    }

    /// The index of the search key with that name.
    pub fn search_key(&self, name: &str) -> Option<usize> {
        self.search_keys.iter().position(|key| key.scope.is_none() && key.name == name)
    }

    /// The relation that has the column of one of its search keys.
    pub fn relation_of<'a>(&'a self, key: &'a SearchKey) -> &'a str {
        key.semi_join.as_ref().map_or(&self.relation, |semi_join| &semi_join.relation)
    }

    /// The relation whose rows a search with terms on these keys reads: one with all rows only if the terms limit them.
    pub(crate) fn searched_relation(&self, has_term: impl Fn(usize) -> bool) -> &str {
        match &self.scope {
            Some(scope) if scope.keys.iter().all(|keys| keys.iter().any(|key| has_term(*key))) => &scope.relation,
            _ => &self.relation,
        }
    }
}

/// A sort key of a connection. The order is total, because it ends with the primary key.
#[derive(Debug)]
pub struct SortKey {
    /// The name in the sort enum.
    pub name: String,
    /// The columns of the order, the most significant first.
    pub columns: Vec<Column>,
    /// Whether the first column can be null. Null sorts last. The other columns belong to the primary key, which is
    /// never null.
    pub nullable: bool,
    /// The most rows with one value in the first column, if an index need not have the other columns. Rows are read by that column, and
    /// sorted. The connection is null if more rows have one value.
    pub ties: Option<u32>,
    /// The tag of cursors made for this sort key.
    pub tag: OrderingTag,
}

impl SortKey {
    /// The columns of the primary key, with which the order ends.
    pub fn primary_key(&self) -> &[Column] {
        self.columns.get(usize::from(self.nullable)..).unwrap_or_default()
    }
}
