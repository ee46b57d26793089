//! A proxy between the server and PostgreSQL that damages the bytes between them where a test says: it cuts connections, delays,
//! splits and changes messages, in both directions.
//!
//! It touches the connections of the server's pools alone, after their first packet. Messages are counted from
//! [`FaultProxy::arm`] on, so that a fault happens at the same place in every run. One request at a time uses a proxy.

mod damage;
pub mod fault;
mod message;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::support::fault_proxy::damage::{Damage, damage};
use crate::support::fault_proxy::fault::{Direction, Fault};
use crate::support::fault_proxy::message::{Message, split_message};

/// A server that takes longer than this to close a connection keeps it. No test measures it.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The proxy. It listens until the test's runtime ends.
pub struct FaultProxy {
    address: SocketAddr,
    user: String,
    database: String,
    state: Arc<Mutex<State>>,
    /// Signals that the server has closed a connection.
    closed: Arc<Notify>,
}

/// The connections that a task serves.
#[derive(Clone)]
struct Shared {
    state: Arc<Mutex<State>>,
    closed: Arc<Notify>,
}

/// What happened since [`FaultProxy::arm`].
#[derive(Debug, Default, Clone)]
pub struct Report {
    /// The damage that was done, as text; `None` if the fault's message did not come.
    pub damage: Option<String>,
    /// The messages that passed: from the client, and from PostgreSQL.
    pub messages: [usize; 2],
}

#[derive(Default)]
struct State {
    /// The fault that waits for its message.
    armed: Option<Fault>,
    report: Report,
    /// The number of the connection that was damaged since the fault was armed, if its ends can tell.
    damaged: Option<u64>,
    /// The connections that the server has not closed.
    open: HashSet<u64>,
    next_connection: u64,
    /// Whether no message of the server arrives.
    is_silent: bool,
}

/// Why a direction of a connection ended.
#[derive(PartialEq)]
enum End {
    Closed,
    Cut,
}

impl FaultProxy {
    /// Starts a proxy before a database of a private cluster.
    pub async fn start(config: &Config) -> Self {
        let [Host::Unix(folder)] = config.get_hosts() else { panic!("tests use a Unix socket") };
        let socket = folder.join(format!(".s.PGSQL.{}", config.get_ports()[0]));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap(),
            user: config.get_user().unwrap().to_owned(),
            database: config.get_dbname().unwrap().to_owned(),
            state: Arc::default(),
            closed: Arc::default(),
        };
        let shared = Shared { state: Arc::clone(&proxy.state), closed: Arc::clone(&proxy.closed) };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, socket.clone(), shared.clone()));
            }
        });
        proxy
    }

    /// The value of `--database-url`.
    pub fn url(&self) -> String {
        let Self { address, user, database, .. } = self;
        // The proxy reads the protocol, and the first message that it may change is not a request for encryption.
        format!("host={} port={} user={user} dbname={database} sslmode=disable", address.ip(), address.port())
    }

    /// Counts messages from here, and damages the fault's one.
    pub fn arm(&self, fault: Option<Fault>) {
        let mut state = self.state.lock().unwrap();
        state.armed = fault;
        state.damaged = None;
        state.report = Report::default();
    }

    /// Ends what [`FaultProxy::arm`] began.
    pub fn disarm(&self) -> Report {
        let mut state = self.state.lock().unwrap();
        state.armed = None;
        state.report.clone()
    }

    /// From now on PostgreSQL gets nothing of what the server sends, or all of it again.
    pub fn silence(&self, is_silent: bool) {
        self.state.lock().unwrap().is_silent = is_silent;
    }

    /// Waits until the server has closed the connection that was damaged, as it must where it noticed the damage. Panics if
    /// it does not.
    pub async fn assert_closed(&self) {
        let Some(damaged) = self.state.lock().unwrap().damaged else { return };
        let closed = async {
            loop {
                let notified = self.closed.notified();
                if !self.state.lock().unwrap().open.contains(&damaged) {
                    return;
                }
                notified.await;
            }
        };
        let report = || self.state.lock().unwrap().report.clone();
        assert!(timeout(TIMEOUT, closed).await.is_ok(), "the server keeps a damaged connection: {:?}", report());
    }
}

impl Shared {
    fn open(&self) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.next_connection += 1;
        let number = state.next_connection;
        state.open.insert(number);
        number
    }

    fn close(&self, connection: u64) {
        self.state.lock().unwrap().open.remove(&connection);
        self.closed.notify_waiters();
    }
}

impl State {
    /// Counts a message. Returns the damage that is to be done to it.
    fn pass(&mut self, connection: u64, direction: Direction, message: Message<'_>) -> Option<Damage> {
        let count = &mut self.report.messages[direction as usize];
        *count += 1;
        let index = *count - 1;
        let fault = self.armed.take_if(|fault| fault.direction == direction && fault.message == index)?;
        let damage = damage(&fault, message);
        self.report.damage = Some(format!("connection {connection}: {message} {direction:?}: {damage:?}"));
        if damage.ends_the_connection() {
            self.damaged = Some(connection);
        }
        Some(damage)
    }
}

async fn serve(mut client: TcpStream, socket: PathBuf, shared: Shared) {
    let Ok(mut postgres) = UnixStream::connect(socket).await else { return };
    let _ = client.set_nodelay(true);
    let Some(first) = read_first_packet(&mut client).await else { return };
    if postgres.write_all(&first).await.is_err() {
        return;
    }
    if !is_of_a_pool(&first) {
        // A cancellation, or a connection of the server's own.
        let _ = tokio::io::copy_bidirectional(&mut client, &mut postgres).await;
        return;
    }
    let number = shared.open();
    let (from_client, to_client) = client.split();
    let (from_postgres, to_postgres) = postgres.split();
    let mut up = pin!(pump(from_client, to_postgres, Direction::FromClient, number, &shared.state));
    let mut down = pin!(pump(from_postgres, to_client, Direction::FromPostgres, number, &shared.state));
    let (mut is_up, mut is_down) = (true, true);
    while is_up || is_down {
        // Both sides of a connection that is cut end at once.
        let end = tokio::select! {
            end = &mut up, if is_up => {
                is_up = false;
                shared.close(number);
                end
            }
            end = &mut down, if is_down => {
                is_down = false;
                end
            }
        };
        if end == End::Cut {
            break;
        }
    }
    shared.close(number);
}

/// The packet without a type with which a client begins.
async fn read_first_packet(client: &mut TcpStream) -> Option<Vec<u8>> {
    let mut packet = vec![0; 4];
    client.read_exact(&mut packet).await.ok()?;
    let length = u32::from_be_bytes(packet.as_slice().try_into().unwrap());
    packet.resize(usize::try_from(length).unwrap(), 0);
    client.read_exact(&mut packet[4..]).await.ok()?;
    Some(packet)
}

/// Whether a connection belongs to a pool of the server. Its other connections have other names.
fn is_of_a_pool(first: &[u8]) -> bool {
    let names = [&b"application_name\0orderql-queries\0"[..], b"application_name\0orderql-updates\0"];
    names.iter().any(|name| first.windows(name.len()).any(|window| window == *name))
}

/// Passes messages on until one side closes the connection.
async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    direction: Direction,
    connection: u64,
    state: &Mutex<State>,
) -> End {
    let mut received = Vec::new();
    loop {
        let mut rest = received.as_slice();
        let mut passed = Vec::new();
        while let Some((message, after)) = split_message(rest) {
            rest = after;
            let damage = {
                let mut state = state.lock().unwrap();
                if state.is_silent && direction == Direction::FromClient {
                    continue;
                }
                state.pass(connection, direction, message)
            };
            let Some(damage) = damage else {
                passed.extend_from_slice(message.bytes);
                continue;
            };
            // The messages before it arrive whatever happens to this one.
            if to.write_all(&passed).await.is_err() {
                return End::Closed;
            }
            passed.clear();
            let written = match damage {
                Damage::Cut { bytes } => {
                    let _ = to.write_all(&message.bytes[..bytes]).await;
                    return End::Cut;
                }
                Damage::Delay(time) => {
                    sleep(time).await;
                    to.write_all(message.bytes).await
                }
                Damage::Split => write_bytewise(&mut to, message.bytes).await,
                Damage::Changed { bytes, .. } => to.write_all(&bytes).await,
            };
            if written.is_err() {
                return End::Closed;
            }
        }
        let length = received.len() - rest.len();
        received.drain(..length);
        if to.write_all(&passed).await.is_err() {
            return End::Closed;
        }
        match from.read_buf(&mut received).await {
            Ok(0) | Err(_) => {
                let _ = to.shutdown().await;
                return End::Closed;
            }
            Ok(_) => {}
        }
    }
}

async fn write_bytewise(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> std::io::Result<()> {
    for byte in bytes {
        to.write_all(&[*byte]).await?;
        tokio::task::yield_now().await;
    }
    Ok(())
}
