//! A change of each directive lands in its class.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::compile::explanation::explain;
use crate::documents::{File, read};
use crate::limits::Limits;
use crate::query::Request;
use crate::schema_diff::assessment::{CreditInterval, assess};
use crate::schema_diff::change::{Class, OverLimit, PriceChange};
use crate::schema_diff::schema_change::FactChange;
use crate::schema_file::SchemaFile;

const SCHEMA: &str = include_str!("tests/schema.graphql");
const DOCUMENTS: &str = include_str!("tests/documents.graphql");

fn schema(text: &str) -> Schema {
    let file = SchemaFile::parse(text).unwrap();
    let catalog = file.catalog().unwrap();
    Schema::new(&file, catalog)
}

fn documents() -> Vec<OperationDocument> {
    read(&[File { name: "app.graphql".to_owned(), text: DOCUMENTS.to_owned() }]).unwrap()
}

fn caller() -> DiffCaller {
    DiffCaller { limits: Limits::DEFAULT, restore_rate: 50 }
}

fn changed(from: &str, to: &str) -> String {
    assert!(SCHEMA.contains(from), "{from}");
    SCHEMA.replacen(from, to, 1)
}

/// The operations with changes of each class.
fn classes(diff: &Diff) -> BTreeSet<(Class, String)> {
    let operations = diff.operations.iter();
    let changes = operations.flat_map(|one| one.changes.iter().map(move |change| (one, change.class())));
    changes.map(|(one, class)| (class, one.operation.clone().unwrap_or_default())).collect()
}

type Edit = (&'static str, &'static str, Option<(&'static str, Class)>);

const B: &str = "  B @value(text: \"second\") @deprecated(reason: \"use A\")\n";

/// An edit of the schema file, and the operation and the class in which it lands; `None` if it changes the schema alone.
const EDITS: &[Edit] = &[
    ("name: \"sale\", key", "name: \"sale_v\", key", Some(("Sale", Class::ChangesSilently))),
    ("key: [\"shop_id\"]", "key: [\"shop_no\"]", Some(("Sale", Class::ChangesSilently))),
    (
        "@part(of: \"Sale\", by: \"sale_id\")",
        "@part(of: \"Sale\", by: \"sale_no\")",
        Some(("Changes", Class::ChangesSilently)),
    ),
    (
        "shopId: ID!\n  currency: String",
        "shopId: ID!\n  currency: String @column(name: \"uom\")",
        Some(("Sale", Class::ChangesSilently)),
    ),
    (
        "Shop @one(by: [\"shop_id\"])",
        "Shop @one(by: [\"shop_no\"], to: [\"shop_id\"])",
        Some(("Sale", Class::ChangesSilently)),
    ),
    (
        "@many(by: [\"sale_id\"])",
        "@many(by: [\"sale_id\"], through: \"line_v\")",
        Some(("Sale", Class::ChangesSilently)),
    ),
    ("countDistinct: \"product_id\"", "countDistinct: \"line_no\"", Some(("Sale", Class::ChangesSilently))),
    (
        "@changes(of: \"Sale\")",
        "@changes(of: \"Sale\") @grant(to: [\"SYNC\"])",
        Some(("Changes", Class::ChangesSilently)),
    ),
    ("@point", "@point(through: \"sale_v\")", Some(("Sale", Class::ChangesSilently))),
    ("(key: \"note\", column: \"memo\"", "(key: \"note\", column: \"email\"", Some(("Noted", Class::ChangesSilently))),
    ("compare: [EQUALS, IN, RANGE]", "compare: [EQUALS, IN]", Some(("Searched", Class::ChangesSilently))),
    ("compare: [EQUALS, IN, RANGE]", "compare: [EQUALS, IN]", Some(("Range", Class::Breaks))),
    ("compare: [EQUALS, IN]", "compare: [EQUALS, IN, RANGE]", None),
    ("@search(key: \"shopId\"", "@search(key: \"shopId\", indexed: false", Some(("Searched", Class::MoreExpensive))),
    ("normalize: LOWER_CASE", "normalize: LAST_DIGITS", Some(("Searched", Class::ChangesSilently))),
    (
        ", inOrderOf: [\"SOLD_AT\"])\n    @search(key: \"note\"",
        ")\n    @search(key: \"note\"",
        Some(("OfShop", Class::MoreWork)),
    ),
    (", lookup: true", "", Some(("Searched", Class::MoreWork))),
    (", include: [\"memo\"]", "", None),
    ("vocabulary: \"shop\"", "vocabulary: \"shop_v\"", None),
    ("example: \"1,2\"", "example: \"3\"", None),
    ("within: \"sale_tag\"", "within: \"sale_label\"", Some(("Searched", Class::ChangesSilently))),
    ("grant: [\"LABELS\"]", "grant: [\"LABELS\", \"ALL\"]", None),
    ("grant: [\"LABELS\"]", "grant: [\"ALL\"]", Some(("Searched", Class::ChangesSilently))),
    ("@search(key: \"saleId\"", "@search(key: \"saleNo\", column: \"sale_id\"", Some(("Range", Class::Breaks))),
    (
        "@search(key: \"saleId\"",
        "@search(key: \"saleNo\", column: \"sale_id\"",
        Some(("Searched", Class::ChangesSilently)),
    ),
    ("\n    @index(keys: [\"shopId\", \"kind\"], inOrderOf: [\"SOLD_AT\"])", "", Some(("OfKind", Class::MoreWork))),
    (
        "@sort(key: \"SOLD_AT\")\n    @sort(key: \"SALE_ID\")",
        "@sort(key: \"SALE_ID\")\n    @sort(key: \"SOLD_AT\")",
        Some(("Sales", Class::ChangesSilently)),
    ),
    ("@sort(key: \"SALE_ID\")", "@sort(key: \"SALE_NO\", column: \"sale_id\")", Some(("Sorted", Class::Breaks))),
    ("@sort(key: \"AMOUNT\")", "@sort(key: \"AMOUNT\", column: \"kind\")", Some(("Sorted", Class::ChangesSilently))),
    ("currency: \"currency\"", "currency: \"shop.currency\"", Some(("Totals", Class::ChangesSilently))),
    ("unit: DAY", "unit: MONTH", Some(("Totals", Class::ChangesSilently))),
    (
        "(key: \"paid\", field: \"amount\"",
        "(key: \"paid\", field: \"amount\", times: \"amount\"",
        Some(("Totals", Class::ChangesSilently)),
    ),
    ("amount: Decimal!", "amount: Decimal! @deprecated(reason: \"use paid\")", Some(("Sale", Class::Deprecated))),
    ("amount: Decimal!", "amount: Decimal! @grant(to: [\"FINANCE\"])", Some(("Sale", Class::ChangesSilently))),
    ("amount: Decimal!", "amount: Decimal", Some(("Sale", Class::ChangesSilently))),
    ("amount: Decimal!", "amount: BigInt!", Some(("Sale", Class::ChangesSilently))),
    ("shopId: ID!\n  currency: String", "shopId: ID!\n  currency: [String]", Some(("Sale", Class::ChangesSilently))),
    (
        "type Line @relation(",
        "type Line @scope(name: \"product\", by: \"product_id\") @relation(",
        Some(("Sale", Class::ChangesSilently)),
    ),
    ("kind: String", "kind: ID", Some(("Sale", Class::ChangesSilently))),
    ("note: String ", "note: String! ", None),
    ("  A\n", "  A\n  C\n", Some(("Sale", Class::ChangesSilently))),
    ("text: \"second\"", "text: \"third\"", Some(("Sale", Class::ChangesSilently))),
    ("text: \"second\"", "text: \"third\"", Some(("GradedB", Class::ChangesSilently))),
    ("text: \"second\"", "text: \"third\"", Some(("Graded", Class::ChangesSilently))),
    ("  A\n", "", Some(("Sale", Class::ChangesSilently))),
    ("  A\n", "", Some(("GradeA", Class::Breaks))),
    ("  A\n", "", Some(("OfGrade", Class::ChangesSilently))),
    (B, "", Some(("GradedB", Class::Breaks))),
    (B, "", Some(("Graded", Class::ChangesSilently))),
    ("  A\n", "  A @deprecated\n", Some(("Sale", Class::Deprecated))),
    ("  A\n", "  A @deprecated\n", Some(("GradeA", Class::Deprecated))),
    ("  A\n", "  A @deprecated\n", Some(("OfGrade", Class::Deprecated))),
    (" @deprecated(reason: \"use A\")", " @deprecated(reason: \"use C\")", Some(("GradedB", Class::Deprecated))),
    (" @deprecated(reason: \"use A\")", "", None),
    ("  A\n", "  \"The best.\"\n  A\n", None),
    ("enum Grade", "\"How good it is.\"\nenum Grade", None),
    ("note: String ", "remark: String ", Some(("Sale", Class::Breaks))),
    ("type Shop ", "\"A shop.\"\ntype Shop ", None),
    ("kind: String", "kind: String\n  colour: String", None),
];

#[test]
fn an_edit_of_each_directive_lands_in_its_class() {
    let (old, documents) = (schema(SCHEMA), documents());
    let mut failures = Vec::new();
    for (from, to, expected) in EDITS {
        if let Err(error) = SchemaFile::parse(&changed(from, to)).and_then(|file| file.catalog()) {
            failures.push(format!("{from} → {to}: {error}"));
            continue;
        }
        let diff = diff(&old, &schema(&changed(from, to)), &documents, &caller());
        let classes = classes(&diff);
        let is_unacceptable = classes.iter().any(|(class, _)| *class <= Class::ChangesSilently);
        let is_expected = match expected {
            None => classes.is_empty(),
            Some((operation, class)) => classes.contains(&(*class, (*operation).to_owned())),
        };
        if diff.schema.is_empty() || !is_expected || diff.is_unacceptable(None) != is_unacceptable {
            failures.push(format!("{from} → {to}: {classes:?}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn the_values_of_an_enum_have_lines_of_their_own() {
    let lines = |from: &str, to: &str| -> Vec<String> {
        let diff = diff(&schema(SCHEMA), &schema(&changed(from, to)), &documents(), &caller());
        let line = |change: &SchemaChange| match change {
            SchemaChange::Added { part, .. } => format!("+ {part}"),
            SchemaChange::Removed { part } => format!("- {part}"),
            SchemaChange::Changed(FactChange { part, aspect, old, new }) => format!("{part} {aspect}: {old} → {new}"),
        };
        diff.schema.iter().map(line).collect()
    };
    assert_eq!(lines("  A\n", "  A\n  C\n"), ["+ Grade.C"]);
    let example = "Query.gradedLines(query: \"grade:\") description: grade:A → grade:B";
    assert_eq!(lines("  A\n", ""), ["- Grade.A", example]);
    assert_eq!(lines("text: \"second\"", "text: \"third\""), ["Grade.B text: second → third"]);
    assert_eq!(lines(" @deprecated(reason: \"use A\")", ""), ["Grade.B deprecated: use A → "]);
    // Another order changes the example of the search key alone.
    assert_eq!(lines(&format!("  A\n{B}"), &format!("{B}  A\n")), [example]);
    // A new value can be in rows; nobody searches for it.
    let diff = diff(&schema(SCHEMA), &schema(&changed("  A\n", "  A\n  C\n")), &documents(), &caller());
    assert_eq!(classes(&diff), BTreeSet::from([(Class::ChangesSilently, "Sale".to_owned())]));
}

#[test]
fn nothing_changes_between_a_schema_and_itself() {
    let mut all = documents();
    all.extend(
        read(&[File { name: "bad.graphql".to_owned(), text: "{ sales { edges { cursor } } }".to_owned() }]).unwrap(),
    );
    let same = diff(&schema(SCHEMA), &schema(SCHEMA), &all, &caller());
    assert!(same.is_empty(), "{same:?}");
    assert_eq!(same.not_valid.len(), 1, "{:?}", same.not_valid);
    assert!(!same.is_unacceptable(Some(0)));
}

#[test]
fn reversed_more_and_less_expensive_swap() {
    let (old, documents) = (schema(SCHEMA), documents());
    let of = |diff: &Diff, class| -> BTreeSet<String> {
        classes(diff).into_iter().filter(|(other, _)| *other == class).map(|(_, operation)| operation).collect()
    };
    let mut priced = 0;
    for (from, to, _) in EDITS {
        let new = schema(&changed(from, to));
        let (forth, back) = (diff(&old, &new, &documents, &caller()), diff(&new, &old, &documents, &caller()));
        assert_eq!(of(&forth, Class::MoreExpensive), of(&back, Class::LessExpensive), "{from} → {to}");
        assert_eq!(of(&forth, Class::LessExpensive), of(&back, Class::MoreExpensive), "{from} → {to}");
        priced += of(&forth, Class::MoreExpensive).len();
    }
    assert!(priced > 0);
}

#[test]
fn the_ends_of_an_interval_are_prices_that_explain_has() {
    let old = schema(SCHEMA);
    let request = |variables| Request {
        query: "query Q($n: Int!, $q: String, $full: Boolean!) { sales(first: $n, query: $q) { edges { node { saleId
            ...F @include(if: $full) ...G @skip(if: $full) } } } }
            fragment F on Sale { lines(first: $n) { edges { node { lineNo } } } } fragment G on Sale { memo: note }"
            .to_owned(),
        variables: if let serde_json::Value::Object(variables) = variables { variables } else { panic!() },
        ..Request::default()
    };
    let cost = |variables| explain(&old.catalog, &request(variables), &Limits::DEFAULT).unwrap().estimate.cost();
    let interval = assess(&old.catalog, &request(json!({})), &Limits::DEFAULT).unwrap().interval.unwrap();
    let every_key = "saleId:1,2 shopId:A note:A kind:A email:A tag:A soldAt:2026-05-01";
    let most = cost(json!({ "n": 100, "q": every_key, "full": true }));
    let least = cost(json!({ "n": 1, "q": "", "full": false })).min(cost(json!({ "n": 1, "full": true })));
    assert_eq!(interval, CreditInterval { least, most });
    for (n, q, full) in [(1, "", true), (50, "note:A", false), (100, "", true), (7, every_key, false)] {
        let cost = cost(json!({ "n": n, "q": q, "full": full }));
        assert!((interval.least..=interval.most).contains(&cost), "{n} {q} {full}");
    }
}

#[test]
fn a_price_change_tells_the_limit_the_polls_and_the_increase() {
    let interval = |least, most| CreditInterval { least, most };
    let price = |old, new| PriceChange { old, new, limit: 1000, credits_per_minute: 3000 };
    let change = price(interval(2, 1000), interval(2, 1200));
    assert_eq!(change.over_limit(), OverLimit::ForSome);
    assert_eq!((change.polls(change.old), change.polls(change.new)), (Some(3), Some(2)));
    assert_eq!(change.polls(interval(0, 0)), None);
    assert!(change.rises_beyond(19) && !change.rises_beyond(20));
    assert!(price(interval(1, 9), interval(2, 9)).rises_beyond(20));
    assert!(price(interval(0, 0), interval(0, 1)).rises_beyond(1000), "from nothing to something");
    assert_eq!(price(interval(1, 1), interval(1001, 2000)).over_limit(), OverLimit::Always);
    assert_eq!(price(interval(1, 1), interval(2, 1000)).over_limit(), OverLimit::Never);
}

#[test]
fn a_broken_operation_is_corrected_as_far_as_its_errors_say_how() {
    let (old, documents) = (schema(SCHEMA), documents());
    for (from, to, operation, lines) in [
        ("note: String ", "notes: String ", "Sale", vec![(6, "notes")]),
        (
            "@sort(key: \"SALE_ID\")",
            "@sort(key: \"SALE_NO\", column: \"sale_id\")",
            "Sorted",
            vec![(28, "a: sales(first: 10  sortKey: SALE_NO) { edges { cursor } }")],
        ),
    ] {
        let diff = diff(&old, &schema(&changed(from, to)), &documents, &caller());
        let broken = diff.operations.iter().find(|one| one.operation.as_deref() == Some(operation)).unwrap();
        let corrected = broken.corrected.as_ref().unwrap();
        let found: Vec<_> = corrected.lines.iter().map(|(at, line)| (at.location.line, line.as_str())).collect();
        assert_eq!(found, lines, "{from} → {to}");
        assert!(diff.operations.iter().all(|one| one.changes[0].class() == Class::Breaks || one.corrected.is_none()));
    }
}
