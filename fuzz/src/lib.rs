//! Fuzz targets on orderql. A target is a function of bytes that panics if orderql breaks one of its promises.
//!
//! - [`targets`]: a file for each target, with the promises it checks
//! - [`oracles`]: second computations of what orderql computes
//! - [`support`]: what targets share
//!
//! The programs in `fuzz_targets/` run a target under libFuzzer; the tests of the main package (`tests/fuzz`) run all of them
//! over their corpora on stable Rust. Both call the same functions.

pub mod oracles;
pub mod support;
pub mod targets;
