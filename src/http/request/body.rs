//! Reads request bodies whole, within a size limit, a time limit and the memory budget.

use std::future;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http_body_util::BodyExt;
use hyper::Version;
use hyper::body::{Body, Frame, Incoming};
use tokio::time;

use crate::http::connection::{InFlightRequest, Phase};
use crate::http::hyper_io::quiet_waker::quietly;
use crate::http::memory_budget::MemoryExhausted;
use crate::http::options::HttpOptions;
use crate::http::request_error::RequestError;

/// Why a body is not read.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// It is not as it should be.
    Request(RequestError),
    /// There is no memory for it.
    MemoryExhausted,
}

impl From<RequestError> for BodyError {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

impl From<MemoryExhausted> for BodyError {
    fn from(MemoryExhausted: MemoryExhausted) -> Self {
        Self::MemoryExhausted
    }
}

/// Fails if the declared length is above the limit, before a byte of the body is read.
pub(crate) fn check_length(body: &Incoming, options: &HttpOptions) -> Result<(), RequestError> {
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > options.body_limit {
        return Err(RequestError::BodyTooLarge { limit: options.body_limit });
    }
    Ok(())
}

/// Reads the body of a request with this version.
pub(crate) async fn read(
    version: Version,
    body: &mut Incoming,
    in_flight: &mut InFlightRequest,
    options: &HttpOptions,
) -> Result<Bytes, BodyError> {
    let outcome = {
        let mut collecting = pin!(collect(body, in_flight, options.body_limit));
        // Most bodies arrive with their heads, and need no timer.
        if version == Version::HTTP_2 {
            if let Some(result) = collecting.as_mut().now_or_never() {
                return result;
            }
        } else {
            if let Some(result) = quietly(|| collecting.as_mut().now_or_never()) {
                return result;
            }
            // For what it was not woken for.
            future::poll_fn(|context| {
                context.waker().wake_by_ref();
                Poll::Ready(())
            })
            .await;
        }
        time::timeout(options.body_timeout, collecting).await
    };
    match outcome {
        Ok(result) => {
            in_flight.progress(Phase::Serving);
            result
        }
        Err(_) => Err(RequestError::BodyTimeout { timeout: options.body_timeout }.into()),
    }
}

/// How long the rest of a body is waited for, if it is not read.
const DISCARDING: Duration = Duration::from_secs(1);

/// Reads the rest of a body and drops it, before a response over HTTP/2 begins. A response that ends earlier resets its stream, and some
/// clients then report the reset in place of the response. Gives up on bodies that are too large or too slow.
pub(crate) async fn discard(body: &mut Incoming, options: &HttpOptions) {
    if body.is_end_stream() || check_length(body, options).is_err() {
        return;
    }
    let reading = async {
        let mut left = Some(options.body_limit);
        while let Some(allowed) = left {
            let Some(Ok(frame)) = body.frame().await else { break };
            left = frame.into_data().map_or(Some(allowed), |part| allowed.checked_sub(part.len()));
        }
    };
    // The response is sent all the same.
    let _ = time::timeout(DISCARDING, reading).await;
}

/// The next part of the body. The request is one that the client is sending as long as there is none.
async fn next_frame(body: &mut Incoming, in_flight: &InFlightRequest) -> Option<Result<Frame<Bytes>, hyper::Error>> {
    if body.is_end_stream() {
        return None;
    }
    if let Some(frame) = body.frame().now_or_never() {
        return frame;
    }
    in_flight.progress(Phase::Receiving);
    body.frame().await
}

async fn collect(body: &mut Incoming, in_flight: &mut InFlightRequest, limit: usize) -> Result<Bytes, BodyError> {
    let mut first = Bytes::new();
    let mut whole = Vec::new();
    while let Some(frame) = next_frame(body, in_flight).await {
        // Trailers are ignored.
        let Ok(part) = frame.map_err(RequestError::IncompleteBody)?.into_data() else { continue };
        let length = first.len() + whole.len() + part.len();
        in_flight.received = length as u64;
        if length > limit {
            return Err(RequestError::BodyTooLarge { limit }.into());
        }
        // Most bodies arrive in one part, which then is not copied.
        if first.is_empty() && whole.is_empty() {
            in_flight.reserve(part.len())?;
            first = part;
            continue;
        }
        if length > whole.capacity() {
            let capacity = whole.capacity().saturating_mul(2).clamp(length, limit);
            in_flight.reserve(capacity - whole.capacity())?;
            whole.reserve_exact(capacity - whole.len());
        }
        whole.extend_from_slice(&std::mem::take(&mut first));
        whole.extend_from_slice(&part);
    }
    Ok(if whole.is_empty() { first } else { whole.into() })
}
