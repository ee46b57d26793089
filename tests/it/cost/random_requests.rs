//! Random requests for tests of costs.

use orderql::catalog::Catalog;
use orderql::compile::explanation::Explanation;
use orderql::error::code::ErrorCode;
use orderql::query::Request;

use crate::support::random::Random;
use crate::support::random_query::generator::random_query;
use crate::support::random_query::query::{Item, Selected};

/// A random request with page sizes up to 90. Some page sizes share a variable, some are in a fragment that is spread twice,
/// and some are in a field that is selected twice.
pub fn random_request(catalog: &Catalog, seed: u64) -> Request {
    let mut random = Random(seed);
    let mut query = random_query(catalog, seed);
    query.change_values(&mut random);
    let root = query.items.iter().position(|item| matches!(item, Item::Field(root) if !root.items.is_empty()));
    if let Some(root) = root {
        if random.chance(30) {
            // The random query uses each variable once, so both fields must have literals.
            let Item::Field(field) = &mut query.items[root] else { unreachable!() };
            without_variables(field);
            query.items.push(query.items[root].clone());
        }
        if random.chance(30) {
            let mut again = query.items[root].clone();
            let Item::Field(field) = &mut again else { unreachable!() };
            field.alias = Some("again".to_owned());
            query.items.push(again);
        }
    }
    let mut request = query.request();
    let sizes: Vec<_> =
        request.variables.iter().filter(|(_, value)| value.is_u64()).map(|(name, _)| name.clone()).collect();
    if sizes.len() > 1 && random.chance(50) {
        // Replaces the second variable by the first one.
        request.query = request.query.replacen(&format!("${}: Int", sizes[1]), "", 1);
        for delimiter in [",", ")"] {
            let [from, to] = [&sizes[1], &sizes[0]].map(|name| format!("${name}{delimiter}"));
            request.query = request.query.replace(&from, &to);
        }
        request.variables.remove(&sizes[1]);
    }
    request
}

/// Replaces variables by literals, except in fragments.
fn without_variables(field: &mut Selected) {
    fn replace(items: &mut [Item]) {
        for item in items {
            match item {
                Item::Field(field) => without_variables(field),
                Item::Inline { items, .. } => replace(items),
                Item::Spread { .. } => {}
            }
        }
    }
    field.arguments.iter_mut().for_each(|argument| argument.variable = None);
    replace(&mut field.items);
}

/// The code of an explanation's first error.
pub fn first_code(explanation: &Explanation) -> Option<ErrorCode> {
    explanation.errors.as_ref().map(|errors| errors.first().code)
}
