//! The keys in force, and the tokens that they have verified.
//!
//! A key that was added or retired by another process is noticed by the time of its folder, which is looked at twice a
//! second while tokens come, and at once when a token names a key that is not known.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::time::{Duration, Instant, SystemTime};

use lru::LruCache;

use crate::access::external_issuer::{self, ExternalIssuer, ExternalIssuerError};
use crate::access::keys::{self, Algorithm, Key, KeyError, Source};
use crate::telemetry::emit;
use crate::telemetry::event::Event;

/// How often the files' times are looked at. Half of a second, so that what is retired is refused within a whole one.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Files are told apart by their times, and the system's clock for these ticks some hundred times a second: a folder that
/// was read sooner than this after its time may have changed since without showing it.
const TICK: Duration = Duration::from_millis(100);

/// Verified tokens that are remembered. A token is some 300 bytes, so this is a few MiB at the most.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(8192).unwrap();

/// What is known of a verified token.
#[derive(Debug, Clone)]
pub struct Verified {
    /// Who its bearer is.
    pub user_id: Arc<str>,
    /// Seconds since 1970 from which on the token is no longer good.
    pub expires: u64,
}

/// The keys in force at one moment.
#[derive(Debug)]
pub struct KeySet {
    /// Our own, the last made at the end.
    pub own: Vec<Key>,
    /// Those of the external issuer.
    pub external: Option<ExternalIssuer>,
    /// Tokens that these keys have verified. They go with the ring, so that none outlives its key.
    remembered: Mutex<LruCache<Box<str>, Verified>>,
}

/// The ring in force.
#[derive(Debug)]
pub struct KeySets {
    source: Source,
    algorithm: Algorithm,
    external: Option<external_issuer::Options>,
    current: RwLock<Arc<KeySet>>,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    stamps: Stamps,
    /// When the files were read, on the clock of their times.
    read: SystemTime,
    looked: Instant,
}

/// When the key folder and the external issuer's file were changed.
type Stamps = [Option<SystemTime>; 2];

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum KeySetError {
    /// Our own cannot be used.
    #[error(transparent)]
    Own(#[from] KeyError),
    /// The external issuer's cannot be used.
    #[error(transparent)]
    ExternalIssuer(#[from] ExternalIssuerError),
}

impl KeySets {
    /// Reads the keys, and makes one where the folder has none of the algorithm.
    pub fn open(
        source: Source,
        algorithm: Algorithm,
        external: Option<external_issuer::Options>,
    ) -> Result<Self, KeySetError> {
        if let Source::Folder(folder) = &source
            && !keys::read(folder)?.iter().any(|key| key.algorithm() == algorithm)
        {
            keys::make(folder, algorithm)?;
        }
        let (stamps, read) = (stamps(&source, external.as_ref()), SystemTime::now());
        let ring = KeySet::read(&source, algorithm, external.as_ref())?;
        let seen = Mutex::new(Seen { stamps, read, looked: Instant::now() });
        Ok(Self { source, algorithm, external, current: RwLock::new(Arc::new(ring)), seen })
    }

    /// The keys in force.
    pub fn current(&self) -> Arc<KeySet> {
        // Who finds another looking goes on with what there is.
        match self.seen.try_lock() {
            Ok(seen) if seen.looked.elapsed() >= LOOK_EVERY => self.look(seen),
            Err(TryLockError::Poisoned(seen)) => self.look(seen.into_inner()),
            Ok(_) | Err(TryLockError::WouldBlock) => {}
        }
        self.ring()
    }

    /// The keys in force after a look at the files. Costs two questions to the system where nothing has changed.
    pub fn looked_at_now(&self) -> Arc<KeySet> {
        self.look(self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        self.ring()
    }

    fn ring(&self) -> Arc<KeySet> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the files where they may have changed. What cannot be read leaves the last ring in force.
    fn look(&self, mut seen: MutexGuard<'_, Seen>) {
        seen.looked = Instant::now();
        // Times first: what changes while the files are read shows in the next look.
        let (stamps, now) = (stamps(&self.source, self.external.as_ref()), SystemTime::now());
        let unsettled = stamps.iter().any(|stamp| unsettled_at(*stamp, seen.read));
        if stamps == seen.stamps && !unsettled {
            return;
        }
        match KeySet::read(&self.source, self.algorithm, self.external.as_ref()) {
            Ok(ring) => {
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                // The external issuer's keys have no time of their own, so a changed file makes a new ring.
                if stamps[1] != seen.stamps[1] || unsettled_at(stamps[1], seen.read) || ring.ids() != current.ids() {
                    emit(&Event::KeysChanged { keys: &ring.ids() });
                    *current = Arc::new(ring);
                }
            }
            Err(error) => emit(&Event::KeysUnreadable { error: &error }),
        }
        (seen.stamps, seen.read) = (stamps, now);
    }
}

impl KeySet {
    fn read(
        source: &Source,
        algorithm: Algorithm,
        external: Option<&external_issuer::Options>,
    ) -> Result<Self, KeySetError> {
        let own = match source {
            Source::Folder(folder) => keys::read(folder)?,
            Source::Given(text) => keys::given(text, algorithm)?,
        };
        let external = external.map(ExternalIssuer::read).transpose()?;
        Ok(Self { own, external, remembered: Mutex::new(LruCache::new(REMEMBERED)) })
    }

    /// Our key of this id.
    pub fn key(&self, id: &str) -> Option<&Key> {
        self.own.iter().find(|key| key.id() == id)
    }

    /// What is remembered of a token.
    pub fn recall(&self, token: &str) -> Option<Verified> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }

    /// Remembers a token.
    pub fn remember(&self, token: &str, verified: Verified) {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner).put(token.into(), verified);
    }

    fn ids(&self) -> Vec<(&str, SystemTime)> {
        self.own.iter().map(|key| (key.id(), key.made())).collect()
    }
}

fn stamps(source: &Source, external: Option<&external_issuer::Options>) -> Stamps {
    let stamp = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    let folder = match source {
        Source::Folder(folder) => stamp(folder),
        Source::Given(_) => None,
    };
    [folder, external.and_then(|external| stamp(&external.jwks_file))]
}

fn unsettled_at(stamp: Option<SystemTime>, read: SystemTime) -> bool {
    stamp.is_some_and(|at| read.duration_since(at).is_ok_and(|age| age < TICK))
}
