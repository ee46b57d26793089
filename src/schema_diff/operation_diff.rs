//! Finds what changes for an operation.

use std::cmp::Ordering;

use crate::documents::document::OperationDocument;
use crate::error::graphql_error::{GraphqlError, GraphqlErrors};
use crate::schema_diff::assessment::{Assessment, CreditInterval, DatabaseWork, assess};
use crate::schema_diff::change::{Change, PriceChange};
use crate::schema_diff::facts::Aspect;
use crate::schema_diff::schema::{DiffCaller, Schema};
use crate::schema_diff::schema_change::{FactChange, fact_changes};
use crate::schema_diff::usage::{Use, uses};

/// The judgement of an operation.
pub(super) enum Judgement {
    /// The operation has these changes.
    Changes(Vec<Change>),
    /// Neither schema answers it.
    NotValid(GraphqlErrors),
}

/// Compares what two schemas make of an operation.
pub(super) fn judge(old: &Schema, new: &Schema, document: &OperationDocument, caller: &DiffCaller) -> Judgement {
    let request = document.request();
    let before = assess(&old.catalog, &request, &caller.limits);
    let after = assess(&new.catalog, &request, &caller.limits);
    let (before, after) = match (before, after) {
        (Err(_), Err(errors)) => return Judgement::NotValid(errors),
        (Err(_), Ok(_)) => return Judgement::Changes(vec![Change::ValidNow]),
        (Ok(_), Err(errors)) => return Judgement::Changes(breaks(document, &errors)),
        (Ok(before), Ok(after)) => (before, after),
    };
    let mut changes = refusals(document, &before, &after);
    let (mut silent, mut deprecated) = (Vec::new(), Vec::new());
    for used in uses(&old.catalog, &before.operation) {
        let place = document.place(used.location);
        let found = of_part(old, new, &used);
        for change in found {
            let by_variable = used.by_variable;
            if change.aspect == Aspect::Deprecation {
                let (part, reason, place) = (change.part, change.new, place.clone());
                deprecated.extend((!reason.is_empty()).then_some(Change::Deprecated { part, reason, place }));
            } else if is_silent(&change) {
                silent.push(Change::ChangesSilently { change, by_variable, place: place.clone() });
            }
        }
    }
    changes.extend(silent);
    changes.extend(before.interval.zip(after.interval).and_then(|(old, new)| price_change(old, new, caller)));
    changes.extend(deprecated);
    changes.extend(more_work(&before.work, &after.work));
    changes.sort_by_key(Change::class);
    match (&before.refused, after.refused) {
        (Some(_), Some(errors)) if changes.is_empty() => Judgement::NotValid(errors),
        _ => Judgement::Changes(changes),
    }
}

fn breaks(document: &OperationDocument, errors: &GraphqlErrors) -> Vec<Change> {
    let change = |error: &GraphqlError| {
        let place = error.locations.first().map_or_else(|| document.start(), |location| document.place(*location));
        Change::Breaks { error: error.clone(), place }
    };
    errors.iter().map(change).collect()
}

/// Errors that depend on values.
fn refusals(document: &OperationDocument, before: &Assessment, after: &Assessment) -> Vec<Change> {
    match (&before.refused, &after.refused) {
        (None, Some(errors)) => breaks(document, errors),
        (Some(_), None) => vec![Change::ValidNow],
        _ => match (&before.refused_for_some, &after.refused_for_some) {
            (None, Some(errors)) => breaks(document, errors),
            _ => Vec::new(),
        },
    }
}

/// The facts of a part that an operation uses, as far as they differ. A removed part has none.
fn of_part(old: &Schema, new: &Schema, used: &Use) -> Vec<FactChange> {
    match (old.facts.of(&used.part), new.facts.of(&used.part)) {
        (Some(before), Some(after)) => fact_changes(&used.part, before, after).collect(),
        (Some(_), None) => {
            let gone =
                FactChange { part: used.part.clone(), aspect: Aspect::Column, old: String::new(), new: String::new() };
            vec![gone]
        }
        (None, _) => Vec::new(),
    }
}

/// Whether another answer may follow from it without an error.
fn is_silent(FactChange { part, aspect, old, new }: &FactChange) -> bool {
    let words = |text: &str, separator: &str| -> Vec<String> {
        text.split(separator).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    match aspect {
        Aspect::Text
        | Aspect::Relation
        | Aspect::Key
        | Aspect::Column
        | Aspect::Join
        | Aspect::Order
        | Aspect::Normalization
        | Aspect::Scope => true,
        // The change matters for a value that clients do not know. Each value that they know is a part of its own.
        Aspect::Values => {
            let known = words(old, ", ");
            words(new, ", ").iter().any(|value| !known.contains(value))
        }
        Aspect::Type => {
            let is_another = old.trim_end_matches('!') != new.trim_end_matches('!');
            is_another || !part.contains('(') && old.ends_with('!') && !new.ends_with('!')
        }
        Aspect::Comparators => {
            let left = words(new, " ");
            words(old, " ").iter().any(|comparator| !left.contains(comparator))
        }
        // One of several grants is enough, and none is needed where there are none.
        Aspect::Grant => {
            let (before, now) = (words(old, ", "), words(new, ", "));
            !now.is_empty() && (before.is_empty() || before.iter().any(|grant| !now.contains(grant)))
        }
        // A type's rows are the same, whatever its feed is.
        Aspect::Feed => part.contains('.'),
        Aspect::Deprecation | Aspect::Cost | Aspect::Index | Aspect::Vocabulary | Aspect::Description => false,
    }
}

/// The class follows from the most credits, and from the least if the most are equal.
fn price_change(old: CreditInterval, new: CreditInterval, caller: &DiffCaller) -> Option<Change> {
    let limit = caller.limits.highest_cost();
    let credits_per_minute = caller.restore_rate.saturating_mul(60);
    let change = PriceChange { old, new, limit, credits_per_minute };
    match (new.most, new.least).cmp(&(old.most, old.least)) {
        Ordering::Equal => None,
        Ordering::Greater => Some(Change::MoreExpensive(change)),
        Ordering::Less => Some(Change::LessExpensive(change)),
    }
}

fn more_work(old: &DatabaseWork, new: &DatabaseWork) -> Option<Change> {
    let is_more = new.branches > old.branches
        || new.rows_examined > old.rows_examined
        || !new.short_pages.is_subset(&old.short_pages);
    is_more.then(|| Change::MoreWork { old: old.clone(), new: new.clone() })
}
