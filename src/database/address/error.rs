//! The errors of a database's address.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::database::address::connection_string::ConnectionStringError;
use crate::tls::pem_files::PemError;

/// Why the files and variables that an address names cannot be used.
#[derive(Debug, Error)]
pub enum AddressError {
    /// The parameters of a service or of the environment are wrong.
    #[error("the database's address is not valid")]
    Parameters(#[from] ConnectionStringError),
    /// A file cannot be read.
    #[error("{path} cannot be read", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// No service file has the service.
    #[error("no service file has [{name}]: name the file in PGSERVICEFILE, or correct service=")]
    NoService {
        /// The service's name.
        name: String,
    },
    /// Certificates are to be verified, but there is no root certificate.
    #[error(
        "{path} does not exist, and sslmode asks for verified certificates: name the authority's certificate in sslrootcert, \
         trust those of the system with sslrootcert=system, or use another sslmode", path = path.display()
    )]
    NoRootCertificate {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The system's certificates are trusted for any host but the one that is meant.
    #[error(
        "sslrootcert=system needs sslmode=verify-full: anybody can get a certificate from an authority of the system"
    )]
    SystemNeedsHost,
    /// The file of a certificate or key cannot be used.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// A certificate without its key, or a key without its certificate.
    #[error("sslcert and sslkey belong together: name both files")]
    HalfIdentity,
    /// The certificates cannot be used.
    #[error("the certificates cannot be used")]
    Certificates(#[source] rustls::Error),
}
