//! The architecture: which module uses which, where external crates are used, what a file looks like, that files have no cycles,
//! and that the documentation is true: the guide to the code, links, and messages. If a table here is wrong, change it together with
//! the code.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cycles;
mod dependencies;
mod doc_comments;
mod files;
mod guide;
mod links;
mod paths;
mod sources;
mod tokens;
mod troubleshooting;
