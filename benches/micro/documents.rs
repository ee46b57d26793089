//! The queries that are compiled, by orderql and by its peers.

use std::fmt::{self, Display, Write as _};
use std::iter::repeat_n;

use orderql::query::{Request, Variables};

/// A GraphQL document.
pub struct Document {
    pub name: &'static str,
    pub text: String,
}

impl Document {
    /// A request of the document.
    pub fn request(&self) -> Request {
        let variables = Variables::from_iter([("orderId".to_owned(), "DEMO10090".into())]);
        Request { query: self.text.clone(), variables, ..Request::default() }
    }
}

impl Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Documents that are accepted: the four workloads, the specification's worked case, the introspection of an IDE, and a query
/// of a front end in which every component has a fragment.
pub fn accepted() -> Vec<Document> {
    [
        ("point", include_str!("../queries/point.graphql")),
        ("page", include_str!("../queries/page.graphql")),
        ("nested", include_str!("../queries/nested.graphql")),
        ("detail", include_str!("../queries/detail.graphql")),
        ("detail-1366", include_str!("../../tests/plans/worked_case_1366.graphql")),
        ("introspection", include_str!("documents/introspection.graphql")),
        ("fragments-20", include_str!("documents/fragments.graphql")),
    ]
    .map(|(name, text)| Document { name, text: text.to_owned() })
    .into()
}

/// Documents that are valid GraphQL and rejected: too deep, too wide, with too many fields by fragments, or too expensive.
pub fn rejected() -> Vec<Document> {
    [("deep", deep()), ("aliases", aliases()), ("fan-out", fan_out()), ("expensive", expensive())]
        .map(|(name, text)| Document { name, text })
        .into()
}

/// As deep as the parser accepts.
fn deep() -> String {
    const LEVELS: usize = 11;
    let mut text = "{ order(orderId: \"A\") ".to_owned();
    text.extend(repeat_n("{ orderItems(first: 1) { edges { node { order ", LEVELS));
    text.push_str("{ orderId }");
    text.extend(repeat_n(" } } } }", LEVELS));
    text.push_str(" }");
    text
}

/// As many root fields as are allowed, with a few fields each.
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

/// A query for everything at once; its error suggests smaller page sizes.
fn expensive() -> String {
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
