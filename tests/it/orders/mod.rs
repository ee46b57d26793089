//! The order update, over HTTP, on the demo orders.

mod errors;
mod forms;
mod quotas;
mod random_forms;
mod random_updates;
mod rejection_options;
mod removed_boxes;
mod simultaneous_updates;
pub mod update;
