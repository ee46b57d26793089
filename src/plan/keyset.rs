//! The part of an index that a page lies in, as conditions that are index ranges.
//!
//! An index is ascending with nulls last, which is PostgreSQL's default. A reversed order, or a page from the back, scans
//! the same index downwards. If the first column can be null, the index has two segments: the values, then the nulls. A
//! cursor in one of them bounds that segment, and the other is either whole or excluded. So each segment that remains is
//! one range of the index. (A single `… OR column IS NULL` would be correct too, but no index range.)

use crate::catalog::binding::{Column, SortKey};
use crate::cursor::CursorPosition;
use crate::plan::sql::{Alias, ColumnOf, Condition, Operator, Parameters, Placeholder};
use crate::plan::step::Slot;

/// A position in an index that rows are compared with.
pub(crate) struct KeysetBound<'a> {
    columns: Vec<ColumnOf<'a>>,
    placeholders: Vec<Placeholder>,
    in_nulls: bool,
}

impl<'a> KeysetBound<'a> {
    /// The position of a cursor among the rows of one parent. `slot` says where the values of its columns come from. The
    /// columns that are `joined` to the parent are equal in all of these rows. They are left out: a comparison with them would
    /// hide from PostgreSQL that the other columns are a range of an index that begins with the joined ones.
    pub(crate) fn new(
        sort_key: &'a SortKey,
        joined: &[String],
        position: &CursorPosition,
        slot: impl Fn(usize) -> Slot,
        parameters: &mut Parameters,
    ) -> Self {
        let in_nulls = is_in_nulls(position) && sort_key.nullable;
        let compared = sort_key.columns.iter().enumerate().skip(usize::from(in_nulls));
        let compared = compared.filter(|(_, column)| !joined.contains(&column.name));
        let compared = compared.map(|(index, column)| (base(column), parameters.add(slot(index))));
        let (columns, placeholders) = compared.unzip();
        Self { columns, placeholders, in_nulls }
    }

    fn compare(&self, operator: Operator) -> Condition<'a> {
        match (self.columns.as_slice(), self.placeholders.as_slice()) {
            // A parent has one such row at most, so every row is at this position.
            ([], _) => Condition::Always(matches!(operator, Operator::LessOrEqual | Operator::GreaterOrEqual)),
            ([column], [value]) => Condition::Compare(*column, operator, *value),
            _ => Condition::CompareRow(self.columns.clone(), operator, self.placeholders.clone()),
        }
    }
}

fn base(column: &Column) -> ColumnOf<'_> {
    ColumnOf(Alias::Base, &column.name)
}

/// Whether a cursor is of a row whose first column is null.
pub(crate) fn is_in_nulls(position: &CursorPosition) -> bool {
    position.first().is_some_and(Option::is_none)
}

/// A range of an index, open where it has no bound.
#[derive(Clone, Copy, Default)]
pub(crate) struct KeysetRange<'a> {
    /// The lower bound.
    pub(crate) above: Option<&'a KeysetBound<'a>>,
    /// The upper bound.
    pub(crate) below: Option<&'a KeysetBound<'a>>,
    /// Whether rows at the bounds are in the range.
    pub(crate) inclusive: bool,
}

/// The conditions of each segment in which a range can have rows, in ascending order: one or two segments. If the bounds
/// exclude each other, there is one segment without rows. It compares with both bounds all the same, because PostgreSQL
/// cannot infer the type of a parameter that the text does not use.
pub(crate) fn segments<'a>(sort_key: &'a SortKey, range: KeysetRange<'a>) -> Vec<Vec<Condition<'a>>> {
    let (above, below) = if range.inclusive {
        (Operator::GreaterOrEqual, Operator::LessOrEqual)
    } else {
        (Operator::Greater, Operator::Less)
    };
    let compare = |bound: Option<&KeysetBound<'a>>, operator, in_nulls| {
        bound.filter(|bound| bound.in_nulls == in_nulls).map(|bound| bound.compare(operator))
    };
    let conditions = |in_nulls| {
        let bounds = [compare(range.above, above, in_nulls), compare(range.below, below, in_nulls)];
        bounds.into_iter().flatten().collect::<Vec<_>>()
    };
    let first =
        sort_key.columns.first().filter(|_| sort_key.nullable && (range.above.is_some() || range.below.is_some()));
    let Some(first) = first else { return vec![conditions(false)] };

    let has_values = range.above.is_none_or(|bound| !bound.in_nulls);
    let has_nulls = range.below.is_none_or(|bound| bound.in_nulls);
    let mut segments = Vec::with_capacity(2);
    if has_values {
        let mut values = conditions(false);
        if values.is_empty() {
            values.push(Condition::IsNotNull(base(first)));
        }
        segments.push(values);
    }
    if has_nulls {
        let mut nulls = vec![Condition::IsNull(base(first))];
        nulls.extend(conditions(true));
        segments.push(nulls);
    }
    if segments.is_empty() {
        let bounds = [range.above.map(|bound| bound.compare(above)), range.below.map(|bound| bound.compare(below))];
        segments.push(std::iter::once(Condition::Always(false)).chain(bounds.into_iter().flatten()).collect());
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::OrderingTag;
    use crate::value::{ScalarType, Value};

    fn sort_key(nullable: bool) -> SortKey {
        let column = |name: &str| Column { name: name.to_owned(), scalar: ScalarType::Id };
        let tag = OrderingTag::new("orders", "ORDER_NAME");
        SortKey { name: "ORDER_NAME".to_owned(), columns: vec![column("n"), column("id")], nullable, tag }
    }

    /// The first column of a cursor, if there is one.
    #[derive(Debug, Clone, Copy)]
    enum At {
        None,
        Name(&'static str),
        Null,
    }

    fn text(nullable: bool, above: At, below: At, inclusive: bool) -> String {
        text_joined(nullable, &[], above, below, inclusive)
    }

    fn text_joined(nullable: bool, joined: &[String], above: At, below: At, inclusive: bool) -> String {
        let key = sort_key(nullable);
        let mut parameters = Parameters::default();
        let mut bound = |at: At| {
            let value = |text: &str| Value::Text(text.to_owned());
            let name = match at {
                At::None => return None,
                At::Null => None,
                At::Name(name) => Some(value(name)),
            };
            Some(KeysetBound::new(&key, joined, &vec![name, Some(value("7"))], Slot::After, &mut parameters))
        };
        let (above, below) = (bound(above), bound(below));
        let range = KeysetRange { above: above.as_ref(), below: below.as_ref(), inclusive };
        let segment = |conditions: Vec<Condition<'_>>| {
            conditions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" AND ")
        };
        segments(&key, range).into_iter().map(segment).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn every_position_of_a_cursor_has_the_segments_beyond_it() {
        let (none, value, null) = (At::None, At::Name("a"), At::Null);
        for (above, below, expected) in [
            (none, none, ""),
            (value, none, r#"(t."n", t."id") > ($1, $2) | t."n" IS NULL"#),
            (null, none, r#"t."n" IS NULL AND t."id" > $1"#),
            (none, value, r#"(t."n", t."id") < ($1, $2)"#),
            (none, null, r#"t."n" IS NOT NULL | t."n" IS NULL AND t."id" < $1"#),
            (value, value, r#"(t."n", t."id") > ($1, $2) AND (t."n", t."id") < ($3, $4)"#),
            (value, null, r#"(t."n", t."id") > ($1, $2) | t."n" IS NULL AND t."id" < $3"#),
            (null, null, r#"t."n" IS NULL AND t."id" > $1 AND t."id" < $2"#),
            (null, value, r#"FALSE AND t."id" > $1 AND (t."n", t."id") < ($2, $3)"#),
        ] {
            assert_eq!(text(true, above, below, false), expected, "{above:?} {below:?}");
        }
        assert_eq!(text(false, value, none, false), r#"(t."n", t."id") > ($1, $2)"#);
        assert_eq!(text(true, none, value, true), r#"(t."n", t."id") <= ($1, $2)"#);
    }

    #[test]
    fn does_not_compare_columns_that_are_joined_to_the_parent() {
        let (parent, both) = (["n".to_owned()], ["id".to_owned(), "n".to_owned()]);
        let (none, value) = (At::None, At::Name("a"));
        assert_eq!(text_joined(false, &parent, value, none, false), r#"t."id" > $1"#);
        assert_eq!(text_joined(false, &parent, value, value, false), r#"t."id" > $1 AND t."id" < $2"#);
        assert_eq!(text_joined(false, &both, value, none, false), "FALSE");
        assert_eq!(text_joined(false, &both, none, value, true), "TRUE");
    }
}
