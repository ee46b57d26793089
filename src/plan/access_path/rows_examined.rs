//! The most rows that a path examines.

use crate::catalog::prices::MAX_COUNT;
use crate::plan::access_path::lookups::Lookup;
use crate::plan::access_path::merged_ranges::range_head;
use crate::plan::access_path::path::{AccessPath, CountPath, Strategy};
use crate::plan::access_path::window::Window;

impl AccessPath {
    /// The most rows that are examined to fill a page of this size, if the prefix, or the primary key, has this many values. Rows that are
    /// read by their key afterwards, such as joined ones, are not counted: there is a fixed number for each row of the page.
    pub fn bound(&self, page_size: u32, values: usize) -> u64 {
        let (probes, parts, limit) = (u64::from(self.probes), u64::from(self.parts.max(1)), u64::from(page_size) + 1);
        let is_counted_alike = self.is_counted && self.counted.is_none();
        let counts = if is_counted_alike { u64::from(MAX_COUNT) } else { 0 };
        let page = limit * parts + probes + counts;
        let ranges = if self.prefix().is_some_and(|prefix| prefix.is_list()) { values.max(1) as u64 } else { 1 };
        let is_merged = self.prefix().is_some_and(|prefix| prefix.is_merged());
        let found = match &self.strategy {
            // Once for the page, its flags and its count, with one row more than there may be.
            Strategy::Parent(parent) => u64::from(parent.at_most) + 1,
            Strategy::Key(_) => (if is_counted_alike { 2 } else { 1 }) * values as u64 * (1 + probes) + page,
            Strategy::Order(_) if is_merged => {
                let head = u64::from(range_head(page_size + 1, values));
                let merged = ranges * head + limit / head * (head + limit);
                merged * parts + probes * ranges + counts
            }
            Strategy::Order(_) => page * ranges,
            Strategy::Window(window) => {
                let ranges = if is_merged { ranges } else { 1 };
                let looked_up = window.lookups.iter().map(|lookup| u64::from(self.lookup_rows(lookup, page_size)));
                let reads = window.lookups.iter().map(|lookup| self.lookup_reads(lookup, page_size));
                let rows = u64::from(self.window_of(page_size)) + probes * u64::from(window.probe_rows);
                let counted: u64 = looked_up.map(|rows| rows + 1).sum();
                let read = reads.max().unwrap_or(0);
                window.hidden_rows.most(counted + read.max(2 * ranges * rows) + page * ranges)
            }
        };
        // Those with the value of a cursor, for the page and for each flag, and those with the last value of the page.
        let ties = self.ties().map_or(0, |ties| u64::from(ties) * (2 + probes));
        found + ties + self.counted.as_ref().map_or(0, |count| count.bound())
    }
}

impl AccessPath {
    /// The most rows that a look-up reads for a page of this size and its flags, after they are counted.
    fn lookup_reads(&self, lookup: &Lookup, page_size: u32) -> u64 {
        let rows = self.lookup_rows(lookup, page_size);
        let (probes, parts, limit) = (u64::from(self.probes), u64::from(self.parts.max(1)), u64::from(page_size) + 1);
        if !lookup.is_merged() {
            return u64::from(rows) * (1 + probes);
        }
        let (rows, head) = (u64::from(rows), u64::from(range_head(page_size + 1, rows as usize)));
        let page = rows * head + limit / head * (head + limit);
        rows + page * parts + probes * (rows + rows * parts)
    }
}

impl CountPath {
    fn bound(&self) -> u64 {
        let Strategy::Window(Window { lookups, rows, hidden_rows, .. }) = &self.path.strategy else {
            return u64::from(MAX_COUNT);
        };
        let looked_up = |lookup: &Lookup| u64::from(lookup.rows) + 1;
        let counted: u64 = lookups.iter().map(looked_up).sum();
        let counted_rows = |lookup: &Lookup| if lookup.is_merged() { u64::from(MAX_COUNT) } else { 0 };
        let read = lookups.iter().map(|lookup| looked_up(lookup) + counted_rows(lookup)).max().unwrap_or(0);
        hidden_rows.most(counted + read.max(u64::from(self.ranges) * (u64::from(*rows) + 1)))
    }
}
