//! All pages of a list, as one response: for `--all`.

use std::time::Duration;

use serde_json::{Value, json};
use thiserror::Error;
use tokio::time;

use crate::cli::outcome::Outcome;
use crate::cli::query::response::{Fields, Ordered};
use crate::correction::paging::{beyond, is_last};
use crate::correction::tokens::QueryText;
use crate::query::Request;

/// The key under which each page says whether there are more, beside the query's own selections.
const PAGE: &str = "orderqlPage";

/// Why not all pages can be read.
#[derive(Debug, Error)]
enum AllPagesError {
    #[error(
        "--all reads one list: the query's only field has edges and first, such as {{ orders(first: 100) {{ edges {{ … }} }} }}"
    )]
    NotOneList,
}

/// Asks for one page after the other. Waits where the caller's credits are used up. After an error, the rows of the pages before are
/// there, too.
pub(super) async fn ask(mut ask: impl AsyncFnMut(&Request) -> Outcome<Ordered>, request: &Request) -> Outcome<Ordered> {
    let given = request;
    let (mut request, list) = with_page_info(given).ok_or(AllPagesError::NotOneList)?;
    let mut all: Option<Ordered> = None;
    loop {
        let response = ask(&request).await?;
        if let Some(pause) = throttled(&response) {
            time::sleep(pause).await;
            continue;
        }
        let page = page_of(&response, &list);
        if page.is_none() && all.is_none() {
            // The errors of the query as it was given. Their places are places in its text.
            let response = ask(given).await?;
            return if response.get("errors").is_some() { Ok(response) } else { Err(AllPagesError::NotOneList.into()) };
        }
        let all = match &mut all {
            None => all.insert(response),
            Some(all) => {
                add(all, response, &list);
                all
            }
        };
        if let Some(fields) =
            all.field_mut("data").and_then(|data| data.field_mut(&list)).and_then(Ordered::as_object_mut)
        {
            fields.shift_remove(PAGE);
        }
        match page {
            Some(NextPage { next: Some(cursor) }) => {
                request = beyond(&request, &[&list], &cursor).ok_or(AllPagesError::NotOneList)?;
            }
            Some(NextPage { next: None }) | None => return Ok(all.clone()),
        }
    }
}

/// The request with a field that says whether there are more pages, and the name of its list.
fn with_page_info(request: &Request) -> Option<(Request, String)> {
    let text = QueryText::new(request.query.as_str());
    let field = *text.fields().first()?;
    let list = text.get(field).to_owned();
    if is_last(request, &[&list]) {
        return None;
    }
    let query = text.inserted_after(text.selection(field)?, &format!(" {PAGE}: pageInfo {{ hasNextPage endCursor }}"));
    Some((Request { query, ..request.clone() }, list))
}

/// The facts in a page about the next one.
struct NextPage {
    /// The cursor that it is after.
    next: Option<String>,
}

fn page_of(response: &Ordered, list: &str) -> Option<NextPage> {
    let data = response.get("data")?.as_object().filter(|data| data.len() == 1)?;
    let list = data.get(list)?;
    list.get("edges")?;
    let page = list.get(PAGE)?.to_value();
    let cursor = page["endCursor"].as_str().filter(|_| page["hasNextPage"] == true);
    Some(NextPage { next: cursor.map(str::to_owned) })
}

/// How long to wait if the response says that credits are used up.
fn throttled(response: &Ordered) -> Option<Duration> {
    let extensions = response.get("errors")?.values().first()?.get("extensions")?.to_value();
    let pause = extensions["retryAfterMs"].as_u64().filter(|_| extensions["code"] == "THROTTLED")?;
    Some(Duration::from_millis(pause))
}

/// Adds the rows of a page, its cost and its errors.
fn add(all: &mut Ordered, page: Ordered, list: &str) {
    let Ordered::Object(mut page) = page else { return };
    if let Some(errors) = page.shift_remove("errors") {
        all.set("errors", errors);
    }
    if let Some(Ordered::List(edges)) = page.get("data").and_then(|data| data.get(list)?.get("edges"))
        && let Some(Ordered::List(all)) =
            all.field_mut("data").and_then(|data| data.field_mut(list)).and_then(|list| list.field_mut("edges"))
    {
        all.extend(edges.iter().cloned());
    }
    let cost = |response: Option<&Ordered>| {
        response.and_then(|extensions| extensions.get("cost")).map(Ordered::to_value).unwrap_or_default()
    };
    let (before, mut now) = (cost(all.get("extensions")), cost(page.get("extensions")));
    for part in ["requestedQueryCost", "actualQueryCost"] {
        if let (Some(before), Some(of_page)) = (before[part].as_u64(), now[part].as_u64()) {
            now[part] = json!(before + of_page);
        }
    }
    if now != Value::Null {
        all.set("extensions", Ordered::Object(Fields::from_iter([("cost".to_owned(), Ordered::Scalar(now))])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Ordered {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn asks_each_page_whether_there_are_more() {
        let request = |query: &str| Request { query: query.to_owned(), ..Request::default() };
        let (asked, list) = with_page_info(&request("query Q { o: orders(first: 2) { edges { cursor } } }")).unwrap();
        assert_eq!(list, "o");
        assert_eq!(
            asked.query,
            "query Q { o: orders(first: 2) { orderqlPage: pageInfo { hasNextPage endCursor } edges { cursor } } }"
        );
        assert!(with_page_info(&request("{ orders(last: 2) { edges { cursor } } }")).is_none());
        assert!(with_page_info(&request("{ __typename }")).is_none());
    }

    #[test]
    fn adds_rows_and_costs() {
        let page = |row: &str, more: &str| {
            parse(&format!(
                r#"{{"data": {{"o": {{"edges": [{row}], "orderqlPage": {more}}}}},
                    "extensions": {{"cost": {{"requestedQueryCost": 4, "actualQueryCost": 2}}}}}}"#
            ))
        };
        let mut all = page("1", r#"{"hasNextPage": true, "endCursor": "c"}"#);
        assert_eq!(page_of(&all, "o").unwrap().next.as_deref(), Some("c"));
        let last = page("2", r#"{"hasNextPage": false, "endCursor": "d"}"#);
        assert_eq!(page_of(&last, "o").unwrap().next, None);
        add(&mut all, last, "o");
        let all = all.to_value();
        assert_eq!(all["data"]["o"]["edges"], json!([1, 2]));
        assert_eq!(all["extensions"]["cost"], json!({"requestedQueryCost": 8, "actualQueryCost": 4}));
        let throttling = r#"{"errors": [{"message": "", "extensions": {"code": "THROTTLED", "retryAfterMs": 20}}]}"#;
        assert_eq!(throttled(&parse(throttling)), Some(Duration::from_millis(20)));
    }
}
