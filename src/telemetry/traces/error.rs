//! Why no traces are recorded.

use opentelemetry_otlp::ExporterBuildError;

use crate::tls::pem_files::PemError;

/// Why no traces are recorded.
#[derive(Debug, thiserror::Error)]
pub(super) enum TracesError {
    /// A variable is wrong.
    #[error(transparent)]
    Exporter(#[from] ExporterBuildError),
    /// A file is missing or wrong.
    #[error("the connection to the collector cannot be encrypted")]
    Files(#[from] PemError),
    /// The certificate and the key do not belong together.
    #[error("the connection to the collector cannot be encrypted")]
    Tls(#[from] rustls::Error),
}
