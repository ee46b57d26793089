//! The console: its page, which `GET` on the GraphQL endpoint returns to browsers, and the files that the page loads.
//!
//! Neither needs a token. The page can do nothing before somebody signs in, and its content is public.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode};

use crate::api::console::{self, ConsolePage};
use crate::api::errors::api_error::ApiError;
use crate::api::errors::endpoint_error::EndpointError;
use crate::api::errors::service_error::ServiceError;
use crate::api::negotiate;
use crate::api::request_context::RequestContext;
use crate::api::route::{Route, has_console};
use crate::api::service::Service;
use crate::http::coding::{self, Choice, Coding, Codings};
use crate::http::response::entity_tag;
use crate::http::response::{HttpResponse, add_vary, empty_response};

/// How long a client may have to wait for a file that has to be compressed first.
const COMPRESSING: Duration = Duration::from_secs(10);

/// A request of a page belongs to no caller, because nobody has signed in.
const VISITOR: &str = "visitor";

/// Which headers every response of the console has. Its scripts are its own files, and its requests go where it came from. The
/// editor writes styles into the page, and its icons are a font within the style sheet.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; \
             img-src 'self' data:; font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

/// The codings of the files. The setting `compression` saves the server the work of compressing, and here is none.
static CODINGS: LazyLock<Codings> = LazyLock::new(|| Codings::of([Coding::Brotli, Coding::Gzip]));

/// The page, if the client asks for it and the listener has it.
pub(crate) fn page(context: &RequestContext) -> Option<HttpResponse> {
    let RequestContext { service, listener, head, .. } = context;
    let reads = head.method == Method::GET || head.method == Method::HEAD;
    if !reads || !has_console(*listener, service.options.console) || !negotiate::prefers_page(&head.headers) {
        return None;
    }
    let ConsolePage { text, tag } = console::PAGE?;
    if head.uri.path().ends_with('/') {
        // Names in the page are relative to the path without the slash.
        return Some(redirect("../graphql"));
    }
    let mut response = if entity_tag::is_known(&head.headers, tag) {
        empty_response(StatusCode::NOT_MODIFIED)
    } else {
        let mut response = HttpResponse::new(bytes::Bytes::from_static(text.as_bytes()).into());
        let media = HeaderValue::from_static("text/html; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, media);
        response
    };
    let headers = response.headers_mut();
    headers.extend(HEADERS);
    headers.insert(header::ETAG, HeaderValue::from_static(tag));
    // Another version may be deployed at any moment, whose files have other names.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    add_vary(headers, HeaderValue::from_static("Accept"));
    Some(response)
}

/// Leads to the page.
pub(crate) fn redirect(location: &'static str) -> HttpResponse {
    let mut response = empty_response(StatusCode::FOUND);
    let headers = response.headers_mut();
    // Relative, for proxies that serve the server below a path of theirs.
    headers.insert(header::LOCATION, HeaderValue::from_static(location));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Responds with a file.
pub(crate) async fn respond(service: &Service, path: &str, headers: &HeaderMap) -> Result<HttpResponse, ApiError> {
    let name = path.strip_prefix(Route::Console.path()).unwrap_or_default();
    let asset = console::asset(name).ok_or(EndpointError::NotFound)?;
    let coding = match coding::accepted(headers, &CODINGS)? {
        Choice::Identity => None,
        Choice::Preferred(coding) | Choice::Only(coding) => Some(coding),
    };
    // The name has a hash of the content, so the content under a name never changes.
    let tag = format!("W/\"{name}\"");
    let is_known = entity_tag::is_known(headers, &format!("\"{name}\""));
    let mut response = if is_known {
        empty_response(StatusCode::NOT_MODIFIED)
    } else {
        let content = match asset.ready(coding) {
            Some(content) => content,
            None => service
                .cpu_tasks
                .run(&Arc::from(VISITOR), COMPRESSING, move || asset.content(coding))
                .await?
                .map_err(|error| ServiceError::Unavailable(error.into()))?,
        };
        HttpResponse::new(content.into())
    };
    let headers = response.headers_mut();
    headers.extend(HEADERS);
    if !is_known {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.media));
        if let Some(coding) = coding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
        }
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    add_vary(headers, HeaderValue::from_static("Accept-Encoding"));
    Ok(response)
}
