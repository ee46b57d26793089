//! The order update over HTTP.

mod errors;
mod random_updates;
mod simultaneous_updates;
mod update;
