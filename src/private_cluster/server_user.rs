//! The operating system user that owns the data directory and runs the server.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use crate::private_cluster::error::ClusterError;

/// The user id of root.
const ROOT: u32 = 0;

/// The user that owns the data directory and runs the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerUser {
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Whether it is another user than this process has.
    pub(super) differs: bool,
}

impl ServerUser {
    /// This process's own user. For root: the owner of the data directory, else `postgres`, else `nobody`.
    pub(super) fn find(data: &Path) -> Result<Self, ClusterError> {
        let (uid, gid) = user_ids(None).ok_or(ClusterError::NoUser)?;
        if uid != ROOT {
            return Ok(Self { uid, gid, differs: false });
        }
        let data_owner = fs::metadata(data).ok().map(|data| (data.uid(), data.gid()));
        [data_owner, user_ids(Some("postgres")), user_ids(Some("nobody"))]
            .into_iter()
            .flatten()
            .find(|(uid, _)| *uid != ROOT)
            .map(|(uid, gid)| Self { uid, gid, differs: true })
            .ok_or(ClusterError::NoUser)
    }

    /// Fails if the user may not enter the folder or one of its ancestors.
    pub(super) fn check_access(self, folder: &Path) -> Result<(), ClusterError> {
        for ancestor in folder.ancestors() {
            let metadata =
                fs::metadata(ancestor).map_err(|source| ClusterError::File { path: ancestor.to_owned(), source })?;
            let may_enter = match metadata {
                _ if metadata.uid() == self.uid => 0o100,
                _ if metadata.gid() == self.gid => 0o010,
                _ => 0o001,
            };
            if metadata.mode() & may_enter == 0 {
                return Err(ClusterError::FolderClosed { closed: ancestor.to_owned(), user: self.uid });
            }
        }
        Ok(())
    }
}

/// Whether this process runs as root.
pub(super) fn is_root() -> bool {
    user_ids(None).is_some_and(|(uid, _)| uid == ROOT)
}

/// The user and group id of a user, or of this process, from `id`.
fn user_ids(name: Option<&str>) -> Option<(u32, u32)> {
    let id = |option: &str| {
        let output = Command::new("id").arg(option).args(name).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    Some((id("-u")?, id("-g")?))
}
