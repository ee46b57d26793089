//! The architecture: which module uses which, where external crates are used, what a file looks like, and that files have no
//! cycles. If a table here is wrong, change it together with the code.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cycles;
mod dependencies;
mod files;
mod paths;
mod sources;
mod tokens;
