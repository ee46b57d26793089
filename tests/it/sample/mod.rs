//! The generated sample data.

mod fill;
mod invariants;
