//! A folder of signing keys, a file each.
//!
//! A file's name without its extension is the key's id (`kid`). `.pem` files have an Ed25519 private key (PKCS #8), `.hs256`
//! files a secret in base64url. Files are never rewritten, so the folder's modification time changes with every key that is
//! created or retired.

use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::{fs, process};

use jwt_simple::reexports::rand;
use time::OffsetDateTime;
use time::macros::format_description;

use crate::access::tokens::key_access::{check_folder, check_key};
use crate::access::tokens::signing_key::{Algorithm, KeyError, SigningKey, signing};

/// Reads all keys of the folder, the newest last. Keys of the same age, as a copy makes them, are sorted by their ids.
/// Ignores files with other extensions. Returns no keys if there is no folder. Fails if somebody else may read or write them.
pub(crate) fn read(folder: &Path) -> Result<Vec<SigningKey>, KeyError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| KeyError::Folder(folder.to_owned(), error))?,
    };
    check_folder(folder)?;
    let mut keys = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| KeyError::Folder(folder.to_owned(), error))?.path();
        let (Some(algorithm), Some(id)) = (algorithm_of(&path), path.file_stem().and_then(|stem| stem.to_str())) else {
            continue;
        };
        if id.starts_with('.') {
            continue;
        }
        match read_file(&path, id, algorithm) {
            // Another process retired it since the folder was listed.
            Err(KeyError::File(_, error)) if error.kind() == io::ErrorKind::NotFound => {}
            key => keys.push(key?),
        }
    }
    keys.sort_by(|one, other| (one.created(), one.id()).cmp(&(other.created(), other.id())));
    Ok(keys)
}

/// Creates a key in the folder and returns its id. The file appears under its name when it is complete, so no process
/// reads half a key.
pub(crate) fn create(folder: &Path, algorithm: Algorithm) -> Result<String, KeyError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        |error| KeyError::File(path, error)
    };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| KeyError::Folder(folder.to_owned(), error))?;
    // No server would use a new key beside one that it refuses.
    read(folder)?;
    let id = new_id();
    let path = folder.join(format!("{id}.{}", algorithm.extension()));
    let draft = folder.join(format!(".{id}.{}", process::id()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| file.write_all(algorithm.generate().as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, &path));
    if written.is_err() {
        // The draft may not exist.
        let _ = fs::remove_file(&draft);
    }
    written.map_err(at(&path))?;
    Ok(id)
}

/// Removes a key, so that the tokens that it signed are rejected. Fails for the key that signs: it must be replaced first.
pub(crate) fn retire(folder: &Path, id: &str, algorithm: Algorithm) -> Result<(), KeyError> {
    let keys = read(folder)?;
    let Some(key) = keys.iter().find(|key| key.id() == id) else {
        return Err(KeyError::Unknown { id: id.to_owned(), folder: folder.to_owned() });
    };
    if signing(&keys, algorithm).is_some_and(|signing| signing.id() == id) {
        return Err(KeyError::Signs(id.to_owned()));
    }
    let path = folder.join(format!("{id}.{}", key.algorithm().extension()));
    fs::remove_file(&path).map_err(|error| KeyError::File(path, error))
}

fn read_file(path: &Path, id: &str, algorithm: Algorithm) -> Result<SigningKey, KeyError> {
    let at_path = |error| KeyError::File(path.to_owned(), error);
    let not_a_key = || KeyError::NotAKey { path: path.to_owned(), wanted: algorithm.wanted() };
    let mut file = fs::File::open(path).map_err(at_path)?;
    let metadata = file.metadata().map_err(at_path)?;
    check_key(path, &metadata)?;
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Err(not_a_key()),
        read => read.map_err(at_path)?,
    };
    let created = metadata.modified().map_err(at_path)?;
    SigningKey::parse(Some(id), created, algorithm, &text).ok_or_else(not_a_key)
}

fn algorithm_of(path: &Path) -> Option<Algorithm> {
    let extension = path.extension()?;
    Algorithm::ALL.into_iter().find(|algorithm| extension == algorithm.extension())
}

/// The time and a random number. Ids sort by time, and two of the same second differ.
fn new_id() -> String {
    let format = format_description!("[year][month][day]T[hour][minute][second]Z");
    let now = OffsetDateTime::now_utc().format(format).unwrap_or_default();
    format!("{now}-{:08x}", rand::random::<u32>())
}
