//! The parts of SQL text: quoted identifiers from the catalog, numbered parameters, nothing else. A value cannot become
//! text here, because nothing writes one.
//!
//! A statement has dozens of some parts, columns above all. They are written without `write!`, which takes several times as long.

use std::fmt::{self, Display};

use crate::catalog::collation::Collation;
use crate::catalog::stored_type::StoredType;
use crate::plan::parameters::Placeholder;
use crate::query::bind::step_id::StepId;

/// A quoted identifier, or several with dots between: `orderql.ship_group` is `"orderql"."ship_group"`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relation<'a>(pub(crate) &'a str);

impl Display for Relation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Separated(".", self.0.split('.').map(Identifier)).fmt(f)
    }
}

/// A quoted identifier.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Identifier<'a>(pub(crate) &'a str);

impl Display for Identifier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        let mut rest = self.0;
        while let Some((part, after)) = rest.split_once('"') {
            f.write_str(part)?;
            f.write_str("\"\"")?;
            rest = after;
        }
        f.write_str(rest)?;
        f.write_str("\"")
    }
}

/// A name of the catalog as a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameText<'a>(pub(crate) &'a str);

impl Display for NameText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E'{}'", self.0.replace('\\', "\\\\").replace('\'', "''"))
    }
}

/// A text search configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Configuration<'a>(pub(crate) &'a str);

impl Display for Configuration<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::regconfig", NameText(&Relation(self.0).to_string()))
    }
}

/// The rows of an index: all, or those with a null in a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WhereNull<'a>(pub(crate) Option<&'a str>);

impl Display for WhereNull<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |column| write!(f, " WHERE {} IS NULL", Identifier(column)))
    }
}

/// A column of an aliased relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColumnOf<'a>(pub(crate) Alias, pub &'a str);

impl Display for ColumnOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        f.write_str(".")?;
        Identifier(self.1).fmt(f)
    }
}

/// Columns of an aliased relation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a>(pub(crate) Alias, pub(crate) &'a [&'a str]);

impl Display for Columns<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        List(self.1.iter().map(|column| ColumnOf(self.0, column))).fmt(f)
    }
}

/// A name for a relation inside one statement, made from its position, so that the same question has the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alias {
    /// The relation whose rows are the step's.
    Base,
    /// The n-th object joined to it.
    Joined(usize),
    /// A relation inside a sub-select.
    Inner,
}

impl Display for Alias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Base => f.write_str("t"),
            Self::Joined(number) => {
                f.write_str("j")?;
                number.fmt(f)
            }
            Self::Inner => f.write_str("x"),
        }
    }
}

/// How a column is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SqlOperator {
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl SqlOperator {
    fn is_less(self) -> bool {
        matches!(self, Self::Less | Self::LessOrEqual)
    }

    /// The operator that equal values fulfil as well.
    fn or_equal(self) -> Self {
        match self {
            Self::Less => Self::LessOrEqual,
            Self::Greater => Self::GreaterOrEqual,
            Self::Equal | Self::LessOrEqual | Self::GreaterOrEqual => self,
        }
    }
}

impl Display for SqlOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        })
    }
}

/// A value that is compared with another value. Its type is written, as it is not compared with a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Comparand {
    /// A parameter of that type, which is compared as a column of that collation is.
    Parameter(Placeholder, StoredType, Collation),
    /// The current element of a list.
    Element,
    /// The element of a second list.
    OtherElement,
}

impl Display for Comparand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(value, stored, collation) => write!(f, "{value}::{}{collation}", type_name(*stored)),
            Self::Element => f.write_str("e.v"),
            Self::OtherElement => f.write_str("e.w"),
        }
    }
}

/// The type of the values that a column is compared with, where a statement has to name one. An index on a column of fewer bits
/// serves the comparison with a whole number of 64 bits.
pub(crate) fn type_name(stored: StoredType) -> &'static str {
    match stored {
        StoredType::Text => "text",
        StoredType::Char => "bpchar",
        StoredType::Int2 | StoredType::Int4 | StoredType::Int8 => "int8",
        StoredType::Numeric => "numeric",
        StoredType::DateTime => "timestamptz",
        StoredType::Boolean => "bool",
        StoredType::Uuid => "uuid",
        StoredType::Enum(labels) => labels.name(),
        StoredType::Float4 => "float4",
        StoredType::Float8 => "float8",
        StoredType::Date => "date",
        StoredType::Time => "time",
        StoredType::Interval => "interval",
        StoredType::Bytes => "bytea",
    }
}

/// A condition on rows.
#[derive(Debug, Clone)]
pub(crate) enum Condition<'a> {
    /// A column compares with a parameter.
    Compare(ColumnOf<'a>, SqlOperator, Placeholder),
    /// Several columns compare with as many parameters, as rows do.
    CompareRow(Vec<ColumnOf<'a>>, SqlOperator, Vec<Placeholder>),
    /// A column equals an element of a parameter.
    Among(ColumnOf<'a>, Placeholder),
    /// A column equals an element of a parameter with perhaps many elements. PostgreSQL looks the value up in a hash table.
    InSet(ColumnOf<'a>, Placeholder, StoredType),
    /// A column equals the current element of a list.
    IsElement(ColumnOf<'a>),
    /// A column equals the current element of a list or of a second one. An array of the second column of an index would hide from PostgreSQL
    /// that the index has an order.
    Equals(ColumnOf<'a>, Comparand),
    /// Two values compare.
    CompareValues(Comparand, SqlOperator, Comparand),
    /// A column compares with one that a row of another step's page has, by its index in that page's select list.
    OfParent(ColumnOf<'a>, SqlOperator, StepId, usize),
    /// A column equals such a one. This does not hide from PostgreSQL that an index which begins with the column has an order.
    IsOfParent(ColumnOf<'a>, StepId, usize),
    /// A column is null.
    IsNull(ColumnOf<'a>),
    /// A column is not null.
    IsNotNull(ColumnOf<'a>),
    /// The relation has a row with the base row's values in these columns that fulfils the condition.
    Exists(&'a str, &'a [String], Box<Condition<'a>>, InnerIndex),
    /// One of these columns equals an element of a parameter.
    OneAmong(Vec<ColumnOf<'a>>, Placeholder),
    /// The relation has a row whose columns (the second) have the base row's values in as many columns (the first).
    RowExists(&'a str, &'a [String], &'a [String]),
    /// One of two conditions.
    Either(Box<Condition<'a>>, Box<Condition<'a>>),
    /// A column equals a text of the schema file.
    IsText(ColumnOf<'a>, &'a str),
    /// A text has the words that a text search configuration finds in a parameter.
    Matches(ColumnOf<'a>, &'a str, Placeholder),
    /// Every row fulfils it, or none does.
    Always(bool),
}

/// The index by which a relation is searched for a row that joins another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InnerIndex {
    /// The index on the condition's column, which equals a value, and the joined columns.
    OfValue,
    /// An index that begins with the first of the joined columns.
    OfRow,
}

impl<'a> Condition<'a> {
    /// The columns of a comparison of rows; none of other conditions.
    pub(crate) fn compared_columns(&self) -> impl Iterator<Item = &'a str> + use<'a, '_> {
        let columns = if let Self::CompareRow(columns, ..) = self { columns.as_slice() } else { &[] };
        columns.iter().map(|column| column.1)
    }

    /// The same condition on one column, fulfilled by equal values as well; `None` if it compares other columns first.
    pub(crate) fn by_column(self, column: ColumnOf<'a>) -> Option<Self> {
        let (first, operator, value) = match &self {
            Self::Compare(compared, operator, value) => (*compared, *operator, *value),
            Self::CompareRow(columns, operator, values) => (*columns.first()?, *operator, *values.first()?),
            _ => return Some(self),
        };
        (first == column).then(|| Self::Compare(column, operator.or_equal(), value))
    }

    /// The row that has to exist as a sub-select, which may be joined in the condition's place: rows that follow each other have it in
    /// common, and PostgreSQL then looks it up once.
    pub(crate) fn as_join(&self) -> Option<impl Display> {
        if let Self::RowExists(relation, columns, key) = self { Some(row(relation, columns, key)) } else { None }
    }

    /// The conditions of one range of an index that is scanned in a direction, and the conditions that remain to be checked for its rows.
    ///
    /// PostgreSQL ends a scan at a comparison of several columns only when the first of them is beyond it, and reads all rows
    /// that are equal in the first column. So such a comparison at the far end of the scan is checked after the scan's LIMIT. So is a
    /// comparison of two values: beside it, PostgreSQL reads each table that a view joins, also one of which no column is read.
    pub(crate) fn of_scan(conditions: &[Self], ascending: bool) -> (Vec<Self>, Vec<Self>) {
        let mut remaining = Vec::new();
        let scanned = conditions.iter().filter_map(|condition| match condition {
            Self::CompareRow(columns, operator, values) if operator.is_less() == ascending => {
                remaining.push(condition.clone());
                Some(Self::Compare(*columns.first()?, operator.or_equal(), *values.first()?))
            }
            Self::CompareValues(..) => {
                remaining.push(condition.clone());
                None
            }
            _ => Some(condition.clone()),
        });
        (scanned.collect(), remaining)
    }
}

impl Display for Condition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare(column, operator, value) => write!(f, "{column} {operator} {value}"),
            Self::CompareRow(columns, operator, values) => {
                write!(f, "({}) {operator} ({})", List(columns.iter()), List(values.iter()))
            }
            Self::Among(column, values) => write!(f, "{column} = ANY({values})"),
            // Without the test, PostgreSQL would make a join of it.
            Self::InSet(column, values, stored) => {
                write!(f, "({column} IN (SELECT unnest({values}::{}[]))) IS TRUE", type_name(*stored))
            }
            Self::IsElement(column) => write!(f, "{column} = ANY(ARRAY[{}])", Comparand::Element),
            Self::Equals(column, value) => write!(f, "{column} = {value}"),
            Self::CompareValues(left, operator, right) => write!(f, "{left} {operator} {right}"),
            Self::OfParent(column, operator, step, index) => write!(f, "{column} {operator} p{step}.c{index}"),
            Self::IsOfParent(column, step, index) => write!(f, "{column} = ANY(ARRAY[p{step}.c{index}])"),
            Self::IsNull(column) => write!(f, "{column} IS NULL"),
            Self::IsNotNull(column) => write!(f, "{column} IS NOT NULL"),
            Self::Exists(relation, columns, condition, index) => {
                write!(f, "(SELECT TRUE FROM {} AS {} WHERE ", Relation(relation), Alias::Inner)?;
                for (position, column) in columns.iter().enumerate() {
                    let (inner, base) = (ColumnOf(Alias::Inner, column), ColumnOf(Alias::Base, column));
                    if *index == InnerIndex::OfRow && position == 0 {
                        write!(f, "{inner} = ANY(ARRAY[{base}]) AND ")?;
                    } else {
                        write!(f, "{inner} = {base} AND ")?;
                    }
                }
                condition.fmt(f)?;
                let joined = columns.iter().map(|column| ColumnOf(Alias::Inner, column));
                match (index, condition.as_ref()) {
                    (InnerIndex::OfValue, Self::Among(column, _)) => write!(f, " ORDER BY {column}, {}", List(joined)),
                    (InnerIndex::OfValue, _) => Ok(()),
                    (InnerIndex::OfRow, _) => write!(f, " ORDER BY {}", List(joined.take(1))),
                }?;
                // With EXISTS, PostgreSQL may read all matching rows of the relation first.
                f.write_str(" LIMIT 1) IS NOT NULL")
            }
            Self::OneAmong(columns, values) => {
                let columns = columns.iter().map(|column| Self::Among(*column, *values));
                write!(f, "({})", Separated(" OR ", columns))
            }
            Self::RowExists(relation, columns, key) => write!(f, "({}) IS NOT NULL", row(relation, columns, key)),
            Self::Either(one, other) => write!(f, "({one} OR {other})"),
            Self::IsText(column, text) => write!(f, "{column} = {}", NameText(text)),
            // In a sub-select, so that the words are looked for in the parameter once, and not for each row.
            Self::Matches(column, language, words) => {
                write!(f, "{column} @@ (SELECT plainto_tsquery({}, {words}))", Configuration(language))
            }
            Self::Always(truth) => f.write_str(if *truth { "TRUE" } else { "FALSE" }),
        }
    }
}

/// The row whose `key` the base row has in these columns.
fn row(relation: &str, columns: &[String], key: &[String]) -> impl Display {
    fmt::from_fn(move |f| {
        write!(f, "SELECT TRUE FROM {} AS {} WHERE ", Relation(relation), Alias::Inner)?;
        for (index, (column, key)) in columns.iter().zip(key).enumerate() {
            let (base, inner) = (ColumnOf(Alias::Base, column), ColumnOf(Alias::Inner, key));
            if index == 0 { write!(f, "{inner} = ANY(ARRAY[{base}])") } else { write!(f, " AND {inner} = {base}") }?;
        }
        // The order decides which index is used; with EXISTS, PostgreSQL may read all rows first.
        write!(f, " ORDER BY {} LIMIT 1", List(key.iter().take(1).map(|key| ColumnOf(Alias::Inner, key))))
    })
}

/// Conditions joined by `AND`: `WHERE a AND b` on a line of its own, or nothing.
#[derive(Debug, Clone)]
pub(crate) struct Where<I>(pub(crate) I);

impl<'a, 'c: 'a, I: Iterator<Item = &'a Condition<'c>> + Clone> Display for Where<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.clone().next().is_some() { "\nWHERE " } else { "" })?;
        Separated(" AND ", self.0.clone()).fmt(f)
    }
}

/// Items with commas between them.
#[derive(Debug, Clone)]
pub(crate) struct List<I>(pub(crate) I);

impl<I: Iterator<Item: Display> + Clone> Display for List<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Separated(", ", self.0.clone()).fmt(f)
    }
}

/// Items with this text between them.
#[derive(Debug, Clone)]
pub(crate) struct Separated<I>(pub(crate) &'static str, pub(crate) I);

impl<I: Iterator<Item: Display> + Clone> Display for Separated<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.1.clone().enumerate() {
            f.write_str(if index > 0 { self.0 } else { "" })?;
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// `ORDER BY` columns of the base relation on a line of its own, or nothing: an index is scanned in a direction. PostgreSQL's default order
/// of nulls is the order of the index: last when ascending, first when descending.
pub(crate) fn order_by(columns: &[&str], ascending: bool) -> impl Display {
    fmt::from_fn(move |f| {
        let column =
            |column| fmt::from_fn(move |f| write!(f, "{}{}", ColumnOf(Alias::Base, column), direction(ascending)));
        f.write_str(if columns.is_empty() { "" } else { "\nORDER BY " })?;
        List(columns.iter().map(|name| column(name))).fmt(f)
    })
}

/// The columns of an index whose order a scan has.
#[derive(Debug, Default)]
pub(crate) struct IndexOrder<'a> {
    pub(crate) columns: Vec<&'a str>,
    /// Whether the first column has the opposite direction of the others.
    pub(crate) is_first_descending: bool,
}

impl IndexOrder<'_> {
    /// `ORDER BY` these columns, as [`order_by`].
    pub(crate) fn order_by(&self, ascending: bool) -> impl Display {
        fmt::from_fn(move |f| {
            if !self.is_first_descending {
                return order_by(&self.columns, ascending).fmt(f);
            }
            f.write_str("\nORDER BY ")?;
            List(self.columns.iter().enumerate().map(|(index, name)| {
                let direction = direction(ascending != (index == 0));
                fmt::from_fn(move |f| write!(f, "{}{direction}", ColumnOf(Alias::Base, name)))
            }))
            .fmt(f)
        })
    }
}

/// The direction in which an index is scanned.
pub(crate) fn direction(ascending: bool) -> &'static str {
    if ascending { "" } else { " DESC" }
}

/// The segments of an order that are read one after the other, first to last in the direction of the scan: a `UNION ALL`, of whose
/// rows PostgreSQL reads only as many as are needed.
pub(crate) fn in_turn<T>(
    segments: &[T],
    ascending: bool,
    text: &mut String,
    mut write: impl FnMut(&T, &mut String) -> fmt::Result,
) -> fmt::Result {
    for index in 0..segments.len() {
        text.push_str(if index > 0 { "\n) UNION ALL (\n" } else { "" });
        write(&segments[if ascending { index } else { segments.len() - 1 - index }], text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_identifiers() {
        assert_eq!(Relation("orderql.ship_group").to_string(), r#""orderql"."ship_group""#);
        assert_eq!(Identifier(r#"a"b; drop table"#).to_string(), r#""a""b; drop table""#);
        assert_eq!(ColumnOf(Alias::Joined(2), "city").to_string(), r#"j2."city""#);
    }
}
