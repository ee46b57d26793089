//! A socket that takes connections.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use tokio::net::{TcpListener, UnixListener};

use crate::http::listener_kind::ListenerKind;
use crate::http::socket::address::ListenAddress;
use crate::http::socket::inherited::{InheritedSocket, InheritedSockets};
use crate::http::socket::stream::Stream;
use crate::http::socket::unix_file::{self, UnixFile};

/// The address of the clients of a Unix socket: that of this machine.
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A socket that takes connections.
#[derive(Debug)]
pub(crate) struct ListeningSocket {
    kind: Kind,
    address: ListenAddress,
}

#[derive(Debug)]
enum Kind {
    Tcp(TcpListener),
    /// With its file, unless that is the service manager's.
    Unix(UnixListener, Option<UnixFile>),
}

/// An address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}, which the setting {setting} names")]
pub(crate) struct ListenError {
    address: ListenAddress,
    setting: &'static str,
    source: io::Error,
}

impl ListeningSocket {
    /// Listens on the address. `mode` are the permissions of a Unix socket's file.
    pub(crate) async fn bind(
        address: &ListenAddress,
        listener: ListenerKind,
        mode: u32,
        inherited: &mut InheritedSockets,
    ) -> Result<Self, ListenError> {
        let kind = Kind::bind(address, mode, inherited).await;
        let bound = kind.and_then(|kind| Ok(Self { address: kind.address(address)?, kind }));
        bound.map_err(|source| ListenError { address: address.clone(), setting: listener.setting(), source })
    }

    /// Fails if the address cannot be listened on. It is free again at once.
    pub(crate) async fn check(address: &ListenAddress, listener: ListenerKind) -> Result<(), ListenError> {
        let checked = match address {
            ListenAddress::Tcp(address) => TcpListener::bind(address).await.map(drop),
            ListenAddress::Unix(path) => unix_file::check(path).await,
            ListenAddress::Inherited(_) => Ok(()),
        };
        checked.map_err(|source| ListenError { address: address.clone(), setting: listener.setting(), source })
    }

    /// The address, with the port that the system chose if the configured one is 0.
    pub(crate) fn address(&self) -> &ListenAddress {
        &self.address
    }

    /// The next connection, and the client's address.
    pub(crate) async fn accept(&self) -> io::Result<(Stream, IpAddr)> {
        match &self.kind {
            Kind::Tcp(socket) => socket.accept().await.map(|(stream, peer)| (Stream::Tcp(stream), peer.ip())),
            Kind::Unix(socket, _) => socket.accept().await.map(|(stream, _)| (Stream::Unix(stream), LOCAL)),
        }
    }
}

impl Kind {
    async fn bind(address: &ListenAddress, mode: u32, inherited: &mut InheritedSockets) -> io::Result<Self> {
        match address {
            ListenAddress::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            ListenAddress::Unix(path) => {
                UnixFile::listen(path, mode).await.map(|(socket, file)| Self::Unix(socket, Some(file)))
            }
            ListenAddress::Inherited(name) => match inherited.socket(name.as_deref())? {
                InheritedSocket::Tcp(socket) => {
                    socket.set_nonblocking(true)?;
                    Ok(Self::Tcp(TcpListener::from_std(socket)?))
                }
                InheritedSocket::Unix(socket) => {
                    socket.set_nonblocking(true)?;
                    Ok(Self::Unix(UnixListener::from_std(socket)?, None))
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
