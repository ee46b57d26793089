//! The certificate that clients see, and which protocols they are offered; and the servers that a client of this program
//! trusts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustls::crypto::ring;
use rustls::{ClientConfig, ServerConfig};
use thiserror::Error;

use crate::tls::any_host::AnyHost;
use crate::tls::pem_files::{PemError, authorities, certificates, expiry, private_key};

/// HTTP's names in TLS (ALPN), the preferred one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The files of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// The certificate, followed by the certificates of the authorities between it and the root.
    pub(crate) certificate: PathBuf,
    /// Its private key.
    pub(crate) key: PathBuf,
}

/// Why clients cannot be served over TLS.
#[derive(Debug, Error)]
pub(crate) enum TlsError {
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] PemError),
    /// No client can be made.
    #[error("TLS cannot be used")]
    Client(#[source] rustls::Error),
    /// The certificate and the key do not go together, or are of a kind that is not known.
    #[error("the certificate in {} and the key in {} cannot be used", .0.certificate.display(), .0.key.display())]
    Pair(TlsFiles, #[source] rustls::Error),
}

/// Trusts servers by the authorities in a file, or by the authorities of the system.
pub(crate) fn client(file: Option<&Path>) -> Result<ClientConfig, TlsError> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(TlsError::Client)?;
    Ok(builder.with_root_certificates(authorities(file)?).with_no_client_auth())
}

/// Trusts every server: to ask this machine's own, whatever its certificate is for, and to send it nothing secret.
pub(crate) fn client_of_any_server() -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().map_err(TlsError::Client)?.dangerous();
    Ok(builder.with_custom_certificate_verifier(AnyHost::any_server(provider)).with_no_client_auth())
}

/// How clients are served over TLS.
#[derive(Debug, Clone)]
pub(crate) struct ServerTls {
    pub(crate) config: Arc<ServerConfig>,
    /// When the first of the certificates expires; `None` if that cannot be read.
    pub(crate) expiry: Option<SystemTime>,
}

/// Reads the files.
pub(crate) fn read(files: &TlsFiles) -> Result<ServerTls, TlsError> {
    let pair = |error| TlsError::Pair(files.clone(), error);
    let (chain, key) = (certificates(&files.certificate)?, private_key(&files.key)?);
    let expiry = chain.iter().filter_map(expiry).min();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(pair)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(pair)?;
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
    Ok(ServerTls { config: Arc::new(config), expiry })
}
