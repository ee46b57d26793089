//! The report for programs: one JSON object.

use serde_json::{Value as Json, json};

use crate::cli::schema::diff::text::own_place;
use crate::cli::schema::diff::words::{change as in_words, over_limit};
use crate::documents::document::Place;
use crate::schema_diff::assessment::{CreditInterval, DatabaseWork};
use crate::schema_diff::change::{Change, Class, PriceChange};
use crate::schema_diff::schema_change::SchemaChange;
use crate::schema_diff::{Diff, NotValid, OperationDiff};

/// The diff as JSON, with the same facts as [`super::text::render`].
pub(super) fn render(diff: &Diff, operations: usize, is_unacceptable: bool) -> Json {
    let changed = diff.operations.iter().map(|OperationDiff { operation, place: at, changes, corrected }| {
        let mut object =
            json!({ "operation": operation, "place": place(at), "changes": changes.iter().map(change).collect::<Json>() });
        if let Some(corrected) = corrected {
            object["corrected"] = json!(corrected.text);
        }
        object
    });
    let not_valid = diff.not_valid.iter().map(
        |NotValid { operation, place: at, errors }| json!({ "operation": operation, "place": place(at), "errors": errors }),
    );
    json!({
        "acceptable": !is_unacceptable,
        "compared": operations,
        "operations": changed.collect::<Json>(),
        "notValid": not_valid.collect::<Json>(),
        "schema": diff.schema.iter().map(schema_change).collect::<Json>(),
    })
}

/// The name of a class.
pub(super) fn class(class: Class) -> &'static str {
    match class {
        Class::Breaks => "breaks",
        Class::ChangesSilently => "changes-silently",
        Class::MoreExpensive => "more-expensive",
        Class::Deprecated => "deprecated",
        Class::LessExpensive => "less-expensive",
        Class::MoreWork => "more-work",
        Class::ValidNow => "valid-now",
    }
}

fn change(change: &Change) -> Json {
    let mut object = json!({ "class": class(change.class()), "message": in_words(change) });
    if let Some(at) = own_place(change) {
        object["place"] = place(at);
    }
    match change {
        Change::Breaks { error, .. } => object["error"] = json!(error),
        Change::ChangesSilently { change, by_variable, .. } => {
            object["part"] = json!(change.part);
            object["aspect"] = json!(change.aspect.name());
            object["old"] = json!(change.old);
            object["new"] = json!(change.new);
            object["byVariable"] = json!(by_variable);
        }
        Change::MoreExpensive(price) | Change::LessExpensive(price) => object["price"] = self::price(price),
        Change::Deprecated { part, reason, .. } => {
            object["part"] = json!(part);
            object["reason"] = json!(reason);
        }
        Change::MoreWork { old, new } => {
            object["old"] = work(old);
            object["new"] = work(new);
        }
        Change::ValidNow => {}
    }
    object
}

fn price(price: &PriceChange) -> Json {
    let interval = |interval: CreditInterval| json!({ "least": interval.least, "most": interval.most, "pollsPerMinute": price.polls(interval) });
    json!({
        "old": interval(price.old),
        "new": interval(price.new),
        "limit": price.limit,
        "overLimit": over_limit(price.over_limit()),
    })
}

fn work(DatabaseWork { branches, rows_examined, short_pages }: &DatabaseWork) -> Json {
    json!({ "branches": branches, "rowsExamined": rows_examined, "shortPages": short_pages })
}

fn schema_change(change: &SchemaChange) -> Json {
    match change {
        SchemaChange::Added { part, facts } => {
            let facts = facts.iter().map(|(aspect, text)| (aspect.name().to_owned(), json!(text)));
            json!({ "kind": "added", "part": part, "facts": facts.collect::<serde_json::Map<_, _>>() })
        }
        SchemaChange::Removed { part } => json!({ "kind": "removed", "part": part }),
        SchemaChange::Changed(fact) => json!({
            "kind": "changed",
            "part": fact.part,
            "aspect": fact.aspect.name(),
            "old": fact.old,
            "new": fact.new,
        }),
    }
}

fn place(place: &Place) -> Json {
    json!({ "file": place.file, "line": place.location.line, "column": place.location.column })
}
