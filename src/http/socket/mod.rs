//! The sockets that connections come from: TCP ports, Unix sockets, and sockets that the service manager has opened; with TLS or without.
//!
//! - `address`: how an operator writes it
//! - `inherited`: the sockets of the service manager
//! - `unix_file`: the file of a Unix socket
//! - `listening`: a socket that takes connections
//! - `stream`: the bytes of a connection
//! - `tls`: the certificate that clients see

pub(crate) mod address;
pub(crate) mod inherited;
pub(crate) mod listening;
pub(crate) mod stream;
pub(crate) mod tls;
mod unix_file;
