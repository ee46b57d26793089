//! Encrypted connections to PostgreSQL: whose certificates are trusted, and which one is shown.
//!
//! Source: PostgreSQL's documentation, section "SSL Support" of libpq.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::ring;
use rustls::{ClientConfig, Error, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::address::error::AddressError;
use crate::tls::any_host::AnyHost;
use crate::tls::pem_files::{certificates, private_key};

/// Which servers are trusted.
pub(super) enum Trust {
    Any,
    /// Those with a certificate that one of these authorities signed.
    Authority(RootCertStore),
    /// Those with a certificate for their host that one of these authorities signed.
    Host(RootCertStore),
}

/// The certificate that this client shows, and its key.
pub(super) struct Identity {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// Makes what opens encrypted connections.
pub(super) fn connector(trust: Trust, identity: Option<&Identity>) -> Result<MakeRustlsConnect, AddressError> {
    let provider = Arc::new(ring::default_provider());
    let verified = |roots| {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
        verifier.map_err(|error| AddressError::Certificates(Error::General(error.to_string())))
    };
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::Any => AnyHost::any_server(Arc::clone(&provider)),
        Trust::Authority(roots) => AnyHost::signed_by(Arc::clone(&provider), verified(roots)?),
        Trust::Host(roots) => verified(roots)?,
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(AddressError::Certificates)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(Identity { certificate, key }) => {
            let certificates = certificates(certificate)?;
            builder.with_client_auth_cert(certificates, private_key(key)?).map_err(AddressError::Certificates)?
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

/// What opens connections to a server that is this machine's own.
pub(super) fn local_connector() -> MakeRustlsConnect {
    let provider = Arc::new(ring::default_provider());
    let verifier = AnyHost::any_server(Arc::clone(&provider));
    let versions = rustls::ALL_VERSIONS;
    // The provider supports a cipher suite of every version.
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions);
    #[expect(
        clippy::expect_used,
        reason = "depends on the provider alone, and every connection of the tests passes here"
    )]
    let builder = builder.expect("ring supports all versions");
    MakeRustlsConnect::new(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}
