//! Searches with a small window, on tables whose values make them expensive. For every search and order, all pages together have
//! the rows that plain SQL finds. No page examines more rows than it may, whatever PostgreSQL's statistics say.

mod random_search;
mod root_rows;
mod search_page;
mod search_work;

use std::collections::HashMap;
use std::env;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use orderql::catalog::Catalog;
use orderql::catalog::search_window::SearchWindow;
use orderql::query::Variables;
use tokio_postgres::Client;

use crate::query::bounded_search::random_search::RandomSearch;
use crate::query::bounded_search::root_rows::RootRows;
use crate::query::bounded_search::search_page::{Flags, PageArguments, SearchPage};
use crate::query::bounded_search::search_work::{check_work, outline};
use crate::support::built_in::{self, collection_roots};
use crate::support::database::{Database, migrated_database};
use crate::support::query_plan::{connect_like_server, measure};
use crate::support::query_runner::QueryRunner;
use crate::support::random::Random;

/// The search windows.
const WINDOWS: [u32; 3] = [100, 250, 400];

/// The roots whose searches have many keys and orders. Every other search is one of theirs.
const OFTEN: [&str; 6] = ["orders", "orderItems", "shipments", "returns", "returnItems", "parties"];

/// Searches of each round, unless the environment variable `BOUNDED_SEARCHES` has another number.
const SEARCHES: usize = 75;

/// Searches that run at the same time.
const WORKERS: usize = 3;

/// About the most pages of one search. One that has more begins at a cursor.
const PAGES: usize = 16;

/// Failures that are reported.
const REPORTED: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn every_search_has_all_its_rows_and_examines_no_more_than_its_bound() {
    let database = migrated_database().await;
    let client = database.connect().await;
    // No statistics, until the test has some made.
    let no_autovacuum = "DO $$
        DECLARE name regclass;
        BEGIN
            FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace IN ('public'::regnamespace, 'orderql'::regnamespace) LOOP
                EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', name);
            END LOOP;
        END $$";
    client.batch_execute(no_autovacuum).await.unwrap();
    client.batch_execute(include_str!("bounded_search/rows.sql")).await.unwrap();
    // Scans also count the former versions of rows that triggers have changed.
    client.batch_execute("VACUUM orderql.item_place, order_item, return_header").await.unwrap();

    let catalog = Catalog::built_in().unwrap();
    let mut roots = Vec::new();
    for (name, connection) in collection_roots(&catalog) {
        roots.push(RootRows::load(&client, &catalog, name, connection).await);
    }
    round(&database, &roots, "without statistics", 1).await;
    client.batch_execute("ANALYZE").await.unwrap();
    round(&database, &roots, "with statistics", 2).await;
    let redistribution =
        include_str!("bounded_search/redistribution.sql").split(";\n").filter(|sql| !sql.trim().is_empty());
    for sql in redistribution {
        client.batch_execute(sql).await.unwrap();
    }
    for root in &mut roots {
        root.reload(&client).await;
    }
    round(&database, &roots, "with misleading statistics", 3).await;
}

/// Runs random searches. Panics if some fail.
async fn round(database: &Database, roots: &[RootRows<'_>], name: &str, seed: u64) {
    let runners: Vec<_> = WINDOWS
        .iter()
        .map(|rows| {
            let catalog = built_in::catalog().with_search_window(SearchWindow::new(*rows).unwrap());
            QueryRunner::with_catalog(&database.config(), WORKERS, catalog)
        })
        .collect();
    let searches = env::var("BOUNDED_SEARCHES").map_or(SEARCHES, |number| number.parse().unwrap());
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = async || {
        let worker = Worker::connect(database, &runners).await;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= searches {
                break;
            }
            let random = Random(seed << 32 | u64::try_from(number).unwrap());
            // The pages of catalogs that a connection reads when it first needs them count as buffers of the search: these are counted once more.
            let mut result = worker.search(random.clone(), roots).await;
            if result.as_ref().is_err_and(|error| error.contains(" buffers for ")) {
                result = worker.search(random, roots).await;
            }
            if let Err(error) = result {
                failures.lock().unwrap().push(format!("search {number} {name}: {error}"));
            }
        }
    };
    join_all((0..WORKERS).map(|_| work())).await;
    let failures = failures.into_inner().unwrap();
    let reported = failures.iter().take(REPORTED).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{} of {searches} searches failed\n{reported}", failures.len());
}

/// Every fifth page is counted.
fn count_up_to(random: &mut Random) -> Option<usize> {
    random.chance(20).then(|| *random.pick(&[1, 7, 50, 1_000]))
}

/// Runs one search after the other.
struct Worker<'a> {
    runners: &'a [QueryRunner],
    /// For the expected rows, planned as PostgreSQL likes.
    plain: Client,
    /// For the plans of pages, with the settings of the server.
    server_like: Client,
    /// The object ids of all tables and indexes.
    relations: String,
}

/// One search, and where it runs.
struct Case<'a> {
    worker: &'a Worker<'a>,
    search: &'a RandomSearch<'a>,
    /// The index in `WINDOWS`.
    window: usize,
    /// The positions of all rows that match.
    matches: Vec<usize>,
    /// The rows that look-ups read, by their terms.
    lookups: Mutex<HashMap<Vec<usize>, u64>>,
}

impl<'a> Worker<'a> {
    async fn connect(database: &Database, runners: &'a [QueryRunner]) -> Self {
        let plain = database.connect().await;
        let relations = "SELECT array_agg(oid)::text FROM pg_class
            WHERE relkind IN ('r', 'i') AND relnamespace IN ('public'::regnamespace, 'orderql'::regnamespace)";
        let relations = plain.query_one(relations, &[]).await.unwrap().get(0);
        Self { runners, plain, server_like: connect_like_server(database).await, relations }
    }

    /// Pages through a random search, and reads some pages at random cursors.
    async fn search(&self, mut random: Random, roots: &[RootRows<'_>]) -> Result<(), String> {
        let root = if random.chance(50) {
            let name = random.pick(&OFTEN);
            roots.iter().find(|root| root.name == *name).unwrap()
        } else {
            random.pick(roots)
        };
        let search = RandomSearch::new(&mut random, root);
        let window = random.below(WINDOWS.len());
        let matches = search.matches(&self.plain).await;
        let case = Case { worker: self, search: &search, window, matches, lookups: Mutex::default() };
        let arguments = PageArguments {
            size: *random.pick(&[1, 2, 3, 5, 7, 10, 20, 33, 50, 100]),
            backward: random.chance(50),
            after: None,
            before: None,
            flags: if random.chance(50) { Flags::Both } else { Flags::Ahead },
            joined: random.chance(30),
            count_up_to: count_up_to(&mut random),
        };
        case.page_through(&mut random, arguments).await?;
        for _ in 0..4 {
            let rows = root.rows.len();
            let mut cursor = |chance| random.chance(chance).then(|| random.below(rows));
            let (after, before) = (cursor(60), cursor(60));
            case.page(
                PageArguments {
                    size: *random.pick(&[1, 4, 15, 50, 75]),
                    backward: random.chance(50),
                    after,
                    before,
                    flags: if random.chance(50) { Flags::Both } else { Flags::Ahead },
                    joined: random.chance(30),
                    count_up_to: count_up_to(&mut random),
                },
                true,
            )
            .await?;
        }
        Ok(())
    }
}

impl Case<'_> {
    fn runner(&self) -> &QueryRunner {
        &self.worker.runners[self.window]
    }

    /// Reads all pages from one end, or from a cursor if there are too many.
    async fn page_through(&self, random: &mut Random, mut arguments: PageArguments) -> Result<(), String> {
        let total = self.search.root.rows.len();
        let compiled =
            self.runner().compile(&PageArguments { after: Some(0), ..arguments }.query(self.search), Variables::new());
        let window = usize::try_from(arguments.window(&compiled.plan.steps()[0].access_path)).unwrap();
        // The rows and matches beyond a row in the direction of the pages.
        let beyond = |begin: Option<usize>| match (begin, arguments.backward) {
            (None, _) => (total, self.matches.len()),
            (Some(row), false) => {
                (total - row - 1, self.matches.len() - self.matches.partition_point(|other| *other <= row))
            }
            (Some(row), true) => (row, self.matches.partition_point(|other| *other < row)),
        };
        let pages = |begin| {
            let (rows, matches) = beyond(begin);
            rows.checked_div(window).unwrap_or(0) + matches / arguments.size + 2
        };
        let mut begin = None;
        let target = PAGES / 2 + random.below(PAGES);
        if pages(None) > target {
            let rows: Vec<_> = (0..total).collect();
            begin = Some(if arguments.backward {
                rows.partition_point(|row| pages(Some(*row)) <= target) - 1
            } else {
                rows.partition_point(|row| pages(Some(*row)) > target)
            });
        }
        let most = pages(begin);
        let mut seen: Vec<usize> = Vec::new();
        let mut cursor = begin;
        let mut count = 0;
        loop {
            *(if arguments.backward { &mut arguments.before } else { &mut arguments.after }) = cursor;
            let is_explained = count < 3 || random.chance(20);
            let page = self.page(arguments, is_explained).await?;
            count += 1;
            if count > most {
                return Err(format!("more than {most} pages: {}", arguments.query(self.search)));
            }
            if arguments.backward {
                seen.extend(page.rows.iter().rev());
            } else {
                seen.extend(&page.rows);
            }
            let (more, next) =
                if arguments.backward { (page.has_previous, page.start) } else { (page.has_next, page.end) };
            if more != Some(true) {
                break;
            }
            if next.is_none() || next == cursor {
                return Err(format!("the next page begins at {next:?}: {}", arguments.query(self.search)));
            }
            cursor = next;
        }
        let (_, matches) = beyond(begin);
        let expected: Vec<_> = if arguments.backward {
            self.matches[..matches].iter().rev().copied().collect()
        } else {
            self.matches[self.matches.len() - matches..].to_vec()
        };
        if seen != expected {
            return Err(format!("the pages have {seen:?}, not {expected:?}: {}", arguments.query(self.search)));
        }
        Ok(())
    }

    /// The number of rows that a look-up with these terms reads.
    async fn found_by_lookup(&self, terms: &[usize]) -> u64 {
        let known = self.lookups.lock().unwrap().get(terms).copied();
        if let Some(rows) = known {
            return rows;
        }
        let rows = self.search.found_by_lookup(&self.worker.plain, terms).await;
        self.lookups.lock().unwrap().insert(terms.to_vec(), rows);
        rows
    }

    /// Reads and checks one page, and its work if wanted.
    async fn page(&self, arguments: PageArguments, is_explained: bool) -> Result<SearchPage, String> {
        let query = arguments.query(self.search);
        let of_query = |error: String| format!("{error}\n{query}\n{arguments:?}, window {}", WINDOWS[self.window]);
        let page = arguments.read(self.runner(), self.search).await.map_err(of_query)?;
        let path = &page.compiled.plan.steps()[0].access_path;
        let mut is_whole = path.window().is_none();
        for lookup in path.lookups() {
            is_whole = is_whole || self.found_by_lookup(&lookup.terms).await <= u64::from(lookup.rows);
        }
        let mut result = arguments.check(&page, &self.matches, self.search.root.rows.len(), is_whole);
        let mut plan = String::new();
        if is_explained || result.is_err() {
            let measured = measure(&self.worker.server_like, &page.compiled.plan, &self.worker.relations).await;
            plan = outline(measured.plan.json());
            let window = usize::try_from(WINDOWS[self.window]).unwrap();
            result = result.and_then(|()| check_work(&measured, self.search, &arguments, &page, window));
        }
        let sql = page.compiled.plan.sql();
        result.map_err(|error| format!("{}\n{path:?}\n{sql}\n{plan}", of_query(error)))?;
        Ok(page)
    }
}
