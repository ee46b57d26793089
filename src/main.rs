//! The `orderql` program.
fn main() {}
