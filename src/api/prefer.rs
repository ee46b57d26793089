//! `Prefer: wait` (RFC 7240): how long a client wants its request to wait rather than be refused.

use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use crate::api::errors::api_error::ApiError;
use crate::http::quality::{elements, parameters};
use crate::http::response::HttpResponse;

pub(crate) const PREFER: HeaderName = HeaderName::from_static("prefer");

/// Tells the client that its request would have waited, or has: `Preference-Applied`.
pub(crate) fn report_wait(response: Result<HttpResponse, ApiError>) -> Result<HttpResponse, ApiError> {
    let (name, value) = (HeaderName::from_static("preference-applied"), HeaderValue::from_static("wait"));
    match response {
        Ok(mut response) => {
            response.headers_mut().insert(name, value);
            Ok(response)
        }
        Err(error) => Err(error.with_header(name, value)),
    }
}

/// The preference for waiting, in seconds. The first one counts. One that cannot be understood is ignored, as all unknown
/// preferences are.
pub(crate) fn wait(headers: &HeaderMap) -> Option<Duration> {
    let values = headers.get_all(PREFER).into_iter().filter_map(|value| value.to_str().ok());
    let mut preferences = values.flat_map(elements).map(|element| parameters(element).0);
    let value = preferences.find_map(|preference| {
        let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
        name.trim_end().eq_ignore_ascii_case("wait").then(|| value.trim().trim_matches('"'))
    })?;
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Duration::from_secs(value.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_first_preference_for_waiting_and_ignores_malformed_ones() {
        let wait_of = |values: &[&str]| {
            let headers = values.iter().map(|value| ("prefer".parse().unwrap(), value.parse().unwrap())).collect();
            wait(&headers).map(|time| time.as_secs())
        };
        for (values, expected) in [
            (&["wait=10"][..], Some(10)),
            (&["respond-async, WAIT = 10 ; x=y"], Some(10)),
            (&["return=minimal; wait=3", "wait=\"7\""], Some(7)),
            (&["wait=0, wait=5"], Some(0)),
            (&["wait=99999999999999999999"], Some(u64::MAX)),
            (&["wait=-1"], None),
            (&["wait=1.5, wait=2"], None),
            (&["wait", "waiting=3", "x=\"wait=4\""], None),
            (&[], None),
        ] {
            assert_eq!(wait_of(values), expected, "{values:?}");
        }
    }
}
