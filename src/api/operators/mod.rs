//! Endpoints for operators: the probes of `health`, which read the `readiness`; the `metrics`, with the `state_metrics` that are read when
//! somebody asks; and the `settings` in force.

pub(crate) mod health;
pub(crate) mod metrics;
pub(crate) mod readiness;
pub(crate) mod settings;
pub mod state_metrics;
