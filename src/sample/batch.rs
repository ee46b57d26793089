//! Rows on their way: for each table one COPY's worth of bytes.

use std::mem;

use crate::sample::field::Type;
use crate::sample::tables::TABLES;

/// A table that is filled.
#[derive(Debug)]
pub(in crate::sample) struct Table {
    /// Its name in schema `public`.
    pub(in crate::sample) name: &'static str,
    pub(in crate::sample) columns: &'static [Column],
}

/// One of its columns.
#[derive(Debug)]
pub(in crate::sample) struct Column {
    pub(in crate::sample) name: &'static str,
    pub(in crate::sample) holds: Type,
}

/// A row of one of [`TABLES`].
pub(in crate::sample) trait Row {
    /// The table's place there.
    const TABLE: usize;
    const COLUMNS: &'static [Column];

    /// Appends the columns' values.
    fn write(&self, out: &mut Vec<u8>);
}

/// What opens every binary COPY: the signature, no flags, no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// What closes it, where a row would say how many columns it has.
const TRAILER: &[u8] = &(-1_i16).to_be_bytes();

/// Rows of every table.
#[derive(Debug)]
pub(in crate::sample) struct Batch {
    /// A COPY's bytes for each of [`TABLES`], but for the trailer; nothing where there are no rows.
    copies: Vec<Vec<u8>>,
    /// How many of the things that are counted the rows make.
    pub(in crate::sample) things: u64,
}

impl Batch {
    pub(in crate::sample) fn new() -> Self {
        Self { copies: TABLES.iter().map(|_| Vec::new()).collect(), things: 0 }
    }

    /// Takes a row up.
    pub(in crate::sample) fn push<R: Row>(&mut self, row: &R) {
        let copy = &mut self.copies[R::TABLE];
        if copy.is_empty() {
            copy.extend_from_slice(HEADER);
        }
        copy.extend_from_slice(&u16::try_from(R::COLUMNS.len()).unwrap_or_default().to_be_bytes());
        row.write(copy);
    }

    /// The tables that have rows, each with its COPY's bytes.
    pub(in crate::sample) fn copies(&mut self) -> impl Iterator<Item = (&'static Table, Vec<u8>)> {
        let filled = TABLES.iter().zip(&mut self.copies).filter(|(_, copy)| !copy.is_empty());
        filled.map(|(table, copy)| {
            copy.extend_from_slice(TRAILER);
            (table, mem::take(copy))
        })
    }
}
