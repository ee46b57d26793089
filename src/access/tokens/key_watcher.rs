//! Reloads the keys when another process adds or retires one.
//!
//! A change shows in the modification time of the key folder or of the external issuer's file. These times are checked
//! twice a second while tokens arrive, and at once when a token names an unknown key.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::time::{Duration, Instant, SystemTime};

use crate::access::tokens::key_set::{KeySet, KeySetError};
use crate::access::tokens::options::{ExternalIssuerOptions, KeySource};
use crate::access::tokens::signing_key::Algorithm;
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// How often the modification times are checked. Half a second, so that a retired key is rejected within a second.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The resolution of modification times: the system's clock for them ticks some hundred times a second. Files that were
/// read sooner than this after their modification may have changed since without another modification time.
const TICK: Duration = Duration::from_millis(100);

/// The keys in force, reloaded when they change.
#[derive(Debug)]
pub(crate) struct KeyWatcher {
    source: KeySource,
    algorithm: Algorithm,
    external: Option<ExternalIssuerOptions>,
    current: RwLock<Arc<KeySet>>,
    last_check: Mutex<Check>,
    /// Whether the keys could be read when they were read last.
    is_readable: AtomicBool,
}

/// A check of the modification times.
#[derive(Debug)]
struct Check {
    at: Instant,
    /// The times that the files had when they were read.
    modified: ModificationTimes,
    /// When the files were read, by the clock of their modification times.
    read_at: SystemTime,
}

/// The modification times of the key folder and of the external issuer's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ModificationTimes {
    folder: Option<SystemTime>,
    external: Option<SystemTime>,
}

impl KeyWatcher {
    /// Reads the keys.
    pub(crate) fn open(
        source: KeySource,
        algorithm: Algorithm,
        external: Option<ExternalIssuerOptions>,
    ) -> Result<Self, KeySetError> {
        let (modified, read_at) = (ModificationTimes::of(&source, external.as_ref()), SystemTime::now());
        let keys = KeySet::read(&source, algorithm, external.as_ref())?;
        let last_check = Mutex::new(Check { at: Instant::now(), modified, read_at });
        let (current, is_readable) = (RwLock::new(Arc::new(keys)), AtomicBool::new(true));
        Ok(Self { source, algorithm, external, current, last_check, is_readable })
    }

    /// The keys in force. Checks the modification times if the last check is older than [`CHECK_INTERVAL`].
    pub(crate) fn current(&self) -> Arc<KeySet> {
        // While another thread checks, this one uses the keys that are there.
        match self.last_check.try_lock() {
            Ok(last) if last.at.elapsed() >= CHECK_INTERVAL => self.check(last),
            Err(TryLockError::Poisoned(last)) => self.check(last.into_inner()),
            Ok(_) | Err(TryLockError::WouldBlock) => {}
        }
        self.keys()
    }

    /// The keys in force after a check. Costs two system calls if nothing has changed.
    pub(crate) fn checked_now(&self) -> Arc<KeySet> {
        self.check(self.last_check.lock().unwrap_or_else(PoisonError::into_inner));
        self.keys()
    }

    /// Whether the keys could be read when they were read last.
    pub(crate) fn is_readable(&self) -> bool {
        self.is_readable.load(Ordering::Relaxed)
    }

    fn keys(&self) -> Arc<KeySet> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the keys again if they may have changed. If that fails, the last ones stay in force.
    fn check(&self, mut last: MutexGuard<'_, Check>) {
        last.at = Instant::now();
        // The times are taken first, so that a change while the files are read shows in the next check.
        let (modified, now) = (ModificationTimes::of(&self.source, self.external.as_ref()), SystemTime::now());
        let unsettled = is_unsettled(modified.folder, last.read_at) || is_unsettled(modified.external, last.read_at);
        if modified == last.modified && !unsettled {
            return;
        }
        let read = KeySet::read(&self.source, self.algorithm, self.external.as_ref());
        self.is_readable.store(read.is_ok(), Ordering::Relaxed);
        match read {
            Ok(keys) => {
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                // The external issuer's keys have no creation times to compare, so their file's time decides.
                let external_changed = modified.external != last.modified.external;
                if external_changed || is_unsettled(modified.external, last.read_at) || keys.ids() != current.ids() {
                    emit(&Event::KeysChanged { keys: &keys.ids() });
                    *current = Arc::new(keys);
                }
            }
            Err(error) => emit(&Event::KeysUnreadable { error: &error }),
        }
        (last.modified, last.read_at) = (modified, now);
    }
}

impl ModificationTimes {
    fn of(source: &KeySource, external: Option<&ExternalIssuerOptions>) -> Self {
        let modified = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let folder = match source {
            KeySource::Folder(folder) => modified(folder),
            KeySource::Text(_) => None,
        };
        Self { folder, external: external.and_then(|external| modified(&external.jwks_file)) }
    }
}

/// Whether a file may have changed after it was read without another modification time.
fn is_unsettled(modified: Option<SystemTime>, read_at: SystemTime) -> bool {
    modified.is_some_and(|at| read_at.duration_since(at).is_ok_and(|age| age < TICK))
}
