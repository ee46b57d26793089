//! The private cluster, migrations, the preflight check, replicas, outages of PostgreSQL, and faults of its connections.

mod cluster;
mod faults;
mod migrate;
mod outage;
mod pooler;
pub mod postgres;
mod preflight;
mod refusals;
mod replicas;
mod target_session;
mod tls;
