//! The catalog that documents are checked against.

use std::sync::{Arc, OnceLock};
use std::{env, fs};

use orderql::catalog::{BUILT_IN, Catalog};

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

/// The catalog of [`schema_file`].
pub fn catalog() -> &'static Arc<Catalog> {
    static CATALOG: OnceLock<Arc<Catalog>> = OnceLock::new();
    CATALOG.get_or_init(|| Arc::new(Catalog::parse(schema_file()).unwrap_or_else(|error| panic!("{error}"))))
}
