//! PostgreSQL: the pool, prepared statements, snapshots, cancellation, migrations and the private cluster.

pub mod cancel;
pub mod connect;
pub mod parameter;
pub mod pool;
pub mod snapshot;
