//! Reads request bodies whole, within a size limit and a time limit.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time;

use crate::http::connection::{InFlightRequest, Phase};
use crate::http::options::Options;
use crate::http::request_error::RequestError;

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
) -> Result<Bytes, RequestError> {
    in_flight.progress(Phase::Receiving);
    match time::timeout(options.body_timeout, collect(body, in_flight, options.body_limit)).await {
        Ok(result) => {
            in_flight.progress(Phase::Serving);
            result
        }
        Err(_) => Err(RequestError::BodyTimeout { timeout: options.body_timeout }),
    }
}

async fn collect(mut body: Incoming, in_flight: &mut InFlightRequest, limit: usize) -> Result<Bytes, RequestError> {
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        in_flight.progress(Phase::Receiving);
        // Trailers are ignored.
        let Ok(part) = frame.map_err(RequestError::IncompleteBody)?.into_data() else { continue };
        if first.len() + whole.len() + part.len() > limit {
            return Err(RequestError::BodyTooLarge { limit });
        }
        // Most bodies arrive in one part, which then is not copied.
        if first.is_empty() && whole.is_empty() {
            first = part;
        } else {
            whole.extend_from_slice(&std::mem::take(&mut first));
            whole.extend_from_slice(&part);
        }
    }
    Ok(if whole.is_empty() { first } else { whole.freeze() })
}
