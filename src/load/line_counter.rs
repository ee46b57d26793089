//! A buffered input that counts lines and bytes.

use std::io::{self, BufRead, Read};

/// A buffered input that counts the lines and bytes consumed.
///
/// The XML reader consumes exactly the bytes of one event at a time, so the count before an event is the event's position.
#[derive(Debug)]
pub(super) struct LineCounter<R> {
    inner: R,
    newlines: u64,
    bytes: u64,
}

impl<R> LineCounter<R> {
    /// Counts from the start of `inner`.
    pub(super) fn new(inner: R) -> Self {
        Self { inner, newlines: 0, bytes: 0 }
    }

    /// The line of the next byte, from 1.
    pub(super) fn line(&self) -> u64 {
        self.newlines + 1
    }

    /// The number of bytes consumed.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn count(&mut self, bytes: usize, newlines: usize) {
        self.bytes += bytes as u64;
        self.newlines += newlines as u64;
    }
}

impl<R: BufRead> Read for LineCounter<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.count(read, newlines(&into[..read]));
        Ok(read)
    }
}

impl<R: BufRead> BufRead for LineCounter<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The buffer still contains the consumed bytes, so this reads nothing and cannot fail.
        let newlines = self.inner.fill_buf().map_or(0, |buffer| newlines(&buffer[..amount.min(buffer.len())]));
        self.inner.consume(amount);
        self.count(amount, newlines);
    }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.split(|byte| *byte == b'\n').count() - 1
}
