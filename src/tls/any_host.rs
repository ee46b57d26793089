//! Verifies servers' certificates without their hosts.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// Trusts a server whatever host its certificate is for.
#[derive(Debug)]
pub(crate) struct AnyHost {
    provider: Arc<CryptoProvider>,
    /// Verifies that an authority signed the certificate. `None` trusts every server.
    authorities: Option<Arc<WebPkiServerVerifier>>,
}

impl AnyHost {
    /// Trusts every server: for connections on which nothing secret is sent, and for `sslmode=require`.
    pub(crate) fn any_server(provider: Arc<CryptoProvider>) -> Arc<Self> {
        Arc::new(Self { provider, authorities: None })
    }

    /// Trusts servers whose certificate an authority signed, as `sslmode=verify-ca` demands.
    pub(crate) fn signed_by(provider: Arc<CryptoProvider>, authorities: Arc<WebPkiServerVerifier>) -> Arc<Self> {
        Arc::new(Self { provider, authorities: Some(authorities) })
    }
}

impl AnyHost {
    /// The result for a certificate that could be read. Where every server is trusted, one that could not is no reason to fail: old
    /// certificates are of X.509's first version, which webpki does not read. Whose key signed says nothing there.
    fn unless_unread(
        &self,
        verified: Result<HandshakeSignatureValid, Error>,
    ) -> Result<HandshakeSignatureValid, Error> {
        match verified {
            Err(Error::InvalidCertificate(CertificateError::Other(_))) if self.authorities.is_none() => {
                Ok(HandshakeSignatureValid::assertion())
            }
            verified => verified,
        }
    }
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
        let algorithms = &self.provider.signature_verification_algorithms;
        self.unless_unread(verify_tls12_signature(message, certificate, signature, algorithms))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        self.unless_unread(verify_tls13_signature(message, certificate, signature, algorithms))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
