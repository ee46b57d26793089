//! Documents that are valid, and documents that are not with what they are told.
//!
//! `tests/validation/valid/*.graphql` must be accepted. `tests/validation/refused/*.graphql` must be refused with exactly
//! the refusals in the `.txt` beside it, a line each: place, code, message. To change what is expected, run the tests
//! with `UPDATE_EXPECT=1` and read the difference.

use std::fs;
use std::path::{Path, PathBuf};

use orderql::catalog::Catalog;
use orderql::error::graphql_error::GraphqlErrors;
use orderql::query::parse::Source;
use orderql::query::validate::validate;
use proptest::prelude::*;

fn refusals(catalog: &Catalog, text: &str) -> Result<(), GraphqlErrors> {
    let source = Source::read(text)?;
    let document = source.parse()?;
    // Where a document has several operations, its first is as good as any here.
    validate(catalog, &document, text.contains("query First").then_some("First")).map(drop)
}

fn documents(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/validation").join(folder);
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut documents: Vec<_> = entries.filter(|path| path.extension().is_some_and(|ext| ext == "graphql")).collect();
    documents.sort();
    assert!(documents.len() > 10, "{} holds the documents", folder.display());
    documents
}

#[test]
fn valid_documents_are_accepted() {
    let catalog = Catalog::built_in().unwrap();
    for path in documents("valid") {
        let text = fs::read_to_string(&path).unwrap();
        if let Err(refusals) = refusals(&catalog, &text) {
            panic!("{}:\n{refusals}", path.display());
        }
    }
}

#[test]
fn refused_documents_are_told_all_that_is_wrong() {
    let catalog = Catalog::built_in().unwrap();
    let mut different = Vec::new();
    for path in documents("refused") {
        let text = fs::read_to_string(&path).unwrap();
        let told = match refusals(&catalog, &text) {
            Ok(()) => "accepted\n".to_owned(),
            Err(refusals) => refusals.iter().map(line).collect(),
        };
        let expectation = path.with_extension("txt");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&expectation, &told).unwrap();
        }
        let expected = fs::read_to_string(&expectation).unwrap_or_default();
        if told != expected || told.starts_with("accepted") {
            different.push(format!("{}\n--- expected\n{expected}--- told\n{told}", path.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    let expectations = fs::read_dir(documents("refused")[0].parent().unwrap()).unwrap();
    let lonely = expectations.map(|entry| entry.unwrap().path()).find(|path| !path.with_extension("graphql").exists());
    assert_eq!(lonely, None, "an expectation has its document");
}

fn line(refusal: &orderql::error::graphql_error::GraphqlError) -> String {
    let places: Vec<_> = refusal.locations.iter().map(|place| format!("{}:{}", place.line, place.column)).collect();
    format!("{} {} {}\n", places.join(" "), refusal.code, refusal.message)
}

/// Tokens that make documents right and wrong in every way.
const TOKENS: &str = "{ { { } } } ( ) [ ] : : $ @ ! = ... ... & | query fragment on Query Order OrderItem order orders \
    product orderId productId first sortKey ORDER_DATE F G if include skip null true 1 1.5e3 99999999999999999999 \
    \"text\" \"\"\"block\"\"\" ID Int String Boolean { order(orderId:1) { orderId } } orders(first:1) { pageInfo { endCursor } } \
    ...F fragment F on Order { orderId } query ( $id : ID! ) product( productId: $id ) @include(if: true) __typename";

fn documents_of_tokens() -> impl Strategy<Value = Vec<&'static str>> {
    let tokens: Vec<_> = TOKENS.split_whitespace().collect();
    prop::collection::vec(prop::sample::select(tokens), 0..60)
}

proptest! {
    /// Whatever stands in a text, it is judged; and what is ignored between tokens changes nothing but places.
    #[test]
    fn ignored_characters_change_no_verdict(tokens in documents_of_tokens()) {
        let catalog = Catalog::built_in().unwrap();
        let told = |text: &str| match refusals(&catalog, text) {
            Ok(()) => Vec::new(),
            Err(refusals) => refusals.iter().map(|refusal| (refusal.code, refusal.message.clone())).collect(),
        };
        prop_assert_eq!(told(&tokens.join(" ")), told(&tokens.join("\u{feff},\r\n#\"{\r\t")));
    }

    /// Any text at all is judged, and what is told stands within it.
    #[test]
    fn places_stand_within_the_text(text in "[\\PC\n\r\t\"\\\\{}()$:@.#0-9a-f]{0,80}") {
        let catalog = Catalog::built_in().unwrap();
        if let Err(refusals) = refusals(&catalog, &text) {
            let text = text.replace("\r\n", "\n");
            let lines: Vec<_> = text.split(['\n', '\r']).collect();
            for place in refusals.iter().flat_map(|refusal| &refusal.locations) {
                let line = lines.get(usize::try_from(place.line).unwrap() - 1);
                prop_assert!(line.is_some_and(|line| place.column as usize <= line.chars().count() + 1), "{:?}", place);
            }
        }
    }
}
