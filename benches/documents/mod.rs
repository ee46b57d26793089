//! The documents that the pure half is timed over, ours and our peers'.

#![allow(dead_code, unreachable_pub, reason = "each bench uses its part")]

use std::fmt::Write as _;
use std::iter::repeat_n;

/// A document, and values for its variables as JSON.
pub struct Document {
    pub name: &'static str,
    pub text: String,
    pub variables: &'static str,
}

const ORDER_ID: &str = r#"{"orderId": "DEMO10090"}"#;

/// Documents that are answered: the four workloads, the specification's worked case, what an IDE asks when it opens, and
/// what a front end with a component for everything sends.
pub fn answered() -> Vec<Document> {
    [
        ("point", include_str!("../queries/point.graphql"), ORDER_ID),
        ("page", include_str!("../queries/page.graphql"), "{}"),
        ("nested", include_str!("../queries/nested.graphql"), "{}"),
        ("detail", include_str!("../queries/detail.graphql"), ORDER_ID),
        ("detail-1366", include_str!("../../tests/plans/worked_case_1366.graphql"), ORDER_ID),
        ("introspection", include_str!("introspection.graphql"), "{}"),
        ("fragments-20", include_str!("fragments.graphql"), ORDER_ID),
    ]
    .map(|(name, text, variables)| Document { name, text: text.to_owned(), variables })
    .into()
}

/// Documents that are valid GraphQL, and refused: they are too deep, too wide, too much in few words, or too dear.
pub fn refused() -> Vec<Document> {
    [("deep", deep()), ("aliases", aliases()), ("fan-out", fan_out()), ("too-dear", too_dear())]
        .map(|(name, text)| Document { name, text, variables: "{}" })
        .into()
}

/// As deep as a document is read.
fn deep() -> String {
    const LEVELS: usize = 11;
    let mut text = "{ order(orderId: \"A\") ".to_owned();
    text.extend(repeat_n("{ orderItems(first: 1) { edges { node { order ", LEVELS));
    text.push_str("{ orderId }");
    text.extend(repeat_n(" } } } }", LEVELS));
    text.push_str(" }");
    text
}

/// As many roots as are allowed, of a few fields each.
fn aliases() -> String {
    let mut text = "{".to_owned();
    for number in 0..500 {
        let _ = write!(text, " a{number}: order(orderId: \"{number}\") {{ orderId statusId orderDate grandTotal }}");
    }
    text + " }"
}

/// Fragments that spread the next one twice each.
fn fan_out() -> String {
    const FRAGMENTS: usize = 16;
    let mut text = "{ order(orderId: \"A\") { ...F0 } }".to_owned();
    for number in 0..FRAGMENTS {
        let next = number + 1;
        let _ = write!(
            text,
            " fragment F{number} on Order {{ a{number}: shipGroups(first: 1) {{ edges {{ node {{ orderId }} }} }} ...F{next} b{number}: billToCustomer {{ partyId }} ...F{next} }}"
        );
    }
    let _ = write!(text, " fragment F{FRAGMENTS} on Order {{ orderId }}");
    text
}

/// What an agent asks that wants everything at once; it is told what would fit.
fn too_dear() -> String {
    "query Everything {
      orders(first: 100, query: \"statusId:ORDER_APPROVED\") {
        edges {
          node {
            orderId orderName statusId orderDate grandTotal
            orderItems(first: 50) { edges { node { orderItemSeqId quantity product { productId productName } } } }
            shipGroups(first: 10) {
              edges { node { shipGroupSeqId facility { facilityId } orderItems(first: 50) { edges { node { orderItemSeqId } } } } }
            }
          }
        }
        pageInfo { hasNextPage endCursor }
      }
    }"
    .to_owned()
}
