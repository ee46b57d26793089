//! `GET /rest/s1/graphql/sdl`, and `…/schema.graphql` beside it: the SDL of the schema that this instance serves. With a token it
//! is what the caller sees. Without a token it is the whole schema, or the part without grants if the operator wants that.
//! `descriptions=short` asks for a short form. `sdl_document` is the text as requests need it.

use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use crate::access::grants::Artifact;
use crate::api::credentials;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::endpoint_error::EndpointError;
use crate::api::request_context::RequestContext;
use crate::api::sdl_document::SdlDocument;
use crate::api::service::Service;
use crate::api::views::View;
use crate::http::coding::compress;
use crate::http::coding::{self, Choice, Codings};
use crate::http::request_error::RequestError;
use crate::http::response::entity_tag;
use crate::http::response::{HttpResponse, add_vary, empty_response};

/// Responds with what the caller sees.
pub(crate) async fn respond(context: &mut RequestContext) -> Result<HttpResponse, ApiError> {
    let codings = context.service.http.options.codings.clone();
    let form = form(context.head.uri.query())?;
    let mut response = if credentials::bearer(&context.head.headers).is_some() {
        let caller = context.authorize(Artifact::Graphql)?;
        let view = context.service.views.of(&context.service.cpu_tasks, &caller).await?;
        document(form(&view), &context.head.headers, &codings)?
    } else {
        let Service { views, options, .. } = &*context.service;
        let view = if options.publishes_granted { views.whole() } else { views.public() };
        document(form(view), &context.head.headers, &codings)?
    };
    add_vary(response.headers_mut(), HeaderValue::from_static("Authorization"));
    Ok(response)
}

/// The form of the text that a request's target asks for.
fn form(query: Option<&str>) -> Result<fn(&View) -> &SdlDocument, EndpointError> {
    let parameters = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    match parameters.filter(|(name, _)| name == "descriptions").last().as_ref().map(|(_, value)| &**value) {
        None | Some("full") => Ok(View::sdl),
        Some("short") => Ok(View::short_sdl),
        Some(_) => Err(EndpointError::Descriptions),
    }
}

/// The text, or 304 for a client that has it.
fn document(document: &SdlDocument, headers: &HeaderMap, codings: &Codings) -> Result<HttpResponse, RequestError> {
    let compressed = match coding::accepted(headers, codings)? {
        Choice::Identity => None,
        Choice::Preferred(_) if document.text.len() < compress::MIN_BYTES => None,
        Choice::Preferred(coding) | Choice::Only(coding) => document.compressed(coding).map(|bytes| (bytes, coding)),
    };
    let is_known = entity_tag::is_known(headers, &document.tag);
    let mut response = match compressed {
        _ if is_known => empty_response(StatusCode::NOT_MODIFIED),
        Some((bytes, _)) => HttpResponse::new(bytes.clone().into()),
        None => HttpResponse::new(document.text.clone().into()),
    };
    let headers = response.headers_mut();
    if !is_known {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        if let Some((_, coding)) = compressed {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
    }
    // Clients revalidate each time, which takes a few bytes: a new version may be deployed at any moment.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // The strong tag of the plain text. A compressed text is equivalent, but not equal in bytes.
    let tag = if compressed.is_some() { format!("W/{}", document.tag) } else { document.tag.clone() };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    if !codings.is_empty() {
        add_vary(headers, HeaderValue::from_static("Accept-Encoding"));
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::http::coding::Coding;
    use crate::http::response::ResponseBody;

    fn text(response: &HttpResponse) -> &Bytes {
        let ResponseBody::Whole(text) = response.body() else { panic!("the schema is sent whole") };
        text
    }

    #[test]
    fn responds_with_304_to_a_client_that_has_the_text() {
        let document = SdlDocument::new("type QueryRoot { a: Int }".into());
        let get = |value: &str| {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, value.parse().unwrap())]);
            super::document(&document, &headers, &Codings::parse("on").unwrap()).unwrap()
        };
        let tag = document.tag.as_str();
        for known in [tag.to_owned(), "*".into(), format!("W/{tag}"), format!("\"x\", {tag}")] {
            let response = get(&known);
            assert_eq!(response.status(), StatusCode::NOT_MODIFIED, "{known}");
            assert_eq!(text(&response), "");
            assert_eq!(response.headers()[header::ETAG], tag);
        }
        let response = get("\"x\"");
        assert_eq!((response.status(), text(&response)), (StatusCode::OK, &document.text));
        assert_ne!(SdlDocument::new("type QueryRoot { b: Int }".into()).tag, document.tag);
    }

    #[test]
    fn compresses_the_text_once_under_a_weak_tag() {
        let document = SdlDocument::new("type QueryRoot { a: Int } ".repeat(100));
        let codings = Codings::parse("on").unwrap();
        let get = |accepted: &str, known: &str| {
            let pairs = [(header::ACCEPT_ENCODING, accepted), (header::IF_NONE_MATCH, known)];
            let headers = pairs.map(|(name, value)| (name, value.parse().unwrap())).into_iter().collect();
            super::document(&document, &headers, &codings)
        };
        let weak = format!("W/{}", document.tag);
        for coding in Coding::ALL {
            let first = get(coding.name(), "\"x\"").unwrap();
            assert_eq!(first.headers()[header::CONTENT_ENCODING], coding.name());
            assert_eq!(first.headers()[header::ETAG], weak);
            assert_eq!(first.headers()[header::VARY], "Accept-Encoding");
            assert!(text(&first).len() < document.text.len() / 4);
            let second = get(coding.name(), "\"x\"").unwrap();
            assert_eq!(text(&first).as_ptr(), text(&second).as_ptr());
            let unchanged = get(coding.name(), &weak).unwrap();
            assert_eq!((unchanged.status(), text(&unchanged).len()), (StatusCode::NOT_MODIFIED, 0));
        }
        assert!(matches!(get("identity;q=0", "*"), Err(RequestError::NoAcceptableCoding)));
    }
}
