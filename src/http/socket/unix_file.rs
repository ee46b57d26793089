//! The file of a Unix socket: made with its permissions, in place of a file without a listener, and removed at the end.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixSocket, UnixStream};

/// The file of a socket that listens. Dropping it removes the file, unless it is another one by then.
#[derive(Debug)]
pub(crate) struct UnixFile {
    path: PathBuf,
    /// The device and the number of the file there.
    identity: (u64, u64),
}

impl UnixFile {
    /// Listens on a socket at that path, where this many connections wait until they are accepted. Fails if a server listens there, or if
    /// there is another file.
    pub(super) async fn listen(path: &Path, mode: u32, backlog: u32) -> io::Result<(UnixListener, Self)> {
        check(path).await?;
        // The socket takes connections from its first moment. So it is made in a folder that nobody else may enter, and moved when its
        // permissions are set.
        let folder = path.with_added_extension("new");
        let made = folder.join("s");
        let _ = fs::remove_file(&made);
        let _ = fs::remove_dir(&folder);
        DirBuilder::new().mode(0o700).create(&folder)?;
        let listening = (|| {
            let socket = UnixSocket::new_stream()?;
            socket.bind(&made)?;
            let socket = socket.listen(backlog)?;
            fs::set_permissions(&made, Permissions::from_mode(mode))?;
            let metadata = fs::symlink_metadata(&made)?;
            fs::rename(&made, path)?;
            Ok((socket, Self { path: path.to_owned(), identity: (metadata.dev(), metadata.ino()) }))
        })();
        fs::remove_dir(&folder)?;
        listening
    }
}

/// Fails if a server listens on a socket at that path, or if there is another file.
pub(super) async fn check(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file that is no socket"));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(_) | Err(_) => {}
    }
    match UnixStream::connect(path).await {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => Ok(()),
        Ok(_) | Err(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens there")),
    }
}

impl Drop for UnixFile {
    fn drop(&mut self) {
        let found = fs::symlink_metadata(&self.path);
        if found.is_ok_and(|found| (found.dev(), found.ino()) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
