//! What writing an answer costs, from rows that were fetched before: `cargo bench --bench writing`.
//!
//! The rows are those of a small sample, fetched once from a private PostgreSQL as the server fetches them.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench fails by panicking")]

#[path = "documents/mod.rs"]
mod documents;
#[path = "../tests/it/support/mod.rs"]
#[allow(dead_code, unreachable_pub, clippy::panic, reason = "a bench uses a part of it")]
mod support;

use std::fmt::{self, Display};
use std::sync::OnceLock;
use std::time::Duration;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::database::options::PoolOptions;
use orderql::database::pool::Pool;
use orderql::execute::response_writer::{Progress, ResponseWriter};
use orderql::execute::{constant, execute};
use orderql::query::{Request, Variables};
use orderql::sample::size::Size;
use orderql::sample::{Sample, fill};
use support::database::fresh_database;
use support::query_runner::UNLIMITED;

#[global_allocator]
static ALLOCATIONS: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

/// An answer that has its rows, and nothing written of it yet.
#[derive(Clone)]
struct Recorded {
    name: &'static str,
    answer: ResponseWriter,
}

impl Display for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

fn recorded() -> Vec<Recorded> {
    static RECORDED: OnceLock<Vec<Recorded>> = OnceLock::new();
    let record = || tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(record());
    RECORDED.get_or_init(record).clone()
}

async fn record() -> Vec<Recorded> {
    let database = fresh_database().await;
    let mut client = database.connect().await;
    fill(&mut client, Sample { size: Size::of(500), seed: 1 }, &mut |_| ()).await.unwrap();
    let largest = "SELECT order_id FROM order_item GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1";
    let order_id: String = client.query_one(largest, &[]).await.unwrap().get(0);
    let pool = Pool::new(&PoolOptions { config: database.config(), size: 1, wait: Duration::from_mins(1) }).unwrap();
    let catalog = Catalog::built_in().unwrap();
    let mut recorded = Vec::new();
    for document in documents::answered() {
        let variables = Variables::from_iter([("orderId".to_owned(), order_id.as_str().into())]);
        let request = Request { query: document.text, operation_name: None, variables };
        let plan = compile(&catalog, &request, &UNLIMITED).unwrap().plan;
        let answer = if plan.needs_database() {
            execute(pool.snapshot().await.unwrap(), &plan).await.unwrap()
        } else {
            constant(&plan)
        };
        recorded.push(Recorded { name: document.name, answer });
    }
    recorded
}

fn write(answer: &mut ResponseWriter, out: &mut Vec<u8>) {
    assert_eq!(answer.write(out, usize::MAX).unwrap(), Progress::Done);
}

/// Into memory that is there: a server's buffers are used again.
#[divan::bench(args = recorded())]
fn writing(bencher: Bencher<'_, '_>, recorded: &Recorded) {
    let mut out = Vec::new();
    write(&mut recorded.answer.clone(), &mut out);
    let bencher = bencher.counter(BytesCount::of_slice(&out));
    bencher.with_inputs(|| recorded.answer.clone()).bench_local_refs(|answer| {
        out.clear();
        write(black_box(answer), &mut out);
    });
}
