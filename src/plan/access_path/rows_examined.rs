//! The most rows that a path examines.

use crate::catalog::prices::MAX_COUNT;
use crate::plan::access_path::merged_ranges::range_head;
use crate::plan::access_path::path::{AccessPath, CountPath, FoundBy, Lookup, Prefix};

impl AccessPath {
    /// The most rows that are examined to fill a page of this size, if the prefix, or the primary key, has this many values. Rows that are
    /// read by their key afterwards, such as joined ones, are not counted: there is a fixed number for each row of the page.
    pub fn bound(&self, page_size: u32, values: usize) -> u64 {
        let [probes, window, probe_window] = [self.probes, self.window_of(page_size), self.probe_window].map(u64::from);
        let (limit, parts) = (u64::from(page_size) + 1, u64::from(self.parts.max(1)));
        let is_counted_alike = self.is_counted && self.counted.is_none();
        let counts = if is_counted_alike { u64::from(MAX_COUNT) } else { 0 };
        let page = limit * parts + probes + counts;
        let times = if is_counted_alike { 2 } else { 1 };
        let looked_up = || self.lookups.iter().map(|lookup| u64::from(self.lookup_rows(lookup, page_size)));
        let counted: u64 = looked_up().map(|rows| rows + 1).sum();
        let read = looked_up().max().unwrap_or(0) * (1 + probes);
        let list = self.prefix.filter(Prefix::is_list);
        let merged = if self.prefix.is_some_and(|prefix| prefix.is_merged()) { values.max(1) as u64 } else { 1 };
        let found = match (self.is_in_order(), list) {
            // Once for the page, its flags and its count, with one row more than there may be.
            _ if let FoundBy::Parent { at_most } = self.found_by => u64::from(at_most) + 1,
            _ if self.is_exhaustive() => times * values as u64 * (1 + probes) + page,
            (true, Some(prefix)) => {
                let (head, ranges) = (u64::from(range_head(page_size + 1, values)), values.max(1) as u64);
                let merged = ranges * head + limit / head * (head + limit);
                if prefix.is_sort_column { page * ranges } else { merged * parts + probes * ranges + counts }
            }
            (true, None) => page,
            (false, _) => counted + read.max(2 * merged * (window + probes * probe_window)) + page * merged,
        };
        self.hidden_rows.most(found) + self.counted.as_ref().map_or(0, |count| count.bound())
    }
}

impl CountPath {
    fn bound(&self) -> u64 {
        if self.path.is_in_order() {
            return u64::from(MAX_COUNT);
        }
        let rows = |lookup: &Lookup| u64::from(lookup.rows) + 1;
        let counted: u64 = self.path.lookups.iter().map(rows).sum();
        let read = self.path.lookups.iter().map(rows).max().unwrap_or(0);
        self.path.hidden_rows.most(counted + read.max(u64::from(self.ranges) * (u64::from(self.path.window) + 1)))
    }
}
