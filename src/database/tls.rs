//! Encrypted connections to PostgreSQL: whose certificates are trusted, and which one is shown.
//!
//! Source: PostgreSQL's documentation, section "SSL Support" of libpq.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database::error::AddressError;
use crate::pem_files::{certificates, private_key};

/// Which servers are trusted.
pub(super) enum Trust {
    /// Any.
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
        Trust::Any => any_server(Arc::clone(&provider)),
        Trust::Authority(roots) => {
            Arc::new(AnyHost { provider: Arc::clone(&provider), authorities: Some(verified(roots)?) })
        }
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
    let verifier = any_server(Arc::clone(&provider));
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

fn any_server(provider: Arc<CryptoProvider>) -> Arc<AnyHost> {
    Arc::new(AnyHost { provider, authorities: None })
}

/// Trusts a server whatever host its certificate is for.
#[derive(Debug)]
struct AnyHost {
    provider: Arc<CryptoProvider>,
    /// Verifies that an authority signed the certificate, as `sslmode=verify-ca` demands. `None` trusts every server, as
    /// `sslmode=require` does without a root certificate.
    authorities: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for AnyHost {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else { return Ok(ServerCertVerified::assertion()) };
        match authorities.verify_server_cert(certificate, intermediates, server, ocsp, now) {
            // The name is compared last, when everything else was found valid.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
