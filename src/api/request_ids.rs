//! The ids of requests, which clients and the log are given.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Makes ids that do not repeat within a process, and hardly ever among processes.
#[derive(Debug, Default)]
pub(crate) struct RequestIds {
    /// Has random keys, made when the process starts.
    hasher: RandomState,
    next: AtomicU64,
}

impl RequestIds {
    /// The next id: 16 hexadecimal digits.
    pub(crate) fn next(&self) -> Arc<str> {
        let hash = self.hasher.hash_one(self.next.fetch_add(1, Ordering::Relaxed));
        let mut digits = [0; 16];
        for (digit, shift) in digits.iter_mut().zip((0..u64::BITS).step_by(4).rev()) {
            *digit = DIGITS[(hash >> shift & 0xf) as usize];
        }
        // Hexadecimal digits are always UTF-8.
        str::from_utf8(&digits).unwrap_or_default().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_16_hexadecimal_digits_of_the_hash() {
        let ids = RequestIds::default();
        for number in 0..1000_u64 {
            assert_eq!(*ids.next(), *format!("{:016x}", ids.hasher.hash_one(number)));
        }
    }
}
