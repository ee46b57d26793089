//! What every encrypted connection needs: certificates and keys in files, and whose certificates are trusted.

pub(crate) mod any_host;
pub(crate) mod pem_files;
