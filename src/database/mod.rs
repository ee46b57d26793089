//! PostgreSQL: the pool, prepared statements, snapshots, cancellation, migrations and the private cluster.

pub mod cluster;
pub mod connect;
pub mod migrate;
mod programs;
mod server;
mod standing;
