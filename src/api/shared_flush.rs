//! Flushes of the primary's write-ahead log that requests share: one that begins after a request asked serves it, too.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

/// Flushes, one after the other.
#[derive(Debug, Default)]
pub(crate) struct SharedFlush {
    /// How many were begun.
    begun: AtomicU64,
    /// The number of the last that succeeded. Locked while one runs.
    done: Mutex<u64>,
}

impl SharedFlush {
    /// Waits until a flush has succeeded that began from now on: another request's, or else `flush`.
    pub(crate) async fn run<E>(&self, flush: impl Future<Output = Result<(), E>>) -> Result<(), E> {
        let asked = self.begun.load(Ordering::Acquire);
        let mut done = self.done.lock().await;
        if *done <= asked {
            let number = self.begun.fetch_add(1, Ordering::AcqRel) + 1;
            flush.await?;
            *done = number;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn requests_that_ask_while_one_runs_share_the_next() {
        let (flush, end, runs) = (SharedFlush::default(), Notify::new(), AtomicU64::new(0));
        let ask = || {
            flush.run(async {
                runs.fetch_add(1, Ordering::Relaxed);
                end.notified().await;
                Ok::<_, Infallible>(())
            })
        };
        let mut first = Box::pin(ask());
        assert!(first.as_mut().now_or_never().is_none());
        let mut others = Box::pin(join_all([ask(), ask(), ask()]));
        assert!(others.as_mut().now_or_never().is_none());
        end.notify_one();
        first.await.unwrap();
        assert!(others.as_mut().now_or_never().is_none(), "the first began before they asked");
        end.notify_one();
        others.await;
        assert_eq!(runs.load(Ordering::Relaxed), 2);
        // A flush that fails, or is given up, serves no other request.
        assert!(flush.run(async { Err(()) }).await.is_err());
        assert!(ask().now_or_never().is_none());
        end.notify_one();
        ask().await.unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 4);
    }
}
