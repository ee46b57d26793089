//! orderql.

use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::limits::Limits;
use orderql::query::parse::Source;
use orderql::query::validate::validate;
use orderql::query::{Request, Variables};

use crate::contestant::Contestant;

/// All of the pure half, without a memory: from text to price and SQL, or to a refusal.
pub struct Compile<'a>(pub &'a Catalog);

/// What the others do.
pub struct ParseAndValidate<'a>(pub &'a Catalog);

impl Contestant for Compile<'_> {
    fn name(&self) -> &'static str {
        "orderql, to SQL"
    }

    fn read(&self, document: &str) -> bool {
        let variables = Variables::from_iter([("orderId".to_owned(), "DEMO10090".into())]);
        let request = Request { query: document.to_owned(), operation_name: None, variables };
        let limits = Limits { max_cost: 10_000, ..Limits::default() };
        // A refusal is an answer, too.
        let _ = std::hint::black_box(compile(self.0, &request, &limits));
        true
    }
}

impl Contestant for ParseAndValidate<'_> {
    fn name(&self) -> &'static str {
        "orderql"
    }

    fn read(&self, document: &str) -> bool {
        let validated = Source::read(document).and_then(|source| validate(self.0, &source.parse()?, None));
        std::hint::black_box(validated).is_ok()
    }
}
