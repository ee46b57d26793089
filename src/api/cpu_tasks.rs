//! Work that takes a thread longer than about a millisecond, off the threads that serve: other requests, and health probes above
//! all, are not held up by it. So much of it runs at the same time as leaves cores for serving. The rest waits, and callers have their
//! turns: one with much work keeps the others waiting for no more than one piece of it.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::time::Instant;
use tokio::{task, time};

use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;
use crate::throttle::fair_semaphore::{FairPermit, FairSemaphore};

/// Runs such work.
#[derive(Debug)]
pub(crate) struct CpuTasks {
    turns: FairSemaphore,
}

/// A caller's turn, until its work ends.
#[derive(Debug)]
pub(crate) struct CpuTurn {
    _permit: FairPermit,
    /// When its work is given up.
    until: Instant,
}

/// Why work has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CpuTaskError {
    /// Too much other work was waiting or running for the whole time.
    #[error("too many large requests are waiting for a core")]
    Busy(#[from] time::error::Elapsed),
    /// The server is stopping, or the work has panicked.
    #[error("the work on a large request was not finished")]
    Unfinished(#[from] task::JoinError),
}

impl From<CpuTaskError> for ApiError {
    fn from(error: CpuTaskError) -> Self {
        ServiceError::Unavailable(error.into()).into()
    }
}

impl Default for CpuTasks {
    /// Half of the cores, and at least one.
    fn default() -> Self {
        Self::new(thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2)))
    }
}

impl CpuTasks {
    fn new(permits: usize) -> Self {
        Self { turns: FairSemaphore::new(permits) }
    }

    /// Waits for a turn of the caller. The turn's work, too, may take until then.
    pub(crate) async fn turn(&self, caller: &Arc<str>, until: Instant) -> Result<CpuTurn, CpuTaskError> {
        Ok(CpuTurn { _permit: time::timeout_at(until, self.turns.acquire(caller)).await?, until })
    }

    /// Runs work of the caller on a thread of its own, within a time limit that includes waiting. Work that has begun is finished all
    /// the same.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        caller: &Arc<str>,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CpuTaskError> {
        self.turn(caller, Instant::now() + limit).await?.run(work).await
    }
}

impl CpuTurn {
    /// Runs work on a thread of its own. The work is finished even if its request is given up, and the turn ends with it.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CpuTaskError> {
        let until = self.until;
        let running = task::spawn_blocking(move || {
            let result = work();
            drop(self);
            result
        });
        Ok(time::timeout_at(until, running).await??)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, mpsc};

    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    fn caller() -> Arc<str> {
        "demo".into()
    }

    #[tokio::test]
    async fn the_serving_thread_goes_on_while_work_runs() {
        let (tasks, caller) = (CpuTasks::new(1), caller());
        let (send, receive) = mpsc::channel();
        let work = tasks.run(&caller, LONG, move || receive.recv().unwrap());
        // There is one serving thread. If the work ran on it, the message would never be sent.
        let serve = async { send.send(7).unwrap() };
        assert_eq!(tokio::join!(work, serve).0.unwrap(), 7);
    }

    #[tokio::test]
    async fn runs_no_more_at_the_same_time_than_there_are_permits() {
        let (tasks, caller) = (CpuTasks::new(2), caller());
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let work = (0..50).map(|_| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            tasks.run(&caller, LONG, move || {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
            })
        });
        for result in futures_util::future::join_all(work).await {
            result.unwrap();
        }
        assert!((1..=2).contains(&most.load(Ordering::SeqCst)));
    }

    #[tokio::test]
    async fn work_that_waits_too_long_is_not_done() {
        let (tasks, caller) = (CpuTasks::new(1), caller());
        let (send, receive) = mpsc::channel::<()>();
        let first = tasks.run(&caller, LONG, move || receive.recv().unwrap());
        let second = async {
            let error = tasks.run(&caller, Duration::from_millis(1), || unreachable!()).await.unwrap_err();
            send.send(()).unwrap();
            error
        };
        let (first, second) = tokio::join!(first, second);
        first.unwrap();
        assert!(matches!(second, CpuTaskError::Busy(_)));
    }

    #[tokio::test]
    async fn a_caller_with_much_work_keeps_another_waiting_for_one_piece_of_it() {
        let (tasks, done) = (CpuTasks::new(1), Arc::new(Mutex::new(Vec::new())));
        let (busy, calm): (Arc<str>, Arc<str>) = ("busy".into(), "calm".into());
        let turn = tasks.turn(&busy, Instant::now() + LONG).await.unwrap();
        let work = ["busy", "busy", "busy", "calm"].map(|name| {
            let done = Arc::clone(&done);
            tasks.run(if name == "busy" { &busy } else { &calm }, LONG, move || done.lock().unwrap().push(name))
        });
        let first = turn.run(|| ());
        let (results, first) = tokio::join!(futures_util::future::join_all(work), first);
        first.unwrap();
        assert!(results.iter().all(Result::is_ok));
        assert_eq!(*done.lock().unwrap(), ["busy", "calm", "busy", "busy"]);
    }
}
