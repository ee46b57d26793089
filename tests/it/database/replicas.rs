//! A primary with two replicas: what callers read, and outages of each server.

mod outages;
mod positions;
mod primary_away;
pub mod servers;
