//! What tests share: one private PostgreSQL for all of them, a fresh database for each, and what is written to its log.
//!
//! The cluster is started by the test that comes first and left running for the others, in this process and the next. It
//! is kept in the temporary folder; `./dev test` gives the tests one of their own, and removes it at the end.

#![allow(dead_code, unreachable_pub, reason = "each test program uses its part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use orderql::database::cluster::{Address, Cluster, Durability, Options};
use orderql::database::connect::connect;
use orderql::database::migrate::{fingerprint, migrate};
use orderql::load::source::Source;
use orderql::load::{finish, load};
use tokio::sync::OnceCell;
use tokio_postgres::{Client, Config};

/// The cluster of all tests.
pub async fn cluster() -> &'static Address {
    static CLUSTER: OnceCell<Address> = OnceCell::const_new();
    CLUSTER.get_or_init(async || alone(|folder| open(folder).leave_running())).await
}

/// A database of its own for a test, dropped at its end.
pub struct Database {
    address: Address,
    name: String,
}

/// A migrated database without orders: a copy of a template that is migrated once.
pub async fn fresh_database() -> Database {
    let address = cluster().await;
    copy(address, &migrated(address).await).await
}

/// A migrated database with the demo's data: a copy of a template that is loaded once.
pub async fn loaded_database() -> Database {
    let address = cluster().await;
    copy(address, &loaded(address).await).await
}

/// A database with nothing in it.
pub async fn empty_database() -> Database {
    let address = cluster().await;
    let name = unique_name();
    assert!(address.create_database(&name, None).await.unwrap());
    Database { address: address.clone(), name }
}

async fn copy(address: &Address, template: &str) -> Database {
    let name = unique_name();
    assert!(address.create_database(&name, Some(template)).await.unwrap());
    Database { address: address.clone(), name }
}

impl Database {
    /// How to connect as the superuser.
    pub fn config(&self) -> Config {
        self.address.config(&self.name)
    }

    /// A connection as the superuser.
    pub async fn connect(&self) -> Client {
        connect(&self.config()).await.unwrap()
    }

    /// The database's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Has every statement on connections to come written to the log, and reads them from there.
    pub async fn log_statements(&self) -> StatementLog {
        let client = self.connect().await;
        let prefix: String = client.query_one("SHOW log_line_prefix", &[]).await.unwrap().get(0);
        let folder: String = client.query_one("SHOW data_directory", &[]).await.unwrap().get(0);
        assert_eq!(prefix, LOG_PREFIX, "an older cluster is still running in {folder}: stop it");
        // The one tells what is executed before it is, the other what was parsed and bound as well.
        for setting in ["log_statement = 'all'", "log_min_duration_statement = 0"] {
            client.batch_execute(&format!("ALTER DATABASE {} SET {setting}", self.name)).await.unwrap();
        }
        StatementLog { path: Path::new(&folder).join("server.log"), database: self.name.clone() }
    }
}

/// What PostgreSQL was sent for one database, by its own account. A statement is written down before its sender hears of
/// its end, so what was asked and answered is in it.
pub struct StatementLog {
    path: PathBuf,
    database: String,
}

/// Before each line of the log: the database, and the name that the connection goes by.
const LOG_PREFIX: &str = "%d %a: ";

impl StatementLog {
    /// Every line that connections of that name have left: each statement's parsing, binding and execution.
    pub fn lines(&self, application: &str) -> Vec<String> {
        let prefix = format!("{} {application}: ", self.database);
        let log = fs::read(&self.path).unwrap();
        let lines = log.split(|byte| *byte == b'\n').map(String::from_utf8_lossy);
        lines.filter_map(|line| line.strip_prefix(&prefix).map(str::to_owned)).collect()
    }
}

/// What is in every table, as a digest of its rows without those columns.
pub async fn contents(client: &Client, without: &[&str]) -> BTreeMap<String, String> {
    let tables = "SELECT relation.oid::regclass::text FROM pg_class AS relation
                  WHERE relation.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'orderql'))
                    AND relation.relkind IN ('r', 'p')";
    let mut contents = BTreeMap::new();
    for row in client.query(tables, &[]).await.unwrap() {
        let table: String = row.get(0);
        let digest = format!(
            "SELECT count(*) || ' ' || coalesce(md5(string_agg(t, E'\\n' ORDER BY t)), '')
             FROM (SELECT (to_jsonb(t) - $1::text[])::text FROM {table} AS t) AS rows (t)"
        );
        let digest = client.query_one(&digest, &[&without]).await.unwrap().get(0);
        contents.insert(table, digest);
    }
    contents
}

impl Drop for Database {
    fn drop(&mut self) {
        // On a thread of its own, since the test's runtime cannot be waited for from inside.
        let (address, name) = (self.address.clone(), self.name.clone());
        let dropped = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(address.drop_database(&name))
        });
        let outcome = dropped.join().unwrap();
        if !thread::panicking() {
            outcome.unwrap();
        }
    }
}

/// The template of this very set of migrations, migrated by whoever needs it first.
async fn migrated(address: &Address) -> String {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let make = async || {
        let name = format!("template_{:016x}", fingerprint());
        template(address, name, None, async |client| {
            migrate(client).await.unwrap();
        })
        .await
    };
    TEMPLATE.get_or_init(make).await.clone()
}

/// The template with this very set of data in it, loaded by whoever needs it first.
async fn loaded(address: &Address) -> String {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let make = async || {
        let migrated = migrated(address).await;
        let name = format!("loaded_{:016x}_{:016x}", fingerprint(), fingerprint_of_data());
        template(address, name, Some(&migrated), async |client| {
            for source in sources() {
                let report = load(client, source, &mut |_| {}).await.unwrap();
                assert_eq!(report.bad_rows(), 0, "{report}");
            }
            finish(client).await.unwrap();
        })
        .await
    };
    TEMPLATE.get_or_init(make).await.clone()
}

/// The demo's data, in the order in which it loads.
fn sources() -> impl Iterator<Item = Source> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    ["ofbiz", "orders"].into_iter().flat_map(move |folder| Source::at(&data.join(folder)).unwrap())
}

fn fingerprint_of_data() -> u64 {
    let mut hasher = DefaultHasher::new();
    for source in sources() {
        match source {
            Source::Path(path) => hasher.write(&fs::read(path).unwrap()),
            Source::Bytes { bytes, .. } => hasher.write(&bytes),
        }
    }
    hasher.finish()
}

/// The template of that name, made as a copy of another one and then filled, unless it is there.
async fn template(
    address: &Address,
    name: String,
    origin: Option<&str>,
    fill: impl AsyncFnOnce(&mut Client),
) -> String {
    let lock = locked();
    let unfinished = format!("{name}_unfinished");
    let admin = connect(&address.config("postgres")).await.unwrap();
    let found = admin.query_opt("SELECT FROM pg_database WHERE datname = $1", &[&name]).await.unwrap();
    if found.is_none() {
        address.drop_database(&unfinished).await.unwrap();
        address.create_database(&unfinished, origin).await.unwrap();
        let mut client = connect(&address.config(&unfinished)).await.unwrap();
        fill(&mut client).await;
        drop(client);
        // PostgreSQL waits some seconds for a connection that is about to end.
        admin.batch_execute(&format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await.unwrap();
    }
    drop(lock);
    name
}

fn open(folder: &Path) -> Cluster {
    let options = Options {
        folder: folder.to_owned(),
        programs: env::var_os("ORDERQL_PG_BIN").map(PathBuf::from),
        durability: Durability::ThrowAway,
        settings: vec![("log_line_prefix".to_owned(), LOG_PREFIX.to_owned())],
    };
    Cluster::open(&options).unwrap()
}

/// The folder of the cluster, which follows from the package's.
fn folder() -> PathBuf {
    let package: String =
        env!("CARGO_MANIFEST_DIR").chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    env::temp_dir().join(format!("orderql-test{package}"))
}

/// One test process at a time gets through, until the file is closed.
fn locked() -> File {
    let path = folder().with_extension("lock");
    let lock = File::options().create(true).append(true).open(path).unwrap();
    lock.lock().unwrap();
    lock
}

fn alone<T>(action: impl FnOnce(&Path) -> T) -> T {
    let lock = locked();
    let outcome = action(&folder());
    drop(lock);
    outcome
}

fn unique_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
