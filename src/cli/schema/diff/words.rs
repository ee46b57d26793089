//! Changes in words.

use crate::documents::document::Place;
use crate::schema_diff::assessment::{CreditInterval, DatabaseWork};
use crate::schema_diff::change::{Change, Class, OverLimit, PriceChange};
use crate::schema_diff::schema_change::{FactChange, SchemaChange};

/// The classes in the order of a report, each with its heading.
pub(super) const CLASSES: [(Class, &str); 7] = [
    (Class::Breaks, "Breaks"),
    (Class::ChangesSilently, "Changes silently"),
    (Class::MoreExpensive, "More expensive"),
    (Class::Deprecated, "Deprecated"),
    (Class::LessExpensive, "Less expensive"),
    (Class::MoreWork, "More work for the database"),
    (Class::ValidNow, "Refused before"),
];

/// A change of an operation, without the name of its class.
pub(super) fn change(change: &Change) -> String {
    match change {
        Change::Breaks { error, .. } => format!("{}: {}", error.code, error.message),
        Change::ChangesSilently { change, by_variable, .. } => {
            let values = if *by_variable { ", for some values of its variables" } else { "" };
            format!("{}{values}", fact(change))
        }
        Change::MoreExpensive(price) | Change::LessExpensive(price) => self::price(price),
        Change::Deprecated { part, reason, .. } => format!("{part}: {reason}"),
        Change::MoreWork { old, new } => work(old, new),
        Change::ValidNow => "it is answered now".to_owned(),
    }
}

/// A line of a corrected operation.
pub(super) fn corrected_line(at: &Place, line: &str) -> String {
    let Place { file, location } = at;
    let instead = if line.is_empty() { "leave the line out" } else { line };
    format!("{file}:{} corrected: {instead}", location.line)
}

/// A change of the schema.
pub(super) fn schema_change(change: &SchemaChange) -> String {
    match change {
        SchemaChange::Added { part, facts } => {
            let facts: Vec<_> = facts.iter().map(|(aspect, text)| format!("{aspect} {text}")).collect();
            let separator = if facts.is_empty() { "" } else { ": " };
            format!("+ {part}{separator}{}", facts.join(", "))
        }
        SchemaChange::Removed { part } => format!("- {part}"),
        SchemaChange::Changed(change) => format!("~ {}", fact(change)),
    }
}

fn fact(FactChange { part, aspect, old, new }: &FactChange) -> String {
    let or_none = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
    if old.is_empty() && new.is_empty() {
        return format!("{part} is gone");
    }
    format!("{part}, {aspect}: {} → {}", or_none(old), or_none(new))
}

/// An interval of credits.
pub(super) fn interval(CreditInterval { least, most }: CreditInterval) -> String {
    if least == most { most.to_string() } else { format!("{least} to {most}") }
}

/// The name of a comparison with the limit in JSON.
pub(super) fn over_limit(over: OverLimit) -> &'static str {
    match over {
        OverLimit::Never => "never",
        OverLimit::ForSome => "for-some-values",
        OverLimit::Always => "always",
    }
}

fn price(price: &PriceChange) -> String {
    let text = format!("{} → {} credits", interval(price.old), interval(price.new));
    let over = match price.over_limit() {
        OverLimit::Never => String::new(),
        OverLimit::ForSome => format!(", over the limit of {} for some values of its variables", price.limit),
        OverLimit::Always => format!(", over the limit of {}", price.limit),
    };
    let polls = |interval| price.polls(interval).map_or_else(|| "any number of".to_owned(), |polls| polls.to_string());
    format!("{text}{over}; the bucket pays {} → {} polls a minute", polls(price.old), polls(price.new))
}

fn work(old: &DatabaseWork, new: &DatabaseWork) -> String {
    let mut parts = Vec::new();
    if old.branches != new.branches {
        parts.push(format!("{} → {} branches", old.branches, new.branches));
    }
    if old.rows_examined != new.rows_examined {
        parts.push(format!("{} → {} rows examined at most", old.rows_examined, new.rows_examined));
    }
    let short: Vec<_> = new.short_pages.difference(&old.short_pages).map(String::as_str).collect();
    if !short.is_empty() {
        parts.push(format!("pages may come short by a search by {}", short.join(", ")));
    }
    parts.join("; ")
}
