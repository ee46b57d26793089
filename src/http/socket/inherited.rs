//! Sockets that the service manager has opened: systemd's socket activation.

use std::env;
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use listenfd::ListenFd;

/// The sockets that this process was started with.
pub(crate) struct InheritedSockets {
    sockets: ListenFd,
    names: Vec<String>,
}

/// A socket that this process was started with.
pub(super) enum InheritedSocket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl InheritedSockets {
    /// Takes the sockets of the process. Call it before other threads run, because it changes the environment.
    pub(crate) fn take() -> Self {
        let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
        Self { sockets: ListenFd::from_env(), names: names.split(':').map(str::to_owned).collect() }
    }

    /// The socket with that name, or the first one.
    pub(super) fn socket(&mut self, name: Option<&str>) -> io::Result<InheritedSocket> {
        let index = match name {
            None => Some(0),
            Some(name) => self.names.iter().position(|known| known == name),
        };
        let missing = || io::Error::new(io::ErrorKind::NotFound, "the service manager has passed on no such socket");
        let index = index.ok_or_else(missing)?;
        match self.sockets.take_tcp_listener(index) {
            Ok(socket) => socket.map(InheritedSocket::Tcp).ok_or_else(missing),
            // It is of another kind.
            Err(_) => self.sockets.take_unix_listener(index)?.map(InheritedSocket::Unix).ok_or_else(missing),
        }
    }
}
