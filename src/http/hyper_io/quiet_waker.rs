//! The waker of a connection's task as hyper sees it, which passes over one kind of wake.
//!
//! When a service takes the last part of an HTTP/1 request's body, hyper 1.12 wakes the task of the connection for the part's sender, which
//! is gone by then. The task is running at that moment, so each request with a body would poll its whole connection once more in vain: for a
//! small query that is a twentieth of the server's instructions.

use std::cell::Cell;
use std::sync::Arc;
use std::task::{Wake, Waker};

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Wakes a connection's task, but not from within [`quietly`].
struct QuietWaker(Waker);

/// The waker in place of the waker of a connection's task.
pub(crate) fn quiet_waker(task: &Waker) -> Waker {
    Arc::new(QuietWaker(task.clone())).into()
}

/// Takes from the body of an HTTP/1 request. Wakes by this thread meanwhile are passed over: unless the body ended, wake the task
/// afterwards. Wakes by other threads are not passed over.
pub(crate) fn quietly<T>(take: impl FnOnce() -> T) -> T {
    /// Ends it, whatever happens.
    struct Quiet;
    impl Drop for Quiet {
        fn drop(&mut self) {
            IS_QUIET.set(false);
        }
    }
    let _quiet = Quiet;
    IS_QUIET.set(true);
    take()
}

impl Wake for QuietWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !IS_QUIET.get() {
            self.0.wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn passes_over_wakes_from_within_alone() {
        let count = Arc::new(Count::default());
        let waker = quiet_waker(&Arc::clone(&count).into());
        quietly(|| waker.wake_by_ref());
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
        waker.wake_by_ref();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        quietly(|| {
            let other = waker.clone();
            thread::spawn(move || other.wake()).join().unwrap();
        });
        assert_eq!(count.0.load(Ordering::Relaxed), 2, "another thread knows nothing of it");
    }
}
