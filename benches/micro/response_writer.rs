//! From rows to the response. The rows are those of a small sample, fetched once from a private PostgreSQL as the server
//! fetches them.

use std::env;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use orderql::catalog::Catalog;
use orderql::compile::compile;
use orderql::database::connection::connect::connect;
use orderql::database::pool::options::PoolOptions;
use orderql::database::pool::reader_pool::ReaderPool;
use orderql::execute::response_writer::{Progress, ResponseWriter};
use orderql::execute::row_limits::{Memory, RowLimits};
use orderql::execute::statement_log::StatementLog;
use orderql::execute::{constant, execute};
use orderql::migration::migrate::migrate;
use orderql::private_cluster::cluster::Cluster;
use orderql::private_cluster::options::{ClusterOptions, Durability};
use orderql::sample::fill::{Sample, fill};
use orderql::sample::size::SampleSize;

use crate::HIGH_LIMITS;
use crate::documents::accepted;

const DATABASE: &str = "micro";

/// The rows of a response, of which nothing is written.
#[derive(Clone)]
struct Fetched {
    name: &'static str,
    response: Box<ResponseWriter>,
}

impl Display for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

fn fetched() -> Vec<Fetched> {
    static FETCHED: OnceLock<Vec<Fetched>> = OnceLock::new();
    FETCHED.get_or_init(|| tokio::runtime::Runtime::new().unwrap().block_on(fetch())).clone()
}

async fn fetch() -> Vec<Fetched> {
    let cluster = Cluster::open(&ClusterOptions {
        folder: Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("bench-data").join(DATABASE),
        programs: env::var_os("ORDERQL_PG_BIN").map(PathBuf::from),
        durability: Durability::ThrowAway,
        settings: Vec::new(),
    });
    let cluster = cluster.unwrap();
    cluster.address().drop_database(DATABASE).await.unwrap();
    cluster.address().create_database(DATABASE, None).await.unwrap();
    let config = cluster.address().config(DATABASE);
    let mut client = connect(&config).await.unwrap();
    migrate(&mut client).await.unwrap();
    fill(&mut client, Sample { size: SampleSize::of(500), seed: 1 }, &mut |_| ()).await.unwrap();
    let largest = "SELECT order_id FROM order_item GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1";
    let order_id: String = client.query_one(largest, &[]).await.unwrap().get(0);

    let pool =
        ReaderPool::new(&PoolOptions { database: config.into(), size: 1, shared: 0, wait: Duration::from_mins(1) })
            .unwrap();
    let catalog = Catalog::built_in().unwrap();
    let mut fetched = Vec::new();
    for document in accepted() {
        let mut request = document.request();
        request.variables.insert("orderId".to_owned(), order_id.as_str().into());
        let plan = compile(&catalog, &request, &HIGH_LIMITS).unwrap().plan;
        let response = if plan.needs_database() {
            let mut limits = RowLimits { bytes: u64::MAX, memory: &mut |_| Memory::Held };
            execute(pool.connection().await.unwrap().into(), &plan, &StatementLog::default(), &mut limits)
                .await
                .unwrap()
        } else {
            constant(&plan)
        };
        fetched.push(Fetched { name: document.name, response });
    }
    fetched
}

fn write(response: &mut ResponseWriter, out: &mut Vec<u8>) {
    assert_eq!(response.write(out, usize::MAX).unwrap(), Progress::Done);
}

/// Into memory that is allocated already, as the server reuses its buffers.
#[divan::bench(args = fetched())]
fn write_response(bencher: Bencher<'_, '_>, fetched: &Fetched) {
    let mut out = Vec::new();
    write(&mut fetched.response.clone(), &mut out);
    let bencher = bencher.counter(BytesCount::of_slice(&out));
    bencher.with_inputs(|| fetched.response.clone()).bench_local_refs(|response| {
        out.clear();
        write(black_box(response), &mut out);
    });
}
