//! Requests that wait to run as one execution with others of the same text, because every shared connection has enough on its way.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use tokio::sync::{Notify, oneshot};
use tokio_postgres::Row;
use tokio_postgres::types::{IsNull, ToSql, Type};

use crate::database::connection::batch_text::is_array;
use crate::database::error::DatabaseError;
use crate::database::metrics::{BATCHED, BATCHES};
use crate::database::parameter::BinaryParameter;

/// The most requests that one execution serves.
pub(crate) const MAX_MEMBERS: usize = 32;

/// The most rows that one execution examines: what comes after it on its connection waits for it.
const MAX_EXAMINED: u64 = 4000;

/// The requests that wait until a connection has room for an execution. There is one queue for all shared connections of a pool. Their
/// set, each connection and each waiting request hold the queue, and it lives as long as the last of them. A request that waits while the
/// pool is dropped fails after its longest wait.
#[derive(Debug, Default)]
pub(super) struct BatchQueue {
    /// In the order of their arrival. A request stays until the task that runs executions takes it, or finds that its client has gone.
    /// The length has no bound here: each request has a place among its caller's running queries, which are bounded.
    requests: Mutex<VecDeque<BatchedRequest>>,
    /// How many requests wait, written under the lock. Each end of a statement reads it, mostly to find that nothing waits: it must not
    /// take the lock for that.
    length: AtomicUsize,
    /// Notified when a request was added, and when an execution has ended. Only the task that runs executions waits for it.
    changed: Notify,
}

/// A text that is prepared on shared connections.
#[derive(Debug, Clone)]
pub(super) struct PreparedText {
    /// A hash of `sql`, by which the text is found. Two texts can have the same hash, so `sql` is compared, too.
    pub(super) key: u64,
    /// Shared with the connections that have prepared it. A waiting request keeps it if they close the statement.
    pub(super) sql: Arc<str>,
}

/// A request that waits.
#[derive(Debug)]
pub(super) struct BatchedRequest {
    /// Only requests of the same text share an execution.
    text: PreparedText,
    /// The most rows that its statement examines. An execution takes requests until their sum is too large.
    examined: u64,
    /// The types that its values are encoded for. A statement that was prepared again meanwhile may have others.
    types: Box<[Type]>,
    /// Copies, because the plan that they come from belongs to the request, whose client may leave before the execution ends.
    values: EncodedValues,
    /// The other end is held by the request, and closed when its client has gone.
    reply: oneshot::Sender<BatchReply>,
}

/// The values of a request's parameters in PostgreSQL's binary format; `None` is null.
type EncodedValues = Vec<Option<Bytes>>;

/// The rows of a request's statement, and how many requests its execution served; or why it has to run alone.
pub(super) type BatchReply = Result<(Vec<Row>, usize), DatabaseError>;

/// The requests of one execution, from the moment they leave the queue until they have their rows. All have the same text. Requests
/// whose values are equal, too, are one member.
#[derive(Debug, Default)]
pub(super) struct RequestBatch {
    members: Vec<BatchMember>,
    /// How many requests all members have.
    requests: usize,
    /// The most rows that all members examine together, up to a bound: statements that are sent later on the connection wait for them.
    examined: u64,
}

/// Requests with the same values: PostgreSQL finds their rows once.
#[derive(Debug)]
pub(super) struct BatchMember {
    pub(super) values: EncodedValues,
    /// One for each request, at least one.
    replies: Vec<oneshot::Sender<BatchReply>>,
}

impl PartialEq for PreparedText {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.sql == other.sql
    }
}

impl BatchQueue {
    /// Adds a request. Fails if a value cannot be sent as the type of its parameter: run alone, its statement says why.
    pub(super) fn push<'p>(
        &self,
        (text, examined): (PreparedText, u64),
        types: &[Type],
        parameters: impl Iterator<Item = BinaryParameter<'p>>,
    ) -> Result<oneshot::Receiver<BatchReply>, DatabaseError> {
        let mut buffer = BytesMut::new();
        let values = parameters.zip(types).map(|(parameter, ty)| match parameter.to_sql(ty, &mut buffer) {
            Ok(IsNull::No) => Ok(Some(buffer.split().freeze())),
            Ok(IsNull::Yes) => Ok(None),
            Err(_) => Err(DatabaseError::Batch),
        });
        let values = values.collect::<Result<_, _>>()?;
        let (reply, rows) = oneshot::channel();
        self.change(|requests| {
            requests.push_back(BatchedRequest { text, examined, types: types.into(), values, reply });
        });
        fence(Ordering::SeqCst);
        self.changed.notify_one();
        Ok(rows)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length.load(Ordering::Acquire) == 0
    }

    /// An execution has ended on a shared connection, or one can be used again.
    pub(super) fn wake(&self) {
        // A request that is added meanwhile sees that there is room again, or is seen here.
        fence(Ordering::SeqCst);
        if !self.is_empty() {
            self.changed.notify_one();
        }
    }

    /// Completes when a request was added or an execution has ended since the last time.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Whether a request of the text waits.
    pub(super) fn has(&self, key: u64) -> bool {
        !self.is_empty() && self.change(|requests| requests.iter().any(|request| request.text.key == key))
    }

    /// The text of the request that has waited longest, of those that are still wanted and have none of these texts.
    pub(super) fn first_text(&self, except: &[PreparedText]) -> Option<PreparedText> {
        self.change(|requests| {
            requests.retain(|request| !request.reply.is_closed());
            requests.iter().map(|request| &request.text).find(|text| !except.contains(text)).cloned()
        })
    }

    /// Takes all requests of a text, to fail them.
    pub(super) fn take_all(&self, text: &PreparedText) -> RequestBatch {
        self.take_if(|_, request| request.text == *text)
    }

    /// Takes requests of a text whose values are encoded for these types, up to a number. Parameters that are arrays have the same value in
    /// all of them.
    pub(super) fn take(&self, text: &PreparedText, types: &[Type], most: usize) -> RequestBatch {
        self.take_if(|batch, request| request.text == *text && batch.requests < most && batch.takes(request, types))
    }

    fn take_if(&self, is_taken: impl Fn(&RequestBatch, &BatchedRequest) -> bool) -> RequestBatch {
        let mut batch = RequestBatch::default();
        self.change(|requests| {
            for request in std::mem::take(requests) {
                if is_taken(&batch, &request) {
                    batch.add(request);
                } else {
                    requests.push_back(request);
                }
            }
        });
        batch
    }

    fn change<T>(&self, change: impl FnOnce(&mut VecDeque<BatchedRequest>) -> T) -> T {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut requests);
        self.length.store(requests.len(), Ordering::Release);
        result
    }
}

impl RequestBatch {
    /// The members. The number of a request in a row is one more than its member's index.
    pub(super) fn members(&self) -> &[BatchMember] {
        &self.members
    }

    /// Gives each member's requests their rows.
    pub(super) fn reply(self, rows: Vec<Vec<Row>>) {
        if self.requests > 1 {
            BATCHES.of(()).increment();
            BATCHED.of(()).add(self.requests as u64);
        }
        for (member, rows) in self.members.into_iter().zip(rows) {
            let mut replies = member.replies.into_iter();
            let last = replies.next_back();
            // A request that was given up does not want its rows.
            replies.for_each(|reply| drop(reply.send(Ok((rows.clone(), self.requests)))));
            last.map(|reply| reply.send(Ok((rows, self.requests))));
        }
    }

    /// The execution has failed: each request has to run alone. Only one is told why, so that what an error asks for is done once.
    pub(super) fn fail(self, error: DatabaseError) {
        let mut error = Some(error);
        for reply in self.members.into_iter().flat_map(|member| member.replies) {
            // One whose client is gone tells nobody.
            if let Err(Err(unsent)) = reply.send(Err(error.take().unwrap_or(DatabaseError::Batch))) {
                error = Some(unsent);
            }
        }
    }

    fn takes(&self, request: &BatchedRequest, types: &[Type]) -> bool {
        let Some(first) = self.members.first() else { return *request.types == *types };
        let mut arrays = types.iter().enumerate().filter(|(_, ty)| is_array(ty));
        *request.types == *types
            && self.examined.saturating_add(request.examined) <= MAX_EXAMINED
            && arrays.all(|(index, _)| first.values.get(index) == request.values.get(index))
    }

    fn add(&mut self, request: BatchedRequest) {
        self.requests += 1;
        if let Some(member) = self.members.iter_mut().find(|member| member.values == request.values) {
            member.replies.push(request.reply);
        } else {
            self.examined = self.examined.saturating_add(request.examined);
            self.members.push(BatchMember { values: request.values, replies: vec![request.reply] });
        }
    }
}
