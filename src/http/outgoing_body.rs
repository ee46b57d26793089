//! A response's body on its way to the client.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::http::access_log::AccessLogEntry;
use crate::http::connection::{InFlightRequest, Phase};
use crate::http::response::{BoxError, ResponseBody};

/// A response's body on its way to the client. Once it is dropped, the request is over and logged.
#[derive(Debug)]
pub(crate) struct OutgoingBody {
    body: ResponseBody,
    in_flight: InFlightRequest,
    /// Written to the log when it is dropped.
    _entry: AccessLogEntry,
}

impl OutgoingBody {
    /// The body of this request's response.
    pub(crate) fn new(body: ResponseBody, in_flight: InFlightRequest, entry: AccessLogEntry) -> Self {
        Self { body, in_flight, _entry: entry }
    }
}

impl Body for OutgoingBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.in_flight.progress(Phase::Responding);
        let chunk = match &mut self.body {
            ResponseBody::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                (!bytes.is_empty()).then_some(Ok(bytes))
            }
            ResponseBody::Chunks(chunks) => chunks.next(),
        };
        Poll::Ready(chunk.map(|chunk| chunk.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.body, ResponseBody::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            ResponseBody::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            ResponseBody::Chunks(_) => SizeHint::default(),
        }
    }
}
