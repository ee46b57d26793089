//! The files of every encrypted connection: certificates, keys, and the certificates of trusted authorities.

pub(crate) mod any_host;
pub(crate) mod pem_files;
