//! Who is calling, and may they: passwords, tokens, and what accounts are granted.
//!
//! Nothing here is asked of the database while a request is served. The grants are held in memory and kept fresh.

pub mod password;
pub mod keys;
pub mod external_issuer;
pub mod key_set;
pub mod jwt;
pub mod profile;
pub mod caller_limits;
pub mod grants;
pub mod grant_cache;
pub mod audit;
pub mod audit_writer;
pub mod lockout;
pub mod login;
pub mod accounts;
pub mod manage;
