//! Tokens: JWTs (RFC 7519) that identify their bearer, signed with a key of the server or of an external issuer.
//!
//! - `options`: claims, keys and the external issuer
//! - `signing_key`, `key_folder`, `key_access`: the server's keys, the folder that stores them, and who may use it
//! - `external_issuer`: the public keys of an external issuer
//! - `key_set`, `key_watcher`: all keys in force, reloaded when their files change
//! - `verify`: signature and claims of a token
//! - `jwt`: issues and verifies tokens
//! - `error`: why a token is rejected, and why none can be issued

pub(crate) mod error;
pub(crate) mod external_issuer;
pub(crate) mod jwt;
mod key_access;
pub(crate) mod key_folder;
pub(crate) mod key_set;
pub(crate) mod key_watcher;
pub(crate) mod options;
pub(crate) mod signing_key;
pub(crate) mod verify;
