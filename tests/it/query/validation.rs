//! Validation of documents.
//!
//! The documents in `tests/validation/valid` are valid. Each document in `tests/validation/invalid` has exactly the errors in
//! its `.txt` file: a line for each, with location, code and message. Run the tests with `UPDATE_EXPECT=1` to update these
//! files.

use std::fs;
use std::path::{Path, PathBuf};

use orderql::catalog::Catalog;
use orderql::error::graphql_error::{GraphqlError, GraphqlErrors};
use orderql::query::parse::Source;
use orderql::query::validate::validate;
use proptest::prelude::*;

fn check(catalog: &Catalog, text: &str) -> Result<(), GraphqlErrors> {
    let source = Source::read(text)?;
    let document = source.parse()?;
    // In documents with several operations, the first one is selected.
    validate(catalog, &document, text.contains("query First").then_some("First")).map(drop)
}

fn documents(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/validation").join(folder);
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut documents: Vec<_> = entries.filter(|path| path.extension().is_some_and(|ext| ext == "graphql")).collect();
    documents.sort();
    assert!(documents.len() > 10, "{} has few documents", folder.display());
    documents
}

#[test]
fn accepts_valid_documents() {
    let catalog = Catalog::built_in().unwrap();
    for path in documents("valid") {
        let text = fs::read_to_string(&path).unwrap();
        if let Err(errors) = check(&catalog, &text) {
            panic!("{}:\n{errors}", path.display());
        }
    }
}

#[test]
fn reports_every_error_of_invalid_documents() {
    let catalog = Catalog::built_in().unwrap();
    let mut different = Vec::new();
    for path in documents("invalid") {
        let text = fs::read_to_string(&path).unwrap();
        let found = match check(&catalog, &text) {
            Ok(()) => "valid\n".to_owned(),
            Err(errors) => errors.iter().map(line).collect(),
        };
        let expectation = path.with_extension("txt");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&expectation, &found).unwrap();
        }
        let expected = fs::read_to_string(&expectation).unwrap_or_default();
        if found != expected || found.starts_with("valid") {
            different.push(format!("{}\n--- expected\n{expected}--- found\n{found}", path.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    let expectations = fs::read_dir(documents("invalid")[0].parent().unwrap()).unwrap();
    let orphan = expectations.map(|entry| entry.unwrap().path()).find(|path| !path.with_extension("graphql").exists());
    assert_eq!(orphan, None, "a .txt file without a document");
}

/// A line of a `.txt` file.
fn line(error: &GraphqlError) -> String {
    let locations = error.locations.iter().map(|location| format!("{}:{}", location.line, location.column));
    format!("{} {} {}\n", locations.collect::<Vec<_>>().join(" "), error.code, error.message)
}

/// Tokens of which documents are made that are valid or invalid in many ways.
const TOKENS: &str = "{ { { } } } ( ) [ ] : : $ @ ! = ... ... & | query fragment on Query Order OrderItem order orders \
    product orderId productId first sortKey ORDER_DATE F G if include skip null true 1 1.5e3 99999999999999999999 \
    \"text\" \"\"\"block\"\"\" ID Int String Boolean { order(orderId:1) { orderId } } orders(first:1) { pageInfo { endCursor } } \
    ...F fragment F on Order { orderId } query ( $id : ID! ) product( productId: $id ) @include(if: true) __typename";

fn documents_of_tokens() -> impl Strategy<Value = Vec<&'static str>> {
    let tokens: Vec<_> = TOKENS.split_whitespace().collect();
    prop::collection::vec(prop::sample::select(tokens), 0..60)
}

proptest! {
    /// Validation never panics, and ignored characters between tokens change only the locations.
    #[test]
    fn ignored_characters_change_no_errors(tokens in documents_of_tokens()) {
        let catalog = Catalog::built_in().unwrap();
        let errors = |text: &str| match check(&catalog, text) {
            Ok(()) => Vec::new(),
            Err(errors) => errors.iter().map(|error| (error.code, error.message.clone())).collect(),
        };
        prop_assert_eq!(errors(&tokens.join(" ")), errors(&tokens.join("\u{feff},\r\n#\"{\r\t")));
    }

    /// Validation never panics, and the locations of errors are in the text.
    #[test]
    fn locations_are_in_the_text(text in "[\\PC\n\r\t\"\\\\{}()$:@.#0-9a-f]{0,80}") {
        let catalog = Catalog::built_in().unwrap();
        if let Err(errors) = check(&catalog, &text) {
            let text = text.replace("\r\n", "\n");
            let lines: Vec<_> = text.split(['\n', '\r']).collect();
            for location in errors.iter().flat_map(|error| &error.locations) {
                let line = lines.get(usize::try_from(location.line).unwrap() - 1);
                prop_assert!(line.is_some_and(|line| location.column as usize <= line.chars().count() + 1), "{:?}", location);
            }
        }
    }
}
