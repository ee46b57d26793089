//! What tests share: one private PostgreSQL for all of them, and a fresh database for each.
//!
//! The cluster is started by the test that comes first and left running for the others, in this process and the next. It
//! is kept in the temporary folder; `./dev test` gives the tests one of their own, and removes it at the end.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use orderql::database::address::ClusterAddress;
use orderql::database::cluster::Cluster;
use orderql::database::connect::connect;
use orderql::database::migrate::{fingerprint, migrate};
use orderql::database::options::{ClusterOptions, Durability};
use orderql::load::finish::finish;
use orderql::load::input::InputFile;
use orderql::load::loader::load_file;
use tokio::sync::OnceCell;
use tokio_postgres::{Client, Config};

/// The cluster of all tests.
pub async fn cluster() -> &'static ClusterAddress {
    static CLUSTER: OnceCell<ClusterAddress> = OnceCell::const_new();
    CLUSTER.get_or_init(async || alone(|folder| open(folder).leave_running())).await
}

/// A database of its own for a test, dropped at its end.
pub struct Database {
    address: ClusterAddress,
    name: String,
}

/// A migrated database without orders: a copy of a template that is migrated once.
pub async fn fresh_database() -> Database {
    let address = cluster().await;
    let template = template(address).await;
    let name = unique_name();
    assert!(address.create_database(&name, Some(&template)).await.unwrap());
    Database { address: address.clone(), name }
}

/// A migrated database with OFBiz's demo orders and ours: a copy of a template that is loaded once.
pub async fn loaded_database() -> Database {
    let address = cluster().await;
    let template = loaded_template(address).await;
    let name = unique_name();
    assert!(address.create_database(&name, Some(&template)).await.unwrap());
    Database { address: address.clone(), name }
}

/// A database with nothing in it.
pub async fn empty_database() -> Database {
    let address = cluster().await;
    let name = unique_name();
    assert!(address.create_database(&name, None).await.unwrap());
    Database { address: address.clone(), name }
}

/// A migrated database without orders that sorts texts as people do, not by their bytes; `None` where the server can't.
pub async fn database_in_another_collation() -> Option<Database> {
    let address = cluster().await;
    let admin = connect(&address.config("postgres")).await.unwrap();
    let locale = "
        SELECT CASE provider
            WHEN 'i' THEN $$LOCALE_PROVIDER icu ICU_LOCALE 'und' LOCALE 'C'$$
            ELSE format('LOCALE %L', locale)
        END
        FROM (SELECT collprovider::text AS provider, collcollate::text AS locale FROM pg_collation) AS known
        WHERE provider = 'i' AND current_setting('server_version_num')::int >= 150000
           OR provider = 'c' AND locale ILIKE 'en\\_%.utf%8'
        ORDER BY provider DESC
        LIMIT 1";
    let locale: String = admin.query_opt(locale, &[]).await.unwrap()?.get(0);
    let name = unique_name();
    admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0 {locale}")).await.unwrap();
    let database = Database { address: address.clone(), name };
    migrate(&mut database.connect().await).await.unwrap();
    Some(database)
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
        // For all databases of the cluster, which may have been running for long.
        client.batch_execute(&format!("ALTER SYSTEM SET log_line_prefix = '{LOG_PREFIX}'")).await.unwrap();
        client.batch_execute("SELECT pg_reload_conf()").await.unwrap();
        let prefix =
            async || -> String { self.connect().await.query_one("SHOW log_line_prefix", &[]).await.unwrap().get(0) };
        while prefix().await != LOG_PREFIX {}
        // The one tells what is executed before it is, the other what was parsed and bound as well.
        for setting in ["log_statement = 'all'", "log_min_duration_statement = 0"] {
            client.batch_execute(&format!("ALTER DATABASE {} SET {setting}", self.name)).await.unwrap();
        }
        StatementLog { database: self.name.clone() }
    }
}

/// What PostgreSQL was sent for one database, by its own account. A statement is written down before its sender hears of
/// its end, so what was asked and answered is in it.
pub struct StatementLog {
    database: String,
}

/// Before each line of the log: the database, the name that the connection goes by, and the process that serves it.
const LOG_PREFIX: &str = "%d %a [%p] ";

impl StatementLog {
    /// Every line that connections of that name have left: each statement's parsing, binding and execution.
    pub fn lines(&self, application: &str) -> Vec<String> {
        let prefix = format!("{} {application} [", self.database);
        let log = fs::read(server_log()).unwrap();
        let log = String::from_utf8_lossy(&log);
        log.lines().filter_map(|line| Some(line.strip_prefix(&prefix)?.split_once("] ")?.1.to_owned())).collect()
    }
}

/// What is in every table, as a digest of its rows without those columns. The trail of logins is left out: it is written
/// whenever somebody signs in.
pub async fn contents(client: &Client, without: &[&str]) -> BTreeMap<String, String> {
    let tables = "SELECT relation.oid::regclass::text FROM pg_class AS relation
                  WHERE relation.relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'orderql'))
                    AND relation.relkind IN ('r', 'p')
                    AND relation.oid IS DISTINCT FROM to_regclass('orderql.audit_event')";
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
async fn template(address: &ClusterAddress) -> String {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let name = format!("template_{:016x}", fingerprint());
    let fill = async |mut client: Client| drop(migrate(&mut client).await.unwrap());
    TEMPLATE.get_or_init(async || template_named(address, name, None, fill).await).await.clone()
}

/// The same with all files of `tests/data` loaded.
async fn loaded_template(address: &ClusterAddress) -> String {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let make = async || {
        let empty = template(address).await;
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        let sources = ["ofbiz", "orders"].map(|folder| InputFile::from_path(&data.join(folder)).unwrap()).concat();
        let mut hasher = DefaultHasher::new();
        for source in &sources {
            let InputFile::Path(path) = source else { continue };
            fs::read(path).unwrap().hash(&mut hasher);
        }
        let name = format!("{empty}_{:016x}", hasher.finish());
        let fill = async |mut client: Client| {
            for source in sources {
                let report = load_file(&mut client, source, &mut |_| {}).await.unwrap();
                assert_eq!(report.bad_rows(), 0, "{report}");
            }
            finish(&mut client).await.unwrap();
            client.batch_execute("ANALYZE").await.unwrap();
        };
        template_named(address, name, Some(&empty), fill).await
    };
    TEMPLATE.get_or_init(make).await.clone()
}

/// Makes a template unless it is there, and returns its name.
async fn template_named(
    address: &ClusterAddress,
    name: String,
    copy_of: Option<&str>,
    fill: impl AsyncFnOnce(Client),
) -> String {
    let lock = locked();
    let unfinished = format!("{name}_unfinished");
    let admin = connect(&address.config("postgres")).await.unwrap();
    let found = admin.query_opt("SELECT FROM pg_database WHERE datname = $1", &[&name]).await.unwrap();
    if found.is_none() {
        address.drop_database(&unfinished).await.unwrap();
        address.create_database(&unfinished, copy_of).await.unwrap();
        fill(connect(&address.config(&unfinished)).await.unwrap()).await;
        // PostgreSQL waits some seconds for a connection that is about to end.
        admin.batch_execute(&format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await.unwrap();
    }
    drop(lock);
    name
}

fn open(folder: &Path) -> Cluster {
    let options = ClusterOptions {
        folder: folder.to_owned(),
        programs: env::var_os("ORDERQL_PG_BIN").map(PathBuf::from),
        durability: Durability::ThrowAway,
        settings: Vec::new(),
    };
    Cluster::open(&options).unwrap()
}

/// Where the cluster's server writes what it has to say.
pub fn server_log() -> PathBuf {
    folder().join("data/server.log")
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
