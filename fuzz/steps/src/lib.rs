//! Counts steps: the basic blocks that a thread runs. Unlike time, the number is the same each time and on every machine.
//!
//! LLVM's `sancov` pass calls [`__sanitizer_cov_trace_pc`] at the beginning of each basic block; `./dev fuzz --steps` builds
//! the library and this package with it, on stable Rust. Without the pass nothing is counted.

#![allow(unsafe_code, reason = "the instrumentation calls the counter by its name")]

use std::sync::atomic::{AtomicU64, Ordering};

static STEPS: AtomicU64 = AtomicU64::new(0);

/// Counts a step. The pass leaves functions of such names alone, so this does not call itself.
#[unsafe(no_mangle)]
pub extern "C" fn __sanitizer_cov_trace_pc() {
    STEPS.fetch_add(1, Ordering::Relaxed);
}

/// The number of steps that a function takes, if no other thread runs.
pub fn steps(run: impl FnOnce()) -> u64 {
    let before = STEPS.load(Ordering::Relaxed);
    run();
    STEPS.load(Ordering::Relaxed) - before
}
