//! The private database that is measured on: a cluster of its own, full of sample orders. It is kept between runs, for the
//! same number of orders, seed and tables.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use orderql::access::accounts::{Profile, User, ensure_user};
use orderql::access::password::Passwords;
use orderql::database::cluster::Cluster;
use orderql::database::connect::connect;
use orderql::database::migrate::{fingerprint, migrate};
use orderql::database::options::{ClusterOptions, Durability};
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config};

use super::Fault;

/// The database, and what it is called until it is full.
const DATABASE: &str = "orderql";
const UNFINISHED: &str = "unfinished";

/// The users that ask; their passwords are their names. The first is held to nothing, the second to everything but what it
/// may ask for in time.
pub const UNLIMITED_USER: &str = "bench";
pub const LIMITED_USER: &str = "bench-limited";

/// Nothing that is measured comes near these.
const LIMITED: Profile =
    Profile { bucket_size: Some(1_000_000_000_000), restore_rate: Some(1_000_000_000_000), ..Profile::DEFAULT };
const UNLIMITED: Profile = Profile { max_cost: Some(1_000_000_000), concurrent_queries: Some(1_000_000), ..LIMITED };

/// Which orders there shall be.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many.
    pub orders: u64,
    /// What they are made from.
    pub seed: u64,
    /// Where databases are kept.
    pub folder: PathBuf,
    /// Whether one that is kept is thrown away and made anew.
    pub is_fresh: bool,
}

/// A running cluster with a full database. Dropping it stops it.
pub struct Store {
    // Held for its end.
    _cluster: Cluster,
    /// How the database is reached.
    pub config: Config,
    /// The first process of PostgreSQL, whose children are all others.
    pub postmaster: u32,
}

impl Store {
    /// Starts the cluster, and fills it if it is new. What goes on is told on standard error.
    pub async fn open(options: &Options) -> Result<Self, Fault> {
        let Options { orders, seed, folder, is_fresh } = options;
        let folder = folder.join(format!("{orders}-{seed}-{:016x}", fingerprint()));
        if !Cluster::exists(&folder) {
            eprintln!("making a PostgreSQL cluster in {}", folder.display());
        }
        let cluster = Cluster::open(&ClusterOptions {
            folder: folder.clone(),
            programs: env::var_os("ORDERQL_PG_BIN").map(PathBuf::from),
            // What is lost by a crash of the machine is made again.
            durability: Durability::ThrowAway,
            settings: settings(),
        })?;
        let address = cluster.address();
        let admin = connect(&address.config("postgres")).await?;
        let known = admin.query_opt("SELECT FROM pg_database WHERE datname = $1", &[&DATABASE]).await?;
        if known.is_none() || *is_fresh {
            address.drop_database(DATABASE).await?;
            address.drop_database(UNFINISHED).await?;
            address.create_database(UNFINISHED, None).await?;
            fill(&address.config(UNFINISHED), *orders, *seed).await?;
            // Only what is whole has the name.
            admin.batch_execute(&format!("ALTER DATABASE {UNFINISHED} RENAME TO {DATABASE}")).await?;
        }
        let config = address.config(DATABASE);
        let mut client = connect(&config).await?;
        for (user_id, profile) in [(UNLIMITED_USER, UNLIMITED), (LIMITED_USER, LIMITED)] {
            let user = User { user_id, password: user_id, groups: &["API"], profile };
            ensure_user(&mut client, &Passwords::new(1)?, &user).await?;
        }
        let claim = folder.join("data/postmaster.pid");
        let text = fs::read_to_string(&claim).map_err(Fault::system(format!("{} cannot be read", claim.display())))?;
        let postmaster = text.lines().next().and_then(|line| line.trim().parse().ok());
        let postmaster = postmaster.ok_or_else(|| Fault::Data(format!("{} names no process", claim.display())))?;
        Ok(Self { _cluster: cluster, config, postmaster })
    }

    /// A connection as the superuser.
    pub async fn connect(&self) -> Result<Client, Fault> {
        Ok(connect(&self.config).await?)
    }

    /// The address as `--database-url` takes it.
    pub fn url(&self) -> String {
        url(&self.config)
    }

    /// The folder of the socket.
    pub fn socket_folder(&self) -> &Path {
        socket_folder(&self.config)
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.socket_folder().join(format!(".s.PGSQL.{}", port(&self.config)))
    }

    /// A program of the PostgreSQL that runs, or of whichever there is.
    pub fn program(&self, name: &str) -> PathBuf {
        let beside = fs::read_link(format!("/proc/{}/exe", self.postmaster)).map(|server| server.with_file_name(name));
        beside.ok().filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from(name))
    }

    /// A client program of PostgreSQL's, told where the database is.
    pub fn client(&self, name: &str) -> Command {
        let mut command = Command::new(self.program(name));
        command
            .env("PGHOST", self.socket_folder())
            .env("PGPORT", port(&self.config).to_string())
            .env("PGUSER", self.config.get_user().unwrap_or_default())
            .env("PGDATABASE", DATABASE);
        command
    }
}

/// The data fit into memory, and nothing but queries takes time while queries are measured.
fn settings() -> Vec<(String, String)> {
    let memory = fs::read_to_string("/proc/meminfo").ok();
    let kibibytes = memory.as_deref().and_then(|text| {
        text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    let buffers = (kibibytes.unwrap_or(2 << 20) / 4 / 1024).clamp(128, 2048);
    [
        ("shared_buffers", format!("{buffers}MB")),
        ("autovacuum", "off".to_owned()),
        ("max_wal_size", "8GB".to_owned()),
        ("max_connections", "400".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

async fn fill(config: &Config, orders: u64, seed: u64) -> Result<(), Fault> {
    let mut client = connect(config).await?;
    migrate(&mut client).await?;
    eprintln!("filling it with {orders} orders");
    let mut program = Command::new(env!("CARGO_BIN_EXE_orderql"));
    program.args(["sample", "--orders", &orders.to_string(), "--seed", &seed.to_string()]);
    // What it says is progress here.
    let status = program.args(["--database-url", &url(config)]).stdout(std::io::stderr()).status();
    if !status.map_err(Fault::system("orderql cannot be started"))?.success() {
        return Err(Fault::Program { program: "orderql sample".to_owned(), said: "see above".to_owned() });
    }
    // So that no query is the first to set the rows' hint bits, and walks of indexes need not look at tables.
    client.batch_execute("VACUUM (ANALYZE)").await?;
    client.batch_execute("CHECKPOINT").await?;
    Ok(())
}

fn url(config: &Config) -> String {
    let folder = socket_folder(config).display();
    let (user, name) = (config.get_user().unwrap_or_default(), config.get_dbname().unwrap_or_default());
    format!("host={folder} port={} user={user} dbname={name}", port(config))
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
