//! The server over raw sockets.

mod concurrency;
mod error_codes;
mod listener;
mod malicious_input;
mod protocol;
mod request_checks;
