//! `postmaster.pid`, the file in which a running server describes itself.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::private_cluster::address::ClusterAddress;

/// The port is only part of the socket's name: the server does not listen on the network.
pub(super) const PORT: u16 = 5432;

/// The facts in `postmaster.pid` about a server.
pub(super) struct Postmaster {
    pub(super) address: ClusterAddress,
    is_ready: bool,
}

impl Postmaster {
    /// Reads the file in the data directory. `None` if there is none. Its lines: process id, data directory, start time,
    /// port, socket folder, listen address, shared memory, status.
    pub(super) fn read(data: &Path) -> Option<Self> {
        let text = fs::read_to_string(pid_file(data)).ok()?;
        let mut lines = text.lines().skip(3);
        let port = lines.next().and_then(|line| line.trim().parse().ok()).unwrap_or(PORT);
        let socket = PathBuf::from(lines.next().unwrap_or_default().trim());
        let is_ready = lines.nth(2).is_some_and(|status| status.trim() == "ready");
        Some(Self { address: ClusterAddress { socket, port }, is_ready })
    }

    /// Whether the server accepts connections.
    pub(super) fn accepts_connections(&self) -> bool {
        let ClusterAddress { socket, port } = &self.address;
        self.is_ready && UnixStream::connect(socket.join(format!(".s.PGSQL.{port}"))).is_ok()
    }
}

/// The path of the file.
pub(super) fn pid_file(data: &Path) -> PathBuf {
    data.join("postmaster.pid")
}

/// The process id that the file names.
pub(super) fn process_id(data: &Path) -> Option<u32> {
    fs::read_to_string(pid_file(data)).ok()?.lines().next()?.trim().parse().ok()
}
