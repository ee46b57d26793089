//! `GET /metrics`: all metrics, for Prometheus.

use hyper::HeaderMap;
use hyper::header::{self, HeaderValue};

use crate::api::errors::service_error::ServiceError;
use crate::api::operators::state_metrics::exposition;
use crate::api::service::Service;
use crate::http::quality::{Quality, elements, parameters};
use crate::http::response::HttpResponse;
use crate::telemetry::metrics::exposition::ExpositionFormat;

/// Responds with what the metrics read now, in the format that the client prefers.
pub(crate) fn respond(service: &Service, headers: &HeaderMap, request_id: &str) -> Result<HttpResponse, ServiceError> {
    let format = preferred(headers);
    let text = exposition(service, format).map_err(|error| ServiceError::internal(request_id, error))?;
    let mut response = HttpResponse::new(bytes::Bytes::from(text).into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(format.content_type()));
    Ok(response)
}

/// The newer format, unless the client prefers the older one. Monitoring must not fail for a wish: there is no 406.
fn preferred(headers: &HeaderMap) -> ExpositionFormat {
    let (older, newer) = (quality(headers, "text", "plain"), quality(headers, "application", "openmetrics-text"));
    if older > newer { ExpositionFormat::Prometheus } else { ExpositionFormat::OpenMetrics }
}

/// The quality of a media type in `Accept`: the quality of the most specific range that includes it.
fn quality(headers: &HeaderMap, kind: &str, subtype: &str) -> Option<Quality> {
    let values = headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    let ranges = values.flat_map(elements).filter_map(|element| {
        let (range, mut parameters) = parameters(element);
        let (range_kind, range_subtype) = range.split_once('/')?;
        let is = |name: &str, wanted: &str| name.eq_ignore_ascii_case(wanted);
        let specificity = match (range_kind, range_subtype) {
            ("*", "*") => 0,
            (found, "*") if is(found, kind) => 1,
            (found, name) if is(found, kind) && is(name, subtype) => 2,
            _ => return None,
        };
        let weight = parameters.find(|(name, _)| name.eq_ignore_ascii_case("q"));
        let quality = weight.map_or(Some(Quality::MAX), |(_, value)| Quality::parse(value?))?;
        Some((specificity, quality))
    });
    ranges.max().map(|(_, quality)| quality)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_the_one_that_accept_prefers() {
        for (accept, format) in [
            (None, ExpositionFormat::OpenMetrics),
            (Some("*/*"), ExpositionFormat::OpenMetrics),
            (Some("text/plain"), ExpositionFormat::Prometheus),
            (Some("Text/Plain;version=0.0.4"), ExpositionFormat::Prometheus),
            (Some("text/*, */*;q=0.1"), ExpositionFormat::Prometheus),
            (Some("text/html"), ExpositionFormat::OpenMetrics),
            (
                Some("application/openmetrics-text;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"),
                ExpositionFormat::OpenMetrics,
            ),
            (
                Some("application/openmetrics-text;q=0.2,text/plain;version=0.0.4;q=0.3,*/*;q=0.1"),
                ExpositionFormat::Prometheus,
            ),
            (Some("application/openmetrics-text;q=0, */*"), ExpositionFormat::Prometheus),
        ] {
            let headers = accept.map(|accept| (header::ACCEPT, HeaderValue::from_static(accept))).into_iter().collect();
            assert_eq!(preferred(&headers), format, "{accept:?}");
        }
    }
}
