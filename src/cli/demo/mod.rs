//! `orderql demo`: the server on a PostgreSQL of its own, with OFBiz's demo orders and some that are made up.

mod data;

use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{self, Path, PathBuf};
use std::time::Duration;

use tokio_postgres::Client;
use tokio_postgres::config::Host;

use crate::access::accounts::{User, ensure_user};
use crate::access::password::Passwords;
use crate::access::profile::Profile;
use crate::cli::outcome::Outcome;
use crate::cli::serve::signals::Signals;
use crate::cli::serve::start;
use crate::cli::{serve, settings};
use crate::config::flags::Flags;
use crate::config::settings::Config;
use crate::database::address::database_address::DatabaseAddress;
use crate::database::connection::connect::connect;
use crate::http::socket::address::ListenAddress;
use crate::http::socket::inherited::InheritedSockets;
use crate::load::finish::finish;
use crate::load::loader::load_file;
use crate::migration::migrate::{MigrateError, migrate};
use crate::private_cluster::cluster::{Cluster, started_as_root};
use crate::private_cluster::error::ClusterError;
use crate::private_cluster::options::{ClusterOptions, Durability};
use crate::sample::error::SampleError;
use crate::sample::fill::{self, Sample};
use crate::sample::size::SampleSize;
use crate::telemetry::event::Event;
use crate::telemetry::{emit, log};

/// The name of the demo's database.
const DATABASE: &str = "orderql";

/// How long the printed token is valid: longer than a demo runs.
const TOKEN_LIFETIME: Duration = Duration::from_hours(365 * 24);

/// Why the demo's database is not ready.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The folder for the data is not known.
    #[error("no folder for the data: HOME is not set; name one with --data-dir")]
    NoFolder,
    /// The demo's PostgreSQL could not be started.
    #[error("the demo's PostgreSQL does not run")]
    Cluster(#[from] ClusterError),
    /// The demo's database did not accept a connection.
    #[error("the demo's database cannot be connected to")]
    Connect(#[from] tokio_postgres::Error),
    /// A migration of the demo's database failed.
    #[error("the demo's database cannot be migrated")]
    Migrate(#[from] MigrateError),
}

/// Serve OFBiz's demo orders from a PostgreSQL of its own
///
/// Accepts all settings; the database is always the demo's own. The users demo, bulk and guest have their names as passwords.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder of the demo's PostgreSQL and its data, which stays between demos [default: the user's data folder, or
    /// /var/lib/orderql for root]
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,

    #[command(flatten)]
    flags: Flags,
}

/// The demo's users, whose passwords are their names. The last one is created last, so if it exists, the data is complete.
const USERS: [User<'static>; 3] = [
    User { user_id: "demo", password: "demo", groups: &["API"], profile: Profile::DEFAULT },
    User {
        user_id: "bulk",
        password: "bulk",
        groups: &["API"],
        profile: Profile {
            bucket_size: Some(1_000_000_000),
            restore_rate: Some(1_000_000_000),
            concurrent_queries: Some(1_000_000),
            ..Profile::DEFAULT
        },
    },
    User { user_id: "guest", password: "guest", groups: &[], profile: Profile::DEFAULT },
];

/// Serves the demo until SIGINT or SIGTERM.
pub fn run(args: &Args) -> Outcome {
    let folder = args.data_dir.clone().or_else(default_folder).ok_or(PrepareError::NoFolder)?;
    let folder = path::absolute(folder)?;
    let mut values = settings::gather(&args.flags)?;
    values.set_default("key-folder", folder.join("token-keys").to_string_lossy());
    values.set_default("console", "on");
    let config = Config::read(&values)?;
    let sockets = InheritedSockets::take();
    let _log = log::open(&config.log())?;
    serve::runtime(&config)?.block_on(async {
        start::check(&config).await?;
        let (cluster, database) = prepare(&folder).await?;
        fill(&database).await?;
        grant_plans(&database).await?;
        let server = start::start(&config, &values, DatabaseAddress::from(&database).into(), sockets).await?;
        let token = server.issue(USERS[0].user_id, TOKEN_LIFETIME)?.token;
        introduce(server.address(), config.tls_cert.is_some(), &database, &token);
        server.serve(Signals::listen()?, None).await?;
        cluster.stop()?;
        Ok(())
    })
}

/// Opens the demo's cluster with a migrated database in it, and creates them if they do not exist. The cluster stops when it
/// is dropped. Prints its progress to standard error.
pub async fn prepare(folder: &Path) -> Result<(Cluster, tokio_postgres::Config), PrepareError> {
    if !Cluster::exists(folder) {
        eprintln!("Making a PostgreSQL cluster in {}", folder.display());
    }
    // Blocks the thread, which is fine because the server has not started.
    let cluster = Cluster::open(&ClusterOptions {
        folder: folder.to_owned(),
        programs: env::var_os("ORDERQL_PG_BIN").map(PathBuf::from),
        durability: Durability::Durable,
        settings: Vec::new(),
    })?;
    if cluster.address().create_database(DATABASE, None).await? {
        eprintln!("Making the database");
    }
    let config = cluster.address().config(DATABASE);
    let mut client = connect(&config).await?;
    let migrated = migrate(&mut client).await?;
    emit(&Event::DemoMigrated { tables: migrated.tables.len() });
    Ok((cluster, config))
}

/// The made-up orders beside OFBiz's.
pub fn sample() -> Sample {
    Sample { size: SampleSize::of(2_000), seed: 1 }
}

/// Loads the data, adds made-up orders and creates the users, unless that is done.
async fn fill(database: &tokio_postgres::Config) -> Outcome {
    let mut client = connect(database).await?;
    if is_complete(&client).await? {
        return Ok(());
    }
    eprintln!("Loading OFBiz's demo data");
    for file in data::files() {
        load_file(&mut client, file, &mut |_| {}).await?;
    }
    finish(&mut client).await?;
    let sample = sample();
    eprintln!("Making up {} orders", sample.size.orders);
    match fill::fill(&mut client, sample, &mut |_| {}).await {
        // A demo that was stopped before it created its users has its sample already.
        Ok(_) | Err(SampleError::Clash) => {}
        Err(error) => return Err(error.into()),
    }
    let passwords = Passwords::new(1)?;
    for user in &USERS {
        ensure_user(&mut client, &passwords, user).await?;
    }
    Ok(())
}

/// Lets the demo's users see the plans of their queries: its data is nobody's. Data of older demos lacks the grant.
async fn grant_plans(database: &tokio_postgres::Config) -> Outcome {
    let grant = "INSERT INTO orderql.artifact_grant (group_id, artifact_group_id) VALUES ('API', 'PLAN') ON CONFLICT DO NOTHING";
    connect(database).await?.execute(grant, &[]).await?;
    Ok(())
}

async fn is_complete(client: &Client) -> Result<bool, tokio_postgres::Error> {
    let last = USERS[USERS.len() - 1].user_id;
    let known = client.query_opt("SELECT FROM orderql.user_account WHERE user_id = $1", &[&last]).await?;
    Ok(known.is_some())
}

/// Prints the demo's addresses and users, and commands that work when they are pasted.
fn introduce(address: &ListenAddress, is_encrypted: bool, database: &tokio_postgres::Config, token: &str) {
    let (curl, reached) = match address {
        // A client cannot connect to the address that means all interfaces.
        ListenAddress::Tcp(address) if address.ip().is_unspecified() => {
            (String::new(), SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())).to_string())
        }
        ListenAddress::Unix(path) => (format!("--unix-socket {} ", path.display()), "localhost".to_owned()),
        ListenAddress::Tcp(_) | ListenAddress::Inherited(_) => (String::new(), address.to_string()),
    };
    let scheme = if is_encrypted && curl.is_empty() { "https" } else { "http" };
    let reached = format!("{scheme}://{reached}");
    let socket = database.get_hosts().iter().find_map(|host| match host {
        Host::Unix(folder) => Some(folder.display().to_string()),
        Host::Tcp(_) => None,
    });
    println!(
        r#"
  Console   {reached}/rest/s1/graphql  (in a browser)
  GraphQL   {reached}/rest/s1/graphql
  Schema    {reached}/rest/s1/graphql/sdl
  Token     {reached}/auth/token
  psql      psql -h {socket} -U postgres {DATABASE}
  Users     demo (the default limits), bulk (a bucket of 10^9 credits), guest (no grant); password = name

Sign in as demo in a shell, for the commands below:

export TOKEN={token}

Ask for an order with its ship groups and items:

curl -s {curl}{reached}/rest/s1/graphql -H 'Content-Type: application/json' -H "Authorization: Bearer $TOKEN" -d '{{"query":"{{ order(orderId: \"DEMO10090\") {{ orderId statusId grandTotal shipGroups(first: 5) {{ edges {{ node {{ shipGroupSeqId shippingMethod {{ description }} orderItems(first: 10) {{ edges {{ node {{ productId quantity unitPrice }} }} }} }} }} }} }} }}"}}'

Reject an item of an order in progress (this works once: then the item is no longer in its shipment, and the response says so):

curl -s {curl}{reached}/api/updateOrder -H "Authorization: Bearer $TOKEN" -d 'facilityId=STORE_BROADWAY&box_shipmentId_0=SHIP_INPUT&0_box_rowSubmit=0&box_shipmentBoxTypeId_0=YOURPACKNG&rej_shipmentId_0=SHIP_INPUT&rej_shipmentItemSeqId_0=00001&0_rej_rowSubmit_=0&rej_rejectionReason_0=NOT_IN_STOCK'

Ctrl-C ends the demo; its data stays.
"#,
        socket = socket.unwrap_or_default(),
    );
}

fn default_folder() -> Option<PathBuf> {
    if started_as_root() {
        return Some(PathBuf::from("/var/lib/orderql"));
    }
    // An empty or relative XDG_DATA_HOME counts as not set, as its specification says.
    let data_home = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || env::home_dir().filter(|home| home.is_absolute()).map(|home| home.join(".local/share"));
    Some(data_home.or_else(home)?.join("orderql"))
}
