//! How many bytes the data of a response may have, known before it is fetched: the literals of its template exactly, for as many rows as
//! its pages may have, and the values by a width for each type.

use crate::cursor;
use crate::plan::request_plan::Plan;
use crate::plan::response_template::{Op, ShownType};
use crate::query::bind::step_id::StepId;
use crate::value::ScalarType;

/// Bytes of `false`, and of a count.
const FLAG: u64 = 5;
const COUNT: u64 = 20;

/// Elements of a list.
const ELEMENTS: u64 = 10;

/// Bytes of a column of a cursor beside its value: a kind and a length.
const CURSOR_COLUMN: u64 = 5;

/// Bytes of a token while a few dozen transactions run.
const TOKEN: u64 = 512;

impl Plan {
    /// The most bytes of the response's data, about: a text or list may be longer than is assumed here.
    pub fn max_response_bytes(&self) -> u64 {
        let mut bytes = 0_u64;
        // How often the current op is run; and around the loops that it is in.
        let (mut times, mut around) = (1_u64, Vec::new());
        let mut connections: Vec<StepId> = Vec::new();
        for op in &self.response_template().ops {
            let cursor = || connections.last().map_or(0, |step| self.cursor_bytes(*step));
            let once = match op {
                Op::Literal(literal) => literal.len() as u64,
                Op::Column { before, ty, .. } => {
                    before.len() as u64
                        + match ty {
                            ShownType::List { scalar, .. } => ELEMENTS * width(*scalar),
                            ShownType::Text(scalar) | ShownType::Scalar(scalar) => width(*scalar),
                        }
                }
                Op::OfPage { scalar, .. } => width(*scalar),
                Op::LocalTime { .. } => width(ScalarType::DateTime),
                Op::Cursor | Op::StartCursor | Op::EndCursor => cursor(),
                Op::HasNextPage | Op::HasPreviousPage => FLAG,
                Op::Count => COUNT,
                Op::Connection { step } | Op::BoundedList { step, .. } => {
                    connections.push(*step);
                    0
                }
                Op::EndConnection => {
                    connections.pop();
                    0
                }
                Op::FirstRow { .. } => {
                    around.push(times);
                    times = times.saturating_mul(connections.last().map_or(1, |step| u64::from(self.size(*step))));
                    0
                }
                Op::NextRow { .. } => {
                    bytes = bytes.saturating_add(times);
                    times = around.pop().unwrap_or(1);
                    0
                }
                // An absent object is `null`, which is shorter than the text of an object that is there.
                Op::Object { .. } | Op::EndObject | Op::Lookup { .. } | Op::EndLookup | Op::PageEnd => 0,
            };
            bytes = bytes.saturating_add(times.saturating_mul(once));
        }
        bytes
    }

    /// Bytes of a cursor of a step's rows, in base64 and quotes.
    fn cursor_bytes(&self, step: StepId) -> u64 {
        if self.steps()[step].changes().is_some() {
            return TOKEN;
        }
        let columns = self.steps()[step].cursor.iter().flat_map(|cursor| &cursor.columns);
        let columns = columns.map(|(_, scalar)| CURSOR_COLUMN + width(*scalar));
        cursor::text_length(columns.sum(), self.cursor_scope(step).is_some()) + 2
    }
}

/// Bytes of a value in JSON at most: a text is assumed to be no longer than its columns usually are, keys of 20 characters and other
/// texts of 62.
fn width(scalar: ScalarType) -> u64 {
    match scalar {
        ScalarType::Boolean => FLAG,
        ScalarType::Int => 11,
        ScalarType::Id | ScalarType::BigInt => 22,
        ScalarType::Decimal | ScalarType::Float | ScalarType::Interval => 24,
        ScalarType::DateTime => 30,
        ScalarType::Date => 12,
        ScalarType::Time => 17,
        ScalarType::Uuid => 38,
        ScalarType::String | ScalarType::Bytes | ScalarType::Json | ScalarType::Enum(_) => 64,
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::compile::compile;
    use crate::error::code::ErrorCode;
    use crate::limits::Limits;
    use crate::query::Request;

    fn bytes(query: &str) -> u64 {
        let request = Request { query: query.to_owned(), ..Request::default() };
        compile(&Catalog::built_in().unwrap(), &request, &Limits::UNLIMITED).unwrap().plan.max_response_bytes()
    }

    #[test]
    fn counts_the_literals_of_all_rows() {
        for (query, data) in [
            ("{ __typename }", r#"{"__typename":"Query"}"#.len()),
            ("{ order(orderId: 1) { t: __typename } }", r#"{"order":{"t":"Order"}}"#.len()),
            (
                "{ orders(first: 3) { edges { t: __typename } pageInfo { hasNextPage } } }",
                r#"{"orders":{"edges":[{"t":"OrderEdge"},{"t":"OrderEdge"},{"t":"OrderEdge"},],"pageInfo":{"hasNextPage":false}}}"#.len(),
            ),
            (
                "{ orders(first: 2) { edges { node { orderItems(first: 3) { edges { node { t: __typename } } } } } } }",
                r#"{"orders":{"edges":[]}}"#.len()
                    + 2 * (r#"{"node":{"orderItems":{"edges":[]}}},"#.len() + 3 * r#"{"node":{"t":"OrderItem"}},"#.len()),
            ),
        ] {
            assert_eq!(bytes(query), data as u64, "{query}");
        }
    }

    #[test]
    fn values_have_a_width() {
        let around =
            bytes("{ orders(first: 10) { edges { node { orderId: __typename } } } }") - 10 * "\"Order\"".len() as u64;
        assert_eq!(bytes("{ orders(first: 10) { edges { node { orderId } } } }"), around + 10 * 22);
        let cursor = |query: &str| bytes(query) - bytes(&query.replace("cursor", "cursor: __typename")) + 10 * 11;
        let cursors = cursor("{ orders(first: 10) { edges { cursor } } }");
        assert!((600..1000).contains(&cursors), "{cursors}");
    }

    /// The bytes that 1,000 credits buy are far below the limit. Free parts of a selection can be above it.
    #[test]
    fn rejects_what_is_multiplied_without_being_paid_for() {
        let compile = |query: String| {
            let request = Request { query, ..Request::default() };
            compile(&Catalog::built_in().unwrap(), &request, &Limits::default())
        };
        let cursors = (0..1600).map(|alias| format!("a{alias}:cursor ")).collect::<Vec<_>>().concat();
        let edges = |lists: usize| {
            let lists = (0..lists).map(|list| format!("e{list}: edges {{ ...C }} ")).collect::<Vec<_>>().concat();
            format!("{{ orders(first: 100) {{ {lists} }} }} fragment C on OrderEdge {{ {cursors} }}")
        };
        let errors = compile(edges(6)).unwrap_err();
        let error = errors.first();
        assert_eq!(error.code, ErrorCode::ResponseTooLarge);
        assert_eq!(error.extensions["maxResponseBytes"], 4 << 20);
        assert!(error.extensions["responseBytes"].as_u64().unwrap() > 50_000_000, "{error:?}");
        let usual = "{ orders(first: 100) { __typename pageInfo { __typename hasNextPage hasPreviousPage startCursor endCursor } edges { \
            __typename cursor node { __typename orderId orderName externalId orderDate statusId grandTotal currencyUomId entryDate \
            salesChannelEnumId } } } }";
        let compiled = compile(usual.to_owned()).unwrap();
        assert_eq!(compiled.estimate.cost(), 1000);
        let bytes = compiled.plan.max_response_bytes();
        assert!(bytes < (4 << 20) / 20, "{bytes}");
    }
}
