//! Input that knows how many lines of it are behind.

use std::io::{self, BufRead, Read};

/// A buffered input that counts the lines and bytes it has handed out.
///
/// The XML reader takes exactly the bytes of one event at a time, so what is behind just before an event tells where
/// that event begins.
#[derive(Debug)]
pub struct Lines<R> {
    inner: R,
    newlines: u64,
    bytes: u64,
}

impl<R> Lines<R> {
    /// Counts from the start of `inner`.
    pub fn new(inner: R) -> Self {
        Self { inner, newlines: 0, bytes: 0 }
    }

    /// The line that the next byte is on, from 1.
    pub fn line(&self) -> u64 {
        self.newlines + 1
    }

    /// Bytes behind.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn count(&mut self, behind: usize, newlines: usize) {
        self.bytes += behind as u64;
        self.newlines += newlines as u64;
    }
}

impl<R: BufRead> Read for Lines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.count(read, newlines(&into[..read]));
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Lines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The buffer still holds what is being consumed, so this reads nothing and cannot fail.
        let newlines = self.inner.fill_buf().map_or(0, |buffer| newlines(&buffer[..amount.min(buffer.len())]));
        self.inner.consume(amount);
        self.count(amount, newlines);
    }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}
