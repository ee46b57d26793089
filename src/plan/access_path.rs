//! How the rows of a page are found: decided from the search terms and the order alone, and never left to PostgreSQL's
//! estimates. Every path has a bound of rows that are examined, whatever the table's size and the values are.
//!
//! - In order: an index returns the matching rows in the page's order. Terms on the sort key's column bound its range, and a
//!   term whose key is declared `inOrderOf` the sort key chooses one range of a wider index for each of its values. Two terms
//!   choose a range of an index on both of their keys (`@index`).
//! - Look-ups: if other terms remain, and few rows match one of them by its own index, all of these are read and sorted.
//! - Window: otherwise the rows are read in order, up to a number of rows, and those that match are returned. The page then
//!   ends where the window ends. It lies in the narrowest of these ranges, as far as the declaration tells.

use crate::catalog::binding::{Connection, PairIndex, SearchKey, SortKey};
use crate::catalog::prices::MAX_COUNT;
use crate::catalog::search_window::SearchWindow;
use crate::query::bind::search_terms::BoundTerm;
use crate::search::Comparator;
use crate::value::ScalarType;

/// The most values of a list whose ranges are merged where filters remain. Each range is read as far as the window reaches,
/// which is divided by their number.
const FEW_VALUES: u32 = 4;

/// The most look-ups that are tried, one after the other.
const MAX_LOOKUPS: usize = 2;

/// The part of the window that look-ups may examine: a fifth. The rows that they find lie anywhere in the table, so each takes
/// longer than one of the window, which are read from an index.
const LOOKUP_SHARE: u32 = 5;

/// How many rows of a window a look-up in another relation weighs as much as. It takes about as long as passing over ten rows
/// in an index.
const SEMI_JOIN_WEIGHT: u32 = 8;

/// The same for a computed column, which takes several look-ups.
const COMPUTED_WEIGHT: u32 = 20;

/// How the rows of a page are found. Terms are named by their index in the search string.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessPath {
    /// The columns of the index that returns the rows in the page's order.
    pub index: Vec<String>,
    /// The term whose values choose ranges of that index, by its first column.
    pub prefix: Option<Prefix>,
    /// The terms that bound a range of that index, by the sort key's column.
    pub range: Vec<usize>,
    /// The remaining terms, checked row by row. The members below are empty if there are none.
    pub filters: Vec<usize>,
    /// Filters that are tried by their own index first.
    pub lookups: Vec<Lookup>,
    /// Whether the look-up finds every matching row, because its key identifies rows. There is no window then.
    pub is_exhaustive: bool,
    /// The most rows that are examined in order; 0 without filters.
    pub window: u32,
    /// The same for each flag of `pageInfo` that needs rows outside of the page.
    pub probe_window: u32,
    /// The number of these flags.
    pub probes: u32,
    /// Whether the rows that match are counted, which takes as many again.
    pub is_counted: bool,
    /// The number of parts of the order that are read for the page: cursors divide it.
    pub parts: u32,
}

/// The terms whose values choose ranges of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// The term on the index's first column.
    pub term: usize,
    /// The term on its second column, of an index on two keys. Its first column is descending.
    pub second: Option<usize>,
    /// The one of these that has several values, whose ranges are read one after the other or merged.
    pub list: Option<usize>,
    /// Whether the index's first column is the sort key's.
    pub is_sort_column: bool,
}

impl Prefix {
    /// Whether a term has several values.
    pub fn is_list(&self) -> bool {
        self.list.is_some()
    }

    /// The terms, in the order of the index's columns.
    pub(crate) fn terms(&self) -> impl Iterator<Item = usize> + Clone {
        std::iter::once(self.term).chain(self.second)
    }

    /// Whether the ranges of a list are merged into the page's order. They are not if that is the order of the list.
    pub(crate) fn is_merged(&self) -> bool {
        self.is_list() && !self.is_sort_column
    }
}

/// A search by the index of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// The terms that bound the range of the index: on its first column, and if that equals a value, on its second.
    pub terms: Vec<usize>,
    /// The first columns of the index, as many as the terms bound.
    pub columns: Vec<String>,
    /// The most matching rows with which it is used.
    pub rows: u32,
    /// Whether the index is one on two keys, whose first column is descending.
    pub is_of_pair: bool,
}

impl AccessPath {
    /// The path of a connection's page. `probes` is the number of flags that need rows outside of the page. If all rows are
    /// counted as well, the page and the count have half of the window each.
    pub(crate) fn choose(
        connection: &Connection,
        sort_key: usize,
        terms: &[BoundTerm],
        probes: u32,
        is_counted: bool,
        window: SearchWindow,
    ) -> Self {
        let sort = &connection.sort_keys[sort_key];
        let chooser = Chooser { connection, sort_key, sort, terms };
        if let Some(path) = chooser.by_primary_key() {
            return Self { probes, is_counted, ..path };
        }
        let prefix = chooser.prefix();
        let mut path = Self { index: chooser.index(prefix), prefix, probes, is_counted, ..Self::default() };
        for index in
            (0..terms.len()).filter(|index| !prefix.is_some_and(|prefix| prefix.terms().any(|term| term == *index)))
        {
            if chooser.bounds_range(prefix, index) { path.range.push(index) } else { path.filters.push(index) }
        }
        if !path.filters.is_empty() {
            chooser.search(&mut path, if is_counted { window.half() } else { window });
        }
        path
    }

    /// Whether every row of the index range matches.
    pub(crate) fn is_in_order(&self) -> bool {
        self.filters.is_empty()
    }

    /// Whether the page may end with the window, before it is full.
    pub fn has_window(&self) -> bool {
        self.window > 0
    }

    /// The most rows that are examined to fill a page of so many rows, if the prefix has so many values. Rows that are read
    /// by their key afterwards, such as joined ones, are not counted: a fixed number for each row of the page.
    pub fn bound(&self, page_size: u32, values: usize) -> u64 {
        let [probes, window, probe_window] = [self.probes, self.window, self.probe_window].map(u64::from);
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

/// How many rows are read first of each of so many ranges that are merged into `limit` rows. The other rows of a range are
/// needed only if all of these are among the `limit`, so of `limit / range_head` ranges at most. Few ranges are read at once.
pub(crate) fn range_head(limit: u32, ranges: usize) -> u32 {
    let ranges = u32::try_from(ranges).unwrap_or(u32::MAX);
    if ranges < 9 { limit.saturating_add(1) } else { limit.div_ceil(ranges.isqrt()).max(1) }
}

/// The number of a term's values, if it is no more than that of the ranges that are merged where filters remain.
pub(crate) fn few_values(term: &BoundTerm) -> Option<u32> {
    u32::try_from(term.values.len()).ok().filter(|values| *values <= FEW_VALUES)
}

struct Chooser<'a> {
    connection: &'a Connection,
    sort_key: usize,
    sort: &'a SortKey,
    terms: &'a [BoundTerm],
}

impl<'a> Chooser<'a> {
    fn key(&self, term: usize) -> &'a SearchKey {
        &self.connection.search_keys[self.terms[term].key]
    }

    fn is_list(&self, term: usize) -> bool {
        self.terms[term].comparator == Comparator::In
    }

    fn is_equality(&self, term: usize) -> bool {
        matches!(self.terms[term].comparator, Comparator::Equals | Comparator::In)
    }

    /// Whether the term is on the sort key's column.
    fn is_on_order(&self, term: usize) -> bool {
        let key = self.key(term);
        key.semi_join.is_none() && key.column.name == self.sort.columns[0].name
    }

    fn is_range_of_order(&self, term: usize) -> bool {
        self.is_on_order(term) && !self.is_equality(term)
    }

    /// Whether the term bounds the range of the index by the sort key's column. Beside a prefix, that column can also equal a
    /// value.
    fn bounds_range(&self, prefix: Option<Prefix>, term: usize) -> bool {
        let is_value = prefix.is_some() && self.is_equality(term) && !self.is_list(term) && self.has_type(term);
        prefix.is_none_or(|prefix| !prefix.is_sort_column)
            && (self.is_range_of_order(term) || is_value && self.is_on_order(term))
    }

    /// Ranges compare values of a type that the statement names, and that of a boolean column is not known.
    fn has_type(&self, term: usize) -> bool {
        self.key(term).column.scalar != ScalarType::Boolean
    }

    /// The prefix that probably matches fewest rows.
    fn prefix(&self) -> Option<Prefix> {
        let candidates = self.pair_prefixes().chain(self.single_prefixes()).filter(|prefix| self.is_bounded(prefix));
        candidates.min_by_key(|prefix| self.prefix_rank(prefix))
    }

    /// Of the primary key before all, of two keys before one, a selective key before others, a value before a list. A value of
    /// the sort key's column can bound the range of another prefix.
    fn prefix_rank(&self, prefix: &Prefix) -> impl Ord + use<> {
        let primary = &self.sort.columns[usize::from(self.sort.nullable)..];
        let is_of_key = |term: usize| primary.iter().any(|column| column.name == self.key(term).column.name);
        let is_whole = prefix.is_sort_column && is_of_key(prefix.term);
        let is_selective = prefix.terms().any(|term| self.key(term).indexed);
        (!is_whole, prefix.second.is_none(), prefix.is_list(), prefix.is_sort_column, !is_selective)
    }

    /// Whether the ranges of a list, if they are merged, can be read with a bound: as far as the page reaches if every row
    /// matches, and otherwise a part of the window of each of a few.
    fn is_bounded(&self, prefix: &Prefix) -> bool {
        let Some(list) = prefix.list.filter(|_| prefix.is_merged()) else { return true };
        let is_of_prefix = |term: usize| prefix.terms().any(|other| other == term);
        let mut others = (0..self.terms.len()).filter(|term| !is_of_prefix(*term));
        few_values(&self.terms[list]).is_some() || others.all(|other| self.bounds_range(Some(*prefix), other))
    }

    fn single_prefixes(&self) -> impl Iterator<Item = Prefix> {
        let equalities = (0..self.terms.len()).filter(|term| self.is_equality(*term) && self.has_type(*term));
        equalities.filter_map(|term| {
            let is_sort_column = self.is_on_order(term);
            let is_served = is_sort_column || self.key(term).in_order_of.contains(&self.sort_key);
            let list = self.is_list(term).then_some(term);
            is_served.then_some(Prefix { term, second: None, list, is_sort_column })
        })
    }

    /// The prefixes of indexes on two keys. One of the terms may be a list.
    fn pair_prefixes(&self) -> impl Iterator<Item = Prefix> {
        let indexes = self.connection.pair_indexes.iter();
        let in_order = indexes.filter(|index| index.in_order_of.contains(&self.sort_key));
        in_order.filter_map(|index| {
            let [term, second] = self.pair(index)?;
            let mut lists = [term, second].into_iter().filter(|term| self.is_list(*term));
            let list = lists.next();
            lists.next().is_none().then_some(Prefix { term, second: Some(second), list, is_sort_column: false })
        })
    }

    /// The terms on the keys of an index on two keys.
    fn pair(&self, index: &PairIndex) -> Option<[usize; 2]> {
        let term = |key| (0..self.terms.len()).find(|term| self.terms[*term].key == key && self.is_equality(*term));
        let [first, second] = index.keys;
        Some([term(first)?, term(second)?])
    }

    /// The path of a search that has values of the primary key, if the page is in another order: a look-up finds all rows.
    fn by_primary_key(&self) -> Option<AccessPath> {
        let identifies = |term: &usize| self.is_equality(*term) && self.identifies(*term) && !self.is_on_order(*term);
        let term = (0..self.terms.len()).find(identifies)?;
        let rows = u32::try_from(self.terms[term].values.len()).unwrap_or(u32::MAX);
        Some(AccessPath {
            filters: (0..self.terms.len()).collect(),
            lookups: vec![Lookup {
                terms: vec![term],
                columns: vec![self.key(term).column.name.clone()],
                rows,
                is_of_pair: false,
            }],
            is_exhaustive: true,
            ..AccessPath::default()
        })
    }

    fn index(&self, prefix: Option<Prefix>) -> Vec<String> {
        let of_terms = prefix.into_iter().flat_map(|prefix| prefix.terms().collect::<Vec<_>>());
        let mut columns: Vec<_> = of_terms.map(|term| self.key(term).column.name.clone()).collect();
        for column in &self.sort.columns {
            if !columns.contains(&column.name) {
                columns.push(column.name.clone());
            }
        }
        columns
    }

    /// Fills in how rows are found where filters remain.
    fn search(&self, path: &mut AccessPath, window: SearchWindow) {
        let probes = path.probes;
        let weight: u32 = path.filters.iter().map(|term| self.weight(*term)).sum();
        let divisor = 1 + weight;
        // A prefix that identifies rows leaves so few that nothing finds them faster.
        let is_identified = path.prefix.is_some_and(|prefix| self.identifies(prefix.term));
        let mut lookups = if is_identified { Vec::new() } else { self.lookups(path) };
        lookups.truncate(MAX_LOOKUPS);
        let count = u32::try_from(lookups.len()).unwrap_or(1);
        let share = if lookups.is_empty() { 0 } else { window.rows() / LOOKUP_SHARE };
        for lookup in &mut lookups {
            // The other filters are checked for each row. The rows of a semi-join are found one by one, and joined one by one.
            let rows = (share / count).min(window.rows() / (count + 1 + probes));
            let own: u32 = lookup.terms.iter().map(|term| self.weight(*term)).sum();
            lookup.rows = (rows / (divisor + own)).max(1);
        }
        // A window that ends is read twice, the second time for its last row.
        let list = path.prefix.filter(Prefix::is_merged).and_then(|prefix| prefix.list);
        let ranges = list.and_then(|term| few_values(&self.terms[term])).unwrap_or(1).max(1);
        let rows = (window.rows() - share) / 2 / divisor / ranges;
        path.probe_window = (rows / 4).checked_div(probes).map_or(0, |rows| rows.max(1));
        path.window = rows.saturating_sub(path.probe_window * probes).max(1);
        path.lookups = lookups;
    }

    /// How many rows of a window the comparison of one row weighs as much as.
    fn weight(&self, term: usize) -> u32 {
        let key = self.key(term);
        if key.is_computed {
            COMPUTED_WEIGHT
        } else if key.semi_join.is_some() {
            SEMI_JOIN_WEIGHT
        } else {
            0
        }
    }

    /// Whether the key is the primary key.
    fn identifies(&self, term: usize) -> bool {
        let key = self.key(term);
        let primary = &self.sort.columns[usize::from(self.sort.nullable)..];
        key.semi_join.is_none() && matches!(primary, [only] if only.name == key.column.name)
    }

    /// The terms that have an index, those first that probably match fewest rows. The ends of a range are one. Among them is
    /// that of the prefix if it has an index that a range continues.
    fn lookups(&self, path: &AccessPath) -> Vec<Lookup> {
        let prefix = path.prefix.map(|prefix| prefix.term);
        let of_prefix = prefix.into_iter().filter(|term| !self.continued(*term, &path.filters).is_empty());
        let mut ranked: Vec<(u8, Lookup)> = self.pair_lookup(path).map(|lookup| (0, lookup)).into_iter().collect();
        for term in of_prefix.chain(path.filters.iter().copied()).filter(|term| self.key(*term).lookup) {
            let key = self.key(term);
            let is_range = !self.is_equality(term);
            // Fewer rows match both.
            if ranked.iter().any(|(_, lookup)| lookup.is_of_pair && lookup.terms.contains(&term)) {
                continue;
            }
            let has_term =
                |lookup: &Lookup| lookup.terms.iter().any(|other| self.terms[*other].key == self.terms[term].key);
            if is_range && let Some((_, lookup)) = ranked.iter_mut().find(|(_, lookup)| has_term(lookup)) {
                if !lookup.terms.contains(&term) {
                    lookup.terms.push(term);
                }
                continue;
            }
            let range = if is_range { Vec::new() } else { self.continued(term, &path.filters) };
            let rank = match (is_range, self.is_list(term), key.indexed) {
                _ if !range.is_empty() => 0,
                (false, false, true) => 1,
                (false, true, true) => 2,
                (false, false, false) => 3,
                (true, _, _) => 4,
                (false, true, false) => 5,
            };
            let second = range.first().map(|term| self.key(*term).column.name.clone());
            let columns = std::iter::once(key.column.name.clone()).chain(second).collect();
            let terms = std::iter::once(term).chain(range).collect();
            ranked.push((rank, Lookup { terms, columns, rows: 0, is_of_pair: false }));
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, lookup)| lookup).collect()
    }

    /// A look-up by two terms, if an index on their keys is not that of the prefix. The first may be a list.
    fn pair_lookup(&self, path: &AccessPath) -> Option<Lookup> {
        let pairs = self.connection.pair_indexes.iter().filter_map(|index| self.pair(index));
        let is_of_prefix = |term: usize| path.prefix.is_some_and(|prefix| prefix.terms().any(|other| other == term));
        let mut pairs = pairs.filter(|pair| !pair.iter().all(|term| is_of_prefix(*term)));
        let terms = pairs.find(|[_, second]| !self.is_list(*second))?.to_vec();
        let columns = terms.iter().map(|term| self.key(*term).column.name.clone()).collect();
        Some(Lookup { terms, columns, rows: 0, is_of_pair: true })
    }

    /// The range terms among the filters that bound the second column of an index of the term's key.
    fn continued(&self, term: usize, filters: &[usize]) -> Vec<usize> {
        let second =
            self.key(term).in_order_of.iter().map(|sort_key| &self.connection.sort_keys[*sort_key].columns[0].name);
        let is_on = |filter: &usize, column: &String| {
            let key = self.key(*filter);
            !self.is_equality(*filter) && key.semi_join.is_none() && key.column.name == *column
        };
        let mut ranges = second.map(|column| filters.iter().copied().filter(|filter| is_on(filter, column)).collect());
        ranges.find(|range: &Vec<usize>| !range.is_empty()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::value::{Timestamp, Value};

    /// The path of a search on a root, by the names of its keys: `=` for equality, `[]` for a list, `>` for a range.
    fn path(root: &str, sort_key: &str, terms: &[&str], probes: u32) -> AccessPath {
        let catalog = Catalog::built_in().unwrap();
        let (_, _, binding) = catalog.fields().find(|(_, field, _)| field.name == root).unwrap();
        let connection = binding.connection().unwrap();
        let sort_key = connection.sort_keys.iter().position(|key| key.name == sort_key).unwrap();
        let terms: Vec<_> = terms.iter().map(|term| bound(connection, term)).collect();
        AccessPath::choose(connection, sort_key, &terms, probes, false, SearchWindow::DEFAULT)
    }

    fn bound(connection: &Connection, term: &str) -> BoundTerm {
        let (name, comparator) = match term.strip_suffix("[]") {
            Some(name) => (name, Comparator::In),
            None => match term.strip_suffix('>') {
                Some(name) => (name, Comparator::Greater),
                None => (term, Comparator::Equals),
            },
        };
        let key = connection.search_key(name).unwrap();
        let value = || match connection.search_keys[key].column.scalar {
            ScalarType::DateTime => Value::DateTime(Timestamp(0)),
            _ => Value::Text("A".to_owned()),
        };
        let values = if comparator == Comparator::In { vec![value(), value(), value()] } else { vec![value()] };
        BoundTerm { key, comparator, values }
    }

    /// A path in a line: the index, what bounds its range, the look-ups, the window.
    fn line(root: &str, sort_key: &str, terms: &[&str]) -> String {
        let path = path(root, sort_key, terms, 0);
        let mut parts = vec![path.index.join(",")];
        for term in path.prefix.into_iter().flat_map(|prefix| prefix.terms().collect::<Vec<_>>()) {
            let is_list = path.prefix.is_some_and(|prefix| prefix.list == Some(term));
            parts.push(format!("{} {}", if is_list { "each" } else { "=" }, terms[term]));
        }
        parts.extend(path.range.iter().map(|term| format!("range {}", terms[*term])));
        parts.extend(path.lookups.iter().map(|lookup| format!("lookup {} {}", lookup.columns.join("+"), lookup.rows)));
        parts.extend(path.has_window().then(|| format!("window {}", path.window)));
        parts.join(" ")
    }

    #[test]
    fn reads_an_index_range_where_one_has_the_order() {
        for (root, sort_key, terms, expected) in [
            ("orders", "ORDER_DATE", &[][..], "order_date,order_id"),
            ("orders", "ORDER_DATE", &["orderDate>"], "order_date,order_id range orderDate>"),
            ("orders", "ORDER_DATE", &["statusId"], "status_id,order_date,order_id = statusId"),
            ("orders", "GRAND_TOTAL", &["productStoreId"], "product_store_id,grand_total,order_id = productStoreId"),
            ("orders", "ORDER_NAME", &["orderName"], "order_name,order_id = orderName"),
            ("orders", "ORDER_DATE", &["statusId[]"], "status_id,order_date,order_id each statusId[]"),
            (
                "orders",
                "ORDER_DATE",
                &["orderDate>", "statusId", "orderDate>"],
                "status_id,order_date,order_id = statusId range orderDate> range orderDate>",
            ),
            ("inventoryLevels", "PRODUCT_ID", &["productId[]"], "product_id,facility_id each productId[]"),
            ("inventoryLevels", "FACILITY_ID", &["productId[]"], "product_id,facility_id each productId[]"),
        ] {
            assert_eq!(line(root, sort_key, terms), expected, "{root} {sort_key} {terms:?}");
        }
    }

    #[test]
    fn looks_up_the_filters_that_remain_and_else_reads_a_window() {
        for (root, sort_key, terms, expected) in [
            ("orders", "GRAND_TOTAL", &["statusId"][..], "grand_total,order_id lookup status_id 1500 window 3000"),
            ("orders", "GRAND_TOTAL", &["orderTypeId"], "grand_total,order_id window 3750"),
            // Near the end of a date range, both of its terms bound it.
            (
                "orders",
                "GRAND_TOTAL",
                &["orderDate>", "orderDate>"],
                "grand_total,order_id lookup order_date 1500 window 3000",
            ),
            (
                "orders",
                "GRAND_TOTAL",
                &["orderDate>", "productStoreId"],
                "product_store_id,grand_total,order_id = productStoreId lookup product_store_id+order_date 1500 window 3000",
            ),
            // Of three, the two that probably match fewest rows.
            (
                "orders",
                "GRAND_TOTAL",
                &["orderDate>", "statusId", "externalId"],
                "grand_total,order_id lookup status_id+order_date 750 lookup external_id 750 window 3000",
            ),
            // The ranges of a few values are merged, and share the window.
            (
                "orders",
                "ORDER_DATE",
                &["statusId[]", "orderTypeId"],
                "status_id,order_date,order_id each statusId[] window 1250",
            ),
            // A row of a semi-join is examined with the row that it joins.
            ("parties", "PARTY_ID", &["roleTypeId"], "party_id lookup role_type_id 88 window 333"),
            // A primary key finds all rows.
            ("orders", "GRAND_TOTAL", &["statusId", "orderId[]"], " lookup order_id 3"),
            ("orders", "ORDER_ID", &["statusId", "orderId"], "order_id = orderId window 3750"),
        ] {
            assert_eq!(line(root, sort_key, terms), expected, "{root} {sort_key} {terms:?}");
        }
    }

    #[test]
    fn reads_the_range_of_an_index_on_two_keys() {
        for (root, sort_key, terms, expected) in [
            (
                "orders",
                "ORDER_DATE",
                &["statusId", "orderDate>", "productStoreId"][..],
                "product_store_id,status_id,order_date,order_id = productStoreId = statusId range orderDate>",
            ),
            (
                "orders",
                "ORDER_ID",
                &["productStoreId", "statusId[]"],
                "product_store_id,status_id,order_id = productStoreId each statusId[]",
            ),
            (
                "orderItems",
                "PRODUCT_ID",
                &["facilityId", "statusId"],
                "orderql_facility_id,status_id,product_id,order_id,order_item_seq_id = facilityId = statusId",
            ),
            // Without an index in the page's order, its rows are few, or dense among those of the store.
            (
                "orders",
                "GRAND_TOTAL",
                &["productStoreId", "statusId"],
                "product_store_id,grand_total,order_id = productStoreId lookup product_store_id+status_id 1500 window 3000",
            ),
            // The sort key's column is a range beside a prefix.
            (
                "shipments",
                "STATUS",
                &["statusId", "originFacilityId"],
                "origin_facility_id,status_id,shipment_id = originFacilityId range statusId",
            ),
        ] {
            assert_eq!(line(root, sort_key, terms), expected, "{root} {sort_key} {terms:?}");
        }
    }

    #[test]
    fn examines_no_more_rows_than_the_window_and_the_page() {
        for (terms, probes) in [(&["orderTypeId"][..], 0), (&["statusId"], 1), (&["statusId", "externalId"], 2)] {
            let path = path("orders", "GRAND_TOTAL", terms, probes);
            let examined = path.bound(50, 1);
            assert!((7_400..=7_560).contains(&examined), "{examined} {path:?}");
        }
        assert_eq!(path("orders", "GRAND_TOTAL", &["productStoreId"], 1).bound(50, 1), 52);
        // The rows of a few ranges, and one more of each; of many ranges, some rows of each and then those of a few.
        assert_eq!(path("orders", "GRAND_TOTAL", &["productStoreId[]"], 0).bound(50, 3), 156);
        assert_eq!(path("orders", "GRAND_TOTAL", &["productStoreId[]"], 0).bound(50, 100), 1_056);
    }
}
