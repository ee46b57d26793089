//! The catalog that documents are checked against.

use std::sync::{Arc, OnceLock};
use std::{env, fs};

use orderql::catalog::Catalog;
use orderql::query::parse::Source;
use orderql::query::validate::validate;
use orderql::schema_file::BUILT_IN;

/// The environment variable that names another schema file.
pub const SCHEMA: &str = "ORDERQL_FUZZ_SCHEMA";

/// The built-in schema file, or the one that the environment names.
pub fn schema_file() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| match env::var_os(SCHEMA) {
        None => BUILT_IN.to_owned(),
        Some(path) => fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    })
}

/// The catalog of [`schema_file`], with the index that the first refusal of a name builds: no input is charged for it.
pub fn catalog() -> &'static Arc<Catalog> {
    static CATALOG: OnceLock<Arc<Catalog>> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let catalog = Catalog::parse(schema_file()).unwrap_or_else(|error| panic!("{error}"));
        let source = Source::read("{ unknown }").expect("a text that can be read");
        let refused = validate(&catalog, &source.parse().expect("a document"), None);
        refused.expect_err("a field that no schema has");
        Arc::new(catalog)
    })
}
