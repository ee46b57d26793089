//! The bytes of a connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The bytes of a connection.
#[derive(Debug)]
pub(crate) enum Stream {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a Unix socket.
    Unix(UnixStream),
    /// Encrypted over TCP.
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Has bytes sent at once. Responses are written whole or in large parts, so waiting for more would only delay their end.
    pub(crate) fn send_at_once(&self) {
        if let Self::Tcp(stream) = self {
            let _ = stream.set_nodelay(true);
        }
    }

    /// Closes it so that the system keeps no state of it, as it would after an orderly end.
    pub(crate) fn reset(self) {
        let _ = match &self {
            Self::Tcp(stream) => stream.set_zero_linger(),
            Self::Tls(stream) => stream.get_ref().0.set_zero_linger(),
            Self::Unix(_) => Ok(()),
        };
    }

    /// Encrypts the bytes of TCP. The bytes of a Unix socket do not leave the machine.
    pub(crate) async fn encrypted(self, tls: Arc<ServerConfig>) -> io::Result<Self> {
        match self {
            Self::Tcp(stream) => Ok(Self::Tls(Box::new(TlsAcceptor::from(tls).accept(stream).await?))),
            Self::Unix(_) | Self::Tls(_) => Ok(self),
        }
    }
}

/// Calls a function of the stream inside.
macro_rules! inner {
    ($stream:expr, $inner:ident => $call:expr) => {
        match $stream {
            Stream::Tcp($inner) => $call,
            Stream::Unix($inner) => $call,
            Stream::Tls($inner) => $call,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        inner!(&mut *self, stream => Pin::new(stream).poll_read(context, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        inner!(&mut *self, stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        inner!(&mut *self, stream => Pin::new(stream).poll_write_vectored(context, parts))
    }

    fn is_write_vectored(&self) -> bool {
        inner!(self, stream => stream.is_write_vectored())
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        inner!(&mut *self, stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        inner!(&mut *self, stream => Pin::new(stream).poll_shutdown(context))
    }
}
