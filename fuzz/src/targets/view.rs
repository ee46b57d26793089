//! `view`: bytes to a schema file with grants, to the grants that a caller holds, and to a document. The first byte chooses the file
//! that grants are added to, and whether the document names what is hidden and has mistakes.
//!
//! - Every view of a file that can be used can be built.
//! - It publishes what the same file does that never had what is hidden, made by a program of its own.
//! - For every document both have the same outcome: plan and price, or errors with their suggestions.

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::compile::explanation::explain;
use orderql::schema_file::{BUILT_IN, SchemaFile};
use orderql_generator::choices::Choices;
use orderql_generator::generate::generate;
use orderql_generator::mistake::make_mistakes;
use orderql_generator::redaction::{decorated, redacted};
use orderql_generator::values::Invented;

use crate::support::catalogs::ODD;
use crate::support::input::{choice, settings};

/// The bytes that give and hold grants, and those at the end that make mistakes.
const FOR_GRANTS: usize = 256;
const FOR_MISTAKES: usize = 48;

/// Runs the target.
pub fn run(data: &[u8]) {
    let (first, data) = choice(data);
    let (settings, data) = settings(data);
    let (grants, data) = data.split_at(data.len().min(FOR_GRANTS));
    let (data, mistakes) = data.split_at(data.len().saturating_sub(FOR_MISTAKES));
    let mut grants = Choices::new(grants);
    // The built-in file takes twenty times as long.
    let text = decorated(if first.trailing_zeros() >= 5 { BUILT_IN } else { ODD }, &mut grants);
    let file = SchemaFile::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let held: Vec<_> = file.grants().iter().filter(|_| grants.chance(40)).collect();
    if held.len() == file.grants().len() {
        return;
    }
    let holds = |name: &str| held.iter().any(|held| *held == name);
    let view = file.view(file.held(holds)).unwrap_or_else(|error| panic!("{held:?}: {error}\n{text}"));
    let Some(redacted) = redacted(&text, holds) else { return };
    let other = Catalog::parse(&redacted).unwrap_or_else(|error| panic!("{held:?}: {error}\n{redacted}"));
    assert_eq!(view.sdl(), other.sdl(), "{held:?}\n{text}");

    let whole = file.catalog().expect("views of it have been built");
    let source = if first & 0x20 == 0 { &whole } else { &view };
    let mut generated = generate(source, &Invented, settings, &mut Choices::new(data));
    if first & 0x40 != 0 {
        make_mistakes(source, &mut generated, &mut Choices::new(mistakes));
    }
    let (request, limits) = (generated.request(), generated.limits);
    let outcome = |catalog: &Catalog| {
        format!("{:?}\n{:?}", compile(catalog, &request, &limits), explain(catalog, &request, &limits))
    };
    assert_eq!(outcome(&view), outcome(&other), "{held:?}: {}\n{text}", request.query);
}
