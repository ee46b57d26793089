//! Who is calling, and may they: passwords, tokens, and what accounts are granted.
//!
//! Nothing here is asked of the database while a request is served. The grants are held in memory and kept fresh.

pub mod accounts;
pub mod follow;
pub mod grants;
pub mod password;
pub mod token;
