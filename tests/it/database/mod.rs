//! The private cluster, migrations, the preflight check, and outages of PostgreSQL.

mod cluster;
mod migrate;
mod outage;
mod preflight;
