//! The part of an index that a page lies in, as conditions that are index ranges.
//!
//! An index is ascending with nulls last, which is PostgreSQL's default. A reversed order, or a page from the back, scans
//! the same index downwards. If the first column can be null, the index has two segments: the values, then the nulls. A
//! cursor in one of them bounds that segment, and the other is either whole or excluded. So each segment that remains is
//! one range of the index. (A single `… OR column IS NULL` would be correct too, but no index range.)
//!
//! Nulls come last in a reversed order as well, so that its segments change places: seen upwards, the nulls are before the
//! values.
//!
//! Search terms on the first column bound the range as well. PostgreSQL begins an index scan at one of several bounds on a column, not at
//! the tightest. So a cursor splits the range of such terms into the rows that have the cursor's value, and the rows beyond: in each of
//! these segments, the first condition on a column is as tight as all of them.

use crate::catalog::column::Column;
use crate::catalog::connection::SortKey;
use crate::plan::parameters::{ParameterSource, Parameters, Placeholder};
use crate::plan::sql::{Alias, ColumnOf, Comparand, Condition, SqlOperator};
use crate::query::bind::shape::CursorShape;

/// The search terms that restrict the first column of an order. A value to compare a cursor's with is there only if there is
/// such a cursor: PostgreSQL cannot infer the type of a parameter that the text does not use.
pub(crate) enum Restriction<'a> {
    /// There are none.
    None,
    /// Ranges of the column.
    Ranges(Vec<RangeTerm<'a>>),
    /// The rows of each scan have one value in the column: this one.
    Equal(Option<Comparand>),
}

/// A range term on the first column of an order.
pub(crate) struct RangeTerm<'a> {
    pub(crate) condition: Condition<'a>,
    pub(crate) operator: SqlOperator,
    pub(crate) value: Option<Comparand>,
}

/// The columns by which positions in an index are compared.
#[derive(Clone, Copy)]
pub(crate) struct KeysetColumns<'k, 'a> {
    pub(crate) sort_key: &'a SortKey,
    /// Columns that are constant in all rows of a parent are left out: a comparison with them would hide from PostgreSQL that the other
    /// columns are a range of an index that begins with the constant ones.
    pub(crate) constant: &'k [String],
    /// Whether search terms restrict the first one.
    pub(crate) is_restricted: bool,
}

/// A position in an index that rows are compared with.
pub(crate) struct KeysetBound<'a> {
    columns: Vec<ColumnOf<'a>>,
    placeholders: Vec<Placeholder>,
    in_nulls: bool,
    /// The value of the first column, to be compared with other values. Only with search terms on that column.
    first: Option<Comparand>,
}

impl<'a> KeysetBound<'a> {
    /// The position of a cursor among the rows of one parent. `source` says where the values of its columns come from.
    pub(crate) fn new(
        KeysetColumns { sort_key, constant, is_restricted }: KeysetColumns<'_, 'a>,
        cursor: CursorShape,
        source: impl Fn(usize) -> ParameterSource,
        parameters: &mut Parameters<'_>,
    ) -> Self {
        let in_nulls = cursor == CursorShape::InNulls && sort_key.nullable;
        if in_nulls && is_restricted {
            // No row that a term on the first column matches is among the nulls.
            return Self { columns: Vec::new(), placeholders: Vec::new(), in_nulls, first: None };
        }
        let compared = sort_key.columns.iter().enumerate().skip(usize::from(in_nulls));
        let compared = compared.filter(|(_, column)| !constant.contains(&column.name));
        let compared = compared.map(|(index, column)| (base(column), parameters.add(source(index))));
        let (columns, placeholders) = compared.unzip();
        let sorted = &sort_key.columns[0];
        let first =
            is_restricted.then(|| Comparand::Parameter(parameters.add(source(0)), sorted.stored, sorted.collation));
        Self { columns, placeholders, in_nulls, first }
    }

    fn compare(&self, operator: SqlOperator) -> Condition<'a> {
        match (self.columns.as_slice(), self.placeholders.as_slice()) {
            // A parent has one such row at most, so every row is at this position.
            ([], _) => Condition::Always(matches!(operator, SqlOperator::LessOrEqual | SqlOperator::GreaterOrEqual)),
            ([column], [value]) => Condition::Compare(*column, operator, *value),
            _ => Condition::CompareRow(self.columns.clone(), operator, self.placeholders.clone()),
        }
    }

    /// Compares the first column alone.
    fn compare_first(&self, operator: SqlOperator) -> Option<Condition<'a>> {
        Some(Condition::Compare(*self.columns.first()?, operator, *self.placeholders.first()?))
    }
}

fn base(column: &Column) -> ColumnOf<'_> {
    ColumnOf(Alias::Base, &column.name)
}

/// The place of the rows with a null, seen upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// Before the values.
    First,
    /// After the values, as in the index.
    Last,
}

impl Nulls {
    /// Their place in the order of a sort key.
    pub(crate) fn of(sort_key: &SortKey, reverse: bool) -> Self {
        if sort_key.nullable && reverse { Self::First } else { Self::Last }
    }
}

/// A range of an order, seen upwards; open where it has no bound.
#[derive(Clone, Copy)]
pub(crate) struct KeysetRange<'r, 'a> {
    /// The lower bound.
    pub(crate) above: Option<&'r KeysetBound<'a>>,
    /// The upper bound.
    pub(crate) below: Option<&'r KeysetBound<'a>>,
    /// Whether rows at the bounds are in the range.
    pub(crate) inclusive: bool,
    /// The place of the rows with a null.
    pub(crate) nulls: Nulls,
}

impl<'a> KeysetRange<'_, 'a> {
    /// How rows compare with the lower and with the upper bound.
    fn operators(&self) -> (SqlOperator, SqlOperator) {
        if self.inclusive {
            (SqlOperator::GreaterOrEqual, SqlOperator::LessOrEqual)
        } else {
            (SqlOperator::Greater, SqlOperator::Less)
        }
    }

    /// Whether it has a bound.
    pub(crate) fn is_bounded(&self) -> bool {
        self.above.is_some() || self.below.is_some()
    }

    /// Its bounds as conditions on the whole position.
    fn conditions(&self) -> impl Iterator<Item = Condition<'a>> {
        let (above, below) = self.operators();
        let bounds = [self.above.map(|bound| bound.compare(above)), self.below.map(|bound| bound.compare(below))];
        bounds.into_iter().flatten()
    }
}

/// The conditions of each segment in which a range can have rows, in ascending order. There is at least one. If the bounds
/// exclude each other, there is one segment without rows. It compares with both bounds all the same, because PostgreSQL
/// cannot infer the type of a parameter that the text does not use.
pub(crate) fn segments<'a>(
    sort_key: &'a SortKey,
    range: KeysetRange<'_, 'a>,
    restriction: &Restriction<'a>,
) -> Vec<Vec<Condition<'a>>> {
    match restriction {
        Restriction::None => null_segments(sort_key, range),
        Restriction::Ranges(_) | Restriction::Equal(_) => restricted_segments(range, restriction),
    }
}

/// The segments of a range by the first column alone, where an index does not have the others: each has all rows with the values of its
/// bounds. No statement uses the other parameters of the bounds in them.
pub(crate) fn segments_of_values<'a>(
    sort_key: &'a SortKey,
    range: KeysetRange<'_, 'a>,
    restriction: &Restriction<'a>,
) -> Vec<Vec<Condition<'a>>> {
    let first = sort_key.columns.first().map(base);
    let terms = if let Restriction::Ranges(terms) = restriction { terms.as_slice() } else { &[] };
    let segment = |conditions: Vec<Condition<'a>>| {
        let of_first = conditions.into_iter().filter_map(|condition| condition.by_column(first?));
        of_first.chain(terms.iter().map(|term| term.condition.clone())).collect()
    };
    null_segments(sort_key, range).into_iter().map(segment).collect()
}

/// The values and the nulls; one or two segments.
fn null_segments<'a>(sort_key: &'a SortKey, range: KeysetRange<'_, 'a>) -> Vec<Vec<Condition<'a>>> {
    let (above, below) = range.operators();
    let compare = |bound: Option<&KeysetBound<'a>>, operator, in_nulls| {
        bound.filter(|bound| bound.in_nulls == in_nulls).map(|bound| bound.compare(operator))
    };
    let conditions = |in_nulls| {
        let bounds = [compare(range.above, above, in_nulls), compare(range.below, below, in_nulls)];
        bounds.into_iter().flatten().collect::<Vec<_>>()
    };
    let is_index = range.nulls == Nulls::Last && !range.is_bounded();
    let Some(first) = sort_key.columns.first().filter(|_| sort_key.nullable && !is_index) else {
        return vec![conditions(false)];
    };

    let (of_values, of_nulls) = match range.nulls {
        Nulls::Last => (range.above, range.below),
        Nulls::First => (range.below, range.above),
    };
    let mut segments = Vec::with_capacity(2);
    if of_values.is_none_or(|bound| !bound.in_nulls) {
        let mut values = conditions(false);
        if values.is_empty() {
            values.push(Condition::IsNotNull(base(first)));
        }
        segments.push(values);
    }
    if of_nulls.is_none_or(|bound| bound.in_nulls) {
        let mut nulls = vec![Condition::IsNull(base(first))];
        nulls.extend(conditions(true));
        segments.push(nulls);
    }
    if range.nulls == Nulls::First {
        segments.reverse();
    }
    if segments.is_empty() {
        segments.push(std::iter::once(Condition::Always(false)).chain(range.conditions()).collect());
    }
    segments
}

/// The segments of a range that search terms on the first column restrict: up to four.
fn restricted_segments<'a>(range: KeysetRange<'_, 'a>, restriction: &Restriction<'a>) -> Vec<Vec<Condition<'a>>> {
    // No term matches a null: all rows are on one side of the nulls, and none is on the other.
    let of_values = match range.nulls {
        Nulls::Last => range.above,
        Nulls::First => range.below,
    };
    let is_empty = of_values.is_some_and(|bound| bound.in_nulls);
    let below = range.below.filter(|bound| !bound.in_nulls);
    let above = range.above.filter(|bound| !bound.in_nulls);
    let parts = match (above, below) {
        (None, None) => vec![(RangePart::Open, RangePart::Open)],
        (Some(above), None) => {
            vec![(RangePart::At(above), RangePart::Open), (RangePart::Beyond(above), RangePart::Open)]
        }
        (None, Some(below)) => {
            vec![(RangePart::Open, RangePart::Beyond(below)), (RangePart::Open, RangePart::At(below))]
        }
        (Some(above), Some(below)) => vec![
            (RangePart::At(above), RangePart::At(below)),
            (RangePart::At(above), RangePart::Beyond(below)),
            (RangePart::Beyond(above), RangePart::Beyond(below)),
            (RangePart::Beyond(above), RangePart::At(below)),
        ],
    };
    let segment = |(above, below)| {
        let mut conditions = if is_empty { vec![Condition::Always(false)] } else { Vec::new() };
        match restriction {
            Restriction::None => {}
            Restriction::Ranges(terms) => Segment { above, below, range }.in_ranges(terms, &mut conditions),
            Restriction::Equal(value) => Segment { above, below, range }.with_value(*value, &mut conditions),
        }
        conditions
    };
    parts.into_iter().map(segment).collect()
}

/// Which rows of a range a segment has, seen from one of the bounds.
#[derive(Clone, Copy)]
enum RangePart<'r, 'a> {
    /// All: there is no bound.
    Open,
    /// Rows with the bound's value in the first column.
    At(&'r KeysetBound<'a>),
    /// Rows with a value beyond the bound's.
    Beyond(&'r KeysetBound<'a>),
}

/// The rows of a range in a segment.
struct Segment<'r, 'a> {
    above: RangePart<'r, 'a>,
    below: RangePart<'r, 'a>,
    range: KeysetRange<'r, 'a>,
}

impl<'a> Segment<'_, 'a> {
    /// Adds the conditions for rows whose first column is in the ranges of search terms.
    fn in_ranges(&self, terms: &[RangeTerm<'a>], conditions: &mut Vec<Condition<'a>>) {
        let Self { above, below, range } = *self;
        let (greater, less) = range.operators();
        let is_at_both = matches!((above, below), (RangePart::At(_), RangePart::At(_)));
        // Between two positions that have the same value, their comparisons alone are tight.
        let at = |bound: &KeysetBound<'a>, operator, end, conditions: &mut Vec<Condition<'a>>| {
            conditions.push(bound.compare(operator));
            conditions.extend(bound.compare_first(end).filter(|_| !is_at_both));
        };
        match above {
            RangePart::Open => {}
            RangePart::At(bound) => at(bound, greater, SqlOperator::LessOrEqual, conditions),
            RangePart::Beyond(bound) => conditions.extend(bound.compare_first(SqlOperator::Greater)),
        }
        match below {
            RangePart::Open => {}
            RangePart::At(bound) => at(bound, less, SqlOperator::GreaterOrEqual, conditions),
            RangePart::Beyond(bound) => conditions.extend(bound.compare_first(SqlOperator::Less)),
        }
        let ((RangePart::At(bound), _) | (_, RangePart::At(bound))) = (above, below) else {
            return conditions.extend(terms.iter().map(|term| term.condition.clone()));
        };
        // All rows have the cursor's value, so it is compared instead of theirs.
        let is_in_range = terms.iter().filter_map(|term| compare_values(bound.first, term.operator, term.value));
        conditions.extend(is_in_range);
        let order = match (above, below) {
            (RangePart::At(above), RangePart::At(below)) => {
                compare_values(above.first, SqlOperator::Equal, below.first)
            }
            (RangePart::At(above), RangePart::Beyond(below)) | (RangePart::Beyond(above), RangePart::At(below)) => {
                compare_values(above.first, SqlOperator::Less, below.first)
            }
            _ => None,
        };
        conditions.extend(order);
    }

    /// Adds the conditions for rows that have one value in the first column.
    fn with_value(&self, value: Option<Comparand>, conditions: &mut Vec<Condition<'a>>) {
        let Self { above, below, range } = *self;
        let (greater, less) = range.operators();
        for (part, inside, beyond) in [(above, greater, SqlOperator::Greater), (below, less, SqlOperator::Less)] {
            match part {
                RangePart::Open => {}
                RangePart::At(bound) => {
                    conditions.extend(compare_values(value, SqlOperator::Equal, bound.first));
                    conditions.push(bound.compare(inside));
                }
                RangePart::Beyond(bound) => conditions.extend(compare_values(value, beyond, bound.first)),
            }
        }
    }
}

fn compare_values<'a>(
    left: Option<Comparand>,
    operator: SqlOperator,
    right: Option<Comparand>,
) -> Option<Condition<'a>> {
    Some(Condition::CompareValues(left?, operator, right?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::collation::Collation;
    use crate::catalog::stored_type::StoredType;
    use crate::cursor::OrderingTag;
    use crate::value::ScalarType;

    fn sort_key(nullable: bool) -> SortKey {
        let column = |name: &str| Column::new(name, ScalarType::Id);
        let tag = OrderingTag::new("orders", "ORDER_NAME");
        SortKey { name: "ORDER_NAME".to_owned(), columns: vec![column("n"), column("id")], nullable, ties: None, tag }
    }

    type At = Option<CursorShape>;

    fn text(nullable: bool, above: At, below: At, inclusive: bool) -> String {
        text_joined(nullable, &[], above, below, inclusive)
    }

    fn text_joined(nullable: bool, joined: &[String], above: At, below: At, inclusive: bool) -> String {
        text_of(&sort_key(nullable), Nulls::Last, joined, above, below, inclusive)
    }

    fn text_of(key: &SortKey, nulls: Nulls, joined: &[String], above: At, below: At, inclusive: bool) -> String {
        let mut all = Vec::new();
        let mut parameters = Parameters::of(0, &mut all);
        let columns = KeysetColumns { sort_key: key, constant: joined, is_restricted: false };
        let mut bound = |at: At| Some(KeysetBound::new(columns, at?, ParameterSource::After, &mut parameters));
        let (above, below) = (bound(above), bound(below));
        let range = KeysetRange { above: above.as_ref(), below: below.as_ref(), inclusive, nulls };
        let segment = |conditions: Vec<Condition<'_>>| {
            conditions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" AND ")
        };
        segments(key, range, &Restriction::None).into_iter().map(segment).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn every_position_of_a_cursor_has_the_segments_beyond_it() {
        let (none, value, null) = (None, Some(CursorShape::InValues), Some(CursorShape::InNulls));
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
    fn an_index_on_the_first_column_has_all_rows_with_the_value_of_a_cursor() {
        let (none, value, null) = (None, Some(CursorShape::InValues), Some(CursorShape::InNulls));
        for (above, below, expected) in [
            (none, none, ""),
            (value, none, r#"t."n" >= $1 AND t."n" < $0 | t."n" IS NULL AND t."n" < $0"#),
            (null, none, r#"t."n" IS NULL AND t."n" < $0"#),
            (none, value, r#"t."n" <= $1 AND t."n" < $0"#),
            (value, value, r#"t."n" >= $1 AND t."n" <= $3 AND t."n" < $0"#),
            (null, value, r#"FALSE AND t."n" <= $2 AND t."n" < $0"#),
        ] {
            let (key, mut all) = (sort_key(true), Vec::new());
            let mut parameters = Parameters::of(0, &mut all);
            let columns = KeysetColumns { sort_key: &key, constant: &[], is_restricted: false };
            let mut bound = |at: At| Some(KeysetBound::new(columns, at?, ParameterSource::After, &mut parameters));
            let (above, below) = (bound(above), bound(below));
            let range =
                KeysetRange { above: above.as_ref(), below: below.as_ref(), inclusive: false, nulls: Nulls::Last };
            let term = parameters.add(ParameterSource::Term(0));
            let condition = Condition::Compare(base(&key.columns[0]), SqlOperator::Less, term);
            let ranges = vec![RangeTerm { condition, operator: SqlOperator::Less, value: None }];
            let restriction = if expected.is_empty() { Restriction::None } else { Restriction::Ranges(ranges) };
            let segment = |conditions: Vec<Condition<'_>>| {
                let conditions: Vec<_> = conditions.iter().map(ToString::to_string).collect();
                conditions.join(" AND ").replace(&term.to_string(), "$0")
            };
            let segments: Vec<_> = segments_of_values(&key, range, &restriction).into_iter().map(segment).collect();
            assert_eq!(segments.join(" | "), expected);
        }
    }

    #[test]
    fn the_nulls_of_a_reversed_order_are_before_its_values() {
        let (none, value, null) = (None, Some(CursorShape::InValues), Some(CursorShape::InNulls));
        for (above, below, expected) in [
            (none, none, r#"t."n" IS NULL | t."n" IS NOT NULL"#),
            (value, none, r#"(t."n", t."id") > ($1, $2)"#),
            (null, none, r#"t."n" IS NULL AND t."id" > $1 | t."n" IS NOT NULL"#),
            (none, value, r#"t."n" IS NULL | (t."n", t."id") < ($1, $2)"#),
            (none, null, r#"t."n" IS NULL AND t."id" < $1"#),
            (value, value, r#"(t."n", t."id") > ($1, $2) AND (t."n", t."id") < ($3, $4)"#),
            (null, value, r#"t."n" IS NULL AND t."id" > $1 | (t."n", t."id") < ($2, $3)"#),
            (null, null, r#"t."n" IS NULL AND t."id" > $1 AND t."id" < $2"#),
            (value, null, r#"FALSE AND (t."n", t."id") > ($1, $2) AND t."id" < $3"#),
        ] {
            assert_eq!(
                text_of(&sort_key(true), Nulls::First, &[], above, below, false),
                expected,
                "{above:?} {below:?}"
            );
        }
    }

    #[test]
    fn does_not_compare_columns_that_are_joined_to_the_parent() {
        let (parent, both) = (["n".to_owned()], ["id".to_owned(), "n".to_owned()]);
        let (none, value) = (None, Some(CursorShape::InValues));
        assert_eq!(text_joined(false, &parent, value, none, false), r#"t."id" > $1"#);
        assert_eq!(text_joined(false, &parent, value, value, false), r#"t."id" > $1 AND t."id" < $2"#);
        assert_eq!(text_joined(false, &both, value, none, false), "FALSE");
        assert_eq!(text_joined(false, &both, none, value, true), "TRUE");
    }

    /// The segments of a search by a range of the first column, or with `equal` by one value of it.
    fn restricted(equal: bool, above: At, below: At, inclusive: bool) -> Vec<String> {
        restricted_of(Nulls::Last, equal, above, below, inclusive)
    }

    fn restricted_of(nulls: Nulls, equal: bool, above: At, below: At, inclusive: bool) -> Vec<String> {
        let key = sort_key(true);
        let mut all = Vec::new();
        let mut parameters = Parameters::of(0, &mut all);
        let compares = [above, below].contains(&Some(CursorShape::InValues));
        let term = parameters.add(ParameterSource::Term(0));
        let value = compares.then(|| {
            Comparand::Parameter(parameters.add(ParameterSource::Term(0)), StoredType::Text, Collation::Default)
        });
        let restriction = if equal {
            Restriction::Equal(value)
        } else {
            let condition = Condition::Compare(base(&key.columns[0]), SqlOperator::Greater, term);
            Restriction::Ranges(vec![RangeTerm { condition, operator: SqlOperator::Greater, value }])
        };
        let constant: &[String] = if equal { &["n".to_owned()] } else { &[] };
        let columns = KeysetColumns { sort_key: &key, constant, is_restricted: true };
        let mut bound = |at: At| Some(KeysetBound::new(columns, at?, ParameterSource::After, &mut parameters));
        let (above, below) = (bound(above), bound(below));
        let range = KeysetRange { above: above.as_ref(), below: below.as_ref(), inclusive, nulls };
        let segments = segments(&key, range, &restriction).into_iter();
        let line = |segment: Vec<Condition<'_>>| {
            segment.iter().map(ToString::to_string).collect::<Vec<_>>().join(" AND ").replace("::text", "")
        };
        segments.map(line).collect()
    }

    #[test]
    fn a_cursor_splits_the_range_of_a_term_at_its_value() {
        let (none, value, null) = (None, Some(CursorShape::InValues), Some(CursorShape::InNulls));
        assert_eq!(restricted(false, none, none, false), [r#"t."n" > $1"#]);
        assert_eq!(
            restricted(false, value, none, false),
            [r#"(t."n", t."id") > ($3, $4) AND t."n" <= $3 AND $5 > $2"#, r#"t."n" > $3 AND t."n" > $1"#]
        );
        assert_eq!(
            restricted(false, none, value, true),
            [r#"t."n" < $3 AND t."n" > $1"#, r#"(t."n", t."id") <= ($3, $4) AND t."n" >= $3 AND $5 > $2"#]
        );
        assert_eq!(
            restricted(false, value, value, false),
            [
                r#"(t."n", t."id") > ($3, $4) AND (t."n", t."id") < ($6, $7) AND $5 > $2 AND $5 = $8"#,
                r#"(t."n", t."id") > ($3, $4) AND t."n" <= $3 AND t."n" < $6 AND $5 > $2 AND $5 < $8"#,
                r#"t."n" > $3 AND t."n" < $6 AND t."n" > $1"#,
                r#"t."n" > $3 AND (t."n", t."id") < ($6, $7) AND t."n" >= $6 AND $8 > $2 AND $5 < $8"#,
            ]
        );
        // A term matches no null, and nulls come last.
        assert_eq!(restricted(false, null, none, false), [r#"FALSE AND t."n" > $1"#]);
        assert_eq!(restricted(false, none, null, false), [r#"t."n" > $1"#]);
        assert_eq!(restricted_of(Nulls::First, false, null, none, false), [r#"t."n" > $1"#]);
        assert_eq!(restricted_of(Nulls::First, false, none, null, false), [r#"FALSE AND t."n" > $1"#]);
    }

    #[test]
    fn a_cursor_is_before_at_or_after_the_value_of_a_term() {
        let (none, value, null) = (None, Some(CursorShape::InValues), Some(CursorShape::InNulls));
        assert_eq!(restricted(true, none, none, false), [""]);
        assert_eq!(restricted(true, value, none, false), [r#"$2 = $4 AND t."id" > $3"#, "$2 > $4"]);
        assert_eq!(restricted(true, none, value, true), ["$2 < $4", r#"$2 = $4 AND t."id" <= $3"#]);
        assert_eq!(restricted(true, null, none, false), ["FALSE"]);
        assert_eq!(restricted(true, none, null, false), [""]);
    }
}
