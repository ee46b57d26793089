//! The private PostgreSQL cluster, filled with sample orders. It is reused by runs with the same number of orders, seed and
//! migrations.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::available_parallelism;
use std::{env, io};

use clap::Args;
use orderql::access::accounts::{User, ensure_user};
use orderql::access::password::Passwords;
use orderql::access::profile::Profile;
use orderql::database::connection::connect::connect;
use orderql::database::connection::session::reader_settings;
use orderql::migration::migrate::{fingerprint, migrate};
use orderql::private_cluster::address::ClusterAddress;
use orderql::private_cluster::cluster::Cluster;
use orderql::private_cluster::options::{ClusterOptions, Durability};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config};

use crate::error::{BenchError, Result};
use crate::output;
use crate::usage::total_memory;

/// The database's name, and its name until it is filled.
pub const NAME: &str = "orderql";
const UNFINISHED: &str = "unfinished";

/// A user without limits, and one with the default limits but for the credits. Their passwords are their names.
pub const UNLIMITED_USER: &str = "bench";
pub const LIMITED_USER: &str = "bench-limited";

/// Ten more users with these limits.
pub const CALLERS: [&str; 10] =
    ["bench-0", "bench-1", "bench-2", "bench-3", "bench-4", "bench-5", "bench-6", "bench-7", "bench-8", "bench-9"];

/// Ten more users without limits.
pub const READERS: [&str; 10] = [
    "bench-reader-0",
    "bench-reader-1",
    "bench-reader-2",
    "bench-reader-3",
    "bench-reader-4",
    "bench-reader-5",
    "bench-reader-6",
    "bench-reader-7",
    "bench-reader-8",
    "bench-reader-9",
];

const LIMITED: Profile =
    Profile { bucket_size: Some(1_000_000_000_000), restore_rate: Some(1_000_000_000_000), ..Profile::DEFAULT };
const UNLIMITED: Profile = Profile { max_cost: Some(1_000_000_000), concurrent_queries: Some(1_000_000), ..LIMITED };

/// What the database contains.
#[derive(Debug, Clone, Args)]
pub struct DatabaseOptions {
    /// Orders in the database
    #[arg(long, value_name = "N", default_value_t = 300_000)]
    pub orders: u64,

    /// Seed of everything random: orders, keys, queries, turns
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,

    /// Where the private PostgreSQL keeps its data [default: bench-data in the target folder]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,

    /// Fill the private PostgreSQL anew, such as when the sample orders have changed
    #[arg(long)]
    fresh: bool,
}

impl DatabaseOptions {
    /// A database of so many orders, in the usual folder.
    pub const fn of(orders: u64) -> Self {
        Self { orders, seed: 1, data: None, fresh: false }
    }
}

/// A running cluster with a filled database. Dropping it stops the cluster.
pub struct Database {
    runtime: Runtime,
    // Dropped with the database.
    cluster: Cluster,
    /// How to connect, as the superuser.
    pub config: Config,
    /// PostgreSQL's first process, the ancestor of all others.
    pub postmaster: u32,
    folder: PathBuf,
}

impl Database {
    /// Starts the cluster, and fills the database if it is new. Progress goes to standard error.
    pub fn open(options: &DatabaseOptions) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(BenchError::io("start a runtime"))?;
        let DatabaseOptions { orders, seed, data, fresh } = options;
        let folder = data.clone().unwrap_or_else(|| output::target_folder().join("bench-data"));
        let folder = folder.join(format!("{orders}-{seed}-{}", fingerprint()));
        if !Cluster::exists(&folder) {
            eprintln!("creating a PostgreSQL cluster in {}", folder.display());
        }
        let cluster = Cluster::open(&ClusterOptions {
            folder: folder.clone(),
            programs: env::var_os("ORDERQL_PG_BIN").map(PathBuf::from),
            // Data that a crash of the machine destroys are made again.
            durability: Durability::ThrowAway,
            settings: server_settings(),
        })?;
        let address = cluster.address();
        let config = address.config(NAME);
        runtime.block_on(async {
            let admin = connect(&address.config("postgres")).await?;
            let existing = admin.query_opt("SELECT FROM pg_database WHERE datname = $1", &[&NAME]).await?;
            if existing.is_none() || *fresh {
                let stale = "SELECT datname::text FROM pg_database WHERE starts_with(datname::text, $1)";
                for name in admin.query(stale, &[&NAME]).await? {
                    address.drop_database(name.try_get(0)?).await?;
                }
                address.drop_database(UNFINISHED).await?;
                address.create_database(UNFINISHED, None).await?;
                fill(&address.config(UNFINISHED), *orders, *seed).await?;
                // Only a complete database gets the name.
                admin.batch_execute(&format!("ALTER DATABASE {UNFINISHED} RENAME TO {NAME}")).await?;
            }
            let mut client = connect(&config).await?;
            let callers = CALLERS.map(|caller| (caller, LIMITED)).into_iter();
            let callers = callers.chain(READERS.map(|reader| (reader, UNLIMITED)));
            for (user_id, profile) in [(UNLIMITED_USER, UNLIMITED), (LIMITED_USER, LIMITED)].into_iter().chain(callers)
            {
                let user = User { user_id, password: user_id, groups: &["API"], profile };
                ensure_user(&mut client, &Passwords::new(1)?, &user).await?;
            }
            Ok::<_, BenchError>(())
        })?;
        let pid_file = folder.join("data/postmaster.pid");
        let text = fs::read_to_string(&pid_file).map_err(BenchError::io(format!("read {}", pid_file.display())))?;
        let postmaster = text.lines().next().and_then(|line| line.trim().parse().ok());
        let postmaster = postmaster.ok_or_else(|| BenchError::Data(format!("{} has no id", pid_file.display())))?;
        Ok(Self { runtime, cluster, config, postmaster, folder })
    }

    /// Makes users without limits, whose passwords are their names.
    pub fn ensure_unlimited(&self, users: &[&str]) -> Result<()> {
        self.block_on(async {
            let mut client = connect(&self.config).await?;
            for user_id in users {
                let user = User { user_id, password: user_id, groups: &[], profile: UNLIMITED };
                ensure_user(&mut client, &Passwords::new(1)?, &user).await?;
            }
            Ok(())
        })
    }

    /// The cluster's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs a future that uses the database.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// A connection that is set up as those of the server's pool.
    pub fn connect(&self) -> Result<Client> {
        let mut config = self.config.clone();
        config.options(reader_settings(""));
        Ok(self.block_on(connect(&config))?)
    }

    /// Runs statements that write, in one transaction.
    pub fn write(&self, statements: &str) -> Result<()> {
        let client = self.connect()?;
        Ok(self.block_on(client.batch_execute(&format!("BEGIN READ WRITE; {statements}; COMMIT")))?)
    }

    /// A connection to a database of the cluster, as psql would set it up.
    pub async fn connect_to(&self, name: &str) -> Result<Client> {
        Ok(connect(&self.address().config(name)).await?)
    }

    /// The cluster's address.
    pub fn address(&self) -> &ClusterAddress {
        self.cluster.address()
    }

    /// The database's name.
    pub fn name(&self) -> &str {
        self.config.get_dbname().unwrap_or_default()
    }

    /// The address as `--database-url` takes it.
    pub fn url(&self) -> String {
        url(&self.config)
    }

    /// The address through a proxy.
    pub fn url_at(&self, proxy: SocketAddr) -> String {
        let user = self.config.get_user().unwrap_or_default();
        format!("host={} port={} user={user} dbname={} sslmode=disable", proxy.ip(), proxy.port(), self.name())
    }

    /// The Unix socket.
    pub fn socket(&self) -> PathBuf {
        socket_folder(&self.config).join(format!(".s.PGSQL.{}", port(&self.config)))
    }

    /// A client program of the PostgreSQL that runs, or else of the search path, with the database's address.
    pub fn client_program(&self, name: &str) -> Command {
        let server = fs::read_link(format!("/proc/{}/exe", self.postmaster));
        let program = server.map(|server| server.with_file_name(name)).ok().filter(|path| path.exists());
        let mut command = Command::new(program.unwrap_or_else(|| PathBuf::from(name)));
        command
            .env("PGHOST", socket_folder(&self.config))
            .env("PGPORT", port(&self.config).to_string())
            .env("PGUSER", self.config.get_user().unwrap_or_default())
            .env("PGDATABASE", self.name());
        command
    }

    /// The machine and its PostgreSQL.
    pub fn machine(&self) -> Result<Value> {
        let client = self.connect()?;
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
        Ok(json!({
            "cores": available_parallelism().map_or(1, usize::from),
            "cpu": cpu.trim_start_matches([' ', '\t', ':']),
            "kernel": fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim(),
            "memory_kib": total_memory(),
            "postgresql": self.block_on(client.query_one("SHOW server_version", &[]))?.try_get::<_, String>(0)?,
        }))
    }
}

/// The data fit into memory, and nothing but queries runs while queries are measured.
pub fn server_settings() -> Vec<(String, String)> {
    let shared_buffers = (total_memory().unwrap_or(2 << 20) / 4 / 1024).clamp(128, 2048);
    [
        ("shared_buffers", format!("{shared_buffers}MB")),
        ("autovacuum", "off".to_owned()),
        ("max_wal_size", "8GB".to_owned()),
        ("max_connections", "400".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

async fn fill(config: &Config, orders: u64, seed: u64) -> Result<()> {
    let mut client = connect(config).await?;
    migrate(&mut client).await?;
    eprintln!("filling the database with {orders} orders");
    let mut program = Command::new(env!("CARGO_BIN_EXE_orderql"));
    program.args(["sample", "--orders", &orders.to_string(), "--seed", &seed.to_string()]);
    let status = program.args(["--database-url", &url(config)]).stdout(io::stderr()).status();
    if !status.map_err(BenchError::io("start orderql"))?.success() {
        return Err(BenchError::Program { program: "orderql sample".to_owned(), output: "see above".to_owned() });
    }
    // Sets the rows' hint bits, which a query would do otherwise, and the visibility map for index-only scans.
    client.batch_execute("VACUUM (ANALYZE)").await?;
    client.batch_execute("CHECKPOINT").await?;
    Ok(())
}

/// The address of a database as `--database-url` takes it.
pub fn url(config: &Config) -> String {
    let (user, name) = (config.get_user().unwrap_or_default(), config.get_dbname().unwrap_or_default());
    format!("host={} port={} user={user} dbname={name}", socket_folder(config).display(), port(config))
}

fn socket_folder(config: &Config) -> &Path {
    match config.get_hosts() {
        [Host::Unix(folder), ..] => folder,
        _ => Path::new("/"),
    }
}

fn port(config: &Config) -> u16 {
    config.get_ports().first().copied().unwrap_or(5432)
}
