//! The errors of a database's address.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::database::address::connection_string::ConnectionStringError;
use crate::tls::pem_files::PemError;

/// Why the files and variables that an address names cannot be used.
#[derive(Debug, Error)]
pub(crate) enum AddressError {
    #[error("the database's address is not valid")]
    Parameters(#[from] ConnectionStringError),
    #[error("{path} cannot be read", path = path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("no service file has [{name}]: name the file in PGSERVICEFILE, or correct service=")]
    NoService { name: String },
    #[error(
        "{path} does not exist, and sslmode asks for verified certificates: name the authority's certificate in sslrootcert, \
         trust those of the system with sslrootcert=system, or use another sslmode", path = path.display()
    )]
    NoRootCertificate {
        /// Where it was looked for.
        path: PathBuf,
    },
    #[error(
        "sslrootcert=system needs sslmode=verify-full: anybody can get a certificate from an authority of the system"
    )]
    SystemNeedsHost,
    /// The file of a certificate or key cannot be used.
    #[error(transparent)]
    Pem(#[from] PemError),
    #[error("sslcert and sslkey belong together: name both files")]
    HalfIdentity,
    #[error("the certificates cannot be used")]
    Certificates(#[source] rustls::Error),
}
