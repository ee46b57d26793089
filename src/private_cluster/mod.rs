//! A PostgreSQL of one's own: `orderql demo` and the tests create, start and stop it.

pub mod error;
pub mod options;

pub mod address;
pub mod cluster;
mod postmaster;
mod programs;
mod server;
mod server_user;
