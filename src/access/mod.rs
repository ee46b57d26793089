//! Who is calling, and may they: passwords, tokens, and what accounts are granted.
//!
//! Nothing here is asked of the database while a request is served. The grants are held in memory and kept fresh.

pub mod password;
pub mod keys;
pub mod outside;
pub mod ring;
pub mod token;
pub mod grants;
pub mod follow;
pub mod audit;
pub mod trail;
pub mod lockout;
pub mod login;
pub mod accounts;
pub mod manage;
