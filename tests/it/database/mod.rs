//! The private cluster, migrations, the preflight check, and outages of PostgreSQL.

mod cluster;
mod migrate;
mod outage;
mod postgres;
mod preflight;
mod refusals;
mod target_session;
