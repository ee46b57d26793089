//! The most rows that a path examines.

use crate::catalog::prices::MAX_COUNT;
use crate::plan::access_path::merged_ranges::range_head;
use crate::plan::access_path::path::{AccessPath, Prefix};

impl AccessPath {
    /// The most rows that are examined to fill a page of so many rows, if the prefix has so many values. Rows that are read
    /// by their key afterwards, such as joined ones, are not counted: a fixed number for each row of the page.
    pub fn bound(&self, page_size: u32, values: usize) -> u64 {
        let [probes, window, probe_window] = [self.probes, self.window_of(page_size), self.probe_window].map(u64::from);
        let (limit, parts) = (u64::from(page_size) + 1, u64::from(self.parts.max(1)));
        let counts = if self.is_counted { u64::from(MAX_COUNT) } else { 0 };
        let page = limit * parts + probes + counts;
        // The look-ups of a count are those of the page, and its window is another one.
        let times = if self.is_counted { 2 } else { 1 };
        let counted: u64 = self.lookups.iter().map(|lookup| u64::from(lookup.rows) + 1).sum();
        let read = self.lookups.iter().map(|lookup| u64::from(lookup.rows)).max().unwrap_or(0) * (1 + probes);
        let list = self.prefix.filter(Prefix::is_list);
        let merged = if self.prefix.is_some_and(|prefix| prefix.is_merged()) { values.max(1) as u64 } else { 1 };
        match (self.is_in_order(), list) {
            _ if self.is_exhaustive => times * read + page,
            (true, Some(prefix)) => {
                let (head, ranges) = (u64::from(range_head(page_size + 1, values)), values.max(1) as u64);
                let merged = ranges * head + limit / head * (head + limit);
                if prefix.is_sort_column { page * ranges } else { merged * parts + probes * ranges + counts }
            }
            (true, None) => page,
            (false, _) => counted + times * read.max(2 * merged * (window + probes * probe_window)) + page * merged,
        }
    }
}
