//! A response's body on its way to the client.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};

use crate::http::access_log::AccessLogEntry;
use crate::http::connection::{InFlightRequest, Phase};
use crate::http::response::{BoxError, ResponseBody};

/// A response's body on its way to the client. Once it and its parts are dropped, the request is over and logged.
#[derive(Debug)]
pub(crate) struct OutgoingBody {
    body: ResponseBody,
    delivery: Arc<Delivery>,
}

/// A part of a body. hyper drops it when its last byte was handed to the system. Until then it may be waiting for an HTTP/2
/// client to read, in memory.
#[derive(Debug)]
pub(crate) struct OutgoingPart {
    bytes: Bytes,
    delivery: Arc<Delivery>,
}

/// What lasts as long as a response is in memory.
#[derive(Debug)]
struct Delivery {
    in_flight: InFlightRequest,
    /// Written to the log when it is dropped.
    _entry: AccessLogEntry,
}

impl OutgoingBody {
    /// The body of this request's response.
    pub(crate) fn new(body: ResponseBody, in_flight: InFlightRequest, entry: AccessLogEntry) -> Self {
        Self { body, delivery: Arc::new(Delivery { in_flight, _entry: entry }) }
    }
}

impl Body for OutgoingBody {
    type Data = OutgoingPart;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<OutgoingPart>, BoxError>>> {
        self.delivery.in_flight.progress(Phase::Responding);
        let part = match &mut self.body {
            ResponseBody::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                (!bytes.is_empty()).then_some(Ok(bytes))
            }
            ResponseBody::Chunks(chunks) => chunks.next(),
        };
        let delivery = &self.delivery;
        let part = part.map(|part| part.map(|bytes| OutgoingPart { bytes, delivery: Arc::clone(delivery) }));
        Poll::Ready(part.map(|part| part.map(Frame::data)))
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

impl Buf for OutgoingPart {
    fn remaining(&self) -> usize {
        self.bytes.len()
    }

    fn chunk(&self) -> &[u8] {
        &self.bytes
    }

    /// The client took bytes.
    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        self.delivery.in_flight.progress(Phase::Responding);
    }
}
