//! Work that takes a thread longer than about a millisecond, off the threads that serve: other requests, and health probes above
//! all, are not held up by it. So many of them run at the same time as leaves cores for serving; the others wait in their order.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::{task, time};

use crate::api::errors::api_error::ApiError;
use crate::api::errors::service_error::ServiceError;

/// Runs such work.
#[derive(Debug)]
pub(crate) struct CpuTasks {
    permits: Arc<Semaphore>,
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
        Self { permits: Arc::new(Semaphore::new(permits)) }
    }

    /// Runs work on a thread of its own, within a time limit that includes waiting. Work that has begun is finished all the same.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CpuTaskError> {
        let permits = Arc::clone(&self.permits);
        let run = async move {
            let permit = permits.acquire_owned().await;
            // The work keeps the permit until it ends, even if nobody waits for it any more.
            task::spawn_blocking(move || {
                let result = work();
                drop(permit);
                result
            })
            .await
        };
        Ok(time::timeout(limit, run).await??)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn the_serving_thread_goes_on_while_work_runs() {
        let tasks = CpuTasks::new(1);
        let (send, receive) = mpsc::channel();
        let work = tasks.run(LONG, move || receive.recv().unwrap());
        // There is one serving thread. If the work ran on it, nobody would send.
        let serve = async { send.send(7).unwrap() };
        assert_eq!(tokio::join!(work, serve).0.unwrap(), 7);
    }

    #[tokio::test]
    async fn runs_no_more_at_the_same_time_than_there_are_permits() {
        let tasks = CpuTasks::new(2);
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let work = (0..50).map(|_| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            tasks.run(LONG, move || {
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
        let tasks = CpuTasks::new(1);
        let (send, receive) = mpsc::channel::<()>();
        let first = tasks.run(LONG, move || receive.recv().unwrap());
        let second = async {
            let error = tasks.run(Duration::from_millis(1), || unreachable!()).await.unwrap_err();
            send.send(()).unwrap();
            error
        };
        let (first, second) = tokio::join!(first, second);
        first.unwrap();
        assert!(matches!(second, CpuTaskError::Busy(_)));
    }
}
