//! Admits queries: each gets a place among its caller's running queries and is debited, at once or after waiting in its
//! caller's queue for its [`MaxWait`] at most.
//!
//! A query that cannot be served in this time is refused as soon as that is known: at once where the credits that it and
//! those before it need are restored too late. Those that wait are woken when they are called, at the time at which their
//! credits are restored, or earlier when credits are put back. Nothing polls.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{self, Instant};

use crate::throttle::bucket::{InsufficientCredits, Rate, ThrottleStatus};
use crate::throttle::caller_queue::{Demand, Obstacle};
use crate::throttle::queues::{CannotWait, Permit, Places, QueueBounds, Queues, Ticket, Turn};
use crate::throttle::rate_limiter::{Debit, DebitError, RateLimiter};

/// The credits and the lines of all callers.
#[derive(Debug)]
pub(crate) struct Admission {
    limiter: RateLimiter,
    queues: Queues,
}

/// What a query asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'a> {
    /// Who sent it.
    pub(crate) caller: &'a Arc<str>,
    /// The caller's bucket.
    pub(crate) rate: Rate,
    /// How many of the caller's queries may run, and wait.
    pub(crate) places: Places,
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
pub(crate) enum AdmissionError {
    /// The bucket cannot cover it in time.
    #[error(transparent)]
    Credits(InsufficientCredits),
    /// The caller's other queries leave no place for it in time.
    #[error("as many of the caller's queries are running as may")]
    Place {
        /// The bucket.
        bucket: ThrottleStatus,
        /// Those that wait.
        waiting: usize,
    },
    /// It would have to wait, and the server is stopping.
    #[error("the server is stopping")]
    Stopping,
    /// The store of credits cannot be reached.
    #[error("the store of credits cannot be reached")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
}

impl From<DebitError> for AdmissionError {
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

impl Admission {
    /// Without running and waiting queries.
    pub(crate) fn new(limiter: RateLimiter, bounds: QueueBounds) -> Self {
        Self { limiter, queues: Queues::new(bounds) }
    }

    /// How many queries of all callers wait.
    pub(crate) fn waiting(&self) -> usize {
        self.queues.waiting_in_all()
    }

    /// Buckets that are stored in this process: those that were not full lately.
    pub(crate) fn bucket_count(&self) -> usize {
        self.limiter.bucket_count()
    }

    /// Admits a query: its permit, and what was debited.
    pub(crate) async fn admit(&self, claim: &Claim<'_>) -> Result<(Permit, Debit), AdmissionError> {
        let began = Instant::now();
        let Claim { caller, places, demand, max_wait, .. } = claim;
        let ticket = match self.queues.start(caller, *places, demand.credits) {
            Ok(permit) => match self.debit(claim).await {
                Ok(debit) => return Ok((permit, debit)),
                Err(DebitError::Insufficient(short)) if is_within(&short, max_wait.credits) => {
                    let ticket = self.queues.wait_to_pay(permit, *places, *demand);
                    ticket.map_err(|reason| match reason {
                        CannotWait::Full => AdmissionError::Credits(short),
                        CannotWait::Closed => AdmissionError::Stopping,
                    })?
                }
                Err(error) => return Err(error.into()),
            },
            Err(obstacle) => {
                self.check_wait(claim, obstacle)?;
                match self.queues.wait(caller, *places, *demand) {
                    Ok(ticket) => ticket,
                    Err(CannotWait::Full) => return Err(self.refusal(claim, obstacle, None)),
                    Err(CannotWait::Closed) => return Err(AdmissionError::Stopping),
                }
            }
        };
        self.wait(claim, ticket, began).await
    }

    /// Fails if the query would be refused at once, as far as that is known in this process. Changes nothing.
    pub(crate) fn check(&self, claim: &Claim<'_>) -> Result<(), AdmissionError> {
        let Claim { caller, places, demand, max_wait, .. } = claim;
        let Some(obstacle) = self.queues.obstacle(caller, *places, demand.credits) else {
            return match self.known(claim, 0) {
                Err(DebitError::Insufficient(short)) if is_within(&short, max_wait.credits) => Ok(()),
                forecast => Ok(forecast.map(drop)?),
            };
        };
        self.check_wait(claim, obstacle)?;
        if self.queues.is_full(caller, *places, demand.bytes) {
            return Err(self.refusal(claim, obstacle, None));
        }
        Ok(())
    }

    /// What a debit would return now, but with the bucket as it is.
    pub(crate) async fn forecast(&self, caller: &str, rate: &Rate, credits: u64) -> Result<ThrottleStatus, DebitError> {
        self.limiter.forecast(caller, rate, credits).await
    }

    /// Puts back the credits of a query that was not executed.
    pub(crate) async fn refund(&self, caller: &str, debit: Debit) {
        self.limiter.refund(caller, debit).await;
        self.queues.credits_were_refunded(caller);
    }

    /// From now on no query waits: those that do are refused.
    pub(crate) fn close(&self) {
        self.queues.close();
    }

    /// Whether the server is stopping.
    pub(crate) fn is_closed(&self) -> bool {
        self.queues.is_closed()
    }

    async fn wait(&self, claim: &Claim<'_>, ticket: Ticket, began: Instant) -> Result<(Permit, Debit), AdmissionError> {
        let MaxWait { credits: for_credits, place: for_place } = claim.max_wait;
        loop {
            // Before the bucket's clock is read, so that credits that are restored just in time count as such.
            let elapsed = began.elapsed();
            let wake = match ticket.turn() {
                Turn::Closed => return Err(AdmissionError::Stopping),
                Turn::Waiting => began + for_place,
                Turn::Called => match self.debit(claim).await {
                    Ok(debit) => return Ok((ticket.admit(), debit)),
                    Err(DebitError::Insufficient(short)) => match short.retry_after {
                        Some(wait) if wait <= for_credits.saturating_sub(elapsed) => Instant::now() + wait,
                        _ => return Err(AdmissionError::Credits(short)),
                    },
                    Err(error) => return Err(error.into()),
                },
            };
            let is_late = time::timeout_at(wake, ticket.changed()).await.is_err();
            if is_late && ticket.turn() == Turn::Waiting {
                let Claim { caller, places, demand, .. } = claim;
                let obstacle = self.queues.obstacle(caller, *places, demand.credits).unwrap_or(Obstacle::Place);
                return Err(self.refusal(claim, obstacle, Some(&ticket)));
            }
        }
    }

    /// Fails if the query cannot overcome the obstacle in its time, as far as that is known: it is known when the credits
    /// of those before it and its own are restored at the earliest.
    fn check_wait(&self, claim: &Claim<'_>, obstacle: Obstacle) -> Result<(), AdmissionError> {
        let max_wait = claim.max_wait.to_overcome(obstacle);
        if max_wait.is_zero() {
            return Err(self.refusal(claim, obstacle, None));
        }
        match self.known(claim, self.queues.credits_waiting(claim.caller)) {
            Ok(_) => Ok(()),
            Err(DebitError::Insufficient(short)) if is_within(&short, max_wait) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The error of a query that meets the obstacle: one in the queue, or one that would be the last there.
    fn refusal(&self, claim: &Claim<'_>, obstacle: Obstacle, ticket: Option<&Ticket>) -> AdmissionError {
        let behind = match ticket {
            Some(ticket) => ticket.credits_before(),
            None => self.queues.credits_waiting(claim.caller),
        };
        match (obstacle, self.known(claim, behind)) {
            (
                Obstacle::Place,
                Err(DebitError::Insufficient(InsufficientCredits { status: bucket, .. })) | Ok(bucket),
            ) => {
                // It is not one of them any more.
                let waiting = self.queues.waiting(claim.caller) - usize::from(ticket.is_some());
                AdmissionError::Place { bucket, waiting }
            }
            (_, Err(error)) => error.into(),
            // The credits were restored a moment ago, and those before it have not taken them yet.
            (Obstacle::Credits, Ok(status)) => {
                let (credits, retry_after) = (claim.demand.credits, Some(Duration::ZERO));
                AdmissionError::Credits(InsufficientCredits { credits, behind, retry_after, status })
            }
        }
    }

    async fn debit(&self, claim: &Claim<'_>) -> Result<Debit, DebitError> {
        self.limiter.debit(claim.caller, &claim.rate, claim.demand.credits).await
    }

    /// What is known of the bucket, with so many credits that others take before. Refusing asks no store: a caller whose
    /// queries are refused may send very many.
    fn known(&self, claim: &Claim<'_>, behind: u64) -> Result<ThrottleStatus, DebitError> {
        self.limiter.known(claim.caller, &claim.rate, behind, claim.demand.credits)
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
    fn admission() -> Admission {
        let now = StdInstant::now();
        Admission::new(RateLimiter::with_clock(move || now), BOUNDS)
    }

    /// A claim of a caller whose bucket has 100 credits and gains none.
    fn claim(caller: &Arc<str>, credits: u64, max_wait: MaxWait) -> Claim<'_> {
        Claim {
            caller,
            rate: Rate { capacity: 100, restore_per_second: 0 },
            places: Places { running: 2, waiting: 9 },
            demand: Demand { credits, bytes: 1 },
            max_wait,
        }
    }

    /// A claim of one whose bucket gains one a second.
    fn slow(caller: &Arc<str>, credits: u64, max_wait: MaxWait) -> Claim<'_> {
        Claim { rate: Rate { capacity: 100, restore_per_second: 1 }, ..claim(caller, credits, max_wait) }
    }

    /// What is known at once: `None` if the query waits.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        future.now_or_never()
    }

    fn wait_of(refusal: Option<Result<(Permit, Debit), AdmissionError>>) -> (u64, Option<u64>) {
        match refusal {
            Some(Err(AdmissionError::Credits(short))) => (short.behind, short.retry_after.map(|wait| wait.as_secs())),
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_query_that_cannot_be_served_in_time_is_refused_at_once() {
        let (admission, caller) = (admission(), "demo".into());
        let (_permit, debit) = admission.admit(&slow(&caller, 90, MaxWait::for_all(HOUR))).await.unwrap();
        assert_eq!(debit.bucket.currently_available, 10);
        // 20 credits are missing: 20 seconds.
        let max_wait = |seconds| MaxWait::for_all(Duration::from_secs(seconds));
        assert_eq!(wait_of(now(admission.admit(&slow(&caller, 30, max_wait(19))))), (0, Some(20)));
        assert_eq!(wait_of(now(admission.admit(&claim(&caller, 30, max_wait(1000))))), (0, None), "never restored");
        assert!(admission.check(&slow(&caller, 30, max_wait(19))).is_err());
        assert!(admission.check(&slow(&caller, 30, max_wait(20))).is_ok());
        let first = slow(&caller, 30, max_wait(30));
        let mut first = Box::pin(admission.admit(&first));
        assert!(now(first.as_mut()).is_none());
        // Those before it count, also where the bucket holds enough for the query alone.
        assert_eq!(wait_of(now(admission.admit(&slow(&caller, 5, max_wait(24))))), (30, Some(25)));
        assert_eq!(wait_of(now(admission.admit(&slow(&caller, 5, MaxWait::for_place(HOUR))))), (30, Some(25)));
        assert!(now(admission.admit(&slow(&caller, 5, max_wait(35)))).is_none());
        // Nothing is debited by all that.
        let rate = slow(&caller, 0, max_wait(0)).rate;
        assert_eq!(admission.forecast("demo", &rate, 0).await.unwrap().currently_available, 10);
    }

    #[tokio::test]
    async fn a_query_waits_for_a_place_but_not_for_credits_unless_it_wants_to() {
        let (admission, caller) = (admission(), "demo".into());
        let for_place = MaxWait::for_place(HOUR);
        let (one, _) = admission.admit(&claim(&caller, 40, for_place)).await.unwrap();
        let (two, _) = admission.admit(&claim(&caller, 40, for_place)).await.unwrap();
        let without_waiting = now(admission.admit(&claim(&caller, 10, MaxWait::for_all(Duration::ZERO)))).unwrap();
        assert!(
            matches!(without_waiting, Err(AdmissionError::Place { bucket, waiting: 0 }) if bucket.currently_available == 20)
        );
        let waits = claim(&caller, 15, for_place);
        let mut waits = Box::pin(admission.admit(&waits));
        assert!(now(waits.as_mut()).is_none());
        // It costs more than those before it leave, which will never change.
        assert_eq!(wait_of(now(admission.admit(&claim(&caller, 10, for_place)))), (15, None));
        // A short wait for a place ends in a refusal that says so.
        let brief = admission.admit(&claim(&caller, 5, MaxWait::for_place(Duration::from_millis(1)))).await;
        assert!(matches!(brief, Err(AdmissionError::Place { waiting: 1, .. })), "{brief:?}");
        drop(one);
        let (permit, debit) = waits.await.unwrap();
        assert_eq!(debit.bucket.currently_available, 5);
        drop((two, permit));
        assert!(admission.admit(&claim(&caller, 5, for_place)).await.is_ok());
    }

    #[tokio::test]
    async fn credits_that_are_put_back_admit_those_that_wait_in_their_order() {
        let (admission, caller) = (admission(), "demo".into());
        let max_wait = MaxWait::for_all(HOUR);
        let (_permit, _) = admission.admit(&slow(&caller, 0, max_wait)).await.unwrap();
        let mut debits = Vec::new();
        for credits in [20, 30, 50] {
            debits.push(admission.debit(&slow(&caller, credits, max_wait)).await.unwrap());
        }
        let mut refund = || now(admission.refund("demo", debits.pop().unwrap())).unwrap();
        let claims = [slow(&caller, 60, max_wait), slow(&caller, 40, max_wait), slow(&caller, 1, max_wait)];
        let [mut first, mut second, mut third] = claims.each_ref().map(|claim| Box::pin(admission.admit(claim)));
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
        admission.close();
        assert!(matches!(now(third.as_mut()), Some(Err(AdmissionError::Stopping))));
        assert!(matches!(now(admission.admit(&slow(&caller, 40, max_wait))), Some(Err(AdmissionError::Stopping))));
    }

    #[tokio::test]
    async fn a_query_is_woken_when_its_credits_are_restored() {
        let (admission, caller) = (Admission::new(RateLimiter::in_memory(), BOUNDS), "demo".into());
        let fast = Rate { capacity: 100, restore_per_second: 10_000 };
        for credits in [100, 100, 50, 100] {
            let claim = Claim { rate: fast, ..claim(&caller, credits, MaxWait::for_all(HOUR)) };
            assert!(admission.admit(&claim).await.unwrap().1.bucket.currently_available <= 100 - credits + 50);
        }
    }

    #[tokio::test]
    async fn one_callers_line_does_not_delay_another_caller() {
        let (admission, busy, calm) = (admission(), "busy".into(), "calm".into());
        let max_wait = MaxWait::for_all(HOUR);
        let _permit = admission.admit(&slow(&busy, 100, max_wait)).await.unwrap();
        let claims: Vec<_> = (0..9).map(|_| slow(&busy, 1, max_wait)).collect();
        let mut waiting: Vec<_> = claims.iter().map(|claim| Box::pin(admission.admit(claim))).collect();
        assert!(waiting.iter_mut().all(|waiting| now(waiting.as_mut()).is_none()));
        assert!(now(admission.admit(&slow(&busy, 1, max_wait))).is_some(), "the queue is full");
        assert!(now(admission.admit(&slow(&calm, 100, MaxWait::for_place(HOUR)))).unwrap().is_ok());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn tasks_on_many_threads_are_all_admitted_and_never_above_their_credits() {
        const TASKS: u64 = 16;
        const EACH: u64 = 50;
        let admission = Arc::new(Admission::new(RateLimiter::in_memory(), BOUNDS));
        let rate = Rate { capacity: 100, restore_per_second: 50_000 };
        let (running, spent, start) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU64::new(0)), StdInstant::now());
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            let (admission, running, spent) = (Arc::clone(&admission), Arc::clone(&running), Arc::clone(&spent));
            tasks.spawn(async move {
                let caller = "demo".into();
                for number in 0..EACH {
                    let credits = 1 + (task * 31 + number * 17) % 40;
                    let demand = Demand { credits, bytes: 1 };
                    let places = Places { running: 3, waiting: 64 };
                    let max_wait = MaxWait::for_all(HOUR);
                    let claim = Claim { caller: &caller, rate, places, demand, max_wait };
                    if (task + number) % 7 == 0 {
                        // A client that hangs up while it waits.
                        drop(admission.admit(&claim).now_or_never());
                    }
                    let (permit, debit) = admission.admit(&claim).await.unwrap();
                    assert!(running.fetch_add(1, Ordering::SeqCst) < 3);
                    spent.fetch_add(credits, Ordering::SeqCst);
                    if number % 5 == 0 {
                        admission.refund(&caller, debit).await;
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
