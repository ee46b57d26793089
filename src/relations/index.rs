//! An index of a relation's rows, and what it can do.

use crate::relations::row_order::RowOrder;

/// An index on columns alone, of all rows or of those with a null. What other indexes can do is known to PostgreSQL's planner.
#[derive(Debug, Clone, Default)]
pub(crate) struct DescribedIndex {
    /// The columns that it compares.
    pub(crate) columns: Vec<String>,
    /// How each of them is sorted, as `pg_index.indoption` has it.
    pub(crate) options: Vec<i16>,
    /// The other columns that it has.
    pub(crate) included: Vec<String>,
    pub(crate) is_unique: bool,
    /// Whether it compares the columns by their own collations, and by the operators of their types.
    pub(crate) has_usual_comparison: bool,
    /// Whether it has the words of its columns, in no order.
    pub(crate) is_of_words: bool,
    /// The column that is null in its rows, if it does not have all rows.
    pub(crate) where_null: Option<String>,
}

/// How `pg_index.indoption` says that a column is sorted as `ORDER BY` sorts it, ascending or descending.
const ASCENDING: i16 = 0;
const DESCENDING: i16 = 3;

impl DescribedIndex {
    /// An index that has the rows in the order of these columns.
    pub(crate) fn of_order<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        let columns: Vec<_> = columns.into_iter().map(str::to_owned).collect();
        Self { options: vec![ASCENDING; columns.len()], columns, has_usual_comparison: true, ..Self::default() }
    }

    /// Whether it compares no other columns than these.
    pub(crate) fn is_within(&self, columns: &[impl AsRef<str>]) -> bool {
        self.columns.iter().all(|one| columns.iter().any(|column| column.as_ref() == one))
    }

    /// Whether it begins with some columns, and has the others as well.
    pub(crate) fn covers(&self, first: &[&str], others: &[&str]) -> bool {
        let all = self.columns.iter().chain(&self.included).map(String::as_str);
        !self.is_of_words
            && all.clone().zip(first).all(|(one, other)| one == *other)
            && first.iter().chain(others).all(|column| all.clone().any(|found| found == *column))
    }

    /// Whether it has the rows in an order, read from one end or from the other.
    pub(crate) fn serves(&self, of: &RowOrder<'_>) -> bool {
        let RowOrder { equal, order, is_first_descending, where_null, .. } = of;
        let Some((first, rest)) = self.columns.split_at_checked(equal.len()) else { return false };
        let begins_so = equal.iter().all(|column| first.iter().any(|other| other == column))
            && rest.len() >= order.len()
            && rest.iter().zip(order).all(|(one, other)| one == other);
        let is_sorted = |first: i16, others: i16| {
            let mut options = self.options.iter().take(equal.len() + order.len());
            options.next().is_none_or(|option| *option == first) && options.all(|option| *option == others)
        };
        let (one, other) = if *is_first_descending { (DESCENDING, ASCENDING) } else { (ASCENDING, DESCENDING) };
        let is_in_order = is_sorted(one, ASCENDING) || is_sorted(other, DESCENDING);
        // An index of all rows would have to be read past those with a value.
        let has_the_rows = self.where_null.as_deref() == *where_null;
        !self.is_of_words && self.has_usual_comparison && has_the_rows && begins_so && is_in_order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_orders_from_either_end_and_the_columns_of_equality_in_any_order() {
        let index = |options: [i16; 3]| DescribedIndex {
            options: options.to_vec(),
            ..DescribedIndex::of_order(["a", "b", "c"])
        };
        for (options, equal, order, is_first_descending, serves) in [
            ([0, 0, 0], &["a"][..], &["b"][..], false, true),
            ([0, 0, 0], &["b", "a"], &["c"], false, true),
            ([0, 0, 0], &["a"], &["c"], false, false),
            ([3, 3, 3], &["a"], &["b", "c"], false, true),
            // Descending, with nulls last.
            ([0, 1, 0], &["a"], &["b"], false, false),
            // What follows the order does not matter.
            ([0, 0, 3], &["a"], &["b"], false, true),
            ([3, 0, 0], &["a"], &["b", "c"], true, true),
            ([0, 0, 0], &["a"], &["b", "c"], true, false),
            ([0, 0, 0], &["a", "b", "c"], &["d"], false, false),
        ] {
            let (equal, order) = (equal.to_vec(), order.to_vec());
            let order = RowOrder { equal, order, is_first_descending, ..RowOrder::default() };
            assert_eq!(index(options).serves(&order), serves, "{options:?} {order:?}");
        }
    }

    #[test]
    fn has_all_rows_or_those_with_a_null_in_one_column() {
        for of_index in [None, Some("d"), Some("e")] {
            for of_order in [None, Some("d"), Some("e")] {
                let index =
                    DescribedIndex { where_null: of_index.map(str::to_owned), ..DescribedIndex::of_order(["a", "b"]) };
                let order = RowOrder { equal: vec!["a"], where_null: of_order, ..RowOrder::default() };
                assert_eq!(index.serves(&order), of_index == of_order, "{of_index:?} {of_order:?}");
            }
        }
    }
}
