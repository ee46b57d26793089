//! Callers that send updates, each with a key of its own, and repeat what was not answered.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio_postgres::Client;

use crate::database::faults::updates::{INCONSISTENCIES, audited, box_form, mark};
use crate::support::server::wait_until;
use crate::support::store::{URLENCODED, update_request};

const CALLERS: usize = 6;

/// What a response may take.
const LONGEST: Duration = Duration::from_mins(1);

/// Callers that send updates until they are stopped.
pub struct Updates {
    shared: Arc<Shared>,
    callers: Vec<JoinHandle<usize>>,
}

struct Shared {
    /// What the names of the updates begin with.
    name: &'static str,
    token: String,
    /// Where they are sent in turn.
    addresses: Mutex<Vec<SocketAddr>>,
    is_over: AtomicBool,
    /// The updates of each caller that were answered.
    answered: [AtomicUsize; CALLERS],
    repeats: AtomicUsize,
}

/// What the callers saw.
pub struct Seen {
    /// The names of the updates, all of which were applied.
    pub names: Vec<String>,
    /// How many requests were repeats.
    pub repeats: usize,
    /// How many repeats one update had at most.
    pub most_repeats: usize,
}

impl Updates {
    /// Begins to send them to these addresses in turn.
    pub fn start(name: &'static str, token: &str, addresses: &[SocketAddr]) -> Self {
        let shared = Arc::new(Shared {
            name,
            token: token.to_owned(),
            addresses: Mutex::new(addresses.to_vec()),
            is_over: AtomicBool::new(false),
            answered: Default::default(),
            repeats: AtomicUsize::new(0),
        });
        let callers = (0..CALLERS).map(|caller| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.send_updates(caller))
        });
        Self { callers: callers.collect(), shared }
    }

    /// Has what was sent to one address sent to another.
    pub fn replace(&self, place: usize, address: SocketAddr) {
        self.shared.addresses.lock().unwrap()[place] = address;
    }

    /// Waits until each caller has sent one more update and got its response.
    pub fn go_on(&self) {
        let answered = || self.shared.answered.each_ref().map(|count| count.load(Ordering::Relaxed));
        let before = answered();
        wait_until(|| {
            assert!(!self.callers.iter().any(JoinHandle::is_finished), "a caller got an error");
            answered().iter().zip(before).all(|(now, before)| *now > before + 1)
        });
    }

    /// Waits until the last updates were answered.
    pub fn stop(self) -> Seen {
        self.shared.is_over.store(true, Ordering::Relaxed);
        let most_repeats = self.callers.into_iter().map(|caller| caller.join().unwrap()).max().unwrap();
        let names =
            self.shared.answered.iter().enumerate().flat_map(|(caller, answered)| {
                (0..answered.load(Ordering::Relaxed)).map(move |number| (caller, number))
            });
        let names = names.map(|(caller, number)| self.shared.update_name(caller, number)).collect();
        Seen { names, repeats: self.shared.repeats.load(Ordering::Relaxed), most_repeats }
    }
}

impl Shared {
    /// Returns the number of repeats that an update had at most.
    fn send_updates(&self, caller: usize) -> usize {
        let (mut number, mut most) = (0, 0);
        while !self.is_over.load(Ordering::Relaxed) {
            let name = self.update_name(caller, number);
            let key = format!("Idempotency-Key: {name}");
            let request = update_request(&self.token, &[URLENCODED, &key], &box_form(&name, number));
            let mut repeats = 0;
            while !self.is_applied(caller + number + repeats, &request) {
                repeats += 1;
            }
            self.repeats.fetch_add(repeats, Ordering::Relaxed);
            self.answered[caller].fetch_add(1, Ordering::Relaxed);
            (number, most) = (number + 1, most.max(repeats));
        }
        most
    }

    /// Sends a request. False if it can be repeated; fails at any other response.
    fn is_applied(&self, turn: usize, request: &str) -> bool {
        let address = {
            let addresses = self.addresses.lock().unwrap();
            addresses[turn % addresses.len()]
        };
        match status(address, request) {
            Some(200) => true,
            // 502 is a balancer's, whose server was killed.
            None | Some(502 | 503) => false,
            Some(status) => panic!("the status {status} for {request}"),
        }
    }

    fn update_name(&self, caller: usize, number: usize) -> String {
        format!("{}-{caller}-{number}", self.name)
    }
}

/// The status of the response; `None` if there is none.
fn status(address: SocketAddr, request: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(LONGEST)).unwrap();
    stream.write_all(request.as_bytes()).ok()?;
    let mut response = Vec::new();
    // A server that is killed may end it early, but not before its status, which says all.
    let _ = stream.read_to_end(&mut response);
    let status = str::from_utf8(&response).unwrap().strip_prefix("HTTP/1.1 ")?.get(..3)?;
    Some(status.parse().unwrap())
}

/// Each of these updates was applied once, no others were, and the rows fit each other.
pub async fn check_applied(client: &Client, names: Vec<String>) {
    let count = names.len();
    let mut applied = audited(client).await;
    applied.sort_unstable();
    let lost: Vec<_> = names.into_iter().filter(|name| applied.binary_search(&mark(name)).is_err()).collect();
    let doubled: Vec<_> = applied.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
    assert_eq!((lost, doubled, applied.len()), (Vec::new(), Vec::new(), count));
    let inconsistencies = client.query(INCONSISTENCIES, &[]).await.unwrap();
    let inconsistencies: Vec<String> = inconsistencies.iter().map(|row| row.get(0)).collect();
    assert_eq!(inconsistencies, [""; 0]);
}
