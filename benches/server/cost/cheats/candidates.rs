//! All queries that try to cheat: every root, search key and sort key, with every search string, page and cursor; and a
//! choice of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use orderql::catalog::Catalog;
use orderql::catalog::connection::Connection;
use orderql::catalog::schema::{ArgumentRole, Field};
use orderql::catalog::search_key::SearchKey;
use orderql::search::Comparator;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use tokio_postgres::Client;

use super::super::cursor::cursor;
use super::super::queries::fields;
use super::terms::{Search, pair, single};
use super::values::{KeyValues, Position, positions, rarely_together, values};
use crate::error::Result;

/// Columns that every query selects, if the type has as many.
const COLUMNS: usize = 7;

/// Rows of a plain page, and of the larger page that is searched.
const ROWS: u32 = 50;

/// Queries on one key that are chosen for each query on two.
const SINGLES: usize = 3;

const POSITIONS: [&str; 3] = ["start", "middle", "end"];

/// A root field that is a connection.
pub struct Root<'a> {
    pub field: &'a Field,
    connection: &'a Connection,
    columns: String,
    /// By sort key: rows at the start, in the middle and at the end.
    positions: Vec<Vec<Position>>,
    /// All search strings: of no key, of each key, and of each pair of keys.
    searches: Vec<(String, Vec<Search>)>,
}

/// A query that tries to cheat.
#[derive(Debug, Clone)]
pub struct Cheat {
    /// The index of its root.
    pub root: usize,
    /// The keys of its search string, with a plus sign between.
    pub keys: String,
    pub search: Search,
    pub page: Page,
}

/// The page of a query.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    sort_key: usize,
    is_reversed: bool,
    is_backward: bool,
    size: u32,
    /// The index among the sort key's positions.
    cursor: Option<usize>,
}

/// Reads what the queries of all roots are made of.
pub async fn roots<'a>(client: &Client, catalog: &'a Catalog) -> Result<Vec<Root<'a>>> {
    let mut roots = Vec::new();
    for (field, binding) in fields(catalog, catalog.query()) {
        let Some(connection) = binding.connection() else { continue };
        eprintln!("reading values of {}", field.name);
        let mut sorted = Vec::new();
        for sort_key in &connection.sort_keys {
            sorted.push(positions(client, connection, sort_key).await?);
        }
        let columns = fields(catalog, connection.node.ty()).filter(|(_, binding)| binding.column().is_some());
        roots.push(Root {
            field,
            connection,
            columns: columns.take(COLUMNS).map(|(field, _)| field.name.as_str()).collect::<Vec<_>>().join(" "),
            positions: sorted,
            searches: searches(client, connection).await?,
        });
    }
    Ok(roots)
}

async fn searches(client: &Client, connection: &Connection) -> Result<Vec<(String, Vec<Search>)>> {
    let none = Search { kind: "no search".to_owned(), text: "".into(), sort_key: None, end: None };
    let mut searches = vec![(String::new(), vec![none])];
    let keys = &connection.search_keys;
    let mut known: Vec<KeyValues> = Vec::new();
    for key in keys {
        known.push(values(client, connection, key).await?);
    }
    for (key, values) in keys.iter().zip(&known) {
        searches.push((key.name.clone(), single(key, values)));
    }
    let is_simple = |key: &SearchKey, values: &KeyValues| {
        key.semi_join.is_none() && key.comparators.contains(&Comparator::Equals) && values.common.len() > 1
    };
    for (index, (one, one_values)) in keys.iter().zip(&known).enumerate() {
        for (other, other_values) in keys.iter().zip(&known).skip(index + 1) {
            let (pair_keys, pair_values) = ([one, other], [one_values, other_values]);
            let together = if is_simple(one, one_values) && is_simple(other, other_values) {
                rarely_together(client, connection, pair_keys, pair_values).await?
            } else {
                None
            };
            let name = format!("{}+{}", one.name, other.name);
            searches.push((name, pair(pair_keys, pair_values, together.as_ref())));
        }
    }
    Ok(searches)
}

/// So many of all queries, or all if `count` is 0; and how many there are. The same roots and seed give the same queries.
/// Every combination of root, key and sort key has at least one, and those with few queries have as many as those with many.
pub fn choose(roots: &[Root<'_>], count: usize, seed: u64) -> (Vec<Cheat>, usize) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut groups: BTreeMap<(usize, &str, usize), Vec<Cheat>> = BTreeMap::new();
    for (index, root) in roots.iter().enumerate() {
        for (keys, searches) in &root.searches {
            for search in searches {
                for page in root.pages(search) {
                    let cheat = Cheat { root: index, keys: keys.clone(), search: search.clone(), page };
                    groups.entry((index, keys, page.sort_key)).or_default().push(cheat);
                }
            }
        }
    }
    let mut groups: Vec<_> =
        groups.into_iter().map(|((root, ..), group)| spread(group, &roots[root], &mut random)).collect();
    let all = groups.iter().map(Vec::len).sum();
    if count == 0 {
        return (groups.into_iter().flatten().collect(), all);
    }
    // Groups of one key come first, so that a small count leaves out pairs.
    groups.shuffle(&mut random);
    groups.sort_by_key(|group| group.first().is_some_and(|cheat| cheat.keys.contains('+')));
    let at_least = groups.iter().filter(|group| group.first().is_some_and(|cheat| !cheat.keys.contains('+'))).count();
    let (mut chosen, mut round) = (Vec::new(), 0);
    let mut groups: Vec<_> = groups.into_iter().map(Vec::into_iter).collect();
    while chosen.len() < count.max(at_least) {
        let before = chosen.len();
        for group in &mut groups {
            let is_pair = group.as_slice().first().is_some_and(|cheat| cheat.keys.contains('+'));
            let draws = if is_pair || round == 0 { 1 } else { SINGLES };
            chosen.extend(group.by_ref().take(draws));
        }
        round += 1;
        if chosen.len() == before {
            break;
        }
    }
    chosen.truncate(count.max(at_least));
    (chosen, all)
}

/// A group in random order, with different kinds of search strings first; a cursor outside of the searched range before all.
fn spread(mut group: Vec<Cheat>, root: &Root<'_>, random: &mut ChaCha8Rng) -> Vec<Cheat> {
    group.shuffle(random);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut ranked: Vec<_> = group
        .into_iter()
        .map(|cheat| {
            let is_outside = root.is_cursor_outside(&cheat);
            let times = seen.entry(format!("{}{is_outside}", cheat.search.kind)).or_default();
            *times += 1;
            ((*times, !is_outside), cheat)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, cheat)| cheat).collect()
}

impl Root<'_> {
    /// All pages with a search string.
    fn pages(&self, search: &Search) -> Vec<Page> {
        let mut pages = Vec::new();
        for (sort_key, positions) in self.positions.iter().enumerate() {
            if search.sort_key.is_some_and(|only| only != sort_key) {
                continue;
            }
            let cursors = std::iter::once(None).chain((0..positions.len()).map(Some));
            for cursor in cursors {
                for (is_reversed, is_backward) in [(false, false), (false, true), (true, false), (true, true)] {
                    for size in [1, ROWS] {
                        pages.push(Page { sort_key, is_reversed, is_backward, size, cursor });
                    }
                }
            }
        }
        pages
    }

    /// Whether the page begins beyond all rows that match, in the order of the searched column.
    fn is_cursor_outside(&self, cheat: &Cheat) -> bool {
        let sort_key = &self.connection.sort_keys[cheat.page.sort_key];
        let is_order =
            self.connection.search_keys.iter().any(|key| key.name == cheat.keys && key.column == sort_key.columns[0]);
        let opposite = match cheat.search.end {
            Some(true) => 2,
            Some(false) => 0,
            None => return false,
        };
        is_order && cheat.page.cursor == Some(opposite)
    }

    /// The text of a query.
    pub fn query(&self, cheat: &Cheat) -> String {
        let Page { is_reversed, is_backward, size, cursor: position, .. } = cheat.page;
        let sort_key = &self.connection.sort_keys[cheat.page.sort_key];
        let mut text = format!("{{ {}({}: {size}", self.field.name, if is_backward { "last" } else { "first" });
        if self.field.arguments.iter().any(|argument| argument.role == ArgumentRole::SortKey) {
            let _ = write!(text, ", sortKey: {}", sort_key.name);
        }
        if is_reversed {
            text.push_str(", reverse: true");
        }
        if let Some(position) = position {
            let row = &self.positions[cheat.page.sort_key][position];
            let cursor = cursor(sort_key, is_reversed, |column| row.text(column));
            let _ = write!(text, ", {}: \"{cursor}\"", if is_backward { "before" } else { "after" });
        }
        if !cheat.search.text.is_empty() {
            let _ = write!(text, ", query: {}", json!(&*cheat.search.text));
        }
        let _ = write!(
            text,
            ") {{ edges {{ node {{ {} }} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}",
            self.columns
        );
        text
    }

    /// The text of a plain page.
    pub fn plain(&self) -> String {
        format!(
            "{{ {}(first: {ROWS}) {{ edges {{ node {{ {} }} }} pageInfo {{ hasNextPage endCursor }} }} }}",
            self.field.name, self.columns
        )
    }

    /// The name of a page's sort key.
    pub fn sort_key(&self, page: Page) -> &str {
        &self.connection.sort_keys[page.sort_key].name
    }
}

impl Page {
    /// The page in a few words, such as `last 50, reversed, before the middle`.
    pub fn describe(self) -> String {
        let mut text = format!("{} {}", if self.is_backward { "last" } else { "first" }, self.size);
        if self.is_reversed {
            text.push_str(", reversed");
        }
        if let Some(position) = self.cursor {
            let side = if self.is_backward { "before" } else { "after" };
            let _ = write!(text, ", {side} the {}", POSITIONS[position]);
        }
        text
    }
}
