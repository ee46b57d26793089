//! Certificates and private keys in PEM files.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

/// Why a file cannot be used.
#[derive(Debug, Error)]
pub(crate) enum PemError {
    #[error("{path} cannot be read", path = path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} has no {wanted} in PEM format", path = path.display())]
    NotPem { path: PathBuf, wanted: &'static str },
    /// A certificate is none of an authority.
    #[error("a certificate in {path} cannot be trusted", path = path.display())]
    Authority {
        path: PathBuf,
        #[source]
        source: rustls::Error,
    },
    #[error("the system has no trusted certificates (Debian: apt-get install ca-certificates)")]
    NoSystemCertificates,
    #[error("{path} can be read by others than its owner: chmod 600 it", path = path.display())]
    KeyOpen { path: PathBuf },
}

/// The certificates in a file. There is at least one.
pub(crate) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let not_pem = || PemError::NotPem { path: path.to_owned(), wanted: "certificate" };
    let text = read(path)?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>().map_err(|_| not_pem())?;
    if found.is_empty() { Err(not_pem()) } else { Ok(found) }
}

/// When a certificate expires; `None` if it is not one that can be read.
pub(crate) fn expiry(certificate: &CertificateDer<'_>) -> Option<SystemTime> {
    let certificate = Certificate::from_der(certificate).ok()?;
    Some(certificate.tbs_certificate.validity.not_after.to_system_time())
}

/// The private key in a file that nobody else may read.
pub(crate) fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, PemError> {
    let text = read(path)?;
    let metadata = fs::metadata(path).map_err(|source| PemError::Unreadable { path: path.to_owned(), source })?;
    // As in libpq, a key of root may be read by a group, too.
    let closed = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    if metadata.mode() & closed != 0 {
        return Err(PemError::KeyOpen { path: path.to_owned() });
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| PemError::NotPem { path: path.to_owned(), wanted: "private key" })
}

/// The authorities whose certificates are in a file, or the authorities that the system trusts.
pub(crate) fn authorities(path: Option<&Path>) -> Result<RootCertStore, PemError> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = path {
        for certificate in certificates(path)? {
            let unusable = |source| PemError::Authority { path: path.to_owned(), source };
            roots.add(certificate).map_err(unusable)?;
        }
    } else {
        let (added, _) = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if added == 0 {
            return Err(PemError::NoSystemCertificates);
        }
    }
    Ok(roots)
}

fn read(path: &Path) -> Result<Vec<u8>, PemError> {
    fs::read(path).map_err(|source| PemError::Unreadable { path: path.to_owned(), source })
}
