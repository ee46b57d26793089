//! Certificates that a test makes.

use std::fs::{self, Permissions};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use time::OffsetDateTime;

/// An authority that signs certificates.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for that name, and its key.
    pub fn sign(&self, name: &str) -> (String, String) {
        self.sign_until(date_time_ymd(4000, 1, 1), name)
    }

    fn sign_until(&self, end: OffsetDateTime, name: &str) -> (String, String) {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.not_after = end;
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }

    /// Writes a certificate for that name, and its key.
    pub fn write(&self, name: &str, certificate: &Path, key: &Path) {
        self.write_until(date_time_ymd(4000, 1, 1), name, certificate, key);
    }

    /// Writes a certificate for that name which expires then, and its key.
    pub fn write_until(&self, end: OffsetDateTime, name: &str, certificate: &Path, key: &Path) {
        let (certificate_pem, key_pem) = self.sign_until(end, name);
        fs::write(certificate, certificate_pem).unwrap();
        fs::write(key, key_pem).unwrap();
        fs::set_permissions(key, Permissions::from_mode(0o600)).unwrap();
    }

    /// A client that trusts this authority alone, and offers these protocols.
    pub fn client(&self, protocols: &[&str]) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem().as_bytes()).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap();
        let mut config = builder.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        Arc::new(config)
    }

    /// Encrypts a connection from a client, as the server with that name.
    pub fn accept(&self, name: &str, stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
        let (certificate, key) = self.sign(name);
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = builder.with_single_cert(vec![certificate], key).unwrap();
        StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream)
    }

    /// Encrypts a connection to the server with that name. The handshake takes place when bytes are written or read.
    pub fn connect(&self, name: &str, stream: TcpStream) -> StreamOwned<ClientConnection, TcpStream> {
        let name = ServerName::try_from(name.to_owned()).unwrap();
        StreamOwned::new(ClientConnection::new(self.client(&["http/1.1"]), name).unwrap(), stream)
    }
}
