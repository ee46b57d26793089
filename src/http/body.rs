//! Reads request bodies whole, within a size limit, a time limit and the memory budget.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time;

use crate::http::api_error::ApiError;
use crate::http::connection::{InFlightRequest, Phase};
use crate::http::options::Options;
use crate::http::request_error::RequestError;
use crate::http::service_error::ServiceError;

/// Fails if the declared length is above the limit, before a byte of the body is read.
pub(crate) fn check_length(body: &Incoming, options: &Options) -> Result<(), RequestError> {
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > options.body_limit {
        return Err(RequestError::BodyTooLarge { limit: options.body_limit });
    }
    Ok(())
}

/// Reads the body.
pub(crate) async fn read(
    body: Incoming,
    in_flight: &mut InFlightRequest,
    options: &Options,
) -> Result<Bytes, ApiError> {
    in_flight.progress(Phase::Receiving);
    match time::timeout(options.body_timeout, collect(body, in_flight, options.body_limit)).await {
        Ok(result) => {
            in_flight.progress(Phase::Serving);
            result
        }
        Err(_) => Err(RequestError::BodyTimeout { timeout: options.body_timeout }.into()),
    }
}

async fn collect(mut body: Incoming, in_flight: &mut InFlightRequest, limit: usize) -> Result<Bytes, ApiError> {
    let mut first = Bytes::new();
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        in_flight.progress(Phase::Receiving);
        // Trailers are ignored.
        let Ok(part) = frame.map_err(RequestError::IncompleteBody)?.into_data() else { continue };
        let length = first.len() + whole.len() + part.len();
        in_flight.received = length as u64;
        if length > limit {
            return Err(RequestError::BodyTooLarge { limit }.into());
        }
        // Most bodies arrive in one part, which then is not copied.
        if first.is_empty() && whole.is_empty() {
            in_flight.reserve(part.len()).map_err(ServiceError::from)?;
            first = part;
            continue;
        }
        if length > whole.capacity() {
            let capacity = whole.capacity().saturating_mul(2).clamp(length, limit);
            in_flight.reserve(capacity - whole.capacity()).map_err(ServiceError::from)?;
            whole.reserve_exact(capacity - whole.len());
        }
        whole.extend_from_slice(&std::mem::take(&mut first));
        whole.extend_from_slice(&part);
    }
    Ok(if whole.is_empty() { first } else { whole.into() })
}
