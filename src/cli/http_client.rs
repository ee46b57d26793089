//! Asks a running server, for commands.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::time;
use tokio_rustls::TlsConnector;

/// How long a server may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The address of a server.
#[derive(Debug, Clone)]
pub(crate) enum ServerAddress {
    /// A host and a port, such as `127.0.0.1:8080`.
    Plain(String),
    /// The same, over TLS, and which servers are trusted.
    Encrypted(String, Arc<ClientConfig>),
    /// A Unix socket.
    Unix(PathBuf),
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    #[cfg(feature = "mcp")]
    pub(crate) headers: hyper::HeaderMap,
    pub(crate) body: Bytes,
}

/// Why there is no response.
#[derive(Debug, Error)]
pub(crate) enum ClientError {
    /// No server listens there, or it does not speak TLS or is not trusted.
    #[error("no connection to {address}")]
    Connect {
        /// The server's address.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// The answer over a plain connection is no HTTP.
    #[error("what {address} speaks is no HTTP; does its address begin with https://?")]
    NotHttp {
        /// The server's address.
        address: String,
        /// The error of HTTP.
        source: hyper::Error,
    },
    /// The answer over an encrypted connection is no TLS.
    #[error("what {address} speaks is no TLS; does its address begin with http://?")]
    NotTls {
        /// The server's address.
        address: String,
        /// The error of TLS.
        source: io::Error,
    },
    /// The server's certificate is signed by an unknown authority.
    #[error("the certificate of {address} is signed by an authority that is not trusted; name its PEM file with --ca")]
    UnknownAuthority {
        /// The server's address.
        address: String,
        /// The error of TLS.
        source: io::Error,
    },
    /// The connection ended early, or is none of HTTP.
    #[error("no response")]
    Http(#[from] hyper::Error),
    /// The server took too long.
    #[error("no response within {} s", .0.as_secs())]
    TooSlow(Duration),
}

/// Sends a request on a connection of its own.
pub(crate) async fn send(
    server: &ServerAddress,
    request: Request<Full<Bytes>>,
    limit: Duration,
) -> Result<Answer, ClientError> {
    let sent = async {
        match server {
            ServerAddress::Plain(address) => {
                exchange(connect(address).await?, request).await.map_err(|error| match error {
                    ClientError::Http(source) if source.is_parse() => {
                        ClientError::NotHttp { address: address.clone(), source }
                    }
                    other => other,
                })
            }
            ServerAddress::Encrypted(address, trust) => {
                let failed = |source| ClientError::Connect { address: address.clone(), source };
                let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
                let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned());
                let name = name.map_err(|error| failed(io::Error::other(error)))?;
                let stream = TlsConnector::from(Arc::clone(trust)).connect(name, connect(address).await?);
                exchange(stream.await.map_err(|error| handshake_error(address, error))?, request).await
            }
            ServerAddress::Unix(path) => {
                let address = format!("unix:{}", path.display());
                let stream = UnixStream::connect(path).await;
                exchange(stream.map_err(|source| ClientError::Connect { address, source })?, request).await
            }
        }
    };
    time::timeout(limit, sent).await.map_err(|_| ClientError::TooSlow(limit))?
}

/// Why a connection is not encrypted.
fn handshake_error(address: &str, source: io::Error) -> ClientError {
    let address = address.to_owned();
    match source.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidMessage(_)) => ClientError::NotTls { address, source },
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            ClientError::UnknownAuthority { address, source }
        }
        _ => ClientError::Connect { address, source },
    }
}

async fn connect(address: &str) -> Result<TcpStream, ClientError> {
    let connected = time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await;
    let connected = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    connected.map_err(|source| ClientError::Connect { address: address.to_owned(), source })
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Answer, ClientError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Ends with the sender.
    tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await?.into_parts();
    Ok(Answer {
        status: head.status,
        #[cfg(feature = "mcp")]
        headers: head.headers,
        body: body.collect().await?.to_bytes(),
    })
}
