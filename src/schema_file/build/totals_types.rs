//! The types of totals, which schema files leave out: the root's arguments, the totals and their groups, and the enums of keys and
//! orders.

use crate::catalog::binding::Totals;
use crate::catalog::prices::{DEFAULT_SUMMED_ROWS, MAX_SUMMED_ROWS, ROWS_SUMMED};
use crate::catalog::schema::{Argument, ArgumentRole, EnumType, EnumValue, Field, ObjectKind, ObjectType, TypeRef};
use crate::catalog::totals::{GroupKey, GroupOrder, Sum, TimeUnit, TotalsField};
use crate::schema_file::build::connection_types::{argument, field};
use crate::schema_file::build::key_description;
use crate::schema_file::build::totals::BuiltTotals;
use crate::schema_file::build::type_names::{TotalsPart, TypeNames, TypeOrigin};
use crate::schema_file::definition::{FieldDefinition, QUERY};
use crate::value::ScalarType;

/// The arguments of a totals root.
pub(super) fn arguments(names: &TypeNames<'_>, root: &FieldDefinition, built: &BuiltTotals<'_>) -> Vec<Argument> {
    let scalar = |scalar| TypeRef::Named(names.scalar(scalar));
    let keys = TypeRef::List(Box::new(TypeRef::Named(names.totals(&root.name, TotalsPart::Keys)).non_null()));
    let search = key_description::describe_search_keys(&built.totals.connection);
    let rows = format!(
        "How many rows are summed up, {MAX_SUMMED_ROWS} at most; {DEFAULT_SUMMED_ROWS} unless given. Every {ROWS_SUMMED} cost 1, and 1 \
         more for each object that a key or sum needs, such as the order of a line."
    );
    let has_periods = built.totals.keys.iter().any(|key| key.unit.is_some());
    let time_zone = argument("timeZone", scalar(ScalarType::String), ArgumentRole::TimeZone, TIME_ZONE);
    let mut arguments = vec![
        argument("query", scalar(ScalarType::String), ArgumentRole::Query, &search),
        argument("groupBy", keys, ArgumentRole::GroupBy, GROUP_BY),
        argument(
            "orderBy",
            TypeRef::Named(names.totals(&root.name, TotalsPart::Order)),
            ArgumentRole::OrderBy,
            ORDER_BY,
        ),
        argument("first", scalar(ScalarType::Int), ArgumentRole::First, "How many groups are returned. Required."),
        argument("rows", scalar(ScalarType::Int), ArgumentRole::Rows, &rows),
        argument(
            "sortKey",
            TypeRef::Named(names.sort_enum(QUERY, &built.of.name)),
            ArgumentRole::SortKey,
            "The order in which rows are summed up, if they are more than `rows`: unless given, the first of these of which the search has a \
             range, or else the first.",
        ),
        argument(
            "reverse",
            scalar(ScalarType::Boolean),
            ArgumentRole::Reverse,
            "True for the opposite order, such as the newest first. False unless given.",
        ),
        argument(
            "after",
            scalar(ScalarType::String),
            ArgumentRole::After,
            "The `endCursor` of the totals of the rows before.",
        ),
    ];
    arguments.extend(has_periods.then_some(time_zone));
    arguments
}

const GROUP_BY: &str = "What the rows of a group have in common. Without it, the keys that are selected of `groups`; all rows are one group if \
                        there are none, or the list is empty. If an amount of money is selected, or ordered by, the currency is a key as well: \
                        amounts in several currencies are never added.";

const ORDER_BY: &str = "The order of the groups: COUNT unless given. Groups that are alike in it are in the order of their keys, and \
                        these in the order in which `groupBy` lists them, or else in which they are selected.";

const TIME_ZONE: &str = "The time zone whose days, weeks and months are keys, such as `America/Chicago`; UTC unless given. It is a name of the \
                         IANA time zone database. Times in `query` without an offset are in UTC all the same: give them one, as in \
                         `orderDate:>=2026-05-01T00:00:00-05:00`.";

/// The type of a root's totals.
pub(super) fn totals_type(names: &TypeNames<'_>, root: &FieldDefinition, of: &FieldDefinition) -> ObjectType {
    let int = || TypeRef::Named(names.scalar(ScalarType::Int)).non_null();
    let fields = TotalsField::ALL.map(|part| match part {
        TotalsField::Groups => {
            let group = TypeRef::Named(names.totals(&root.name, TotalsPart::Group)).non_null();
            field("groups", "The first groups in the order of `orderBy`. None if no row matches.", TypeRef::List(Box::new(group)).non_null())
        }
        TotalsField::GroupCount => field("groupCount", "How many groups there are, `first` of which are returned.", int()),
        TotalsField::RowCount => field("rowCount", "How many rows were summed up, in all groups together.", int()),
        TotalsField::Complete => field(
            "complete",
            "Whether these are all rows that match. Otherwise there are more than `rows`, or the search ended before it found as \
             many: ask for the totals `after` the `endCursor` and add them to these.",
            TypeRef::Named(names.scalar(ScalarType::Boolean)).non_null(),
        ),
        TotalsField::EndCursor => field(
            "endCursor",
            "The position of the last row that was examined, for `after`. Null if the totals are complete.",
            TypeRef::Named(names.scalar(ScalarType::String)),
        ),
    });
    let description = format!("Counts and sums over rows of `{}`.", of.name);
    let name = TypeOrigin::Totals(root, TotalsPart::Totals).type_name();
    ObjectType::new(name, Some(description), ObjectKind::Totals, fields.into())
}

/// The type of a root's groups.
pub(super) fn group_type(names: &TypeNames<'_>, root: &FieldDefinition, built: &BuiltTotals<'_>) -> ObjectType {
    let BuiltTotals { totals, keys, sums, .. } = built;
    let keys = totals.keys.iter().zip(keys).enumerate().map(|(index, (key, shown))| {
        let or_money = if totals.currency == Some(index) { " and no amount is selected" } else { "" };
        let description =
            format!("{} Null if `groupBy` is given without {}{or_money}.", describe_key(key, shown), key.value);
        field(&key.name, &description, TypeRef::Named(names.ids[&shown.ty]))
    });
    let count =
        field("count", "How many rows the group has.", TypeRef::Named(names.scalar(ScalarType::Int)).non_null());
    let sums = totals.sums.iter().zip(sums).map(|(sum, (added, factor))| {
        let description = describe_sum(sum, added, *factor, totals);
        field(&sum.name, &description, TypeRef::Named(names.scalar(ScalarType::Decimal)))
    });
    let fields: Vec<Field> = keys.chain([count]).chain(sums).collect();
    let name = TypeOrigin::Totals(root, TotalsPart::Group).type_name();
    let kind = ObjectKind::Group { keys: totals.keys.len() };
    ObjectType::new(name, Some(format!("Rows of `{}` that have their keys in common.", root.name)), kind, fields)
}

/// The enum of a root's keys.
pub(super) fn key_enum(root: &FieldDefinition, built: &BuiltTotals<'_>) -> EnumType {
    let keys = built.totals.keys.iter().zip(&built.keys);
    let describe = |key: &GroupKey, shown| match key.unit {
        Some(_) => describe_key(key, shown),
        // The description of the group's field explains its values.
        None => format!("The field `{}`.", key.name),
    };
    let values = keys.map(|(key, shown)| EnumValue {
        name: key.value.clone(),
        description: Some(describe(key, shown)),
        deprecation: None,
    });
    EnumType {
        name: TypeOrigin::Totals(root, TotalsPart::Keys).type_name(),
        description: Some(format!("What `{}` can group rows by.", root.name)),
        values: values.collect(),
    }
}

/// The enum of a root's orders.
pub(super) fn order_enum(root: &FieldDefinition, built: &BuiltTotals<'_>) -> EnumType {
    let values = GroupOrder::names(&built.totals.sums).enumerate().map(|(index, name)| {
        let description = match index {
            0 => "By the number of rows, the largest first. The default.".to_owned(),
            1 => "By their keys, in the order in which these are asked for.".to_owned(),
            sum => format!("By `{}`, the largest first.", built.totals.sums[sum - 2].name),
        };
        EnumValue { name: name.to_owned(), description: Some(description), deprecation: None }
    });
    EnumType {
        name: TypeOrigin::Totals(root, TotalsPart::Order).type_name(),
        description: Some(format!("The orders that the groups of `{}` can be in.", root.name)),
        values: values.collect(),
    }
}

fn describe_key(key: &GroupKey, shown: &FieldDefinition) -> String {
    match key.unit {
        Some(unit) => {
            let (period, start) = match unit {
                TimeUnit::Day => ("day", "its midnight"),
                TimeUnit::Week => ("week", "the midnight of its Monday"),
                TimeUnit::Month => ("month", "its first midnight"),
            };
            format!(
                "The {period} of `{}` in `timeZone`, as {start}: `2026-06-01T00:00:00Z`, or `2026-06-01T00:00:00-05:00` in Chicago.",
                shown.name
            )
        }
        None => shown.description.clone().unwrap_or_else(|| format!("`{}`.", shown.name)),
    }
}

fn describe_sum(sum: &Sum, added: &FieldDefinition, factor: Option<&FieldDefinition>, totals: &Totals) -> String {
    let times = factor.map(|factor| format!(" × `{}`", factor.name)).unwrap_or_default();
    let currency = totals.currency.filter(|_| sum.is_money).map(|currency| &totals.keys[currency].name);
    let of_currency =
        currency.map(|name| format!(" in `{name}`, which is a key of the groups then")).unwrap_or_default();
    format!("The exact sum of `{}`{times}{of_currency}. Null if no row has a value.", added.name)
}
