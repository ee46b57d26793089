//! Who sends a request, and what they may do: passwords, tokens, accounts, grants and limits.
//!
//! No request asks the database for any of this. The grants are in memory and are reloaded when they change.
//!
//! - [`password`], `hash_queue`, `lockout`, `shared_lockout`, `network`, `login`: from a name and a password to a token
//! - `tokens`: JWTs and the keys that sign them
//! - `key_retirement`: whether running servers reject a retired key
//! - `grants`, `grant_source`, `change_listener`, `grant_cache`: all accounts with their grants and limits, read again when they
//!   have changed, in memory
//! - [`profile`], `caller_limits`: the limits of single users in the database, and of callers
//! - `audit`, `audit_repeats`, `audit_writer`: a record of logins and of changed accounts and keys
//! - `audit_retention`: removes old rows of this record, and of the record of order updates
//! - [`accounts`], `manage`: creates and changes accounts
//! - `metrics`: counts logins

pub mod accounts;
pub(crate) mod audit;
mod audit_repeats;
pub(crate) mod audit_retention;
pub(crate) mod audit_writer;
pub(crate) mod caller_limits;
mod change_listener;
pub(crate) mod grant_cache;
mod grant_source;
pub(crate) mod grants;
mod hash_queue;
pub(crate) mod key_retirement;
pub(crate) mod lockout;
pub(crate) mod login;
pub(crate) mod manage;
pub(crate) mod metrics;
pub(crate) mod network;
pub mod password;
pub mod profile;
mod shared_lockout;
pub(crate) mod tokens;
