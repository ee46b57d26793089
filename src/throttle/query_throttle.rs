//! Admits queries: each gets a place among its caller's running queries and is debited, at once or after waiting in its
//! caller's queue for its [`MaxWait`] at most.
//!
//! A query that cannot be served in this time is rejected as soon as that is known: at once, if the credits for it and for the queries
//! before it are restored too late. Waiting queries are woken when they are called, at the time at which their credits are restored, or
//! earlier when credits are put back. Nothing polls.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{self, Instant};

use crate::throttle::bucket::{Claim, InsufficientCredits, Rate, ThrottleStatus};
use crate::throttle::caller_queue::{Demand, Obstacle};
use crate::throttle::queues::{CannotWait, Permit, QueryPlaces, QueueBounds, Queues, Ticket, Turn};
use crate::throttle::rate_limiter::{Debit, DebitError, RateLimiter};

/// The credits and the queues of all callers.
#[derive(Debug)]
pub(crate) struct QueryThrottle {
    limiter: RateLimiter,
    queues: Queues,
}

/// A query with its caller and its demand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SubmittedQuery<'a> {
    /// Who sent it.
    pub(crate) caller: &'a Arc<str>,
    /// The caller's bucket.
    pub(crate) rate: Rate,
    /// How many of the caller's queries may run, and wait.
    pub(crate) places: QueryPlaces,
    /// Its price, and its bytes.
    pub(crate) demand: Demand,
    /// How long it waits.
    pub(crate) max_wait: MaxWait,
}

/// How long a query waits at most, from its arrival on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MaxWait {
    /// For its credits, if it has a place; no longer than for the place.
    pub(crate) credits: Duration,
    /// For a place.
    pub(crate) place: Duration,
}

/// Why a query is not admitted. Nothing was debited.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ThrottleError {
    /// The bucket cannot cover it in time.
    #[error(transparent)]
    Credits(InsufficientCredits),
    /// The caller's other queries leave no place for it in time.
    #[error("as many of the caller's queries are running as may")]
    Place {
        bucket: ThrottleStatus,
        /// The caller's waiting queries.
        waiting: usize,
    },
    /// It would have to wait, and the server is stopping.
    #[error("the server is stopping")]
    Stopping,
    /// The store of credits cannot be reached.
    #[error("the store of credits cannot be reached")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

impl From<DebitError> for ThrottleError {
    fn from(error: DebitError) -> Self {
        match error {
            DebitError::Insufficient(short) => Self::Credits(short),
            DebitError::Unavailable(source) => Self::Unavailable(source),
        }
    }
}

impl MaxWait {
    /// For a place only.
    pub(crate) const fn for_place(time: Duration) -> Self {
        Self { credits: Duration::ZERO, place: time }
    }

    /// For both.
    pub(crate) const fn for_all(time: Duration) -> Self {
        Self { credits: time, place: time }
    }

    /// No longer than this.
    #[must_use]
    pub(crate) fn within(self, limit: Duration) -> Self {
        Self { credits: self.credits.min(limit), place: self.place.min(limit) }
    }

    /// How long it waits for what the obstacle keeps from it.
    fn to_overcome(self, obstacle: Obstacle) -> Duration {
        match obstacle {
            Obstacle::Place => self.place,
            Obstacle::Credits => self.credits,
        }
    }
}

impl QueryThrottle {
    /// Without running and waiting queries.
    pub(crate) fn new(limiter: RateLimiter, bounds: QueueBounds) -> Self {
        Self { limiter, queues: Queues::new(bounds) }
    }

    /// Changes how many queries may wait.
    pub(crate) fn resize(&self, bounds: QueueBounds) {
        self.queues.resize(bounds);
    }

    /// How many queries of all callers wait.
    pub(crate) fn waiting(&self) -> usize {
        self.queues.waiting_in_all()
    }

    /// Buckets that are stored in this process: buckets that were not full lately.
    pub(crate) fn bucket_count(&self) -> usize {
        self.limiter.bucket_count()
    }

    /// Remembers how far the caller has written, for the debits of other servers.
    pub(crate) async fn remember_write(&self, caller: &str, position: u64, time: Duration) {
        self.limiter.remember_write(caller, position, time).await;
    }

    /// Admits a query: its permit, and what was debited.
    pub(crate) async fn admit(&self, query: &SubmittedQuery<'_>) -> Result<(Permit, Debit), ThrottleError> {
        let began = Instant::now();
        let SubmittedQuery { caller, places, demand, max_wait, .. } = query;
        let ticket = match self.queues.start(caller, *places, demand.credits) {
            Ok(permit) => match self.debit(query).await {
                Ok(debit) => return Ok((permit, debit)),
                Err(DebitError::Insufficient(short)) if is_within(&short, max_wait.credits) => {
                    let ticket = self.queues.wait_to_pay(permit, *places, *demand);
                    ticket.map_err(|reason| match reason {
                        CannotWait::Full => ThrottleError::Credits(short),
                        CannotWait::Closed => ThrottleError::Stopping,
                    })?
                }
                Err(error) => return Err(error.into()),
            },
            Err(obstacle) => {
                self.check_wait(query, obstacle)?;
                match self.queues.wait(caller, *places, *demand) {
                    Ok(ticket) => ticket,
                    Err(CannotWait::Full) => return Err(self.refusal(query, obstacle, None)),
                    Err(CannotWait::Closed) => return Err(ThrottleError::Stopping),
                }
            }
        };
        // Boxed, so that the futures of queries that need not wait stay small.
        Box::pin(self.wait(query, ticket, began)).await
    }

    /// Fails if the query would be rejected at once, as far as that is known in this process. Changes nothing.
    pub(crate) fn check(&self, query: &SubmittedQuery<'_>) -> Result<(), ThrottleError> {
        let SubmittedQuery { caller, places, demand, max_wait, .. } = query;
        let Some(obstacle) = self.queues.obstacle(caller, *places, demand.credits) else {
            return match self.known(query, 0) {
                Err(DebitError::Insufficient(short)) if is_within(&short, max_wait.credits) => Ok(()),
                forecast => Ok(forecast.map(drop)?),
            };
        };
        self.check_wait(query, obstacle)?;
        if self.queues.is_full(caller, *places, demand.bytes) {
            return Err(self.refusal(query, obstacle, None));
        }
        Ok(())
    }

    /// The result of a debit now, without a change of the bucket.
    pub(crate) async fn forecast(&self, caller: &str, rate: &Rate, credits: u64) -> Result<ThrottleStatus, DebitError> {
        self.limiter.forecast(caller, rate, credits).await
    }

    /// Puts back the credits of a query that was not executed.
    pub(crate) async fn refund(&self, caller: &str, debit: Debit) {
        self.limiter.refund(caller, debit).await;
        self.queues.credits_were_refunded(caller);
    }

    /// From now on no query waits: queries that would have to wait are rejected.
    pub(crate) fn close(&self) {
        self.queues.close();
    }

    /// Completes when the server is stopping.
    pub(crate) async fn closed(&self) {
        self.queues.closed().await;
    }

    /// Whether the server is stopping.
    pub(crate) fn is_closed(&self) -> bool {
        self.queues.is_closed()
    }

    async fn wait(
        &self,
        query: &SubmittedQuery<'_>,
        ticket: Ticket,
        began: Instant,
    ) -> Result<(Permit, Debit), ThrottleError> {
        let MaxWait { credits: for_credits, place: for_place } = query.max_wait;
        loop {
            // Before the bucket's clock is read, so that credits that are restored just in time count as such.
            let elapsed = began.elapsed();
            let wake = match ticket.turn() {
                Turn::Closed => return Err(ThrottleError::Stopping),
                Turn::Waiting => began + for_place,
                Turn::Called => match self.debit(query).await {
                    Ok(debit) => return Ok((ticket.admit(), debit)),
                    Err(DebitError::Insufficient(short)) => match short.retry_after {
                        Some(wait) if wait <= for_credits.saturating_sub(elapsed) => Instant::now() + wait,
                        _ => return Err(ThrottleError::Credits(short)),
                    },
                    Err(error) => return Err(error.into()),
                },
            };
            let is_late = time::timeout_at(wake, ticket.changed()).await.is_err();
            if is_late && ticket.turn() == Turn::Waiting {
                let SubmittedQuery { caller, places, demand, .. } = query;
                let obstacle = self.queues.obstacle(caller, *places, demand.credits).unwrap_or(Obstacle::Place);
                return Err(self.refusal(query, obstacle, Some(&ticket)));
            }
        }
    }

    /// Fails if the query cannot overcome the obstacle in its time, as far as that is known: it is known when its credits and the credits
    /// of the queries before it are restored at the earliest.
    fn check_wait(&self, query: &SubmittedQuery<'_>, obstacle: Obstacle) -> Result<(), ThrottleError> {
        let max_wait = query.max_wait.to_overcome(obstacle);
        if max_wait.is_zero() {
            return Err(self.refusal(query, obstacle, None));
        }
        match self.known(query, self.queues.credits_waiting(query.caller)) {
            Ok(_) => Ok(()),
            Err(DebitError::Insufficient(short)) if is_within(&short, max_wait) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The error of a query that meets the obstacle: one in the queue, or one that would be the last there.
    fn refusal(&self, query: &SubmittedQuery<'_>, obstacle: Obstacle, ticket: Option<&Ticket>) -> ThrottleError {
        let behind = match ticket {
            Some(ticket) => ticket.credits_before(),
            None => self.queues.credits_waiting(query.caller),
        };
        match (obstacle, self.known(query, behind)) {
            (
                Obstacle::Place,
                Err(DebitError::Insufficient(InsufficientCredits { status: bucket, .. })) | Ok(bucket),
            ) => {
                // It is not one of them any more.
                let waiting = self.queues.waiting(query.caller) - usize::from(ticket.is_some());
                ThrottleError::Place { bucket, waiting }
            }
            (_, Err(error)) => error.into(),
            // The credits were restored a moment ago, and the queries before it have not taken them yet.
            (Obstacle::Credits, Ok(status)) => {
                let (credits, retry_after) = (query.demand.credits, Some(Duration::ZERO));
                ThrottleError::Credits(InsufficientCredits { credits, behind, retry_after, status })
            }
        }
    }

    async fn debit(&self, query: &SubmittedQuery<'_>) -> Result<Debit, DebitError> {
        self.limiter.debit(query.caller, &query.rate, query.demand.credits).await
    }

    /// The known state of the bucket, if others take this many credits before. Refusing asks no store: a caller whose queries are refused
    /// may send very many.
    fn known(&self, query: &SubmittedQuery<'_>, behind: u64) -> Result<ThrottleStatus, DebitError> {
        self.limiter.known(query.caller, &query.rate, Claim { behind, credits: query.demand.credits })
    }
}

/// Whether the credits are restored within a time.
fn is_within(short: &InsufficientCredits, time: Duration) -> bool {
    short.retry_after.is_some_and(|wait| wait <= time)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
    use std::time::Instant as StdInstant;

    use futures_util::FutureExt;
    use tokio::task::JoinSet;

    use super::*;

    const HOUR: Duration = Duration::from_hours(1);
    const BOUNDS: QueueBounds = QueueBounds { bytes_per_caller: 1 << 20, requests: 1 << 20, bytes: 1 << 20 };

    /// On a clock that stands still, so that no credits are restored.
    fn throttle() -> QueryThrottle {
        let now = StdInstant::now();
        QueryThrottle::new(RateLimiter::with_clock(move || now), BOUNDS)
    }

    /// A query of a caller whose bucket has 100 credits and gains none.
    fn query(caller: &Arc<str>, credits: u64, max_wait: MaxWait) -> SubmittedQuery<'_> {
        SubmittedQuery {
            caller,
            rate: Rate { capacity: 100, restore_per_second: 0 },
            places: QueryPlaces { running: 2, waiting: 9 },
            demand: Demand { credits, bytes: 1 },
            max_wait,
        }
    }

    /// A query of one whose bucket gains one a second.
    fn slow(caller: &Arc<str>, credits: u64, max_wait: MaxWait) -> SubmittedQuery<'_> {
        SubmittedQuery { rate: Rate { capacity: 100, restore_per_second: 1 }, ..query(caller, credits, max_wait) }
    }

    /// The result at once: `None` if the query waits.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        future.now_or_never()
    }

    fn wait_of(refusal: Option<Result<(Permit, Debit), ThrottleError>>) -> (u64, Option<u64>) {
        match refusal {
            Some(Err(ThrottleError::Credits(short))) => (short.behind, short.retry_after.map(|wait| wait.as_secs())),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_query_that_cannot_be_served_in_time_is_refused_at_once() {
        let (throttle, caller) = (throttle(), "demo".into());
        let (_permit, debit) = throttle.admit(&slow(&caller, 90, MaxWait::for_all(HOUR))).await.unwrap();
        assert_eq!(debit.bucket.currently_available, 10);
        // 20 credits are missing: 20 seconds.
        let max_wait = |seconds| MaxWait::for_all(Duration::from_secs(seconds));
        assert_eq!(wait_of(now(throttle.admit(&slow(&caller, 30, max_wait(19))))), (0, Some(20)));
        assert_eq!(wait_of(now(throttle.admit(&query(&caller, 30, max_wait(1000))))), (0, None), "never restored");
        assert!(throttle.check(&slow(&caller, 30, max_wait(19))).is_err());
        assert!(throttle.check(&slow(&caller, 30, max_wait(20))).is_ok());
        let first = slow(&caller, 30, max_wait(30));
        let mut first = Box::pin(throttle.admit(&first));
        assert!(now(first.as_mut()).is_none());
        // The queries before it count, also where the bucket holds enough for the query alone.
        assert_eq!(wait_of(now(throttle.admit(&slow(&caller, 5, max_wait(24))))), (30, Some(25)));
        assert_eq!(wait_of(now(throttle.admit(&slow(&caller, 5, MaxWait::for_place(HOUR))))), (30, Some(25)));
        assert!(now(throttle.admit(&slow(&caller, 5, max_wait(35)))).is_none());
        // Nothing is debited by all that.
        let rate = slow(&caller, 0, max_wait(0)).rate;
        assert_eq!(throttle.forecast("demo", &rate, 0).await.unwrap().currently_available, 10);
    }

    #[tokio::test]
    async fn a_query_waits_for_a_place_but_not_for_credits_unless_it_wants_to() {
        let (throttle, caller) = (throttle(), "demo".into());
        let for_place = MaxWait::for_place(HOUR);
        let (one, _) = throttle.admit(&query(&caller, 40, for_place)).await.unwrap();
        let (two, _) = throttle.admit(&query(&caller, 40, for_place)).await.unwrap();
        let without_waiting = now(throttle.admit(&query(&caller, 10, MaxWait::for_all(Duration::ZERO)))).unwrap();
        assert!(
            matches!(without_waiting, Err(ThrottleError::Place { bucket, waiting: 0 }) if bucket.currently_available == 20)
        );
        let waits = query(&caller, 15, for_place);
        let mut waits = Box::pin(throttle.admit(&waits));
        assert!(now(waits.as_mut()).is_none());
        // It costs more than the queries before it leave, which will never change.
        assert_eq!(wait_of(now(throttle.admit(&query(&caller, 10, for_place)))), (15, None));
        // A short wait for a place ends in an error that names the reason.
        let brief = throttle.admit(&query(&caller, 5, MaxWait::for_place(Duration::from_millis(1)))).await;
        assert!(matches!(brief, Err(ThrottleError::Place { waiting: 1, .. })), "{brief:?}");
        drop(one);
        let (permit, debit) = waits.await.unwrap();
        assert_eq!(debit.bucket.currently_available, 5);
        drop((two, permit));
        assert!(throttle.admit(&query(&caller, 5, for_place)).await.is_ok());
    }

    #[tokio::test]
    async fn credits_that_are_put_back_admit_those_that_wait_in_their_order() {
        let (throttle, caller) = (throttle(), "demo".into());
        let max_wait = MaxWait::for_all(HOUR);
        let (_permit, _) = throttle.admit(&slow(&caller, 0, max_wait)).await.unwrap();
        let mut debits = Vec::new();
        for credits in [20, 30, 50] {
            debits.push(throttle.debit(&slow(&caller, credits, max_wait)).await.unwrap());
        }
        let mut refund = || now(throttle.refund("demo", debits.pop().unwrap())).unwrap();
        let queries = [slow(&caller, 60, max_wait), slow(&caller, 40, max_wait), slow(&caller, 1, max_wait)];
        let [mut first, mut second, mut third] = queries.each_ref().map(|query| Box::pin(throttle.admit(query)));
        for waiting in [&mut first, &mut second, &mut third] {
            assert!(now(waiting.as_mut()).is_none());
        }
        refund();
        assert!(now(second.as_mut()).is_none(), "although the bucket holds enough for it");
        assert!(now(first.as_mut()).is_none());
        refund();
        let (first, debit) = now(first.as_mut()).unwrap().unwrap();
        assert_eq!(debit.bucket.currently_available, 20);
        refund();
        assert!(now(third.as_mut()).is_none());
        assert!(now(second.as_mut()).is_none(), "both places are taken");
        drop(first);
        let (_second, _) = now(second.as_mut()).unwrap().unwrap();
        throttle.close();
        assert!(matches!(now(third.as_mut()), Some(Err(ThrottleError::Stopping))));
        assert!(matches!(now(throttle.admit(&slow(&caller, 40, max_wait))), Some(Err(ThrottleError::Stopping))));
    }

    #[tokio::test]
    async fn a_query_is_woken_when_its_credits_are_restored() {
        let (throttle, caller) = (QueryThrottle::new(RateLimiter::in_memory(), BOUNDS), "demo".into());
        let fast = Rate { capacity: 100, restore_per_second: 10_000 };
        for credits in [100, 100, 50, 100] {
            let query = SubmittedQuery { rate: fast, ..query(&caller, credits, MaxWait::for_all(HOUR)) };
            assert!(throttle.admit(&query).await.unwrap().1.bucket.currently_available <= 100 - credits + 50);
        }
    }

    #[tokio::test]
    async fn one_callers_queue_does_not_delay_another_caller() {
        let (throttle, busy, calm) = (throttle(), "busy".into(), "calm".into());
        let max_wait = MaxWait::for_all(HOUR);
        let _permit = throttle.admit(&slow(&busy, 100, max_wait)).await.unwrap();
        let queries: Vec<_> = (0..9).map(|_| slow(&busy, 1, max_wait)).collect();
        let mut waiting: Vec<_> = queries.iter().map(|query| Box::pin(throttle.admit(query))).collect();
        assert!(waiting.iter_mut().all(|waiting| now(waiting.as_mut()).is_none()));
        assert!(now(throttle.admit(&slow(&busy, 1, max_wait))).is_some(), "the queue is full");
        assert!(now(throttle.admit(&slow(&calm, 100, MaxWait::for_place(HOUR)))).unwrap().is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn tasks_on_many_threads_are_all_admitted_and_never_above_their_credits() {
        const TASKS: u64 = 16;
        const EACH: u64 = 50;
        let throttle = Arc::new(QueryThrottle::new(RateLimiter::in_memory(), BOUNDS));
        let rate = Rate { capacity: 100, restore_per_second: 50_000 };
        let (running, spent, start) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU64::new(0)), StdInstant::now());
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            let (throttle, running, spent) = (Arc::clone(&throttle), Arc::clone(&running), Arc::clone(&spent));
            tasks.spawn(async move {
                let caller = "demo".into();
                for number in 0..EACH {
                    let credits = 1 + (task * 31 + number * 17) % 40;
                    let demand = Demand { credits, bytes: 1 };
                    let places = QueryPlaces { running: 3, waiting: 64 };
                    let max_wait = MaxWait::for_all(HOUR);
                    let query = SubmittedQuery { caller: &caller, rate, places, demand, max_wait };
                    if (task + number) % 7 == 0 {
                        // A client that hangs up while it waits.
                        drop(throttle.admit(&query).now_or_never());
                    }
                    let (permit, debit) = throttle.admit(&query).await.unwrap();
                    assert!(running.fetch_add(1, Ordering::SeqCst) < 3);
                    spent.fetch_add(credits, Ordering::SeqCst);
                    if number % 5 == 0 {
                        throttle.refund(&caller, debit).await;
                        spent.fetch_sub(credits, Ordering::SeqCst);
                    }
                    running.fetch_sub(1, Ordering::SeqCst);
                    drop(permit);
                }
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
        let restored = start.elapsed().as_nanos() * u128::from(rate.restore_per_second) / 1_000_000_000;
        let spent = u128::from(spent.load(Ordering::SeqCst));
        assert!(spent <= u128::from(rate.capacity) + restored, "{spent} credits in the time for {restored}");
    }
}
