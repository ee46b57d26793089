//! Limits on what a function allocates. Work that grows faster than its input nearly always allocates faster, too, and the
//! number is the same on every machine.

use allocation_counter::measure;

/// The most that a function may allocate: so many bytes for each byte of its input, and so many beside.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    /// For each byte of the input.
    pub per_byte: u64,
    /// Whatever the input.
    pub constant: u64,
}

/// Runs a function on an input of that length. Panics if it allocates more than allowed, counting also what it frees again.
pub fn within<T>(allowance: Allowance, length: usize, run: impl FnOnce() -> T) -> T {
    let mut result = None;
    let info = measure(|| result = Some(run()));
    let allowed = allowance.per_byte.saturating_mul(length as u64).saturating_add(allowance.constant);
    assert!(info.bytes_total <= allowed, "{} bytes allocated for an input of {length}, of {allowed}", info.bytes_total);
    result.expect("the function was run")
}
