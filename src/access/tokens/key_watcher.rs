//! Reloads the keys when another process adds or retires one.
//!
//! A change shows in the modification time of the key folder or of the external issuer's file. These times are checked
//! twice a second while tokens arrive, and at once when a token names an unknown key. The two sources are read apart: while
//! one cannot be read, its last keys stay in force, and the other's follow its file.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::time::{Duration, Instant, SystemTime};

use crate::access::tokens::key_set::{self, KeySet, KeySetError};
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
    last_check: Mutex<LastCheck>,
    /// Whether all keys could be read when they were read last.
    is_readable: AtomicBool,
}

/// The last check of the modification times.
#[derive(Debug)]
struct LastCheck {
    at: Instant,
    own: LastRead,
    external: LastRead,
}

/// When the keys of a source were read last.
#[derive(Debug)]
struct LastRead {
    /// The modification time of the file or folder then.
    modified: Option<SystemTime>,
    /// By the clock of modification times.
    at: SystemTime,
    /// Whether they could be read.
    succeeded: bool,
}

impl KeyWatcher {
    /// Reads the keys.
    pub(crate) fn open(
        source: KeySource,
        algorithm: Algorithm,
        external: Option<ExternalIssuerOptions>,
    ) -> Result<Self, KeySetError> {
        // The times are taken first, so that a change while the files are read shows in the next check.
        let [of_own, of_external] = [folder(&source), file(external.as_ref())].map(LastRead::begin);
        let last_check = Mutex::new(LastCheck { at: Instant::now(), own: of_own, external: of_external });
        let keys = KeySet::read(&source, algorithm, external.as_ref())?;
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

    /// Whether all keys could be read when they were read last.
    pub(crate) fn is_readable(&self) -> bool {
        self.is_readable.load(Ordering::Relaxed)
    }

    fn keys(&self) -> Arc<KeySet> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the keys of each source again if they may have changed.
    fn check(&self, mut last: MutexGuard<'_, LastCheck>) {
        last.at = Instant::now();
        let own = last.own.again(folder(&self.source), || key_set::read_own(&self.source, self.algorithm));
        let external =
            last.external.again(file(self.external.as_ref()), || key_set::read_external(self.external.as_ref()));
        self.is_readable.store(last.own.succeeded && last.external.succeeded, Ordering::Relaxed);
        let current = self.keys();
        let own = own.filter(|own| key_set::ids(own) != current.ids());
        // The external issuer's keys have no creation times to compare.
        if own.is_none() && external.is_none() {
            return;
        }
        let own = own.unwrap_or_else(|| current.own.clone());
        let keys = KeySet::new(own, external.unwrap_or_else(|| current.external.clone()));
        emit(&Event::KeysChanged { keys: &keys.ids() });
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
    }
}

impl LastRead {
    /// The keys are about to be read.
    fn begin(path: Option<&Path>) -> Self {
        let modified = path.and_then(|path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok());
        Self { modified, at: SystemTime::now(), succeeded: true }
    }

    /// The keys, if they may be others than before and can be read. If keys could not be read, they are read again at every check, because
    /// their permissions may have changed.
    fn again<T>(&mut self, path: Option<&Path>, read: impl FnOnce() -> Result<T, KeySetError>) -> Option<T> {
        let next = Self::begin(path);
        let is_new = next.modified != self.modified || self.is_unsettled();
        if !is_new && self.succeeded {
            return None;
        }
        let had_succeeded = self.succeeded;
        let result = read();
        *self = Self { succeeded: result.is_ok(), ..next };
        if let Err(error) = &result
            && (is_new || had_succeeded)
        {
            emit(&Event::KeysUnreadable { error });
        }
        result.ok()
    }

    /// Whether the file may have changed after it was read without another modification time.
    fn is_unsettled(&self) -> bool {
        self.modified.is_some_and(|modified| self.at.duration_since(modified).is_ok_and(|age| age < TICK))
    }
}

/// The folder of the server's own keys, if they are in one.
fn folder(source: &KeySource) -> Option<&Path> {
    match source {
        KeySource::Folder(folder) => Some(folder),
        KeySource::Text(_) => None,
    }
}

/// The file of the external issuer's keys.
fn file(external: Option<&ExternalIssuerOptions>) -> Option<&Path> {
    external.map(|external| external.jwks_file.as_path())
}
