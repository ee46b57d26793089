//! Sample data: any number of generated orders and everything that belongs to them, for trials and benchmarks.
//!
//! ```text
//! size ─▶ generate      all entities, in order                                  on a separate thread
//!   │       └▶ customers, facilities, products, orders, inventory               one random stream per entity (rng)
//!   │            └▶ batch    rows of all tables, as text                        (copy_value)
//!   └▶ fill: drop deferred_objects ─▶ batch_writer ─▶ restore deferred_objects  one transaction
//! ```
//!
//! The same size and seed generate the same rows on every machine: random numbers come from `rng`, times from `calendar`, and nothing from
//! clocks, hash maps or floating-point numbers. OFBiz's timestamp columns are left null, except the columns of order headers, which the API
//! returns.
//!
//! - [`size`]: the numbers of entities
//! - `generate`: all rows in order, from `customers`, `facilities`, `products`, `merchandise`, `stock`, `orders` and `inventory`
//! - `ids`, `money`, `sample_time`, `vocabulary`, `rng`, `calendar`: what values are made of
//! - `batch`, `copy_value`: the tables that get rows, and their rows as text
//! - [`fill`]: writes a sample with `batch_writer`, after its `preconditions` and without the `deferred_objects`
//! - [`error`]: why a sample cannot be written

pub mod error;
pub mod size;
mod ids;
mod money;
mod rng;
mod sample_time;
mod vocabulary;

mod batch;
mod calendar;
mod copy_value;

mod customers;
mod facilities;
mod merchandise;
mod products;
mod stock;
mod orders;
mod inventory;
mod generate;

mod batch_writer;
mod deferred_objects;
mod preconditions;
pub mod fill;
