//! A socket that takes connections.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener as StdTcpListener};
use std::os::unix::net::UnixListener as StdUnixListener;

use tokio::net::{TcpListener, TcpSocket, UnixListener};

use crate::http::listener_kind::ListenerKind;
use crate::http::socket::address::ListenAddress;
use crate::http::socket::inherited::{InheritedSocket, InheritedSockets};
use crate::http::socket::stream::Stream;
use crate::http::socket::unix_file::{self, UnixFile};

/// The address of the clients of a Unix socket: the address of this machine.
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Connections that the system keeps until they are accepted: as many as may come at once where the server was busy for a moment. Linux
/// lowers it to `net.core.somaxconn`.
const BACKLOG: u32 = 1024;

/// A socket that takes connections, which the system holds back until it is listened to.
#[derive(Debug)]
pub(crate) struct BoundSocket {
    kind: SocketKind<StdTcpListener, StdUnixListener>,
    address: ListenAddress,
}

/// A socket that takes connections, on the runtime where it was begun to listen.
#[derive(Debug)]
pub(crate) struct ListeningSocket(SocketKind<TcpListener, UnixListener>);

#[derive(Debug)]
enum SocketKind<T, U> {
    Tcp(T),
    /// With its file, unless that is the service manager's.
    Unix(U, Option<UnixFile>),
}

/// An address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}, which the setting {setting} names")]
pub(crate) struct ListenError {
    address: ListenAddress,
    setting: &'static str,
    source: io::Error,
}

impl BoundSocket {
    /// Binds the address. `mode` are the permissions of a Unix socket's file.
    pub(crate) async fn bind(
        address: &ListenAddress,
        listener: ListenerKind,
        mode: u32,
        inherited: &mut InheritedSockets,
    ) -> Result<Self, ListenError> {
        let kind = SocketKind::bind(address, mode, inherited).await;
        let bound = kind.and_then(|kind| Ok(Self { address: kind.address(address)?, kind }));
        bound.map_err(|source| ListenError { address: address.clone(), setting: listener.setting(), source })
    }

    /// Fails if the address cannot be listened on. It is free again at once.
    pub(crate) async fn check(address: &ListenAddress, listener: ListenerKind) -> Result<(), ListenError> {
        let checked = match address {
            ListenAddress::Tcp(address) => bind_tcp(*address).map(drop),
            ListenAddress::Unix(path) => unix_file::check(path).await,
            ListenAddress::Inherited(_) => Ok(()),
        };
        checked.map_err(|source| ListenError { address: address.clone(), setting: listener.setting(), source })
    }

    /// The address, with the port that the system chose if the configured one is 0.
    pub(crate) fn address(&self) -> &ListenAddress {
        &self.address
    }

    /// Listens on the runtime of the caller.
    pub(crate) fn listen(self) -> io::Result<ListeningSocket> {
        Ok(ListeningSocket(match self.kind {
            SocketKind::Tcp(socket) => SocketKind::Tcp(TcpListener::from_std(socket)?),
            SocketKind::Unix(socket, file) => SocketKind::Unix(UnixListener::from_std(socket)?, file),
        }))
    }
}

impl ListeningSocket {
    /// The next connection, and the client's address.
    pub(crate) async fn accept(&self) -> io::Result<(Stream, IpAddr)> {
        match &self.0 {
            SocketKind::Tcp(socket) => socket.accept().await.map(|(stream, peer)| (Stream::Tcp(stream), peer.ip())),
            SocketKind::Unix(socket, _) => socket.accept().await.map(|(stream, _)| (Stream::Unix(stream), LOCAL)),
        }
    }
}

/// Binds a port. Another server may have used it until a moment ago.
fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl SocketKind<StdTcpListener, StdUnixListener> {
    async fn bind(address: &ListenAddress, mode: u32, inherited: &mut InheritedSockets) -> io::Result<Self> {
        match address {
            ListenAddress::Tcp(address) => Ok(Self::Tcp(bind_tcp(*address)?.into_std()?)),
            ListenAddress::Unix(path) => {
                let (socket, file) = UnixFile::listen(path, mode, BACKLOG).await?;
                Ok(Self::Unix(socket.into_std()?, Some(file)))
            }
            ListenAddress::Inherited(name) => match inherited.socket(name.as_deref())? {
                InheritedSocket::Tcp(socket) => {
                    socket.set_nonblocking(true)?;
                    Ok(Self::Tcp(socket))
                }
                InheritedSocket::Unix(socket) => {
                    socket.set_nonblocking(true)?;
                    Ok(Self::Unix(socket, None))
                }
            },
        }
    }

    fn address(&self, configured: &ListenAddress) -> io::Result<ListenAddress> {
        Ok(match self {
            Self::Tcp(socket) => ListenAddress::Tcp(socket.local_addr()?),
            Self::Unix(_, Some(_)) => configured.clone(),
            Self::Unix(socket, None) => match socket.local_addr()?.as_pathname() {
                Some(path) => ListenAddress::Unix(path.to_owned()),
                None => configured.clone(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn many_connections_wait_until_they_are_accepted() {
        let address = ListenAddress::parse("127.0.0.1:0").unwrap();
        let socket =
            BoundSocket::bind(&address, ListenerKind::Public, 0o600, &mut InheritedSockets::take()).await.unwrap();
        let ListenAddress::Tcp(address) = socket.address() else { panic!("it is one of TCP") };
        // The system drops what does not fit, and clients try again until they give up.
        let connect = |_| TcpStream::connect_timeout(address, Duration::from_secs(5));
        let waiting: Result<Vec<_>, _> = (0..500).map(connect).collect();
        assert_eq!(waiting.unwrap().len(), 500);
    }
}
