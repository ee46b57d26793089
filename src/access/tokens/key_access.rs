//! Who may read and write the keys that sign tokens. Keys that somebody else can read or replace are not used: with such a key, one can
//! make tokens of any user.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{self, Path, PathBuf};

use rustix::process::geteuid;

use crate::access::tokens::signing_key::KeyError;

const ROOT: u32 = 0;
const GROUP_READS: u32 = 0o040;
const GROUP_AND_OTHERS_WRITE: u32 = 0o022;
const GROUP_AND_OTHERS: u32 = 0o077;

/// Fails if others may add keys to the folder.
pub(super) fn check_folder(folder: &Path) -> Result<(), KeyError> {
    let metadata = fs::metadata(folder).map_err(|error| KeyError::Folder(folder.to_owned(), error))?;
    check_owner(folder, &metadata, "key folder")?;
    if metadata.mode() & GROUP_AND_OTHERS_WRITE == 0 { Ok(()) } else { Err(KeyError::FolderExposed(absolute(folder))) }
}

/// Fails if others may read or write the key. The group may read a key of root's, as container platforms mount them, if
/// the program does not run as root.
pub(super) fn check_key(file: &Path, metadata: &Metadata) -> Result<(), KeyError> {
    check_owner(file, metadata, "key")?;
    let is_mounted = metadata.uid() == ROOT && !geteuid().is_root();
    let denied = if is_mounted { GROUP_AND_OTHERS & !GROUP_READS } else { GROUP_AND_OTHERS };
    if metadata.mode() & denied == 0 { Ok(()) } else { Err(KeyError::KeyExposed(absolute(file))) }
}

fn check_owner(path: &Path, metadata: &Metadata, kind: &'static str) -> Result<(), KeyError> {
    let owner = metadata.uid();
    if [ROOT, geteuid().as_raw()].contains(&owner) {
        return Ok(());
    }
    Err(KeyError::ForeignOwner { kind, path: absolute(path), owner })
}

/// The path as it is shown: absolute, because a reader of the message may not know the program's working directory.
pub(super) fn absolute(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
