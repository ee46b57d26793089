//! The changes since a token, by the change feeds of the schema.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::mcp::backend::{Authorization, ToolBackend};
use crate::cli::mcp::limits::QueryLimits;
use crate::cli::mcp::reply::{Reply, ToolRefusal};
use crate::cli::mcp::run;
use crate::cli::query::response::Ordered;
use crate::outline::{Outline, OutlineField};
use crate::query::{Request, Variables};

/// The most changes that come at a time.
const PAGE_SIZE: u64 = 20;

const LIMITS: QueryLimits = QueryLimits { max_cost: Some(1000), max_bytes: 20_000 };

/// What is wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangesArguments {
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    select: Option<String>,
    #[serde(default)]
    feed: Option<String>,
}

/// Asks for the next changes.
pub(super) async fn changes(
    backend: &ToolBackend,
    caller: &Authorization,
    wanted: ChangesArguments,
) -> Result<Reply, ToolRefusal> {
    let schema = backend.schema(caller).await?;
    let feeds: Vec<_> = schema.roots().iter().filter(|root| is_feed(root)).collect();
    let feed = match &wanted.feed {
        Some(name) => feeds.iter().find(|feed| feed.name == *name),
        None => feeds.first(),
    };
    let Some(feed) = feed else {
        let names = feeds.iter().map(|feed| feed.name.as_str()).collect::<Vec<_>>();
        return Err(ToolRefusal::new("NO_FEED", "there is no such feed of changes").with("feeds", json!(names)));
    };
    let select = wanted.select.filter(|select| !select.trim().is_empty());
    let query = query(&schema, feed, select.as_deref().unwrap_or("__typename"));
    let variables =
        Variables::from_iter([("after".to_owned(), json!(wanted.token)), ("first".to_owned(), PAGE_SIZE.into())]);
    let mut reply = run::run(backend, caller, &Request { query, variables, operation_name: None }, LIMITS).await?;
    // A handle would say the same as the token.
    reply.members.retain(|(name, _)| *name != "pages");
    let data = reply.members.iter().find(|(name, _)| *name == "data").and_then(|(_, data)| data.get(&feed.name));
    let page = data.and_then(|page| page.get("pageInfo"));
    let fact = |name: &str| page.and_then(|page| page.get(name)).map_or(Value::Null, Ordered::to_value);
    let facts = [("token", fact("endCursor")), ("more", fact("hasNextPage"))];
    reply.members.splice(0..0, facts.map(|(name, value)| (name, Ordered::Scalar(value))));
    Ok(reply)
}

fn is_feed(root: &OutlineField) -> bool {
    root.argument("since").is_some() && root.argument("after").is_some()
}

/// The query for a page of changes, with the selection of each object.
fn query(schema: &Outline, feed: &OutlineField, select: &str) -> String {
    let fields = schema
        .fields(schema.element_type(feed))
        .iter()
        .map(|field| if field.is_object() { format!("{} {{ {select} }}", field.name) } else { field.name.clone() });
    let fields = fields.collect::<Vec<_>>().join(" ");
    format!(
        "query($first: Int!, $after: String) {{ {}(first: $first, after: $after) {{ edges {{ node {{ {fields} }} }} \
         pageInfo {{ hasNextPage endCursor }} }} }}",
        feed.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::compile::compile;

    #[test]
    fn the_feed_of_the_built_in_schema_is_asked() {
        let catalog = Catalog::built_in().unwrap();
        let schema = Outline::parse(catalog.sdl()).unwrap();
        let feeds: Vec<_> = schema.roots().iter().filter(|root| is_feed(root)).collect();
        let query = query(&schema, feeds[0], "statusId");
        assert!(query.contains("orderChanges(") && query.contains("orderId order { statusId }"), "{query}");
        let variables = Variables::from_iter([("first".to_owned(), 20.into())]);
        let request = Request { query, variables, operation_name: None };
        assert!(compile(&catalog, &request, &crate::limits::Limits::DEFAULT).is_ok());
    }
}
