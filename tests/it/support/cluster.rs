//! One private PostgreSQL cluster for all tests, and the template databases in it.
//!
//! The first test starts the cluster and leaves it running for the others, in this process and in later ones. Its folder is
//! in the temporary folder. `./dev test` gives each run a cluster of its own and removes it at the end.

use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use orderql::access::profile::Profile;
use orderql::cli::demo::sample;
use orderql::database::connection::connect::connect;
use orderql::load::finish::finish;
use orderql::load::input::InputFile;
use orderql::load::loader::load_file;
use orderql::migration::migrate::{fingerprint, migrate};
use orderql::private_cluster::address::ClusterAddress;
use orderql::private_cluster::cluster::Cluster;
use orderql::private_cluster::options::{ClusterOptions, Durability};
use orderql::sample::fill::fill;
use tokio::sync::OnceCell;
use tokio_postgres::Client;

use crate::support::users::create_users;

/// The cluster of all tests.
pub async fn cluster() -> &'static ClusterAddress {
    static CLUSTER: OnceCell<ClusterAddress> = OnceCell::const_new();
    let start = async || {
        let _lock = lock();
        Cluster::open(&throwaway_cluster(&folder())).unwrap().leave_running()
    };
    CLUSTER.get_or_init(start).await
}

/// The options of a cluster that no crash has to spare.
pub fn throwaway_cluster(folder: &Path) -> ClusterOptions {
    ClusterOptions {
        folder: folder.to_owned(),
        programs: env::var_os("ORDERQL_PG_BIN").map(PathBuf::from),
        durability: Durability::ThrowAway,
        settings: Vec::new(),
    }
}

/// Copies a stopped cluster into an empty folder, with the migrated database `orders` and the user `demo`. It is made once for each set
/// of migrations.
pub async fn copy_prepared_cluster(to: &Path) {
    let prepared = folder().with_extension(format!("prepared-{}", fingerprint()));
    {
        let _lock = lock();
        if !prepared.exists() {
            let unfinished = prepared.with_extension("unfinished");
            let _ = fs::remove_dir_all(&unfinished);
            let cluster = Cluster::open(&throwaway_cluster(&unfinished)).unwrap();
            cluster.address().create_database("orders", None).await.unwrap();
            let mut client = connect(&cluster.address().config("orders")).await.unwrap();
            migrate(&mut client).await.unwrap();
            create_users(&mut client, &[("demo", Profile::DEFAULT)]).await;
            drop(client);
            cluster.stop().unwrap();
            fs::rename(&unfinished, &prepared).unwrap();
        }
    }
    for part in ["data", "lock"] {
        assert!(Command::new("cp").arg("-a").arg(prepared.join(part)).arg(to).status().unwrap().success());
    }
}

/// The log of the cluster's server.
pub fn server_log() -> PathBuf {
    folder().join("data/server.log")
}

/// Creates the migrated template database, once for each set of migrations, and returns its name.
pub(super) async fn migrated_template() -> &'static str {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let create = async || {
        let fill = async |mut client: Client| drop(migrate(&mut client).await.unwrap());
        create_template(format!("template_{}", fingerprint()), None, fill).await
    };
    TEMPLATE.get_or_init(create).await
}

/// Creates the template database with all files of `tests/data`, once for each content of them, and returns its name.
pub(super) async fn loaded_template() -> &'static str {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    let create = async || {
        let migrated = migrated_template().await;
        let mut hasher = DefaultHasher::new();
        for source in sources() {
            let InputFile::Path(path) = source else { continue };
            fs::read(path).unwrap().hash(&mut hasher);
        }
        let fill = async |mut client: Client| load(&mut client).await;
        create_template(format!("{migrated}_{:016x}", hasher.finish()), Some(migrated), fill).await
    };
    TEMPLATE.get_or_init(create).await
}

/// Loads all files of `tests/data` into a migrated database.
pub async fn load(client: &mut Client) {
    for source in sources() {
        let report = load_file(client, source, &mut |_| {}).await.unwrap();
        assert_eq!(report.bad_rows(), 0, "{report}");
    }
    finish(client).await.unwrap();
    client.batch_execute("ANALYZE").await.unwrap();
}

fn sources() -> Vec<InputFile> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    ["ofbiz", "orders"].map(|folder| InputFile::from_path(&data.join(folder)).unwrap()).concat()
}

/// Creates the template database with a sample of 2,000 orders, once for each set of migrations, and returns its name.
pub(super) async fn sampled_template() -> &'static str {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    TEMPLATE.get_or_init(async || with_sample(migrated_template().await).await).await
}

/// Creates the template database with what a demo has, once for each content of it, and returns its name.
pub(super) async fn demo_template() -> &'static str {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    TEMPLATE.get_or_init(async || with_sample(loaded_template().await).await).await
}

/// Creates a copy of a template database that has a demo's sample as well, and returns its name.
async fn with_sample(template: &str) -> String {
    let fill = async |mut client: Client| {
        fill(&mut client, sample(), &mut |_| {}).await.unwrap();
    };
    // Another version of the program may make up other rows.
    let program = fs::metadata(env!("CARGO_BIN_EXE_orderql")).unwrap().modified().unwrap();
    let built = program.duration_since(UNIX_EPOCH).unwrap().as_millis();
    create_template(format!("{template}_{built:x}"), Some(template), fill).await
}

/// Creates a template database unless it exists, and returns its name.
async fn create_template(name: String, copy_of: Option<&str>, fill: impl AsyncFnOnce(Client)) -> String {
    let address = cluster().await;
    let _lock = lock();
    // A name has 63 bytes.
    let unfinished = format!("{name}_new");
    let admin = connect(&address.config("postgres")).await.unwrap();
    let found = admin.query_opt("SELECT FROM pg_database WHERE datname = $1", &[&name]).await.unwrap();
    if found.is_none() {
        address.drop_database(&unfinished).await.unwrap();
        address.create_database(&unfinished, copy_of).await.unwrap();
        fill(connect(&address.config(&unfinished)).await.unwrap()).await;
        // PostgreSQL waits some seconds for a connection that is about to end.
        admin.batch_execute(&format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await.unwrap();
    }
    name
}

/// The cluster's folder. Its name follows from the package's folder.
fn folder() -> PathBuf {
    let package: String =
        env!("CARGO_MANIFEST_DIR").chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    env::temp_dir().join(format!("orderql-test{package}"))
}

/// Locks the cluster until the file is closed, against other threads and other test processes.
fn lock() -> File {
    let lock = File::options().create(true).append(true).open(folder().with_extension("lock")).unwrap();
    lock.lock().unwrap();
    lock
}
