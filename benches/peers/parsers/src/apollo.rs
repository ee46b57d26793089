//! apollo-compiler, which Apollo's router is built on.

use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};

use crate::contestant::{Contestant, Fault};

/// Parse and validate.
pub struct Apollo(Valid<Schema>);

impl Apollo {
    /// Over a schema.
    pub fn new(sdl: &str) -> Result<Self, Fault> {
        Schema::parse_and_validate(sdl, "schema.graphql")
            .map(Self)
            .map_err(|error| Fault::Schema(error.errors.to_string()))
    }
}

impl Contestant for Apollo {
    fn name(&self) -> &'static str {
        "apollo-compiler"
    }

    fn read(&self, document: &str) -> bool {
        std::hint::black_box(ExecutableDocument::parse_and_validate(&self.0, document, "query.graphql")).is_ok()
    }
}
