//! Where a database is, and with which parameters, certificates and passwords it is connected to.

pub(crate) mod error;

pub(crate) mod connection_string;
pub(crate) mod database_address;
mod libpq_files;
pub(crate) mod role;
pub(crate) mod server_addresses;
pub(super) mod target_session;
mod tls;
