//! The fuzz targets over their committed inputs, on stable Rust and without a fuzzer, and what the fuzzer is made of.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod corpora;
mod generator;
mod planted;
mod replay;

use std::path::{Path, PathBuf};

/// The folder `fuzz`.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}
