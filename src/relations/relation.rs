//! A table or view, and what its keys and indexes can do.

use crate::relations::column::DescribedColumn;
use crate::relations::index::DescribedIndex;
use crate::relations::key_fault::KeyFault;
use crate::relations::row_order::RowOrder;

/// A table or view.
#[derive(Debug, Clone, Default)]
pub(crate) struct DescribedRelation {
    /// The schema that it is in.
    pub(crate) schema: String,
    /// Without its schema.
    pub(crate) name: String,
    /// Table, view, or another kind of relation.
    pub(crate) kind: RelationKind,
    /// Which of its rows are in other tables.
    pub(crate) children: Children,
    /// How it is partitioned, if it is, such as `RANGE (order_date)`.
    pub(crate) partition_key: Option<String>,
    /// The server that it is read from, quoted for SQL, if it is a foreign table.
    pub(crate) server: Option<String>,
    /// Whether the role may use its schema.
    pub(crate) schema_is_usable: bool,
    /// The comment by `COMMENT ON`.
    pub(crate) comment: Option<String>,
    /// Its columns in their order.
    pub(crate) columns: Vec<DescribedColumn>,
    /// Its indexes of all rows: the one of the primary key first, then by their number of columns and name.
    pub(crate) indexes: Vec<DescribedIndex>,
    /// Its indexes of rows that have a null or values in some columns.
    pub(crate) partial_indexes: Vec<DescribedIndex>,
    /// In the order of their names.
    pub(crate) foreign_keys: Vec<ForeignKey>,
    /// The columns of a key that PostgreSQL does not know.
    pub(crate) declared_key: Option<Vec<String>>,
}

/// The kind of a relation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RelationKind {
    /// A table, partitioned or not.
    #[default]
    Table,
    /// Computed from others, without a key and indexes.
    View,
    /// Stored, with indexes.
    MaterializedView,
    /// A table of another server.
    Foreign,
}

/// Which rows of a relation are in other tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Children {
    /// None, or all partitions, whose indexes are the relation's.
    #[default]
    Own,
    /// Tables that inherit from it, whose indexes are their own.
    Inheriting,
    /// It is partitioned, and has no partition that could have rows.
    NoPartitions,
}

/// A constraint by which rows refer to rows of a relation.
#[derive(Debug, Clone)]
pub(crate) struct ForeignKey {
    pub(crate) name: String,
    /// The columns of the relation that has it.
    pub(crate) columns: Vec<String>,
    /// The schema and the name of the relation that it refers to.
    pub(crate) target: (String, String),
    /// The columns there, one for each.
    pub(crate) to: Vec<String>,
}

impl DescribedRelation {
    /// Its name in a schema file.
    pub(crate) fn path(&self) -> String {
        if self.schema == "public" { self.name.clone() } else { format!("{}.{}", self.schema, self.name) }
    }

    /// The column with that name.
    pub(crate) fn column(&self, name: &str) -> Option<&DescribedColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The column with that name, if the role may read it.
    pub(crate) fn readable_column(&self, name: &str) -> Option<&DescribedColumn> {
        self.column(name).filter(|column| column.is_readable)
    }

    /// Whether it can have indexes of its own.
    pub(crate) fn has_indexes(&self) -> bool {
        matches!(self.kind, RelationKind::Table | RelationKind::MaterializedView)
    }

    /// Whether it can have constraints. The constraints of a view's tables are not looked for.
    pub(crate) fn has_constraints(&self) -> bool {
        self.kind == RelationKind::Table
    }

    /// Whether an index has the words of a column.
    pub(crate) fn has_text_index(&self, column: &str) -> bool {
        self.indexes.iter().any(|index| index.is_of_words && index.columns.iter().any(|one| one == column))
    }

    /// Lists of columns. No two rows have the same values in the columns of a list.
    pub(crate) fn unique_columns(&self) -> impl Iterator<Item = &[String]> {
        let is_fit = |index: &&DescribedIndex| {
            index.is_unique && index.has_usual_comparison && self.children != Children::Inheriting
        };
        self.indexes.iter().filter(is_fit).map(|index| index.columns.as_slice())
    }

    /// Whether no two rows have the same values in these columns.
    pub(crate) fn are_unique(&self, columns: &[impl AsRef<str>]) -> bool {
        self.unique_columns().any(|unique| unique.iter().all(|one| columns.iter().any(|column| column.as_ref() == one)))
    }

    /// Columns that identify its rows: of the declared key, and of each index that makes them a key.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &[String]> {
        let unique = self.indexes.iter().filter(|index| index.is_unique && self.key_faults(&index.columns).is_empty());
        let known = unique.map(|index| index.columns.as_slice());
        self.declared_key.as_deref().into_iter().chain(known)
    }

    /// Why columns do not identify its rows.
    pub(crate) fn key_faults(&self, columns: &[impl AsRef<str>]) -> Vec<KeyFault> {
        let (mut faults, names) = (Vec::new(), columns.iter().map(AsRef::as_ref));
        let mut indexes = self.indexes.iter().filter(|index| index.is_unique && index.is_within(columns));
        match indexes.next() {
            _ if self.children == Children::Inheriting => faults.push(KeyFault::Inherited),
            _ if self.are_unique(columns) => {}
            Some(index) => faults.push(KeyFault::OtherComparison(index.columns.clone())),
            None => faults.push(KeyFault::NotUnique {
                columns: names.clone().map(str::to_owned).collect(),
                partition_key: self.partition_key.clone(),
            }),
        }
        let nullable: Vec<_> = names.filter(|column| self.may_be_null(column)).map(str::to_owned).collect();
        faults.extend((!nullable.is_empty()).then_some(KeyFault::Nullable(nullable)));
        faults
    }

    /// Whether no constraint rules out nulls in a column of a relation that can have constraints.
    pub(crate) fn may_be_null(&self, column: &str) -> bool {
        self.has_constraints() && self.column(column).is_some_and(|column| !column.is_not_null)
    }

    /// Whether an index of all of its rows has those with given values of some columns in the order of others.
    pub(crate) fn has_order(&self, equal: &[&str], order: &[&str]) -> bool {
        let order = RowOrder { equal: equal.to_vec(), order: order.to_vec(), ..RowOrder::default() };
        self.indexes.iter().any(|index| index.serves(&order))
    }

    /// Whether an index of its own has rows in an order, which are compared with one value in each column of equality.
    pub(crate) fn serves(&self, order: &RowOrder<'_>) -> bool {
        self.own_indexes().any(|index| index.serves(order))
    }

    fn own_indexes(&self) -> impl Iterator<Item = &DescribedIndex> {
        self.indexes.iter().chain(&self.partial_indexes)
    }

    /// The order in which an index of its own begins with all of these columns, by their places: an index of all rows, or of those with a
    /// null in a column.
    pub(crate) fn index_of(&self, columns: &[&str], where_null: Option<&str>) -> Option<Vec<usize>> {
        let place = |name: &String| columns.iter().position(|column| column == name);
        let starts = self.own_indexes().filter_map(|index| index.columns.get(..columns.len()));
        let mut orders = starts.filter_map(|start| start.iter().map(place).collect::<Option<Vec<_>>>());
        orders.find(|places| {
            let order: Vec<_> = places.iter().map(|place| columns[*place]).collect();
            let (equal, order) = (order[..1].to_vec(), order[1..].to_vec());
            self.serves(&RowOrder { equal, order, where_null, ..RowOrder::default() })
        })
    }

    /// Whether its own indexes say that one of them finds rows in an order. PostgreSQL may know others: those of a view's tables, of
    /// partitions, and of expressions.
    pub(crate) fn has_index_for(&self, order: &RowOrder<'_>) -> bool {
        let has_own_rows = match self.children {
            Children::Own => self.partition_key.is_none(),
            Children::Inheriting => false,
            Children::NoPartitions => true,
        };
        has_own_rows && self.serves(order)
    }
}
