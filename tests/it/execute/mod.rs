//! The execution of queries on PostgreSQL: responses, statements, and the indexes that they use.

mod billed_parties;
mod demo_orders;
mod index_scans;
mod nullability;
pub mod partitions;
mod party_roles;
mod plan_analysis;
mod plan_sweep;
pub mod random_queries;
mod snapshot;
mod sort_key_scans;
mod statement_count;
