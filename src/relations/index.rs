//! An index of a relation's rows, and what it can do.

use crate::relations::row_order::RowOrder;

/// An index on columns alone. What other indexes can do is known to PostgreSQL's planner.
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
    /// Which rows it has.
    pub(crate) rows: IndexedRows,
}

/// The rows that an index has: all, or those with nulls and values in these columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IndexedRows {
    /// A column that is null in them.
    pub(crate) where_null: Option<String>,
    /// Columns that are not null in them. What equals a value is not null, so that a search by these columns finds all of its rows.
    pub(crate) where_not_null: Vec<String>,
}

impl IndexedRows {
    /// The rows of an index with a predicate, as `pg_get_expr` writes it. `None` if it has other conditions.
    pub(crate) fn read(predicate: &str) -> Option<Self> {
        let inner = predicate.strip_prefix('(')?.strip_suffix(')')?;
        let conditions = inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(inner);
        let mut rows = Self::default();
        for condition in conditions.split(") AND (") {
            if let Some(column) = condition.strip_suffix(" IS NOT NULL") {
                rows.where_not_null.push(unquoted(column)?);
            } else if rows.where_null.replace(unquoted(condition.strip_suffix(" IS NULL")?)?).is_some() {
                return None;
            }
        }
        Some(rows)
    }

    fn have(&self, RowOrder { equal, where_null, .. }: &RowOrder<'_>) -> bool {
        // An index of all rows would have to be read past those with a value.
        self.where_null.as_deref() == *where_null
            && self.where_not_null.iter().all(|column| equal.iter().any(|other| other == column))
    }
}

/// The name of a column, as PostgreSQL quotes it. `None` if the text is no name.
fn unquoted(text: &str) -> Option<String> {
    match text.strip_prefix('"') {
        None => text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_').then(|| text.to_owned()),
        Some(quoted) => {
            let name = quoted.strip_suffix('"')?.replace("\"\"", "\0");
            (!name.contains('"')).then(|| name.replace('\0', "\""))
        }
    }
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
        let RowOrder { equal, order, is_first_descending, .. } = of;
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
        !self.is_of_words && self.has_usual_comparison && self.rows.have(of) && begins_so && is_in_order
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
    fn has_all_rows_or_those_with_a_null_in_one_column_and_values_in_others() {
        let has = |predicate: &str, equal: &str, where_null: Option<&str>| {
            let rows = IndexedRows::read(predicate).unwrap();
            let index = DescribedIndex { rows, ..DescribedIndex::of_order([equal, "b"]) };
            index.serves(&RowOrder { equal: vec![equal], where_null, ..RowOrder::default() })
        };
        assert!(has("(d IS NULL)", "a", Some("d")));
        assert!(!has("(d IS NULL)", "a", None));
        assert!(!has("(d IS NULL)", "a", Some("e")));
        assert!(has("(a IS NOT NULL)", "a", None));
        assert!(!has("(a IS NOT NULL)", "a", Some("d")));
        assert!(!has("(b IS NOT NULL)", "a", None));
        assert!(has("((\"d\"\"D\" IS NULL) AND (\"A\" IS NOT NULL))", "A", Some("d\"D")));
        let all = DescribedIndex::of_order(["a", "b"]);
        assert!(!all.serves(&RowOrder { equal: vec!["a"], where_null: Some("d"), ..RowOrder::default() }));
        for predicate in [
            "(d = 1)",
            "((d IS NULL) AND (e IS NULL))",
            "((d IS NULL) OR (e IS NOT NULL))",
            "(lower(d) IS NULL)",
            "((d IS NULL) AND (e > 0))",
            "(\"d\" IS NOT NULL\" IS NULL)",
            "((a + b) IS NULL)",
        ] {
            assert_eq!(IndexedRows::read(predicate), None, "{predicate}");
        }
    }
}
