//! The generated sample of orders.

mod fill;
mod properties;
