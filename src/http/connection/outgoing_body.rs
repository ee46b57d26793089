//! A response's body on its way to the client.

use std::fmt::Debug;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};

use crate::http::connection::{InFlightRequest, Phase};
use crate::http::response::{BoxError, ResponseBody};

/// A record that lasts until a response is delivered or given up.
pub(crate) trait DeliveryRecord: Debug + Send + Sync + 'static {
    /// The response is delivered, or broken off, after this many bytes of the two bodies.
    fn end(&mut self, received: u64, sent: u64, is_complete: bool);
}

/// A response's body on its way to the client. Once it and its parts are dropped, the request is over.
#[derive(Debug)]
pub(crate) struct OutgoingBody<R: DeliveryRecord> {
    body: ResponseBody,
    /// Whether a part was made, and others have their turn on the thread before the next one.
    must_yield: bool,
    delivery: Arc<Delivery<R>>,
}

/// A part of a body. hyper drops it when its last byte was handed to the system. Until then it may be waiting for an HTTP/2
/// client to read, in memory.
#[derive(Debug)]
pub(crate) struct OutgoingPart<R: DeliveryRecord> {
    bytes: Bytes,
    delivery: Arc<Delivery<R>>,
}

/// The state that lasts as long as a response is in memory.
#[derive(Debug)]
struct Delivery<R: DeliveryRecord> {
    in_flight: InFlightRequest,
    /// Parts that the client has not taken yet.
    unsent: AtomicUsize,
    /// Whether the next part is still being made.
    is_waiting: AtomicBool,
    /// Whether all parts were made.
    is_ended: AtomicBool,
    /// Bytes of the parts that were made, and of the parts that the connection took.
    made: AtomicU64,
    taken: AtomicU64,
    record: R,
}

impl<R: DeliveryRecord> Drop for Delivery<R> {
    fn drop(&mut self) {
        let taken = *self.taken.get_mut();
        let is_complete = *self.is_ended.get_mut() && *self.made.get_mut() == taken;
        if !is_complete {
            self.in_flight.break_off();
        }
        self.record.end(self.in_flight.received, taken, is_complete);
    }
}

impl<R: DeliveryRecord> OutgoingBody<R> {
    /// The body of this request's response.
    pub(crate) fn new(body: ResponseBody, in_flight: InFlightRequest, record: R) -> Self {
        Self {
            body,
            must_yield: false,
            delivery: Arc::new(Delivery {
                in_flight,
                unsent: AtomicUsize::new(0),
                is_waiting: AtomicBool::new(false),
                // The parts of a response to HEAD are not read.
                is_ended: AtomicBool::new(true),
                made: AtomicU64::new(0),
                taken: AtomicU64::new(0),
                record,
            }),
        }
    }
}

impl<R: DeliveryRecord> OutgoingBody<R> {
    /// Has the next part polled for after the other tasks of the thread: a client that reads as fast as parts are made would keep
    /// them waiting until the response's end.
    fn yield_now(&self, context: &Context<'_>) {
        context.waker().wake_by_ref();
        self.delivery.begin_waiting();
    }
}

impl<R: DeliveryRecord> Delivery<R> {
    /// The next part is still being made.
    fn begin_waiting(&self) {
        self.is_waiting.store(true, Ordering::Release);
        self.check_waiting();
    }

    /// The client has nothing left to take, and the server has nothing for it yet: nothing is waited for.
    fn check_waiting(&self) {
        if self.is_waiting.load(Ordering::Acquire) && self.unsent.load(Ordering::Acquire) == 0 {
            self.in_flight.progress(Phase::Serving);
        }
    }
}

impl<R: DeliveryRecord> Body for OutgoingBody<R> {
    type Data = OutgoingPart<R>;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<OutgoingPart<R>>, BoxError>>> {
        if mem::take(&mut self.must_yield) {
            self.yield_now(context);
            return Poll::Pending;
        }
        let part = match &mut self.body {
            ResponseBody::Whole(bytes) => {
                let bytes = mem::take(bytes);
                (!bytes.is_empty()).then_some(Ok(bytes))
            }
            ResponseBody::Chunks(chunks) => chunks.next(),
            ResponseBody::Stream(stream) => match stream.as_mut().poll_next(context) {
                Poll::Ready(part) => part,
                Poll::Pending => {
                    self.delivery.is_ended.store(false, Ordering::Relaxed);
                    self.delivery.begin_waiting();
                    return Poll::Pending;
                }
            },
        };
        // An encoder may have taken a piece and written nothing yet.
        if matches!(&part, Some(Ok(bytes)) if bytes.is_empty()) {
            self.yield_now(context);
            return Poll::Pending;
        }
        let is_whole = matches!(self.body, ResponseBody::Whole(_));
        self.must_yield = !is_whole;
        let delivery = &self.delivery;
        delivery.is_waiting.store(false, Ordering::Release);
        delivery.in_flight.progress(Phase::Responding);
        delivery.is_ended.store(is_whole || part.is_none(), Ordering::Relaxed);
        let part = part.map(|part| {
            part.map(|bytes| {
                delivery.made.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                delivery.unsent.fetch_add(1, Ordering::AcqRel);
                OutgoingPart { bytes, delivery: Arc::clone(delivery) }
            })
        });
        Poll::Ready(part.map(|part| part.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.body, ResponseBody::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            ResponseBody::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            ResponseBody::Chunks(_) | ResponseBody::Stream(_) => SizeHint::default(),
        }
    }
}

impl<R: DeliveryRecord> Buf for OutgoingPart<R> {
    fn remaining(&self) -> usize {
        self.bytes.len()
    }

    fn chunk(&self) -> &[u8] {
        &self.bytes
    }

    /// The client took bytes.
    fn advance(&mut self, count: usize) {
        self.delivery.taken.fetch_add(count as u64, Ordering::Relaxed);
        self.bytes.advance(count);
        self.delivery.in_flight.progress(Phase::Responding);
    }
}

impl<R: DeliveryRecord> Drop for OutgoingPart<R> {
    fn drop(&mut self) {
        self.delivery.unsent.fetch_sub(1, Ordering::AcqRel);
        self.delivery.check_waiting();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::task::noop_waker;

    use super::*;
    use crate::http::connection::{Connection, ConnectionWait};
    use crate::http::memory_budget::MemoryBudget;

    #[derive(Debug)]
    struct NoRecord;

    impl DeliveryRecord for NoRecord {
        fn end(&mut self, _: u64, _: u64, _: bool) {}
    }

    /// A part, unless the thread is left to other tasks first.
    fn poll(body: &mut OutgoingBody<NoRecord>) -> Poll<Option<OutgoingPart<NoRecord>>> {
        let part = Pin::new(body).poll_frame(&mut Context::from_waker(&noop_waker()));
        part.map(|part| part.map(|part| part.unwrap().into_data().unwrap()))
    }

    #[test]
    fn other_tasks_have_their_turn_between_parts_and_the_client_is_not_waited_for_meanwhile() {
        let connection = Arc::new(Connection::new(MemoryBudget::new(1 << 20, 1 << 10).connection()));
        let parts = ["first", "", "second"].map(|part| Ok(Bytes::from_static(part.as_bytes())));
        let chunks = ResponseBody::Chunks(Box::new(parts.into_iter()));
        let mut body = OutgoingBody::new(chunks, connection.begin(), NoRecord);
        let Poll::Ready(Some(first)) = poll(&mut body) else { panic!("it is ready") };
        assert_eq!(first.chunk(), b"first");
        assert!(poll(&mut body).is_pending());
        assert!(matches!(connection.waiting(), ConnectionWait::ForReader(_)), "it has not read the first part");
        drop(first);
        assert_eq!(connection.waiting(), ConnectionWait::No);
        assert!(poll(&mut body).is_pending(), "an empty part is not sent");
        assert_eq!(connection.waiting(), ConnectionWait::No);
        let Poll::Ready(Some(second)) = poll(&mut body) else { panic!("it is ready") };
        assert_eq!(second.chunk(), b"second");
        assert!(matches!(connection.waiting(), ConnectionWait::ForReader(_)));
        assert!(poll(&mut body).is_pending());
        assert!(matches!(poll(&mut body), Poll::Ready(None)));
    }
}
