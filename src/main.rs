//! The `orderql` program.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A request is some hundred small allocations, many of them freed by another thread.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    orderql::cli::run()
}
