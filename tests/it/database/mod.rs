//! The private cluster, migrations, the tables that triggers keep, the preflight check, replicas, several servers of this
//! program, outages of PostgreSQL, and faults of its connections.

mod change_feed;
mod cluster;
mod ddl;
mod faults;
mod hotwax;
mod item_groups;
mod kept_tables;
mod migrate;
mod migrate_kills;
mod migrate_options;
mod outage;
mod outage_signs;
mod pooler;
pub mod postgres;
mod preflight;
pub mod refusals;
pub mod replicas;
mod search_columns;
mod several_servers;
mod shared_connections;
mod target_session;
mod tls;
