//! Checks when certificates expire.

use std::path::Path;
use std::time::{Duration, SystemTime};

use time::OffsetDateTime;

use crate::cli::doctor::finding::Finding;
use crate::database::address::database_address::CertificateFiles;
use crate::tls::pem_files::{certificates, expiry};

/// How long before its end a certificate should be replaced.
const SOON: Duration = Duration::from_hours(30 * 24);

/// Which certificates of a file have to be valid.
#[derive(Debug, Clone, Copy)]
enum Needed {
    /// All: a certificate and those between it and the root.
    All,
    /// One: old authorities stay in a file beside their successors.
    Any,
}

/// Checks the certificate that clients see.
pub(super) fn of_listener(file: &Path) -> Option<Finding> {
    check("tls-cert", file, Needed::All, "replace it, and reload the server")
}

/// Checks the certificates that connections to the database need.
pub(super) fn of_connections(files: &CertificateFiles) -> Vec<Finding> {
    let remedy = "replace it, and restart the server";
    let authorities = files.authorities.as_deref().and_then(|file| check("sslrootcert", file, Needed::Any, remedy));
    let identity = files.identity.as_deref().and_then(|file| check("sslcert", file, Needed::All, remedy));
    authorities.into_iter().chain(identity).collect()
}

/// `None` if the file has no certificates, which others report.
fn check(setting: &str, file: &Path, needed: Needed, remedy: &str) -> Option<Finding> {
    let certificates = certificates(file).ok()?;
    let ends = certificates.iter().filter_map(expiry);
    let end = match needed {
        Needed::All => ends.min(),
        Needed::Any => ends.max(),
    }?;
    let name = format!("{setting} {}", file.display());
    let (date, now) = (OffsetDateTime::from(end).date(), SystemTime::now());
    Some(if end <= now {
        Finding::failure("certificates", format!("{name} expired on {date}"), remedy)
    } else if end <= now + SOON {
        Finding::warning("certificates", format!("{name} expires on {date}"), remedy)
    } else {
        Finding::ok("certificates", format!("{name} is valid until {date}"))
    })
}
